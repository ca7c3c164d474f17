"""Sentences to tag, from raw text or CoNLL columns of any length, read in blocks of whole sentences.

    blocks(file, reader) -> blocks;   block.sentences() -> the columns and the places of each sentence

A block is read without the text around it, here or in another process. The sentences of raw text are those of
`text.sentences` for the whole text, by line or not, except that sentences much longer than `LONGEST`
characters are cut. Only white space is left out.

Columns have one line per token and blank lines between sentences, with the same number of cells in each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from lcons_core import InvalidInput
from lcons_core._instance import WORD
from lcons_tasks.data._columns import Columns, column_rows
from lcons_tasks.data._lines import BLANKS
from lcons_tasks.data._tagged_text import Places
from lcons_tasks.data.text import sentences

# Characters of a block of text without a place where it may end, and of one `read`.
LONGEST, BLOCK = 2**14, 2**16
# Narrower lines are not wrapped, but lines of a list or a poem; the beginning of a text decides.
NARROWEST, BEGINNING = 40, 2**13
POS = "pos"
SKIPPED = "_"

X = dict[str, tuple[str, ...]]

_NUMBER = re.compile("-?[0-9]{1,9}")
_IN_ORDER = (WORD, POS)
# After these, sentences are the same without the text before them. spaCy's rule looks back over punctuation.
_LINE_BEGINS = re.compile(r"\n(?=[^\W_])")
_PARAGRAPH_BEGINS = re.compile(r"\n\r?\n(?=[^\W_])")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


class Block(NamedTuple):
    """Whole sentences of a text, and the numbers of its first character, from 0, and line, from 1."""

    reader: TextReader | ColumnReader
    text: str
    character: int = 0
    line: int = 1

    def sentences(self) -> Iterator[tuple[X, Places]]:
        """The columns of each sentence, and the places of its words in the whole text."""
        return self.reader.sentences(self)


def blocks(file: Any, reader: TextReader | ColumnReader, size: int = BLOCK) -> Iterator[Block]:
    """The text of a file in blocks, none empty. A block ends where the text that has arrived allows it.

    file: its `read(size)` returns text that has arrived, at most about `size` characters, or "" at the end.
    """
    held, character, line = "", 0, 1
    while more := file.read(size):
        held += more
        reader = reader.begun(held)
        if stop := reader.end(held, len(more)):
            yield Block(reader, held[:stop], character, line)
            character, line, held = character + stop, line + held.count("\n", 0, stop), held[stop:]
    if held:
        yield Block(reader, held, character, line)


@dataclass(frozen=True)
class TextReader:
    """Raw text. A line break ends a sentence unless lines are `wrapped`; None: the beginning decides."""

    wrapped: bool | None = None
    longest: int = LONGEST

    def begun(self, text: str) -> TextReader:
        """The reader that knows whether lines are wrapped."""
        return self if self.wrapped is not None else replace(self, wrapped=are_wrapped(text[:BEGINNING]))

    def end(self, held: str, new: int) -> int:
        """The last place where a line or paragraph begins; in a long text without one, a sentence."""
        begins = _PARAGRAPH_BEGINS if self.wrapped else _LINE_BEGINS
        places = [place.end() for place in begins.finditer(held)]
        if places or len(held) <= self.longest:
            return places[-1] if places else 0
        firsts = (sentence[0].start for sentence in sentences(held, not self.wrapped))
        places = [i for i in firsts if i and held[i - 1].isspace() and held[i].isalnum()]
        # A word may continue in the next block: what is before it is complete.
        word = 0 if held[-1].isspace() else len(held.rsplit(None, 1)[-1])
        return places[-1] if places else (len(held) - word or len(held))

    def sentences(self, block: Block) -> Iterator[tuple[X, Places]]:
        """The words of each sentence, and their places."""
        first = block.character
        for tokens in sentences(block.text, not self.wrapped):
            yield {WORD: tuple(t.text for t in tokens)}, [(first + t.start, first + t.end) for t in tokens]


@dataclass(frozen=True)
class ColumnReader:
    """CoNLL columns; `name` is the file's name in errors, `width` the number of cells of its first token."""

    columns: Columns
    name: str
    width: int = 0

    def begun(self, text: str) -> ColumnReader:
        """The reader that knows the number of cells."""
        lines = [] if self.width else text.split("\n")[:-1]
        first = next(filter(None, (line.rstrip(BLANKS) for line in lines)), "")
        return replace(self, width=len(self.columns.split(first))) if first else self

    def end(self, held: str, new: int) -> int:
        """The end of the last blank line."""
        places = _BLANK_LINE.finditer(held, max(0, len(held) - new - 1))
        return max((place.end() for place in places), default=0)

    def sentences(self, block: Block) -> Iterator[tuple[X, Places]]:
        """The columns of each sentence."""
        lines = (line.rstrip(BLANKS) for line in block.text.split("\n"))
        for cells in column_rows(enumerate(lines, block.line), self.columns, self.name, self.width):
            cells.pop("labels")
            yield {WORD: cells.pop("words"), **cells}, None


def text_sentences(file: Any) -> Iterator[X]:
    """The words of each sentence of a text."""
    return (x for block in blocks(file, TextReader()) for x, _ in block.sentences())


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


def column_layout(text: str) -> Columns:
    """The layout that a text such as `word,pos`, `word=1,pos=-2` or `1,2` (word and pos) states.

    Names without a number are the file's first columns in that order; `_` is a column that is not read.

    >>> column_layout("word,_,pos").context, column_layout("2,3").words
    ({'pos': 3}, 2)
    """
    places: dict[str, int] = {}
    wrong = False
    for i, item in enumerate(text.split(",")):
        name, equals, number = (part.strip() for part in item.partition("="))
        if not equals:
            name, number = (_IN_ORDER[i], name) if _NUMBER.fullmatch(name) and i < 2 else (name, str(i + 1))
        number_fits, named_by_number = _NUMBER.fullmatch(number), _NUMBER.fullmatch(name)
        wrong = wrong or not name or name in places or not number_fits or bool(named_by_number)
        if name != SKIPPED and not wrong:
            places[name] = int(number)
    if wrong or WORD not in places:
        raise InvalidInput(f"expected columns such as `word,pos` or `word=1,pos=3`, found {text!r:.80}.")
    words = places.pop(WORD)
    # `Columns` needs a label column, but these sentences have no labels: any column serves.
    return Columns(words=words, labels=words, context=places)
