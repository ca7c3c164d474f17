"""The reference parser: a tagger under its constraints cuts each line of plain text into fields.

    line -> tokens -> labels -> runs of one label -> spans of the line

A span reaches from the first character of its first token to the last character of its last token, so only
white space is outside all spans. Lines are labelled one chunk at a time, so that memory does not grow, except
with the longest line.

`to_tagged` writes the fields of a reference on one line, from which `lcons_tasks.data.read_references` reads
them back: `<author> ... </author> <title> ... </title>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from lcons_core import CodedColumn, InvalidInput
from lcons_core._instance import WORD
from lcons_core._schemes import OUTSIDE
from lcons_decode import Decoding, Status
from lcons_tasks.apps._tagger import Columns, ConstrainedTagger, chunks
from lcons_tasks.data.text._clues import CLUE, clue_or_shape
from lcons_tasks.data.text._tokens import TOKEN, encodable

__all__ = ["ParsedReference", "Span", "chunks", "parse", "to_tagged"]

POS = "pos"

Piece = tuple[str | None, str]
Place = tuple[int, int]
Tags = Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]
"""Returns one POS tag per word, for each of several sequences of words."""


class Span(NamedTuple):
    """`text[start:end]` of a reference, and its field; None: no field."""

    field: str | None
    start: int
    end: int


@dataclass(frozen=True)
class ParsedReference:
    """A line with its fields.

    text: the line.
    spans: its fields in the order of the text; a blank line has none.
    changed: the number of tokens whose label differs from that of the model alone.
    status: the status of the decoding.

    >>> reference = ParsedReference("Cau, A. (1992)", (Span("author", 0, 7), Span("date", 8, 14)))
    >>> reference.pieces
    [('author', 'Cau, A.'), ('date', '(1992)')]
    """

    text: str
    spans: tuple[Span, ...]
    changed: int = 0
    status: Status = Status.OPTIMAL

    @property
    def pieces(self) -> list[Piece]:
        """(field, text) in order, as `to_tagged` accepts them."""
        return [(field, self.text[start:end]) for field, start, end in self.spans]


def parse(
    tagger: ConstrainedTagger, lines: Iterable[str], tags: Tags | None = None
) -> Iterator[ParsedReference]:
    """The references on the lines, in order; `tags` is called if the tagger reads POS tags. The column
    `clue`, if the tagger reads it, is made of the words (`data.text._clues`).

    At most one chunk of lines is read before the first reference is returned.
    """
    missing = [name for name in tagger.columns if name != CLUE and (name != POS or tags is None)]
    if missing:
        problem = f"the tagger reads column {missing[0]!r}, but references have only words"
        raise InvalidInput(f"{problem}; pass `tags` for POS tags.")
    for chunk in chunks(lines, len):
        # The places of `reference_tokens`; one object per token would take longer than everything else here.
        places = [[token.span() for token in TOKEN.finditer(line)] for line in chunk]
        words = [[line[a:b] for a, b in at] for line, at in zip(chunk, places, strict=True)]
        for line, at, answer in zip(chunk, places, _label(tagger, words, tags), strict=True):
            spans = tuple(_spans(at, answer.y or [OUTSIDE] * len(at)))
            yield ParsedReference(line, spans, answer.stats["changed"], answer.status)


def _label(tagger: ConstrainedTagger, words: Sequence[list[str]], tags: Tags | None) -> Iterator[Decoding]:
    """The answer for the words of each line; the tagger does not read lines without words."""
    some = [line for line in words if line]
    xs = _columns(some, CLUE in tagger.columns)
    if tags is not None and some:
        xs = [{**x, POS: tagged} for x, tagged in zip(xs, tags(some), strict=True)]
    answers = iter(tagger.tag(xs))
    for line in words:
        yield next(answers) if line else Decoding((), 0.0, Status.OPTIMAL, stats={"changed": 0})


def _columns(words: Sequence[list[str]], clues: bool) -> list[Columns]:
    """The words of each line, and their clues, as slices of one coded column: models, constraints and clues
    read each distinct word once."""
    whole = {WORD: CodedColumn.joined(words)}
    if clues:
        whole[CLUE] = CodedColumn(tuple(map(clue_or_shape, whole[WORD].values)), whole[WORD].codes)
    bounds = accumulate(map(len, words), initial=0)
    return [{name: column[a:b] for name, column in whole.items()} for a, b in pairwise(bounds)]


def _spans(places: Sequence[Place], labels: Sequence[str]) -> Iterator[Span]:
    """The runs of one label as spans; tokens without an answer have no field."""
    for label, run in groupby(zip(labels, places, strict=True), key=itemgetter(0)):
        (_, (start, end)), *rest = run
        yield Span(None if label == OUTSIDE else label, start, rest[-1][1][1] if rest else end)


_TAG = re.compile(r"<(?=/?[A-Za-z][A-Za-z0-9_-]*>)")
_NOT_IN_TAGS = re.compile(r"[^A-Za-z0-9_-]+")
_MARK = "NEWREFERENCE"


def to_tagged(pieces: Iterable[Piece]) -> str:
    """The pieces on one line, each in the tags of its field; text outside any field has no tags.

    The format has no escapes, so a text that contains a tag gets a space: `<b>` becomes `< b>`. Characters of
    a field's name that cannot be in a tag become hyphens.

    >>> to_tagged([("author", "A. Cau."), (None, "see"), ("title", "The <b> tag,")])
    '<author> A. Cau. </author> see <title> The < b> tag, </title>'
    """
    words = ((field, " ".join(encodable(text).split())) for field, text in pieces)
    return " ".join(_tagged(field, _TAG.sub("< ", text)) for field, text in words if text)


def _tagged(field: str | None, text: str) -> str:
    if field is None:
        return text
    tag = _NOT_IN_TAGS.sub("-", field)
    # A tag begins with a letter and is not the mark of a new reference.
    tag = f"field-{tag}" if not tag[:1].isalpha() else tag.lower() if tag == _MARK else tag
    return f"<{tag}> {text} </{tag}>"
