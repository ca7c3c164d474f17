"""Constraints on label sequences: learned, listed as n-grams, or written as rows.

Every decoder accepts a list of constraints. Each is a `LearnedConstraint` (used as a hard one),
`Hard(constraint, name)` or `Soft(constraint, weight, name, cost)`. LOCAL constraints read the last n
labels and one context per position; GLOBAL ones read the whole labelling. Lists of n-grams and rows of
Theorem 1 are converted exactly to learned constraints:

    forbidden list:  one hidden unit per box of n-grams (lcons_core.reason._rules)
    rows r . psi + c >= 0:  the conjunction of one-unit networks 1 - ReLU(1 - r . psi - c) >= 0

So the decoders see one representation only, and the margin has one meaning.

What a constraint does not know is free: a window that contains an unknown label is allowed, with the largest
margin, 1. The same holds for a whole labelling under a global constraint, and for one with a count above the
bound of the feature, which training did not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import (
    Instance,
    InvalidInput,
    LearnedConstraint,
    LinearInequalities,
    RectifierNetwork,
    SparsePsi,
)
from lcons_core._arithmetic import LARGEST_MAGNITUDE
from lcons_core._constraint import as_constraint
from lcons_core._network import Conjunction
from lcons_core._types import Floats, Ints
from lcons_core.features import ConstraintFeature, Counts, NgramLabels, Scope, SequenceFeature
from lcons_core.features._ngrams import START, STOP
from lcons_core.reason._rules import Box, forbid_boxes

NEEDS = "a feature that computes psi"
COSTS = ("sigmoid", "hinge", "standard")


@dataclass(frozen=True)
class Hard:
    """A constraint that must hold; violations are reported under its `name`."""

    constraint: LearnedConstraint
    name: str = ""

    def __post_init__(self) -> None:
        as_constraint(self.constraint, "Hard", NEEDS)


@dataclass(frozen=True)
class Soft:
    """A preference: for every part, `weight * cost of its margin` is added to the score.

    | cost | of a part of margin m | so a weight is |
    |---|---|---|
    | sigmoid | log sigmoid(m) | per unit of log odds; allowed parts with small margins cost something, too |
    | hinge | min(0, m) | per unit of margin, and all that is allowed costs nothing |
    | standard | min(0, m / s) | what a typical violation costs |

    s is the mean of -m over the invalid examples that the constraint rejects in training, which its
    provenance records as `violation`; 1 if there is no such record.
    """

    constraint: LearnedConstraint
    weight: float
    name: str = ""
    cost: str = "sigmoid"

    def __post_init__(self) -> None:
        as_constraint(self.constraint, "Soft", NEEDS)
        is_number = isinstance(self.weight, int | float | np.number)
        if not is_number or not 0 <= self.weight <= LARGEST_MAGNITUDE:
            raise InvalidInput(f"a soft weight is a number from 0 to 2^200, got {self.weight!r:.40}.")
        if self.cost not in COSTS:
            raise InvalidInput(f"a soft cost is one of {', '.join(COSTS)}, found {self.cost!r}.")

    @property
    def hinge(self) -> bool:
        """Whether only violations cost."""
        return self.cost != "sigmoid"

    @property
    def rate(self) -> float:
        """The factor of log sigmoid(margin) or min(0, margin): the weight, per s if the cost is standard."""
        return self.weight / violation_scale(self.constraint) if self.cost == "standard" else self.weight


Constraint = LearnedConstraint | Hard | Soft


def usual_cost(constraint: LearnedConstraint) -> str:
    """The cost that was better on dev data: hinge for windows of labels, whose
    allowed windows the log sigmoid orders without reason; sigmoid where windows also have contexts."""
    feature = constraint.feature
    labels_alone = isinstance(feature, SequenceFeature) and feature.context_column is None
    return "hinge" if labels_alone else "sigmoid"


def violation_scale(constraint: LearnedConstraint) -> float:
    """The mean of -margin over the invalid examples that the constraint rejected in training, from its
    provenance; 1.0 if that has no positive number."""
    violation = constraint.provenance.get("violation")
    usable = isinstance(violation, int | float) and np.isfinite(violation) and violation > 0
    return float(violation) if usable else 1.0  # type: ignore[arg-type]


# The members of constraints on relations: labels of two candidates, and the relations between the two.
MEMBERS = ("source", "relation", "target", "reverse")


def listed(constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints, which must be in a list."""
    if isinstance(constraints, LearnedConstraint | Hard | Soft):
        raise InvalidInput("constraints are a list, got one constraint outside a list.")
    return list(constraints)


@dataclass(frozen=True)
class ConstraintSet:
    """Constraints by scope and kind, each with its own name."""

    hard: tuple[Hard, ...]
    soft: tuple[Soft, ...]
    global_hard: tuple[Hard, ...]
    global_soft: tuple[Soft, ...]

    @classmethod
    def of(cls, constraints: Iterable[Constraint]) -> ConstraintSet:
        """Sorts constraints and names those without a name; raises an error if a name is used twice."""
        named: list[Hard | Soft] = []
        for i, constraint in enumerate(listed(constraints)):
            use = Hard(constraint) if isinstance(constraint, LearnedConstraint) else constraint
            if not isinstance(use, Hard | Soft):
                raise InvalidInput(
                    f"constraints are LearnedConstraint, Hard or Soft: got {constraint!r:.80}."
                )
            name = use.name or f"constraint {i + 1}"
            named.append(replace(use, name=name))
        names = [use.name for use in named]
        if len(set(names)) != len(names):
            raise InvalidInput(f"constraint names must be distinct: got {names}.")
        local = [u for u in named if isinstance(u.constraint.feature, SequenceFeature)]
        others = [u for u in named if not isinstance(u.constraint.feature, SequenceFeature)]
        for use in others:
            if use.constraint.scope is not Scope.GLOBAL:
                kind = use.constraint.feature.kind if use.constraint.feature else "no"
                raise InvalidInput(
                    f"{use.name!r} has {kind} features, which do not exist in a chain; use n-gram or global"
                    " features, or the ILP."
                )
        return cls(
            tuple(u for u in local if isinstance(u, Hard)),
            tuple(u for u in local if isinstance(u, Soft)),
            tuple(u for u in others if isinstance(u, Hard)),
            tuple(u for u in others if isinstance(u, Soft)),
        )


def unknown_labels(uses: Iterable[Hard | Soft], labels: Sequence[str]) -> Iterator[str]:
    """A sentence for each constraint that does not know some of these labels, with the nearest ones it knows.

    >>> rule = Hard(forbidden_ngrams(["B-PER", "I-PER", "O"], [("O", "I-PER")]), "rule")
    >>> list(unknown_labels([rule], ["b-per", "O"]))
    ["'rule' does not know these labels, so they are free under it: b-per (but it knows B-PER)"]
    """
    for use in uses:
        known = {label.casefold(): label for label in use.constraint.labels}
        strange = [label for label in labels if known and label not in known.values()]
        near = dict.fromkeys(
            known[key] for label in strange for key in get_close_matches(label.casefold(), known, 1)
        )
        if strange:
            text = ", ".join(strange[:8]) + " ..." * bool(strange[8:])
            text += f" (but it knows {', '.join([*near][:8])})" if near else ""
            yield f"{use.name!r} does not know these labels, so they are free under it: {text}"


def judged_margins(constraint: LearnedConstraint, instance: Instance) -> Floats:
    """(parts,) the margin of each part of a structure; 1 for a part with a label that the constraint does not
    know."""
    psi, known = _parts(constraint, instance)
    margins = np.ones(len(known))
    if len(psi):
        margins[known] = constraint.margin(psi)
    return margins


def broken_parts(constraint: LearnedConstraint, instance: Instance) -> Ints:
    """The indices of the parts of a structure that the constraint rejects; none has an unknown label.

    >>> bigrams = forbidden_ngrams(["B", "I", "O"], [("O", "I")])
    >>> [broken_parts(bigrams, Instance({}, y)).tolist() for y in (["O", "I"], ["X", "I", "X"])]
    [[0], []]
    """
    psi, known = _parts(constraint, instance)
    rejected = np.zeros(len(known), dtype=np.bool_)
    if len(psi):
        rejected[known] = ~constraint.network.accepts(psi)
    return np.flatnonzero(rejected)


def _parts(constraint: LearnedConstraint, instance: Instance) -> tuple[SparsePsi, NDArray[np.bool_]]:
    """The psi of the parts that have only labels that the constraint knows, and which of all these are."""
    feature = constraint.feature
    if feature is None:
        raise InvalidInput("this constraint has no feature, so it cannot check structures; pass one with it.")
    labels = set(feature.labels)
    strange = {t for t, label in enumerate(instance.y) if labels and label not in labels}
    if not strange and not _is_beyond(feature, instance):
        psi = feature.psi(instance)
        return psi, np.ones(len(psi), dtype=np.bool_)
    if not isinstance(feature, SequenceFeature):
        return SparsePsi.from_indices([], constraint.space.d), np.zeros(1, dtype=np.bool_)
    y = [feature.labels[0] if t in strange else label for t, label in enumerate(instance.y)]
    psi = feature.psi(Instance(instance.x, y))
    places = (feature.label_terms(len(y), window) for window in range(len(psi)))
    known = np.array([not any(t in strange for t, _ in terms) for terms in places], dtype=np.bool_)
    return psi.take(known), known


def _is_beyond(feature: ConstraintFeature, instance: Instance) -> bool:
    """Whether a label occurs more often than the bound of a feature that counts."""
    if not isinstance(feature, Counts) or len(instance.y) <= feature.high:
        return False
    unbounded = replace(feature, high=len(instance.y))
    return bool(unbounded.psi(instance).dense().max() > feature.high)


def forbidden_ngrams(
    labels: Sequence[str], forbidden: Iterable[Sequence[str]], *, pad: bool = False
) -> LearnedConstraint:
    """The constraint that none of the n-grams occurs; with `pad`, they may contain START and STOP.

    >>> bigrams = forbidden_ngrams(["B", "I", "O"], [("O", "I")])
    >>> bigrams.satisfied(["B", "I"]), bigrams.satisfied(["O", "I"])
    (True, False)
    """
    grams, feature = _grams(labels, forbidden, pad)
    boxes = [Box.of(feature.space, dict(zip(_names(feature), gram, strict=True))) for gram in grams]
    network = forbid_boxes(feature.space, boxes)
    return LearnedConstraint(network, feature.space, feature, {"designed": "forbidden n-grams"})


def allowed_ngrams(
    labels: Sequence[str], allowed: Iterable[Sequence[str]], *, pad: bool = False
) -> LearnedConstraint:
    """The constraint that only the listed n-grams occur; with `pad`, list those with START and STOP, too."""
    grams, feature = _grams(labels, allowed, pad)
    names = _names(feature)
    boxes = []
    # If no listed n-gram has a prefix, the prefix is forbidden; otherwise its unlisted continuations are.
    prefixes: set[tuple[str, ...]] = {()}
    for i, name in enumerate(names):
        for prefix in sorted(prefixes):
            following = {gram[i] for gram in grams if tuple(gram[:i]) == prefix}
            rest = [value for value in feature.label_values(i) if value not in following]
            if rest:
                fixed = dict(zip(names, prefix, strict=False))
                boxes.append(Box.of(feature.space, {**fixed, name: rest}))
        prefixes = {tuple(gram[: i + 1]) for gram in grams}
    network = forbid_boxes(feature.space, boxes)
    return LearnedConstraint(network, feature.space, feature, {"designed": "allowed n-grams"})


def rows_constraint(rows: LinearInequalities, feature: Any) -> LearnedConstraint:
    """The constraint that all rows hold, exactly, as a conjunction; its margin is min(1, least row).

    If 1 - c is not a float64, the network of a row is 1 - 1 - ReLU(-(r . psi + c)), with margin min(0, row).
    """
    parts = tuple(map(_row_network, rows.coefficients, rows.bias.tolist()))
    network = parts[0] if len(parts) == 1 else Conjunction(parts)
    return LearnedConstraint(network, feature.space, feature, {"designed": "rows"})


def _row_network(coefficients: Floats, bias: float) -> RectifierNetwork:
    if Fraction(1.0 - bias) == 1 - Fraction(bias):
        return RectifierNetwork(-coefficients[None], [1.0 - bias])
    return RectifierNetwork([np.zeros_like(coefficients), -coefficients], [1.0, -bias])


def _grams(
    labels: Sequence[str], ngrams: Iterable[Sequence[str]], pad: bool
) -> tuple[list[tuple[str, ...]], NgramLabels]:
    grams = [tuple(gram) for gram in ngrams]
    sizes = {len(gram) for gram in grams}
    if len(sizes) != 1:
        raise InvalidInput(f"the n-grams of a list must have one length: got {sorted(sizes)}.")
    if not pad and any({START, STOP} & set(gram) for gram in grams):
        raise InvalidInput(f"{START!r} and {STOP!r} exist only with padding; pass pad=True.")
    return grams, NgramLabels(labels, n=sizes.pop(), pad=pad)  # type: ignore[arg-type]


def _names(feature: NgramLabels) -> list[str]:
    return [block.name for block in feature.space.blocks]
