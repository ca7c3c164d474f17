"""Labels as spans; the scheme depends on all labels of a sentence: IOB and its variants, or plain names.

| labels | a span is |
|---|---|
| B-X, I-X, O; also L-, U- (BILOU) and E-, S- (IOBES) | a chunk, by the rules of seqeval |
| others | consecutive words with the same label, except O |

The errors of an answer are the places where gold has another label. Places are words; if relations are
predicted, places are spans and pairs of spans.
"""

from __future__ import annotations

from typing import Literal

from lcons_core._schemes import OUTSIDE
from lcons_decode.files._answers import NO_LABEL
from lcons_tasks.report._document import Change, Link
from lcons_tasks.stats import are_spans, chunks, runs_as_iob2

Span = tuple[str, int, int]
Side = Literal["before", "after", "gold"]
SIDES: tuple[Side, ...] = ("before", "after", "gold")


def change_spans(change: Change, side: Side) -> tuple[Span, ...]:
    """(type, first word, word after the last) of each span of one side of a change.

    >>> words, chunked, plain = ("a", "b", "c"), ("B-NP", "L-NP", "U-NP"), ("author", "author", "O")
    >>> change_spans(Change(words, chunked, chunked), "after")
    (('NP', 0, 2), ('NP', 2, 3))
    >>> change_spans(Change(words, plain, plain), "after")
    (('author', 0, 2),)
    """
    labels = getattr(change, side) or ()
    if are_spans({*change.before, *change.after, *(change.gold or ())} - {NO_LABEL}):
        return tuple(chunks(labels))
    return tuple(span for span in chunks(runs_as_iob2(labels)) if span[0] not in (OUTSIDE, NO_LABEL))


def change_links(change: Change, side: Side) -> tuple[Link, ...]:
    """The links of one side of a change."""
    return getattr(change, f"links_{side}") or ()


def has_links(change: Change) -> bool:
    """Whether any side has relations."""
    return bool(change.links_before or change.links_after or change.links_gold)


def is_changed(change: Change) -> bool:
    """Whether constraints changed the answer."""
    return change.before != change.after or change.links_before != change.links_after


def gain(change: Change) -> int:
    """The number of errors before minus the number after; 0 without gold labels.

    >>> gain(Change(("the", "dog"), ("B-VP", "I-NP"), ("B-NP", "I-NP"), ("B-NP", "I-NP")))
    1
    """
    return 0 if change.gold is None else errors(change, "before") - errors(change, "after")


def errors(change: Change, side: Side) -> int:
    """The number of places where a side and gold differ."""
    answer, gold = _places(change, side), _places(change, "gold")
    return sum(answer.get(place) != gold.get(place) for place in answer.keys() | gold.keys())


def _places(change: Change, side: Side) -> dict[tuple[str, int, int], str]:
    if not has_links(change):
        return {("word", t, t): label for t, label in enumerate(getattr(change, side))}
    spans = {("span", first, after): label for label, first, after in change_spans(change, side)}
    return spans | {("link", i, j): label for i, j, label in change_links(change, side)}
