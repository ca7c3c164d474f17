"""Which format a file of labelled data has: by the end of its name, else by how it begins.

Nothing is guessed: a file that could be anything is refused, and the format can be stated.
"""

from __future__ import annotations

import os
from pathlib import Path

from lcons_core.errors import InvalidInput
from lcons_tasks.corpus.lines import unreadable
from lcons_tasks.labelled.tables import VALID, delimiter_of

FORMATS = ("conll", "jsonl", "csv", "npz")

_BY_NAME = {
    ".npz": "npz",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".conll": "conll",
    ".conllu": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".bio": "conll",
}
_BEGINNING = 2**16


def tell_format(path: str | os.PathLike[str], columns: bool = False, tabs: bool = False) -> str:
    """One of `FORMATS`; `columns` says that columns were stated, which only text without a header has, and
    `tabs` that their cells are separated by tabs, as only CoNLL columns can be."""
    if tabs:
        return "conll"
    named = _BY_NAME.get(Path(path).suffix.lower())
    if named is not None:
        return named
    try:
        with Path(path).open("rb") as file:
            head = file.read(_BEGINNING)
            whole = not file.read(1)
    except OSError as error:
        raise unreadable(path, error) from None
    told = _by_content(head, whole, columns)
    if told is None:
        raise InvalidInput(
            f"expected CoNLL columns, JSON lines, or a table of psi vectors in {os.fspath(path)!r}, found"
            " text or bytes whose format cannot be told; state it with --format (conll, jsonl, csv or npz)."
        )
    return told


def _by_content(head: bytes, whole: bool, columns: bool) -> str | None:
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if b"\0" in head:
        return None
    lines = [line.strip() for line in head.decode("utf-8-sig", "replace").split("\n")]
    if not whole:
        lines = lines[:-1]
    tokens = [line for line in lines if line]
    if not tokens:
        return "conll" if whole else None
    if tokens[0].startswith("{"):
        return "jsonl"
    if VALID in tokens[0].split(delimiter_of(tokens[0])):
        return "csv"
    return "conll" if columns or _looks_like_columns(lines) else None


def _looks_like_columns(lines: list[str]) -> bool:
    """Whether there are blank lines between groups of lines, all of one number of cells, two or more."""
    tokens = [line for line in lines if line and not line.startswith("#")]
    widths = {len(line.split()) for line in tokens}
    return len(widths) == 1 and min(widths) >= 2 and "" in "\n".join(lines).strip().split("\n")
