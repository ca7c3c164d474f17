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

from lcons_contrib.annotations._passage import Passage, Sentence, Span, labelled
from lcons_core import InvalidInput

_SPAN = re.compile(r"T\S+\t(\S+) (\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*)(?:\t.*)?")


def read_brat(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """The labelled sentences of a folder, or of one file and its text."""
    file = Path(path)
    files = sorted(file.glob("*.ann")) if file.is_dir() else [file.with_suffix(".ann")]
    return labelled(Passage(_text(file.with_suffix(".txt")), tuple(_spans(file))) for file in files)


def _text(file: Path) -> str:
    # Offsets count every character, so line ends stay as they are.
    with file.open(encoding="utf-8", newline="") as opened:
        return opened.read()


def _spans(file: Path) -> Iterator[Span]:
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
        if line.startswith("T"):
            match = _SPAN.fullmatch(line.rstrip())
            if match is None:
                raise InvalidInput(
                    f"line {number} of {file.name}: expected a number, a type, a start and an end, as in"
                    f" `T1<tab>PER 0 3<tab>Ann`, found {line!r:.60}; correct the line."
                )
            offsets = [int(offset) for offset in re.findall(r"\d+", match[2])]
            yield Span(min(offsets), max(offsets), match[1])
