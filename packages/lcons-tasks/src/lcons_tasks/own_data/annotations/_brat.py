r"""brat standoff: a text and, beside it, one annotation per line.

    T1<tab>PER 0 3<tab>Ann            the characters 0 to 3 of the text
    T2<tab>LOC 8 11;16 20<tab>...     two pieces: read as one span from the first to the last

Only text-bound annotations (T) are read; relations, events, attributes and notes are not labels of tokens. A
folder is read file by file, in the order of the names. A text without an `.ann` file was not annotated and is
not read; one with an empty file has no spans.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from lcons_core import LconsError
from lcons_tasks.data._lines import malformed, numbered_lines, quoted, unreadable
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data.annotations._passage import Passage, Span, structures_of

ENDING = ".ann"
_SPAN = re.compile(r"T\S+\t(\S+) (\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*)(?:\t.*)?")


def read_brat(path: str | os.PathLike[str]) -> Structures:
    """The labelled sentences of a folder, or of one file and its text."""
    return structures_of(path, (_passage(file) for file in files_of(path)))


def files_of(path: str | os.PathLike[str]) -> list[Path]:
    """The annotation files of a folder, in order; or the file itself."""
    found = Path(path)
    try:
        return sorted(found.glob(f"*{ENDING}")) if found.is_dir() else [found.with_suffix(ENDING)]
    except OSError as error:
        raise unreadable(path, error) from None


def _passage(file: Path) -> Passage:
    source = file.with_suffix(".txt")
    try:
        # Offsets count every character, so line ends are kept as they are.
        with source.open(encoding="utf-8", newline="") as opened:
            text = opened.read()
    except OSError as error:
        raise unreadable(source, error) from None
    except UnicodeDecodeError:
        raise malformed(source, 1, "expected UTF-8 text, found other bytes; save it as UTF-8.") from None
    try:
        return Passage(text, tuple(_spans(file)))
    except LconsError as error:
        raise malformed(file, 1, str(error)) from None


def _spans(file: Path) -> Iterator[Span]:
    for number, line in numbered_lines(file):
        if not line.startswith("T"):
            continue
        found = _SPAN.fullmatch(line)
        if found is None:
            raise malformed(
                file,
                number,
                "expected a number, a type, a start and an end, separated as in `T1<tab>PER 0 3<tab>Ann`,"
                f" found {quoted(line)}; correct the line.",
            )
        offsets = [int(offset) for offset in re.findall(r"\d+", found[2])]
        yield Span(min(offsets), max(offsets), found[1])
