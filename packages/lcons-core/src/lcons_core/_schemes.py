"""Ready-made validity constraints for span schemes: IOB2 and BILOU.

Both are designed (not learned) constraints on label pairs, with explicit START and STOP.

    IOB2:   I-X needs B-X or I-X before it
    BILOU:  I-X and L-X need B-X or I-X before them; B-X and I-X need I-X or L-X after them

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable

from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput
from lcons_core.features._ngrams import NgramLabels
from lcons_core.reason._domain import Box
from lcons_core.reason._rules import forbid_boxes

OUTSIDE = "O"


def iob2(labels: Iterable[str]) -> LearnedConstraint:
    """The constraint that a label sequence is valid IOB2.

    >>> constraint = iob2(["B-NP", "I-NP", "O"])
    >>> constraint.satisfied(["B-NP", "I-NP", "O"]), constraint.satisfied(["I-NP", "O"])
    (True, False)
    """
    return _scheme("IOB2", "BI", tuple(labels), {"I": "BI"}, {})


def bilou(labels: Iterable[str]) -> LearnedConstraint:
    """The constraint that a label sequence is valid BILOU.

    >>> constraint = bilou(["B-PER", "I-PER", "L-PER", "U-PER", "O"])
    >>> constraint.satisfied(["B-PER", "L-PER", "O"]), constraint.satisfied(["B-PER"])
    (True, False)
    """
    inside = {"I": "BI", "L": "BI"}
    return _scheme("BILOU", "BILU", tuple(labels), inside, {"B": "IL", "I": "IL"})


def _scheme(
    name: str,
    prefixes: str,
    labels: tuple[str, ...],
    before: dict[str, str],
    after: dict[str, str],
) -> LearnedConstraint:
    feature = NgramLabels(labels, n=2, pad=True)
    first, second = feature.space.blocks
    boxes = []
    for label in labels:
        if label == OUTSIDE:
            continue
        prefix, dash, kind = label.partition("-")
        if len(prefix) != 1 or prefix not in prefixes or not dash or not kind:
            raise InvalidInput(
                f"expected {name} labels, each {OUTSIDE!r} or one of the letters {prefixes} and a type, like"
                f" '{prefixes[0]}-X'; found {label!r}."
            )
        for needed, own, other in ((before, second, first), (after, first, second)):
            if prefix in needed:
                allowed = {f"{p}-{kind}" for p in needed[prefix]}
                rest = [value for value in other.values if value not in allowed]
                boxes.append(Box.of(feature.space, {own.name: label, other.name: rest}))
    network = forbid_boxes(feature.space, boxes)
    return LearnedConstraint(network, feature.space, feature, {"designed": name})
