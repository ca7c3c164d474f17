"""A text with labelled spans of characters, and the labelled sentences in it.

The tokens are those of lcons (`data.text`), or those of the tool if its file has them. A token that a span
cuts is split there, so that each span is a run of whole tokens. A sentence that would end inside a span goes
on until the span ends. Labels are IOB2: B-X for the first token of a span of type X, I-X for the others, O
outside.

Each token has one label, so of two spans that overlap only the longer one is read (of equally long ones, the
first); an `AnnotationWarning` states how many were left out. So are spans without a character that is not
white space.
"""

from __future__ import annotations

import os
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from lcons_core import OUTSIDE, WORD, Instance, InvalidInput, LconsError
from lcons_tasks.data._lines import malformed
from lcons_tasks.data.text import Token, sentences
from lcons_tasks.own_data._data import Structures


class AnnotationWarning(UserWarning):
    """Annotations that labels of tokens cannot represent were left out."""


class Span(NamedTuple):
    """The characters `start` to `end` (exclusive) of a text, and their label."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Passage:
    """A text, its spans, and its sentences as lists of tokens; without them, those of lcons."""

    text: str
    spans: tuple[Span, ...]
    tokens: tuple[tuple[Token, ...], ...] | None = None

    def __post_init__(self) -> None:
        for span in self.spans:
            if not 0 <= span.start <= span.end <= len(self.text):
                raise InvalidInput(
                    f"expected spans inside a text of {len(self.text)} characters, found the characters"
                    f" {span.start} to {span.end}; correct the offsets."
                )
            if not span.label or any(character.isspace() for character in span.label):
                raise InvalidInput(
                    f"expected a label without blanks, found {span.label!r:.60}; give the span a name."
                )

    @property
    def kept(self) -> list[Span]:
        """The spans that are read, in the order of the text.

        >>> Passage("New York City", (Span(0, 8, "A"), Span(0, 13, "B"), Span(9, 13, "C"))).kept
        [Span(start=0, end=13, label='B')]
        """
        taken: list[Span] = []
        solid = [span for span in self.spans if self.text[span.start : span.end].strip()]
        for span in sorted(solid, key=lambda span: (span.start - span.end, span.start)):
            if all(span.end <= other.start or other.end <= span.start for other in taken):
                taken.append(span)
        return sorted(taken)

    def instances(self) -> list[Instance]:
        """The sentences with one label per token.

        >>> [one.y for one in Passage("Ann saw New York-based Bo. Why?", (Span(8, 16, "LOC"),)).instances()]
        [('O', 'O', 'B-LOC', 'I-LOC', 'O', 'O', 'O', 'O'), ('O', 'O')]
        """
        spans = _Spans(self.kept)
        found: list[list[Token]] = []
        for sentence in sentences(self.text) if self.tokens is None else self.tokens:
            tokens = list(spans.cut(sentence))
            if found and tokens and spans.join(found[-1][-1], tokens[0]):
                found[-1] += tokens
            elif tokens:
                found.append(tokens)
        return [
            Instance({WORD: tuple(token.text for token in tokens)}, tuple(spans.labels(tokens)))
            for tokens in found
        ]


class _Spans:
    """Spans that do not overlap, found by the place of a token."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = spans
        self.starts = [span.start for span in spans]
        self.edges = sorted({edge for span in spans for edge in (span.start, span.end)})

    def at(self, token: Token) -> int | None:
        """The number of the span in which a token begins."""
        number = bisect_right(self.starts, token.start) - 1
        return number if number >= 0 and token.start < self.spans[number].end else None

    def cut(self, tokens: Iterable[Token]) -> Iterator[Token]:
        """The tokens, split where a span begins or ends inside one."""
        for token in tokens:
            inside = self.edges[bisect_right(self.edges, token.start) : bisect_left(self.edges, token.end)]
            for first, after in pairwise([token.start, *inside, token.end]):
                piece = token.text[first - token.start : after - token.start]
                if piece.strip():
                    yield Token(piece, first, after)

    def join(self, last: Token, first: Token) -> bool:
        """Whether the last token of a sentence and the first of the next are in one span."""
        return self.at(last) is not None and self.at(last) == self.at(first)

    def labels(self, tokens: Iterable[Token]) -> Iterator[str]:
        """The label of each token."""
        before = None
        for token in tokens:
            own = self.at(token)
            if own is None:
                yield OUTSIDE
            else:
                yield f"{'I' if own == before else 'B'}-{self.spans[own].label}"
            before = own


def structures_of(path: str | os.PathLike[str], passages: Iterable[Passage]) -> Structures:
    """The sentences of all passages of a file; at least one."""
    instances: list[Instance] = []
    left_out = 0
    for passage in passages:
        instances += passage.instances()
        left_out += len(passage.spans) - len(passage.kept)
    if not instances:
        raise malformed(path, 1, "expected annotated text, found none; add at least one text.")
    if left_out:
        warnings.warn(
            f"{os.fspath(path)}: {left_out:,} spans overlap longer ones or are empty and were left out,"
            " because each token has one label",
            AnnotationWarning,
            stacklevel=3,
        )
    return Structures(tuple(instances))


def span_of(value: Any, label: Any) -> Span:
    """The span of an object with the members `start` and `end`."""
    offsets = [value.get(name) for name in ("start", "end")]
    if not all(isinstance(offset, int) and not isinstance(offset, bool) for offset in offsets):
        raise InvalidInput(
            f"expected `start` and `end` as numbers of characters, found {offsets[0]!r:.20} and"
            f" {offsets[1]!r:.20}; export the annotations of text again."
        )
    if not isinstance(label, str):
        raise InvalidInput(f"expected a label as text, found {label!r:.40}; give the span a name.")
    return Span(offsets[0], offsets[1], label.replace(" ", "_"))


def check_object(value: Any, what: str) -> dict[str, Any]:
    """`value` if it is a JSON object."""
    if not isinstance(value, dict):
        raise InvalidInput(f"expected {what} as an object, found {value!r:.40}; export the file again.")
    return value


def at_line(path: str | os.PathLike[str], line: int, error: LconsError) -> LconsError:
    """The error with the file and line in front of it."""
    return malformed(path, line, str(error))
