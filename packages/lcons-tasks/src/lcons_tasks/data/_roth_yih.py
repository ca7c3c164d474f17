"""The `.corp` format of Roth and Yih: sentences with entities and relations.

Each sentence is a table of 9 tab-separated columns (sentence id, entity label, row number, O, POS, words, O,
O, O), a blank line, relation lines `arg1 TAB arg2 TAB type` with row numbers, and a blank line. An entity of
several words is one row, its words and POS tags joined by `/`; a comma is written COMMA.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from lcons_tasks.data._lines import malformed, numbered_lines, quoted

_TABLE = 9
_RELATION = 3


class Relation(NamedTuple):
    """A relation of type `type` from row `arg1` to row `arg2`."""

    arg1: int
    arg2: int
    type: str


class RelationSentence(NamedTuple):
    """Rows of words, POS tags and entity labels (O: none), and relations between rows."""

    id: str
    words: tuple[str, ...]
    pos: tuple[str, ...]
    entities: tuple[str, ...]
    relations: tuple[Relation, ...] = ()

    @property
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        """The single words of each row."""
        parts = [tuple(word.split("/")) for word in self.words]
        return tuple(split if all(split) else (word,) for split, word in zip(parts, self.words, strict=True))


def read_roth_yih(path: str | os.PathLike[str]) -> Iterator[RelationSentence]:
    """The sentences of a file, one after another; raises `MalformedCorpus` at the first wrong line."""
    rows: list[list[str]] = []
    relations: list[Relation] = []
    in_table = True
    for number, text in numbered_lines(path):
        if not text:
            if in_table and rows:
                in_table = False
            elif rows:
                yield _sentence(rows, relations)
                rows, relations, in_table = [], [], True
        elif in_table:
            rows.append(_row(path, number, text, rows))
        else:
            relations.append(_relation(path, number, text, len(rows)))
    if rows:
        yield _sentence(rows, relations)


def _row(path: str | os.PathLike[str], number: int, text: str, before: list[list[str]]) -> list[str]:
    cells = text.split("\t")
    well_formed = len(cells) == _TABLE and all(cells) and cells[2] == str(len(before))
    if not well_formed or cells[0] != [*before, cells][0][0]:
        problem = f"expected {_TABLE} cells between tabs, the id of the rows before and number {len(before)}"
        raise malformed(path, number, f"{problem}, found {quoted(text)}.")
    return cells


def _relation(path: str | os.PathLike[str], number: int, text: str, rows: int) -> Relation:
    cells = text.split("\t")
    numbers = [int(cell) for cell in cells[:2] if cell.isascii() and cell.isdigit() and int(cell) < rows]
    if len(cells) != _RELATION or not all(cells) or len(set(numbers)) != 2:
        problem = f"expected a relation (arg1 TAB arg2 TAB type) of two rows from 0 to {rows - 1}"
        raise malformed(path, number, f"{problem}, found {quoted(text)}.")
    return Relation(numbers[0], numbers[1], cells[2])


def _sentence(rows: list[list[str]], relations: list[Relation]) -> RelationSentence:
    columns = list(zip(*rows, strict=True))
    return RelationSentence(rows[0][0], columns[5], columns[4], columns[1], tuple(relations))
