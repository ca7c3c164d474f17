"""Compare: are two constraints the same set of points of a space?

    EQUAL        proved: by looking at every point, or by a closed form
    DIFFERENT    proved: by a witness, a point that one accepts and the other rejects
    UNDECIDED    neither; drawing and searching found no witness, which proves nothing

Up to `limit` points the whole domain is enumerated and the counts are exact. Above it a closed-form proof
of equality is tried, then a witness is searched for (`witnesses.py`). Every verdict is exact
(`domain.py`): floats steer, they do not decide.

Paper: Appendix C.4 compares learned with designed constraints by enumerating all pairs.
Not in the paper: counts, witnesses, and domains that are too large to enumerate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from lcons_core._arithmetic import many
from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput, LconsError
from lcons_core._inequalities import LinearInequalities
from lcons_core._network import Conjunction, Network, RectifierNetwork
from lcons_core._psi import Ints
from lcons_core._space import FeatureSpace
from lcons_core.reason._points import (
    ENUMERATION_LIMIT,
    AnyPoints,
    Bools,
    check_width,
    points_at,
    scan,
    verdicts,
)
from lcons_core.reason._rules import Rules
from lcons_core.reason._simplify import SimplifiedRows, common_space
from lcons_core.reason._witnesses import candidates, proof_of_equality

Comparable = LearnedConstraint | Network | LinearInequalities | SimplifiedRows | Rules
Progress = Callable[[int, int], None]


class Outcome(StrEnum):
    """What a comparison found out."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """What was found out about a and b, and how.

    `complete`: every point was looked at, so the counts are those of the domain; otherwise they are those
    of the points that were looked at. Witnesses are points by name (`space.describe`), the first few of
    each side.
    """

    outcome: Outcome
    points: int
    both: int
    only_a: int
    only_b: int
    witnesses_a: tuple[dict[str, Any], ...]
    witnesses_b: tuple[dict[str, Any], ...]
    complete: bool
    how: str

    @property
    def equal(self) -> bool | None:
        """True or False where that is proved, None where it is undecided."""
        return {"equal": True, "different": False}.get(self.outcome)

    def __bool__(self) -> bool:
        raise LconsError(
            "a comparison has three outcomes, so it is neither true nor false; use comparison.equal, which"
            " is True, False or None, or comparison.outcome."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "outcome": str(self.outcome),
            "points": self.points,
            "both": self.both,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "witnesses_a": list(self.witnesses_a),
            "witnesses_b": list(self.witnesses_b),
            "complete": self.complete,
            "how": self.how,
        }

    def __str__(self) -> str:
        if self.outcome is Outcome.UNDECIDED:
            return f"undecided: {self.how}"
        if self.outcome is Outcome.EQUAL:
            return f"equal: all {self.points:,} points agree" if self.complete else f"equal: {self.how}"
        looked = "" if self.complete else " looked at"
        text = f"different: {self.only_a + self.only_b:,} of {self.points:,} points{looked}"
        for name, number, witnesses in (
            ("A", self.only_a, self.witnesses_a),
            ("B", self.only_b, self.witnesses_b),
        ):
            shown = [in_words(witness) for witness in witnesses[:3]]
            if number > len(shown) and shown:
                shown.append(f"and {number - len(shown):,} more")
            text += f"; only {name} accepts {' | '.join(shown)}" if shown else ""
        return text


def compare(
    a: Comparable,
    b: Comparable,
    space: FeatureSpace | None = None,
    *,
    limit: int = ENUMERATION_LIMIT,
    witnesses: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Whether a and b accept the same points of one space; proved where the outcome is not UNDECIDED.

    >>> from lcons_core._space import one_hot
    >>> source, relation = one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])
    >>> pair = FeatureSpace([source, relation])
    >>> learned = RectifierNetwork([[-3.0, 0.5, -1.0, 2.0]], [-1.0])
    >>> print(compare(learned, Rules(pair).needs({"relation": "Kill"}, {"source": "Person"})))
    equal: all 4 points agree
    >>> print(compare(learned, Rules(pair)))
    different: 1 of 4 points; only B accepts source Place, relation Kill
    """
    space = common_space(space, a, b)
    sets = (_points(a), _points(b))
    for points in sets:
        check_width(points, space)
    if space.size > limit:
        proof = proof_of_equality(*sets, space)
        if proof:
            return Comparison(Outcome.EQUAL, 0, 0, 0, 0, (), (), False, proof)
    tally = _Tally(space, witnesses)
    if space.size <= limit:
        for flat, accepted in scan(sets, space):
            tally.add(flat, *accepted)
            if progress is not None and flat.size:
                progress(int(flat[-1]) + 1, space.size)
        return tally.result(complete=True, how=f"all {tally.points:,} points enumerated")
    found = candidates(*sets, space, np.random.default_rng(seed))
    tally.add(found, *(verdicts(points, space, found) for points in sets))
    return tally.result(
        complete=False,
        how=f"no difference at {tally.points:,} of {many(space.size)} points, drawn and searched near both"
        f" boundaries (seed {seed}), and no closed-form proof of equality; raise limit to enumerate",
    )


class _Tally:
    """Counts and the first witnesses, over points that come in chunks."""

    def __init__(self, space: FeatureSpace, witnesses: int) -> None:
        self.space, self.most = space, witnesses
        self.points = self.both = 0
        self.numbers = [0, 0]
        self.found: list[list[dict[str, Any]]] = [[], []]

    def add(self, points: Ints, a: Bools, b: Bools) -> None:
        """Counts points, given as assignments (N, axes) or as positions (N,), with both verdicts."""
        self.points += len(points)
        self.both += int((a & b).sum())
        differ = a != b
        if not differ.any():
            return
        for side, only in enumerate((a & differ, b & differ)):
            self.numbers[side] += int(only.sum())
            wanted = points[only][: self.most - len(self.found[side])]
            named = points_at(self.space, wanted) if points.ndim == 1 else wanted
            for psi in self.space.vectors(named):
                self.found[side].append(self.space.describe(psi))

    def result(self, complete: bool, how: str) -> Comparison:
        """The comparison; without a difference, EQUAL only if every point was seen."""
        outcome = Outcome.EQUAL if complete else Outcome.UNDECIDED
        if any(self.numbers):
            outcome = Outcome.DIFFERENT
            how = how if complete else f"witnesses among {self.points:,} points drawn and searched"
        return Comparison(
            outcome,
            self.points,
            self.both,
            only_a=self.numbers[0],
            only_b=self.numbers[1],
            witnesses_a=tuple(self.found[0]),
            witnesses_b=tuple(self.found[1]),
            complete=complete,
            how=how,
        )


def _points(constraint: Any) -> AnyPoints:
    if isinstance(constraint, LearnedConstraint):
        return constraint.network
    if isinstance(constraint, SimplifiedRows):
        return constraint.rows
    if isinstance(constraint, RectifierNetwork | Conjunction | LinearInequalities | Rules):
        return constraint
    raise InvalidInput(
        "a learned constraint, a network, rows, simplified rows or Rules were expected, found"
        f" {type(constraint).__name__}; give designed constraints as Rules(space, forbidden=[...])."
    )


def in_words(witness: dict[str, Any]) -> str:
    """A point by name (`space.describe`) as text: "source Person, relation Kill"."""
    words = []
    for block, value in witness.items():
        if isinstance(value, dict):
            value = " ".join(f"{name}={number}" for name, number in value.items())
        elif isinstance(value, list):
            value = "{" + " ".join(value) + "}"
        words.append(f"{block} {value}")
    return ", ".join(words)
