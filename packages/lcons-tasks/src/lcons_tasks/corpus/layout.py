"""Which columns a CoNLL file has and what each is, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lcons_core.errors import InvalidInput
from lcons_core.features.sequence import WORD

Column = str | int
_BLANKS = re.compile("[ \t]+")


@dataclass(frozen=True)
class Columns:
    """Where words, labels and context are: by name, or by number from 1, or from -1 at the end.

    `names` are all columns of the file; without them any number of columns will do, the same in each line.
    `context` maps names in x to columns; a sequence of names stands for columns of these names.
    `separator` None is spaces and tabs; "\\t" is one tab, so that cells may hold spaces.
    `comments`: lines that begin with # before a sentence are not read, unless they have the cells of a token.
    `conllu`: lines whose first cell is no number, a range or what is elided there, are no tokens.

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
                f"expected the separator None (spaces and tabs) or a tab, found {self.separator!r}; pass one."
            )
        if len(set(self.names)) != len(self.names):
            raise InvalidInput(f"expected distinct column names, found {', '.join(self.names)}; rename some.")
        if taken := {"words", "labels", WORD} & set(context):
            raise InvalidInput(f"{sorted(taken)[0]!r} cannot name a context column; name it otherwise.")
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
            return _BLANKS.split(text.lstrip(" \t"))
        return text.split(self.separator)

    def is_comment(self, text: str, width: int) -> bool:
        """Whether a line that stands before a sentence is none of its tokens, where tokens have `width` cells
        (0: not known yet).

        >>> layout = Columns(comments=True)
        >>> layout.is_comment("# text = a b", 4), layout.is_comment("# O", 2), layout.is_comment("# a b", 0)
        (True, False, True)
        """
        if not self.comments or not text.startswith("#"):
            return False
        return not width or len(self.split(text)) != width or " = " in text

    def describe(self, width: int) -> str:
        """The columns that a line should have, in words."""
        return f"{width} columns" + (f" ({', '.join(self.names)})" if self.names else "")

    def remedy(self, text: str) -> str:
        """What to do about a line that has another number of cells."""
        if self.separator is None and not self.names and "\t" in text:
            # Columns by number are those of one's own files, which commands read with --tabs.
            return "use --tabs where one tab stands between cells and cells hold blanks, or correct the line"
        return "correct the line or state the columns that the file has"

    def _selected(self) -> dict[str, Column]:
        return {"words": self.words, "labels": self.labels, **self.context}

    def _place(self, column: Column, width: int) -> int:
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        number = self._check_number(column)
        if abs(number) > width:
            raise InvalidInput(f"expected at least {abs(number)} columns, found {width}; change the columns.")
        return number - 1 if number > 0 else width + number

    def _check_number(self, column: Column) -> int:
        if isinstance(column, str | bool) or column == 0:
            raise InvalidInput(
                f"unknown column {column!r}; give a number from 1, or from -1 at the end, or one of the names"
                f" ({', '.join(self.names) or 'none are given'})."
            )
        return column


CONLL2000 = Columns(("word", "pos", "chunk"), "word", "chunk", {"pos": "pos"})
CONLL2003 = Columns(
    ("word", "pos", "chunk", "ner"), "word", "ner", {"pos": "pos", "chunk": "chunk"}, skip_docstart=True
)
