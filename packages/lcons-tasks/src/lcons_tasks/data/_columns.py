"""CoNLL columns: one line per token, blank lines between sentences.

`Columns` states the meaning of each column, as plain data. Reading is strict: each line has the same number
of cells, and no cell is empty. `read_columns` reads the same sentences that `write_columns` wrote.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TextIO

from lcons_core import InvalidInput, LconsError
from lcons_core._files import replacing
from lcons_core._instance import WORD
from lcons_tasks.data._lines import malformed, numbered_lines, quoted
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
        context = self.context
        if not isinstance(context, Mapping):
            context = {name: name for name in context}
        object.__setattr__(self, "context", dict(context))
        if self.separator not in (None, "\t"):
            raise InvalidInput(f"`separator` must be None or a tab: got {self.separator!r}.")
        if len(set(self.names)) != len(self.names):
            raise InvalidInput(f"expected distinct column names, found {', '.join(self.names)}.")
        if taken := {"words", "labels", WORD} & set(context):
            raise InvalidInput(f"a context column cannot have the name {min(taken)!r}; choose another name.")
        self.places(len(self.names) or sys.maxsize)

    def places(self, width: int) -> dict[str, int]:
        """The index from 0 of words, labels and each context column in a row of `width` cells."""
        places: dict[str, int] = {}
        for name, column in {"words": self.words, "labels": self.labels, **self.context}.items():
            number = self.names.index(column) + 1 if column in self.names else column
            if isinstance(number, str | bool) or number == 0:
                names = ", ".join(self.names) or "none"
                raise InvalidInput(f"unknown column {column!r}; pass a number or a name (here {names}).")
            if abs(number) > width:
                raise InvalidInput(f"expected at least {abs(number)} columns, found {width}.")
            places[name] = number - 1 if number > 0 else width + number
        return places

    def split(self, text: str) -> list[str]:
        """The cells of a line."""
        cells = text.split(self.separator or " ")
        if self.separator is None and ("" in cells or "\t" in text):
            return _BLANKS.split(text.lstrip(" \t"))
        return cells

    def is_comment(self, text: str, width: int) -> bool:
        """Whether a line before a sentence is a comment and not its first token; tokens have `width` cells.

        >>> layout = Columns(comments=True)
        >>> layout.is_comment("# text = a b", 4), layout.is_comment("# O", 2), layout.is_comment("#a", 1)
        (True, False, False)
        """
        if not self.comments or not text.startswith("#"):
            return False
        return self.conllu or len(self.split(text)) != width or bool(_NAMED_VALUE.match(text))


CONLL2000 = Columns(("word", "pos", "chunk"), "word", "chunk", {"pos": "pos"})
DOCSTART = "-DOCSTART-"
_NEVER_IN_A_CELL = re.compile("[\t\r\n\ufeff\ud800-\udfff]")


def first_width(path: str | os.PathLike[str], columns: Columns) -> tuple[int, int] | None:
    """(line, cells) of the first token that does not begin with #, or of the first line if all do; None if
    there is no token."""
    first = None
    for number, text in numbered_lines(path):
        if text and not (columns.comments and text.startswith("#")):
            return number, len(columns.split(text))
        if text and not columns.conllu:
            first = first or (number, len(columns.split(text)))
    return first


def read_columns(path: str | os.PathLike[str], columns: Columns = CONLL2000) -> Iterator[Sentence]:
    """The sentences of a file, one after another; raises `MalformedCorpus` at the first wrong line."""
    width = len(columns.names)
    if columns.comments and not width:
        _, width = first_width(path, columns) or (1, 0)
    for cells in column_rows(numbered_lines(path), columns, path, width):
        yield Sentence(cells.pop("words"), cells.pop("labels"), cells)


def column_rows(
    lines: Iterable[tuple[int, str]], columns: Columns, path: str | os.PathLike[str], width: int = 0
) -> Iterator[dict[str, tuple[str, ...]]]:
    """The cells of each sentence, as `words`, `labels` and context columns, from numbered lines of a path.
    Each token has `width` cells; if that is 0, as many as the first one."""
    rows: list[list[str]] = []
    places: dict[str, int] = {}
    for number, text in chain(lines, [(0, "")]):
        if not text:
            if rows:
                by_place = list(zip(*rows, strict=True))
                yield {name: by_place[place] for name, place in places.items()}
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
            names = f" ({', '.join(columns.names)})" if columns.names else ""
            wrong = str(len(cells)) if len(cells) != width else "an empty one"
            # Files of users have columns by number; their reader has the argument `tabs`.
            tabs = "\t" in text and not columns.separator and not columns.names
            advice = "; use `tabs=True` if one tab separates cells, which may hold blanks" if tabs else ""
            problem = f"expected {width} columns{names}, found {wrong} in {quoted(text)}{advice}."
            raise malformed(path, number, problem)
        if columns.conllu and not cells[0].isdecimal():
            continue
        if not (columns.skip_docstart and cells[places["words"]] == DOCSTART):
            rows.append(cells)


def write_columns(
    target: str | os.PathLike[str] | TextIO, sentences: Iterable[Sentence], columns: Columns = CONLL2000
) -> None:
    """Writes the sentences; if that fails, an existing file stays unchanged."""
    width = len(columns.names) or 2 + len(columns.context)
    places = columns.places(width)
    if sorted(places.values()) != list(range(width)):
        raise InvalidInput(f"each of {width} columns must be words, labels or context: got {places}.")
    texts = (_text(sentence, columns, places) for sentence in sentences)
    if not isinstance(target, str | os.PathLike):
        target.writelines(texts)
        return
    try:
        with replacing(target) as file:
            file.writelines(text.encode("utf-8") for text in texts)
    except OSError as error:
        raise LconsError(f"cannot write {os.fspath(target)!r}: {error.strerror}.") from None


def _text(sentence: Sentence, columns: Columns, places: dict[str, int]) -> str:
    if not sentence.words or (columns.skip_docstart and DOCSTART in sentence.words):
        raise InvalidInput(f"expected a sentence of words, found {sentence.words!r:.60}; leave it out.")
    if missing := set(columns.context) - set(sentence.columns):
        raise InvalidInput(f"expected a column {min(missing)!r}: got {', '.join(sentence.columns)}.")
    filled = {"words": sentence.words, "labels": sentence.labels, **sentence.columns}
    rows = list(zip(*(filled[name] for name in sorted(places, key=places.__getitem__)), strict=True))
    for cell in chain.from_iterable(rows):
        inner = " " in cell if columns.separator is None else cell != cell.strip(" ")
        if not cell or inner or _NEVER_IN_A_CELL.search(cell):
            raise InvalidInput(f"a cell must be text without separators: got {quoted(cell)}.")
    return "".join((columns.separator or " ").join(cells) + "\n" for cells in rows) + "\n"
