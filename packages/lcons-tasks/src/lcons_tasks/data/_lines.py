"""Numbered lines of UTF-8 text files, which all readers of line formats use, and the errors of corpora.

A byte order mark, CRLF, blanks at line ends and a missing last newline are accepted. Only a newline ends a
line: other separators of Unicode may be part of a word.

`read_vectors` reads word vectors in GloVe's text format: each line has a word and its numbers, separated by
single spaces.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lcons_core import LconsError


class MalformedCorpus(LconsError, ValueError):
    """A corpus file breaks its format; the message begins with file and line."""


class CorpusNotFound(LconsError, FileNotFoundError):
    """A corpus is in none of the data folders; the message says how to get it."""


class FetchFailed(LconsError, OSError):
    """A corpus could not be downloaded, checked or written."""


BLANKS = " \t\r\n"
_LONGEST_QUOTE = 60
# Lines are decoded together, because a call per line costs more than its bytes.
_BLOCK = 1 << 20


def numbered_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """(number from 1, text without blanks at its end) of each line."""
    first = 1
    try:
        with Path(path).open("rb") as file:
            while block := file.read(_BLOCK) + file.readline():
                lines = _decoded(path, first, block)
                for number, text in enumerate(lines, first):
                    yield number, text.rstrip(BLANKS)
                first += len(lines)
    except OSError as error:
        raise unreadable(path, error) from None


def _decoded(path: str | os.PathLike[str], first: int, block: bytes) -> list[str]:
    """The lines of a block of whole lines, of which `first` is the first."""
    if first == 1:
        block = block.removeprefix(codecs.BOM_UTF8)
    try:
        return block.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        number = first + block.count(b"\n", 0, error.start)
        problem = f"expected UTF-8 text, found the byte 0x{block[error.start]:02x}; save the file as UTF-8."
        raise malformed(path, number, problem) from None


def unreadable(path: str | os.PathLike[str], error: OSError) -> LconsError:
    """The error for a file that cannot be opened."""
    return LconsError(f"cannot read {os.fspath(path)!r}: {error.strerror}; pass the path of a corpus file.")


def malformed(path: str | os.PathLike[str], line: int, problem: str) -> MalformedCorpus:
    """The error for a line that breaks the format."""
    return MalformedCorpus(f"{os.fspath(path)}:{line}: {problem}")


def quoted(text: str) -> str:
    """`text` in quotes for an error message, shortened if it is long."""
    return repr(text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + " ...")


def read_vectors(
    path: str | os.PathLike[str], dimension: int | None = None
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """(word, vector) of each line but a head of two sizes; without `dimension`, the first line sets it."""
    for number, text in numbered_lines(path):
        word, *numbers = text.rstrip(" ").split(" ")
        if number == 1 and len(numbers) == 1:
            continue
        dimension = dimension or len(numbers)
        try:
            vector = np.array(numbers, dtype=np.float64).astype(np.float32)
        except ValueError:
            vector = np.full(1, np.nan, dtype=np.float32)
        if not word or len(numbers) != dimension or not dimension or not np.isfinite(vector).all():
            problem = f"expected a word and {dimension or 'some'} numbers, found {quoted(text)}."
            raise malformed(path, number, problem)
        yield word, vector
