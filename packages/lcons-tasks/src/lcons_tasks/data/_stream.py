"""Sentences to tag, one after another, from raw text or CoNLL columns of any length.

Raw text is read in blocks, and the last sentence of a block waits for the next block. The sentences are the
same as those of `text.sentences` for the whole text, by line or not, except that sentences much longer than
`LONGEST` characters are cut. Only white space is left out.

Columns have one line per token and blank lines between sentences, with the same number of cells in each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Protocol

from lcons_core import InvalidInput
from lcons_core._instance import WORD
from lcons_tasks.data._columns import Columns, column_rows
from lcons_tasks.data._lines import BLANKS
from lcons_tasks.data.text import Token, sentences

LONGEST = 2**14
BLOCK = 2**13
# Narrower lines are not wrapped, but lines of a list or a poem.
NARROWEST = 40
POS = "pos"
SKIPPED = "_"

X = dict[str, tuple[str, ...]]

_NUMBER = re.compile("-?[0-9]{1,9}")
_IN_ORDER = (WORD, POS)


class Readable(Protocol):
    """Text that is read in blocks; `read` returns "" at the end."""

    def read(self, size: int, /) -> str:
        """The next block, of at most about `size` characters."""
        ...


def are_wrapped(text: str) -> bool:
    """Whether most lines end where the next word had no room, and not where a sentence ends.

    >>> lines = ["Profits of the company rose by 3 % in May, and", "analysts expected less, as they said on"]
    >>> are_wrapped("\\n".join([*lines, "Monday."])), are_wrapped("\\n".join(["Short.", *lines]))
    (True, False)
    """
    lines = [line.split() for line in text.split("\n")]
    pairs = [(" ".join(line), after[0]) for line, after in pairwise(lines) if line and after]
    width = sorted(len(line) for line, _ in pairs)[9 * len(pairs) // 10] if len(pairs) > 1 else 0
    full = sum(len(line) + 1 + len(word) > width and line[-1] not in ".?!" for line, word in pairs)
    return width >= NARROWEST and 2 * full > len(pairs)


def _pieces(
    file: Readable, block: int, longest: int, wrapped: bool | None
) -> Iterator[tuple[int, list[list[Token]]]]:
    """Where each piece of a text begins, and the tokens of its sentences."""
    held, begin = "", 0
    while more := file.read(block):
        held += more
        wrapped = are_wrapped(held) if wrapped is None else wrapped
        # A word, and so a sentence, may continue in the next block: only the text before a blank is complete.
        whole = len(held) - len(held.rsplit(None, 1)[-1]) if not held[-1].isspace() else len(held)
        parts = sentences(held[:whole], not wrapped)
        long = len(held) > longest
        last = next((i for i in range(len(parts) - 1, 0, -1) if _fresh(held, parts[i][0], long)), 0)
        if last:
            rest = parts[last][0].start
        elif not long:
            continue
        elif whole:
            last, rest = len(parts), whole
        else:
            parts = sentences(held, not wrapped)
            last, rest = len(parts), len(held)
        yield begin, parts[:last]
        held, begin = held[rest:], begin + rest
    yield begin, sentences(held, not wrapped)


def text_tokens(
    file: Readable, block: int = BLOCK, longest: int = LONGEST, wrapped: bool | None = None
) -> Iterator[list[Token]]:
    """The tokens of each sentence of a text, whose places count characters of the whole text. A line break
    ends a sentence unless lines are `wrapped`, which by default the first block decides."""
    for begin, parts in _pieces(file, block, longest, wrapped):
        for sentence in parts:
            yield [Token(text, begin + start, begin + end) for text, start, end in sentence]


def text_sentences(
    file: Readable, block: int = BLOCK, longest: int = LONGEST, wrapped: bool | None = None
) -> Iterator[X]:
    """The words of each sentence of a text."""
    for _, parts in _pieces(file, block, longest, wrapped):
        for sentence in parts:
            yield {WORD: tuple(token.text for token in sentence)}


def column_layout(text: str) -> Columns:
    """The layout that a text such as `word,pos`, `word=1,pos=-2` or `1,2` (word and pos) states.

    Names without a number are the file's first columns in that order; `_` is a column that is not read.

    >>> column_layout("word,_,pos").context, column_layout("2,3").words
    ({'pos': 3}, 2)
    """
    places: dict[str, int] = {}
    for i, item in enumerate(text.split(",")):
        name, equals, number = (part.strip() for part in item.partition("="))
        if not equals:
            name, number = (_IN_ORDER[i], name) if _NUMBER.fullmatch(name) and i < 2 else (name, str(i + 1))
        if not name or name in places or not _NUMBER.fullmatch(number) or _NUMBER.fullmatch(name):
            raise _no_layout(text)
        if name != SKIPPED:
            places[name] = int(number)
    if WORD not in places:
        raise _no_layout(text)
    words = places.pop(WORD)
    # `Columns` needs a label column, but these sentences have no labels: any column serves.
    return Columns(words=words, labels=words, context=places)


def column_sentences(lines: Iterable[str], columns: Columns, name: str) -> Iterator[X]:
    """The words and context columns of each sentence; `name` is the file's name in errors."""
    numbered = ((number, line.rstrip(BLANKS)) for number, line in enumerate(lines, start=1))
    for cells in column_rows(numbered, columns, name):
        cells.pop("labels")
        yield {WORD: cells.pop("words"), **cells}


def _fresh(text: str, first: Token, anyhow: bool) -> bool:
    """Whether the sentences from this token on are the same without the text before it.

    They are if the token follows white space, because words do not depend on each other, and does not begin
    with punctuation, because spaCy's rule looks back over punctuation.
    """
    return text[first.start - 1].isspace() and (anyhow or first.text[0].isalnum())


def _no_layout(text: str) -> InvalidInput:
    return InvalidInput(
        f"expected columns such as `word,pos`, `word=1,pos=3` or `1,3`, found {text!r:.80}; name the column"
        " of the words, and each other column once."
    )
