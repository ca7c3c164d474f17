"""Emission scores that somebody else has made, read a sequence at a time from npz or JSON lines.

npz (`numpy.savez`), all sequences packed one after another:

    emission    (N, L) scores, a row a token
    offsets     (B + 1,) sequence i is the rows offsets[i] to offsets[i + 1]
    labels      (L,) names of the columns
    transition  (L, L) [from, to], start (L,), stop (L,): zero where left out
    words, pos  (N,) strings, and any other column that a constraint reads

JSON lines, a first object for all and then one a sequence; transition, start and stop may be left out, and
`-Infinity` forbids:

    {"labels": ["B-X", "I-X", "O"], "transition": [[...], ...], "start": [...], "stop": [...]}
    {"emission": [[0.1, 0.2, 0.7], ...], "words": ["the", ...], "pos": ["DT", ...], "id": 1}

Neither is held in memory whole. No pickle: arrays of objects are refused. Whatever is wrong with the scores
is an `LconsError`, one sentence.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Protocol

from lcons_core._errors import InvalidInput, LconsError
from lcons_decode._stream import Scored
from lcons_decode.files._json_lines import JsonScores
from lcons_decode.files._model import label_names
from lcons_decode.files._npz import NpzScores

__all__ = ["ScoreSource", "read_labels", "read_scored"]

_ZIP = b"PK"
_NPY = b"\x93NUMPY"
_MOST_LABEL_BYTES = 2**24


class ScoreSource(Protocol):
    """Sequences with their scores, read once from the first to the last."""

    def __iter__(self) -> Iterator[Scored]: ...

    def share(self) -> float | None:
        """How much has been read, from 0 to 1; None where that cannot be told."""
        ...


def read_scored(source: BinaryIO, name: str, labels: Sequence[str] | None = None) -> ScoreSource:
    """The sequences in a file of either kind; `name` is what errors call it, and `labels` names the columns
    where the file does not.

    >>> lines = b'{"labels": ["A", "B"]}\\n{"emission": [[0.5, 1]], "words": ["dog"]}\\n'
    >>> [(scored.scores.labels, scored.x) for scored in read_scored(io.BytesIO(lines), "lines")]
    [(('A', 'B'), {'word': ('dog',)})]
    """
    names = None if labels is None else tuple(labels)
    beginning = _beginning(source, len(_NPY))
    if beginning.startswith(_ZIP):
        return NpzScores(source, name, names)
    if beginning == _NPY:
        raise InvalidInput(
            f"{name}: expected an npz file or JSON lines, found a .npy file, which holds one array alone;"
            " write npz with numpy.savez(file, emission=..., offsets=..., labels=...)."
        )
    return JsonScores(source, name, names)


def read_labels(path: str | PathLike[str]) -> tuple[str, ...]:
    """The labels in a file, one a line in the order of the columns, or as a JSON list."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(_MOST_LABEL_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{path}: expected labels in UTF-8, found other bytes; save the file as UTF-8."
        ) from None
    except (OSError, ValueError) as error:
        raise LconsError(
            f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}; name a text file with a"
            " label a line."
        ) from None
    if text.lstrip().startswith("["):
        try:
            return label_names(json.loads(text), str(path))
        except (ValueError, RecursionError) as error:
            if isinstance(error, LconsError):
                raise
            raise InvalidInput(
                f"{path}: expected a label a line or a JSON list of labels, found neither ({error});"
                " mend the file."
            ) from None
    return label_names([line.strip() for line in text.splitlines() if line.strip()], str(path))


def _beginning(source: BinaryIO, size: int) -> bytes:
    """The first bytes, which stay to be read."""
    if isinstance(source, io.BufferedReader):
        return source.peek(size)[:size]
    if not source.seekable():
        raise InvalidInput("expected a buffered stream or a file, found neither; wrap it in BufferedReader.")
    here = source.tell()
    found = source.read(size)
    source.seek(here)
    return found
