"""The reference parser: a tagger under its constraints cuts each line of plain text into fields.

    line -> tokens -> labels -> runs of one label -> spans of the line

A span reaches from the first character of its first token to the last character of its last token, so only
white space is outside all spans. Lines are labelled one chunk at a time, and a line of more than `LONGEST`
characters in parts, so that memory does not grow, except with the longest line.

`to_tagged` writes the fields of a reference on one line, from which `lcons_tasks.data.read_references` reads
them back: `<author> ... </author> <title> ... </title>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from lcons_core import CodedColumn, InvalidInput
from lcons_core._instance import WORD
from lcons_core._schemes import OUTSIDE
from lcons_decode import Status
from lcons_tasks.apps._tagger import Columns, ConstrainedTagger
from lcons_tasks.data.text._clues import CLUE, clue_or_shape
from lcons_tasks.data.text._tokens import TOKEN, encodable

__all__ = ["ParsedReference", "Piece", "Span", "chunks", "parse", "to_tagged"]

POS = "pos"
LONGEST = 2**14

# A chunk ends when it reaches one of these sizes.
CHUNK_ITEMS = 256
CHUNK_CHARACTERS = 2**17

NO_LABEL = -1
_ORDER = tuple(Status)

Item = TypeVar("Item")
Piece = tuple[str | None, str]
Place = tuple[int, int]
Tags = Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]
"""Returns one POS tag per word, for each of several sequences of words."""

# A part ends before white space if it contains any.
_PART = re.compile(rf".{{1,{LONGEST}}}(?:(?=\s)|\Z)|.{{1,{LONGEST}}}", re.DOTALL)


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


class _Part(NamedTuple):
    """A part of a line that begins at `start`, and whether it is the `last` of the line."""

    line: str
    start: int
    text: str
    last: bool


class _Labels(NamedTuple):
    """Indices of labels, empty if there is no answer; the number of changed labels; and the status."""

    ids: list[int]
    changed: int
    status: Status


def parse(
    tagger: ConstrainedTagger, lines: Iterable[str], tags: Tags | None = None
) -> Iterator[ParsedReference]:
    """The references on the lines, in order; `tags` is called if the tagger reads POS tags. The column
    `clue`, if the tagger reads it, is made of the words (`data.text._clues`).

    At most one chunk of lines is read before the first reference is returned.
    """
    missing = [name for name in tagger.columns if name != CLUE and (name != POS or tags is None)]
    if missing:
        raise InvalidInput(
            f"the tagger reads column {missing[0]!r}, but references have only words; pass `tags` for POS"
            " tags; a tagger that reads another column cannot be used."
        )
    spans: list[Span] = []
    found: list[_Labels] = []
    for chunk in chunks((part for line in lines for part in _parts(line)), lambda part: len(part.text)):
        # The places of `reference_tokens`; one object per token would take longer than everything else here.
        places = [[found.span() for found in TOKEN.finditer(part.text)] for part in chunk]
        words = [[part.text[a:b] for a, b in own] for part, own in zip(chunk, places, strict=True)]
        for part, own, labels in zip(chunk, places, _label(tagger, words, tags), strict=True):
            _extend(spans, part.start, own, labels.ids, tagger.model.labels)
            found.append(labels)
            if part.last:
                changed, status = sum(labels.changed for labels in found), _worst(found)
                yield ParsedReference(part.line, tuple(spans), changed, status)
                spans, found = [], []


def chunks(
    items: Iterable[Item], characters: Callable[[Item], int], waits: Callable[[], bool] = lambda: False
) -> Iterator[list[Item]]:
    """The items in lists, none empty. A list ends when it has enough items or characters, or if the next item
    has not arrived yet (`waits`)."""
    chunk: list[Item] = []
    size = 0
    for item in items:
        chunk.append(item)
        size += characters(item)
        if len(chunk) == CHUNK_ITEMS or size >= CHUNK_CHARACTERS or waits():
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _parts(line: str) -> Iterator[_Part]:
    if len(line) <= LONGEST:
        yield _Part(line, 0, line, True)
        return
    for found in _PART.finditer(line):
        yield _Part(line, found.start(), found.group(), found.end() == len(line))


def _label(tagger: ConstrainedTagger, words: Sequence[list[str]], tags: Tags | None) -> Iterator[_Labels]:
    """The labels of the words of each part; the tagger does not read parts without words."""
    some = [own for own in words if own]
    xs = _columns(some, CLUE in tagger.columns)
    if tags is not None and some:
        xs = [{**x, POS: tagged} for x, tagged in zip(xs, tags(some), strict=True)]
    answers = iter(_answers(tagger, xs))
    for own in words:
        yield next(answers) if own else _Labels([], 0, Status.OPTIMAL)


def _columns(words: Sequence[list[str]], clues: bool) -> list[Columns]:
    """The words of each part, and their clues, as slices of one coded column: models, constraints and clues
    read each distinct word once."""
    whole = {WORD: CodedColumn.joined(words)}
    if clues:
        whole[CLUE] = CodedColumn(tuple(map(clue_or_shape, whole[WORD].values)), whole[WORD].codes)
    bounds = accumulate(map(len, words), initial=0)
    return [{name: column[a:b] for name, column in whole.items()} for a, b in pairwise(bounds)]


def _answers(tagger: ConstrainedTagger, xs: Sequence[Columns]) -> list[_Labels]:
    try:
        # One thread: chunks are small, and `lcons parse` has a process per core.
        found = tagger.ids(xs, threads=1)
    except InvalidInput:
        if not tagger.constraints:
            raise
        if len(xs) > 1:
            return [answer for x in xs for answer in _answers(tagger, [x])]
        # Count features raise an error for a label that occurs more often than their largest count. Then the
        # answer is that of the model alone.
        return [answer._replace(status=Status.RELAXED) for answer in _answers(tagger.alone, xs)]
    y, offsets = found.y.tolist(), found.offsets.tolist()
    return [
        _Labels([] if status is Status.INFEASIBLE else y[first:after], changed, status)
        for first, after, changed, status in zip(
            offsets[:-1], offsets[1:], found.changed.tolist(), found.statuses, strict=True
        )
    ]


def _extend(
    spans: list[Span], start: int, places: Sequence[Place], ids: Sequence[int], labels: Sequence[str]
) -> None:
    """Adds the spans of a part that begins at `start`; the first one may continue the last of `spans`."""
    if not places:
        return
    ids = ids or [NO_LABEL] * len(places)
    changes = [t for t, (one, other) in enumerate(pairwise(ids), start=1) if one != other]
    for first, after in pairwise([0, *changes, len(ids)]):
        label = ids[first]
        field = None if label == NO_LABEL or labels[label] == OUTSIDE else labels[label]
        begin, end = start + places[first][0], start + places[after - 1][1]
        if not first and spans and spans[-1].field == field:
            begin = spans.pop().start
        spans.append(Span(field, begin, end))


def _worst(found: Sequence[_Labels]) -> Status:
    """The weakest status; `Status` declares them from strongest to weakest."""
    return max((labels.status for labels in found), key=_ORDER.index)


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
