"""Constraints on label sequences, however they came about.

Every decoder takes a list of constraints, each a `LearnedConstraint` (a hard one), or `Hard(constraint,
name)` or `Soft(constraint, weight, name)`. LOCAL ones look at the last n labels and a context per position,
GLOBAL ones at the whole labelling. Lists of n-grams and Theorem-1 rows become learned constraints exactly:

    forbidden list:  one hidden unit a box of n-grams (lcons_core.reason._rules)
    rows r . psi + c >= 0:  the conjunction of one-unit networks 1 - ReLU(1 - r . psi - c) >= 0

so there is one representation below, and one meaning of the margin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lcons_core._arithmetic import Floats
from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput
from lcons_core._inequalities import LinearInequalities
from lcons_core._network import Conjunction, RectifierNetwork
from lcons_core.features import START, STOP, NgramLabels, Scope, SequenceFeature
from lcons_core.reason import Box, forbid_boxes


@dataclass(frozen=True)
class Hard:
    """A constraint that must hold; `name` is what violations are reported under."""

    constraint: LearnedConstraint
    name: str = ""


@dataclass(frozen=True)
class Soft:
    """A preference: `weight * log sigmoid(margin)` is added to the score for every part."""

    constraint: LearnedConstraint
    weight: float
    name: str = ""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise InvalidInput(f"a soft weight must be finite and at least 0, found {self.weight}.")


Constraint = LearnedConstraint | Hard | Soft

# What constraints on relations are on: some of the labels of two candidates and the relations between them.
MEMBERS = ("source", "relation", "target", "reverse")


@dataclass(frozen=True)
class ConstraintSet:
    """Constraints by scope and kind, each with a name of its own."""

    hard: tuple[Hard, ...]
    soft: tuple[Soft, ...]
    global_hard: tuple[Hard, ...]
    global_soft: tuple[Soft, ...]

    @classmethod
    def of(cls, constraints: Iterable[Constraint]) -> ConstraintSet:
        """Sorts constraints, names those without a name and refuses a name used twice."""
        named: list[Hard | Soft] = []
        for i, given in enumerate(constraints):
            use = Hard(given) if isinstance(given, LearnedConstraint) else given
            if not isinstance(use, Hard | Soft):
                raise InvalidInput(
                    "constraints are LearnedConstraint, Hard or Soft, found"
                    f" {type(given).__name__}; make one from rows or lists with rows_constraint,"
                    " forbidden_ngrams or allowed_ngrams."
                )
            name = use.name or f"constraint {i + 1}"
            named.append(
                Hard(use.constraint, name)
                if isinstance(use, Hard)
                else Soft(use.constraint, use.weight, name)
            )
        names = [use.name for use in named]
        if len(set(names)) != len(names):
            raise InvalidInput(f"constraint names must be distinct, found {names}; rename one.")
        local = [u for u in named if isinstance(u.constraint.feature, SequenceFeature)]
        others = [u for u in named if not isinstance(u.constraint.feature, SequenceFeature)]
        for use in others:
            if use.constraint.scope is not Scope.GLOBAL:
                raise InvalidInput(
                    f"{use.name!r} is on {use.constraint.feature.kind if use.constraint.feature else 'no'}"
                    " features, which no chain has; use n-gram or global features, or the ILP."
                )
        return cls(
            tuple(u for u in local if isinstance(u, Hard)),
            tuple(u for u in local if isinstance(u, Soft)),
            tuple(u for u in others if isinstance(u, Hard)),
            tuple(u for u in others if isinstance(u, Soft)),
        )


def forbidden_ngrams(
    labels: Sequence[str], forbidden: Iterable[Sequence[str]], *, pad: bool = False
) -> LearnedConstraint:
    """The constraint that none of the n-grams occurs; START and STOP may be named where `pad`.

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
    """The constraint that only the listed n-grams occur; START and STOP must be named where `pad`."""
    grams, feature = _grams(labels, allowed, pad)
    names = _names(feature)
    boxes = []
    # A prefix that no listed n-gram has is forbidden whole; of the others, the continuations that none has.
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

    Where 1 - c is no float64 the network of a row is 1 - 1 - ReLU(-(r . psi + c)): its margin is min(0, row).
    """
    parts = tuple(map(_row_network, rows.coefficients, rows.bias.tolist()))
    network = parts[0] if len(parts) == 1 else Conjunction(parts)
    return LearnedConstraint(network, feature.space, feature, {"designed": "rows"})


def _row_network(coefficients: Floats, bias: float) -> RectifierNetwork:
    if Fraction(1.0 - bias) == 1 - Fraction(bias):
        return RectifierNetwork(-coefficients[None], [1.0 - bias])
    return RectifierNetwork([np.zeros_like(coefficients), -coefficients], [1.0, -bias])


def _grams(
    labels: Sequence[str], listed: Iterable[Sequence[str]], pad: bool
) -> tuple[list[tuple[str, ...]], NgramLabels]:
    grams = [tuple(gram) for gram in listed]
    sizes = {len(gram) for gram in grams}
    if len(sizes) != 1:
        raise InvalidInput(
            f"the n-grams of a list must have one length, found {sorted(sizes) or 'no n-gram'};"
            " make one constraint a length."
        )
    if not pad and any({START, STOP} & set(gram) for gram in grams):
        raise InvalidInput(f"{START!r} and {STOP!r} are only there with padding; pass pad=True.")
    return grams, NgramLabels(tuple(labels), n=sizes.pop(), pad=pad)


def _names(feature: NgramLabels) -> list[str]:
    return [block.name for block in feature.space.blocks]
