"""Labels as spans, by what all labels of a sentence are: IOB and its relatives, or names of their own.

| labels | a span is |
|---|---|
| B-X, I-X, O; L-, U- (BILOU) and E-, S- (IOBES) too | a chunk, by the rules of conlleval |
| others | a run of one label, except O |

The errors of an answer are the places where gold has another label: words, or where relations are predicted,
spans and pairs of spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from lcons_core import OUTSIDE
from lcons_decode.files import NO_LABEL
from lcons_tasks.report._document import Change
from lcons_tasks.stats import chunks, runs_as_iob2

Span = tuple[str, int, int]
Link = tuple[int, int, str]
Side = Literal["before", "after", "gold"]

_IOB = re.compile(r"O|[BI]|[BILUES]-.+", re.DOTALL)
_AS_IOB = {"U": "B", "S": "B", "L": "I", "E": "I"}


def are_iob(labels: Iterable[str]) -> bool:
    """Whether labels are IOB or a relative of it, some of them not O.

    >>> are_iob(["B-NP", "I-NP", "O"]), are_iob(["U-NP", "O"]), are_iob(["author", "O"]), are_iob(["O"])
    (True, True, False, False)
    """
    found = set(labels) - {NO_LABEL}
    return bool(found - {OUTSIDE}) and all(_IOB.fullmatch(label) for label in found)


def spans_of(labels: Sequence[str], iob: bool) -> tuple[Span, ...]:
    """(type, first, after the last) of each span.

    >>> spans_of(["B-NP", "L-NP", "U-NP"], iob=True), spans_of(["author", "author", "O"], iob=False)
    ((('NP', 0, 2), ('NP', 2, 3)), (('author', 0, 2),))
    """
    if iob:
        return tuple(chunks([_AS_IOB.get(label[:1], label[:1]) + label[1:] for label in labels]))
    return tuple(one for one in chunks(runs_as_iob2(labels)) if one[0] not in (OUTSIDE, NO_LABEL))


def change_spans(one: Change, side: Side) -> tuple[Span, ...]:
    """The spans of a side of a change."""
    iob = are_iob({*one.before, *one.after, *(one.gold or ())})
    return spans_of(getattr(one, side) or (), iob)


def change_links(one: Change, side: Side) -> tuple[Link, ...]:
    """The links of a side of a change."""
    found: tuple[Link, ...] | None = getattr(one, f"links_{side}")
    return found or ()


def has_links(one: Change) -> bool:
    """Whether relations are predicted, on any side."""
    return bool(one.links_before or one.links_after or one.links_gold)


def is_changed(one: Change) -> bool:
    """Whether constraints changed the answer."""
    return one.before != one.after or one.links_before != one.links_after


def gain(one: Change) -> int:
    """How many errors fewer there are after; 0 without gold labels.

    >>> gain(Change(("the", "dog"), ("B-VP", "I-NP"), ("B-NP", "I-NP"), ("B-NP", "I-NP")))
    1
    """
    return 0 if one.gold is None else errors(one, "before") - errors(one, "after")


def errors(one: Change, side: Side) -> int:
    """The places where a side and gold differ."""
    own, gold = _places(one, side), _places(one, "gold")
    return sum(own.get(place) != gold.get(place) for place in own.keys() | gold.keys())


def _places(one: Change, side: Side) -> dict[tuple[str, int, int], str]:
    if not has_links(one):
        return {("word", t, t): label for t, label in enumerate(getattr(one, side))}
    spans = {("span", first, after): label for label, first, after in change_spans(one, side)}
    return spans | {("link", i, j): label for i, j, label in change_links(one, side)}
