"""CoNLL columns: one line per token, blank lines between sentences.

`Columns` states the meaning of each column, as plain data. Reading is strict: each line has the same number
of cells, and no cell is empty. `read_columns` reads the same sentences that `write_columns` wrote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import TextIO

from lcons_core import InvalidInput, LconsError
from lcons_core._instance import WORD
from lcons_tasks.atomic import replacing
from lcons_tasks.data._lines import MalformedCorpus, malformed, numbered_lines, quoted
from lcons_tasks.data._sentence import Sentence

Column = str | int
_BLANKS = re.compile("[ \t]+")
_NAMED_VALUE = re.compile(r"#\s*\S+ = \S")


@dataclass(frozen=True)
class Columns:
    """The columns of words, labels and context: by name, or by number from 1, or from -1 at the end.

    `names`: all columns of the file; without them, any number of columns, the same in each line.
    `context`: columns by their names in x; a sequence of names stands for the columns of these names.
    `separator`: None for spaces and tabs; "\\t" for one tab, so that cells may hold spaces.
    `comments`: skip lines that begin with # before a sentence, unless they have as many cells as a token;
        `# name = value` is always skipped.
    `conllu`: skip all such lines, and those whose first cell is not a number (ranges such as 1-2 and elided
        words such as 1.1).

    >>> Columns(("word", "pos", "chunk"), "word", "chunk", ("pos",)).places(3)
    {'words': 0, 'labels': 2, 'pos': 1}
    >>> Columns(context={"pos": 2}).places(5)
    {'words': 0, 'labels': 4, 'pos': 1}
    """

    names: tuple[str, ...] = ()
    words: Column = 1
    labels: Column = -1
    context: Mapping[str, Column] = field(default_factory=dict, hash=False)
    separator: str | None = None
    skip_docstart: bool = False
    comments: bool = False
    conllu: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        given = self.context
        context = dict(given) if isinstance(given, Mapping) else {name: name for name in given}
        object.__setattr__(self, "context", context)
        if self.separator not in (None, "\t"):
            raise InvalidInput(
                f"`separator` must be None (spaces and tabs) or a tab: got {self.separator!r}; pass one of"
                " these."
            )
        if len(set(self.names)) != len(self.names):
            raise InvalidInput(f"expected distinct column names, found {', '.join(self.names)}; rename some.")
        if taken := {"words", "labels", WORD} & set(context):
            raise InvalidInput(f"a context column cannot have the name {min(taken)!r}; choose another name.")
        if self.names:
            self.places(len(self.names))
        else:
            for column in self._selected().values():
                self._check_number(column)

    def places(self, width: int) -> dict[str, int]:
        """The index from 0 of words, labels and each context column in a row of `width` cells."""
        return {name: self._place(column, width) for name, column in self._selected().items()}

    def split(self, text: str) -> list[str]:
        """The cells of a line."""
        if self.separator is None:
            cells = text.split(" ")
            if "" not in cells and "\t" not in text:
                return cells
            return _BLANKS.split(text.lstrip(" \t"))
        return text.split(self.separator)

    def is_comment(self, text: str, width: int) -> bool:
        """Whether a line before a sentence is a comment and not its first token; tokens have `width` cells.

        >>> layout = Columns(comments=True)
        >>> layout.is_comment("# text = a b", 4), layout.is_comment("# O", 2), layout.is_comment("#a", 1)
        (True, False, False)
        """
        if not self.comments or not text.startswith("#"):
            return False
        return self.conllu or len(self.split(text)) != width or bool(_NAMED_VALUE.match(text))

    def describe(self, width: int) -> str:
        """The expected columns of a line, in words."""
        return f"{width} columns" + (f" ({', '.join(self.names)})" if self.names else "")

    def remedy(self, text: str) -> str:
        """The advice for a line that has another number of cells."""
        if self.separator is None and not self.names and "\t" in text:
            # Columns are given by number for users' own files; their reader has the argument `tabs`.
            return "use `tabs=True` if cells are separated by one tab and may hold blanks, or correct it"
        return "correct the line, or pass the columns that the file has"

    def _selected(self) -> dict[str, Column]:
        return {"words": self.words, "labels": self.labels, **self.context}

    def _place(self, column: Column, width: int) -> int:
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        number = self._check_number(column)
        if abs(number) > width:
            raise InvalidInput(f"expected at least {abs(number)} columns, found {width}; name other columns.")
        return number - 1 if number > 0 else width + number

    def _check_number(self, column: Column) -> int:
        if isinstance(column, str | bool) or column == 0:
            raise InvalidInput(
                f"unknown column {column!r}; pass a number from 1, or from -1 at the end, or one of the names"
                f" ({', '.join(self.names) or 'there are none'})."
            )
        return column


CONLL2000 = Columns(("word", "pos", "chunk"), "word", "chunk", {"pos": "pos"})
CONLL2003 = Columns(
    ("word", "pos", "chunk", "ner"), "word", "ner", {"pos": "pos", "chunk": "chunk"}, skip_docstart=True
)


DOCSTART = "-DOCSTART-"
_NEVER_IN_A_CELL = re.compile("[\t\r\n\ufeff]")


def first_width(path: str | os.PathLike[str], columns: Columns) -> tuple[int, int] | None:
    """(line, cells) of the first token that does not begin with #, or of the first line if all do; None if
    there is no token."""
    first = None
    for number, text in numbered_lines(path):
        if text:
            found = number, len(columns.split(text))
            if not columns.comments or not text.startswith("#"):
                return found
            first = first or found
    return None if columns.conllu else first


def read_columns(path: str | os.PathLike[str], columns: Columns = CONLL2000) -> Iterator[Sentence]:
    """The sentences of a file, one after another; raises `MalformedCorpus` at the first wrong line."""
    reader = _Reader(path, columns, len(columns.names))
    if columns.comments and not reader.width:
        _, reader.width = first_width(path, columns) or (1, 0)
    numbers: list[int] = []
    texts: list[str] = []
    try:
        for number, text in numbered_lines(path):
            if text:
                numbers.append(number)
                texts.append(text)
            elif texts:
                yield from reader.sentences(numbers, texts)
                numbers, texts = [], []
    except MalformedCorpus:
        list(reader.sentences(numbers, texts))  # a wrong line before the one that cannot be read comes first
        raise
    yield from reader.sentences(numbers, texts)


@dataclass
class _Reader:
    """Reads the lines between two blank lines; `width` and `places` are known from the first token on."""

    path: str | os.PathLike[str]
    columns: Columns
    width: int
    places: dict[str, int] = field(default_factory=dict)

    def sentences(self, numbers: list[int], texts: list[str]) -> Iterator[Sentence]:
        """The sentence of these lines, if they have a token."""
        cells = self._even_cells(texts)
        if cells is None:
            cells = [cell for row in self._rows(numbers, texts) for cell in row]
        if cells:
            by_name = {name: tuple(cells[place :: self.width]) for name, place in self.places.items()}
            yield Sentence(by_name.pop("words"), by_name.pop("labels"), by_name)

    def _even_cells(self, texts: list[str]) -> list[str] | None:
        """The cells of all lines, if every line is a token whose cells have one space between them: most
        sentences are so, and are split at once."""
        columns = self.columns
        if not self.places or columns.separator or columns.conllu:
            return None
        joined = " ".join(texts)
        if (columns.comments and "#" in joined) or (columns.skip_docstart and DOCSTART in joined):
            return None
        if "\t" in joined or set(map(str.count, texts, repeat(" "))) != {self.width - 1}:
            return None
        cells = joined.split(" ")
        return None if "" in cells else cells

    def _rows(self, numbers: list[int], texts: list[str]) -> Iterator[list[str]]:
        """The cells of each token, line by line."""
        columns = self.columns
        begun = False
        for number, text in zip(numbers, texts, strict=True):
            if not begun and columns.is_comment(text, self.width):
                continue
            cells = columns.split(text)
            if not self.places:
                self.width = self.width or len(cells)
                try:
                    self.places = columns.places(self.width)
                except InvalidInput as error:
                    raise malformed(self.path, number, str(error)) from None
            if len(cells) != self.width or "" in cells:
                found = f"{len(cells)}" if len(cells) != self.width else "an empty one"
                raise malformed(
                    self.path,
                    number,
                    f"expected {columns.describe(self.width)}, found {found} in {quoted(text)};"
                    f" {columns.remedy(text)}.",
                )
            if columns.conllu and not cells[0].isdecimal():
                continue
            if not (columns.skip_docstart and cells[self.places["words"]] == DOCSTART):
                begun = True
                yield cells


def write_columns(
    target: str | os.PathLike[str] | TextIO, sentences: Iterable[Sentence], columns: Columns = CONLL2000
) -> None:
    """Writes the sentences; if that fails, an existing file stays unchanged."""
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


def _every_place(columns: Columns) -> dict[str, int]:
    width = len(columns.names) or 2 + len(columns.context)
    places = columns.places(width)
    if sorted(places.values()) != list(range(width)):
        raise InvalidInput(
            f"expected each of the {columns.describe(width)} to be words, labels or context, found"
            f" {', '.join(f'{name} in {place + 1}' for name, place in places.items())}; assign every column."
        )
    return places


def _text(sentence: Sentence, columns: Columns, places: dict[str, int]) -> str:
    if not sentence.words:
        raise InvalidInput("expected a sentence with words, found an empty one; leave it out.")
    if missing := set(columns.context) - set(sentence.columns):
        raise InvalidInput(
            f"expected a column {min(missing)!r}, found {', '.join(sentence.columns) or 'none'};"
            " add it to the sentence or leave it out of the columns."
        )
    filled = {"words": sentence.words, "labels": sentence.labels, **sentence.columns}
    by_place = [filled[name] for name in sorted(places, key=places.__getitem__)]
    rows = [_checked(cells, columns) for cells in zip(*by_place, strict=True)]
    if columns.skip_docstart and DOCSTART in sentence.words:
        raise InvalidInput(f"expected words, found {DOCSTART}, which readers skip; leave it out.")
    separator = columns.separator or " "
    return "".join(separator.join(cells) + "\n" for cells in rows) + "\n"


def _checked(cells: tuple[str, ...], columns: Columns) -> tuple[str, ...]:
    """`cells`; raises `InvalidInput` if a reader would not read the same cells."""
    for cell in cells:
        inner = " " in cell if columns.separator is None else cell != cell.strip(" ")
        if not cell or inner or _NEVER_IN_A_CELL.search(cell) or _surrogate(cell):
            raise InvalidInput(
                f"expected text without separators, found {quoted(cell)}; replace characters that a column"
                " cannot hold."
            )
    return cells


def _surrogate(cell: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in cell)
