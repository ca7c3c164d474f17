"""Windows that were never seen and are not forbidden: too rare to tell."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lcons_core import LabelledExamples, LearnedConstraint
from lcons_core.learn._evidence import Needed
from lcons_core.reason._words import by_chance

SHOWN = 3


@dataclass(frozen=True)
class Undecided:
    """`count` windows have too little evidence to forbid them; the network rejects `rejected` of them anyway.

    The `examples`, in words, are those that come closest to enough evidence."""

    count: int
    rejected: int
    needed: Needed
    examples: tuple[str, ...]

    @property
    def warning(self) -> str | None:
        """One sentence if the network rejects some of them; otherwise None."""
        if not self.rejected:
            return None
        return (
            f"the constraint forbids {self.rejected:,} of {self.count:,} combinations for which there is too"
            " little evidence; learn with more hidden units (the argument `hidden`) or more caution."
        )

    def lines(self) -> list[str]:
        """The windows in words."""
        if not self.count:
            return ["Combinations never seen, not forbidden (too rare to tell): none"]
        first = f"Combinations never seen, not forbidden (too rare to tell): {self.count:,}, such as"
        return [first, *(f"- {example}" for example in self.examples)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def undecided_of(constraint: LearnedConstraint, examples: LabelledExamples, needed: Needed) -> Undecided:
    """The undecided windows of examples."""
    rows, space = examples.undecided, constraint.space
    if not len(rows):
        return Undecided(0, 0, needed, ())
    first = np.argsort(-rows.weight, kind="stable")[:SHOWN]
    words = []
    for psi, chance in zip(rows.psi.take(first).dense(), rows.weight[first].tolist(), strict=True):
        named = ", ".join(f"{name} {value}" for name, value in space.describe(psi).items())
        words.append(f"{named}  [expected {by_chance(chance)} by chance]")
    rejected = int((~constraint.network.accepts(rows.psi)).sum())
    return Undecided(len(rows), rejected, needed, tuple(words))
