"""CoNLL columns: one token a line, blank lines between sentences.

`layout.py` says which column is what. Reading is strict: each line has the same number of cells, none empty.
What `write_columns` writes, `read_columns` reads back as the same sentences.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from lcons_core.errors import InvalidInput, LconsError
from lcons_tasks.atomic import replacing
from lcons_tasks.corpus.layout import CONLL2000, Columns
from lcons_tasks.corpus.lines import malformed, numbered_lines, quoted
from lcons_tasks.corpus.sentence import Sentence

DOCSTART = "-DOCSTART-"
_NEVER_IN_A_CELL = re.compile("[\t\r\n\ufeff]")


def read_columns(path: str | os.PathLike[str], columns: Columns = CONLL2000) -> Iterator[Sentence]:
    """The sentences of a file, one after another; `MalformedCorpus` at the first wrong line."""
    width = len(columns.names)
    places: dict[str, int] = {}
    rows: list[list[str]] = []
    for number, text in numbered_lines(path):
        if not text:
            if rows:
                yield _sentence(rows, places)
                rows = []
            continue
        if not rows and columns.is_comment(text, width):
            continue
        cells = columns.split(text)
        if not places:
            width = width or len(cells)
            try:
                places = columns.places(width)
            except InvalidInput as error:
                raise malformed(path, number, str(error)) from None
        if len(cells) != width or "" in cells:
            found = f"{len(cells)}" if len(cells) != width else "an empty one"
            raise malformed(
                path,
                number,
                f"expected {columns.describe(width)}, found {found} in {quoted(text)};"
                f" {columns.remedy(text)}.",
            )
        if columns.conllu and not cells[0].isdecimal():
            continue
        if not (columns.skip_docstart and cells[places["words"]] == DOCSTART):
            rows.append(cells)
    if rows:
        yield _sentence(rows, places)


def write_columns(
    target: str | os.PathLike[str] | TextIO, sentences: Iterable[Sentence], columns: Columns = CONLL2000
) -> None:
    """Writes the sentences; a path is replaced whole or, on any failure, left as it was."""
    places = _every_place(columns)
    texts = (_text(sentence, columns, places) for sentence in sentences)
    if not isinstance(target, str | os.PathLike):
        target.writelines(texts)
        return
    try:
        with replacing(target) as file:
            for text in texts:
                file.write(text.encode("utf-8"))
    except OSError as error:
        raise LconsError(
            f"cannot write {os.fspath(target)!r}: {error.strerror}; name a file in a folder that exists and"
            " can be written to."
        ) from None


def _sentence(rows: list[list[str]], places: dict[str, int]) -> Sentence:
    by_name = {name: tuple(row[place] for row in rows) for name, place in places.items()}
    return Sentence(by_name.pop("words"), by_name.pop("labels"), by_name)


def _every_place(columns: Columns) -> dict[str, int]:
    width = len(columns.names) or 2 + len(columns.context)
    places = columns.places(width)
    if sorted(places.values()) != list(range(width)):
        raise InvalidInput(
            f"expected each of the {columns.describe(width)} to be words, labels or context, found"
            f" {', '.join(f'{name} in {place + 1}' for name, place in places.items())}; leave none out."
        )
    return places


def _text(sentence: Sentence, columns: Columns, places: dict[str, int]) -> str:
    if not sentence.words:
        raise InvalidInput("expected a sentence with words, found an empty one; leave it out.")
    if missing := set(columns.context) - set(sentence.columns):
        raise InvalidInput(
            f"expected a column {sorted(missing)[0]!r}, found {', '.join(sentence.columns) or 'none'};"
            " add it to the sentence or leave it out of the columns."
        )
    filled = {"words": sentence.words, "labels": sentence.labels, **sentence.columns}
    by_place = [filled[name] for name in sorted(places, key=places.__getitem__)]
    rows = [_checked(cells, columns) for cells in zip(*by_place, strict=True)]
    if columns.skip_docstart and DOCSTART in sentence.words:
        raise InvalidInput(f"expected words, found {DOCSTART}, which reading skips; leave it out.")
    separator = columns.separator or " "
    return "".join(separator.join(cells) + "\n" for cells in rows) + "\n"


def _checked(cells: tuple[str, ...], columns: Columns) -> tuple[str, ...]:
    """`cells`, which must read back as they are."""
    for cell in cells:
        inner = " " in cell if columns.separator is None else cell != cell.strip(" ")
        if not cell or inner or _NEVER_IN_A_CELL.search(cell) or _surrogate(cell):
            raise InvalidInput(
                f"expected text without separators, found {quoted(cell)}; replace what a column cannot hold."
            )
    return cells


def _surrogate(cell: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in cell)
