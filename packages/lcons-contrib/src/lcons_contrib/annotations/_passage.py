"""A text with labelled spans of characters, and the labelled sentences in it.

The tokens are those of lcons (`lcons_tasks.data.text`), or those of the tool if its file has them. A token
that a span cuts is split there, so that each span is a run of whole tokens. A sentence that would end inside
a span goes on until the span ends. Labels are IOB2: B-X for the first token of a span of type X, I-X for the
others, O outside.

Each token has one label, so of two spans that overlap only the longer one is read (of equally long ones, the
first), and none without a character that is not white space; a warning states how many were left out.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from lcons_core import InvalidInput
from lcons_core._schemes import OUTSIDE
from lcons_tasks.data.text import Token, sentences

Sentence = tuple[Sequence[str], Sequence[str]]
"""Words and labels."""


class Span(NamedTuple):
    """The characters `start` to `end` (exclusive) of a text, and their label."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Passage:
    """A text, its spans, and its sentences as lists of tokens; without them, those of lcons."""

    text: str
    spans: Sequence[Span]
    tokens: Sequence[Sequence[Token]] | None = None

    def __post_init__(self) -> None:
        for span in self.spans:
            if not 0 <= span.start <= span.end <= len(self.text) or not span.label:
                raise InvalidInput(
                    f"expected labelled spans inside a text of {len(self.text)} characters, found"
                    f" {span.label!r:.40} from {span.start} to {span.end}; correct the offsets."
                )

    @property
    def disjoint(self) -> list[Span]:
        """The spans that are read, in the order of the text.

        >>> Passage("New York City", (Span(0, 8, "A"), Span(0, 13, "B"), Span(9, 13, "C"))).disjoint
        [Span(start=0, end=13, label='B')]
        """
        taken: list[Span] = []
        solid = [span for span in self.spans if self.text[span.start : span.end].strip()]
        for span in sorted(solid, key=lambda span: (span.start - span.end, span.start)):
            if all(span.end <= other.start or other.end <= span.start for other in taken):
                taken.append(span)
        return sorted(taken)

    def sentences(self) -> list[Sentence]:
        """The sentences with one label per token.

        >>> passage = Passage("Ann saw New York-based Bo. Why?", [Span(8, 16, "LOC")])
        >>> [labels for _, labels in passage.sentences()]
        [['O', 'O', 'B-LOC', 'I-LOC', 'O', 'O', 'O', 'O'], ['O', 'O']]
        """
        spans = self.disjoint
        edges = sorted({edge for span in spans for edge in (span.start, span.end)})
        runs: list[list[tuple[Token, int | None]]] = []
        for tokens in sentences(self.text) if self.tokens is None else self.tokens:
            run = [(piece, _span_at(piece.start, spans)) for token in tokens for piece in _cut(token, edges)]
            if runs and run and run[0][1] is not None and runs[-1][-1][1] == run[0][1]:
                runs[-1] += run
            elif run:
                runs.append(run)
        return [([token.text for token, _ in run], list(_labels(run, spans))) for run in runs]


def _span_at(place: int, spans: Sequence[Span]) -> int | None:
    """The number of the span that has the character at this place."""
    number = bisect_right(spans, place, key=lambda span: span.start) - 1
    return number if number >= 0 and place < spans[number].end else None


def _cut(token: Token, edges: Sequence[int]) -> Iterator[Token]:
    """The token, split where a span begins or ends inside it."""
    inside = edges[bisect_right(edges, token.start) : bisect_left(edges, token.end)]
    for first, after in pairwise([token.start, *inside, token.end]):
        piece = token.text[first - token.start : after - token.start]
        if piece.strip():
            yield Token(piece, first, after)


def _labels(run: Iterable[tuple[Token, int | None]], spans: Sequence[Span]) -> Iterator[str]:
    before = None
    for _, number in run:
        yield OUTSIDE if number is None else f"{'I' if number == before else 'B'}-{spans[number].label}"
        before = number


def labelled(passages: Iterable[Passage]) -> Iterator[Sentence]:
    """The sentences of passages; warns of spans that were left out."""
    left_out = 0
    for passage in passages:
        yield from passage.sentences()
        left_out += len(passage.spans) - len(passage.disjoint)
    warn_left_out(left_out, "spans overlap longer ones or are empty and")


def warn_left_out(count: int, what: str) -> None:
    """Warns of annotations that labels of tokens cannot represent."""
    if count:
        warnings.warn(f"{count:,} {what} were left out, because each token has one label", stacklevel=3)


def member(value: Any, name: str, kind: type[Any], default: Any = None) -> Any:
    """A member of a JSON object, which must be of this type.

    >>> member({"start": 3}, "start", int)
    3
    """
    content = value.get(name, default) if isinstance(value, dict) else None
    if not isinstance(content, kind):
        raise InvalidInput(
            f"expected an object with a member {name!r} ({kind.__name__}), found {value!r:.60}; export again."
        )
    return content


def span_of(value: Any, label: str) -> Span:
    """The span of an object with the members `start` and `end`."""
    return Span(member(value, "start", int), member(value, "end", int), "_".join(label.split()))
