"""Changes by constraints: the spans of their labels, their errors, and the rule behind each.

The scheme of labels depends on all labels of a sentence: IOB and its variants, or plain names.

| labels | a span is |
|---|---|
| B-X, I-X, O; also L-, U- (BILOU) and E-, S- (IOBES) | a chunk, by the rules of seqeval |
| others | consecutive words with the same label, except O |

The errors of an answer are the places where gold has another label. Places are words; if relations are
predicted, places are spans and pairs of spans.

The rule is what constraints forbid in the answer before the change. It comes from the window whose margin
increased most from the unconstrained answer to the constrained one; of its labels and tags, the rule names
only those that are needed for the rejection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np

from lcons_core import Instance, LconsError, LearnedConstraint, why
from lcons_core._schemes import OUTSIDE
from lcons_core.features import SequenceFeature
from lcons_decode.files._answers import NO_LABEL
from lcons_tasks.own_data._judgement import smallest_forbidden
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


def linked(change: Change, side: Side, against: Side) -> Iterator[tuple[str, str, str, bool]]:
    """(source, label, target, whether `against` has no such relation) of the relations of a side."""
    texts = {first: " ".join(change.words[first:after]) for _, first, after in change_spans(change, side)}
    right = change_links(change, against)
    for i, j, label in change_links(change, side):
        yield texts.get(i, change.words[i]), label, texts.get(j, change.words[j]), (i, j, label) not in right


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


NO_WINDOW = "no single window explains it: the change follows from others, or from a global constraint"

Reason = tuple[str, str]


def reason(before: Instance, after: Instance, constraints: Mapping[str, LearnedConstraint]) -> Reason:
    """(the rule in words, the sum that forbids the answer before the change): the smallest forbidden part of
    the window whose margin increased most."""
    most, chosen = 0.0, None
    for constraint in constraints.values():
        feature = constraint.feature
        if not isinstance(feature, SequenceFeature) or len(before.y) < feature.n:
            continue
        try:
            old, new = feature.psi(before), feature.psi(after)
        except LconsError:
            # The constraint does not know some label or column.
            continue
        margin, mended = (constraint.margin(psi) for psi in (old, new))
        # The main part of the increase is below 0, where a margin means forbidden.
        rise = np.minimum(mended, 0.0) - np.minimum(margin, 0.0) + 0.01 * (mended - margin)
        if rise.max(initial=0.0) > most:
            worst = int(rise.argmax())
            most, chosen = rise[worst], (constraint, old.dense()[worst], float(margin[worst]))
    if chosen is None:
        return NO_WINDOW, ""
    constraint, point, least = chosen
    named = constraint.space.describe(point)
    if least < 0:
        named = smallest_forbidden(constraint, named)
    verdict = "forbidden" if least < 0 else f"penalised (margin {least:.2f}, at most 1)"
    parts = ", ".join(f"{name} {value}" for name, value in named.items())
    return f"{verdict}: {parts}", why(constraint, named).arithmetic
