"""Comparison of two constraints: whether they accept the same points of a space.

    EQUAL        proved, by checking every point or by a closed form
    DIFFERENT    proved, by a witness: a point that one accepts and the other rejects
    UNDECIDED    not proved: random points and a search found no witness

Up to `limit` points the whole domain is enumerated and the counts are exact. Above the limit, only the axes
that one of the two uses are enumerated: an axis whose values all add the same to every unit (or row) changes
no verdict, so the other axes are fixed and all counts are multiplied by the number of their combinations. If
these are too many as well, first a closed-form proof of equality is tried, then a search for a witness. Every
verdict is exact: floats guide the search but do not decide.

On a space with real blocks there are infinitely many points: after the closed forms, points are sampled, some
near both boundaries, so without a witness the sets are UNDECIDED.

There are two closed-form proofs of equality. Two networks are equal if they have the same units: units that
are never active are ignored, and units are compared by their values on the domain, so it does not matter
whether a constant is in a one-hot block or in the bias. Two systems of rows are equal if each implies the
other row by row (`_dominance.py`).

Candidates for a difference are random points, points near both boundaries, points found by climbing
min(margin_a, -margin_b) and the reverse, and points in and next to the boxes of rules. A candidate with two
different exact verdicts proves a difference; no number of candidates proves equality.

Paper: Appendix C.4 compares learned with designed constraints by enumerating all pairs.
Not in the paper: counts, witnesses, and domains that are too large to enumerate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from lcons_core._arithmetic import many, plain
from lcons_core._errors import LconsError
from lcons_core._network import LinearInequalities, RectifierNetwork
from lcons_core._pointset import Fitted, PointSet, as_points, check_width, least_values
from lcons_core._space import FeatureSpace
from lcons_core._theorem import rows_of
from lcons_core._types import Bools, Floats, Ints, OnProgress
from lcons_core.reason._domain import drawn_points
from lcons_core.reason._dominance import singly_implied
from lcons_core.reason._points import ENUMERATION_LIMIT, climb, near_boundary, scan
from lcons_core.reason._real_points import drawn_psi, psi_near_boundary
from lcons_core.reason._rules import Rules
from lcons_core.reason._simplify import common_space


class Outcome(StrEnum):
    """The result of a comparison."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison of a and b, with its proof or search (`how`).

    `complete`: every point was checked, so the counts are those of the domain; otherwise they are those of
    the points that were checked. Witnesses are points by name (`space.describe`), the first few of each
    side.
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
        """True or False if proved, None if undecided."""
        return {"equal": True, "different": False}.get(self.outcome)

    def __bool__(self) -> bool:
        raise LconsError(
            "a comparison has three outcomes and no truth value; use comparison.equal, which is True, False"
            " or None, or comparison.outcome."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "outcome": str(self.outcome),
            **{name: plain(getattr(self, name)) for name in ("points", "both", "only_a", "only_b")},
            "witnesses_a": list(self.witnesses_a),
            "witnesses_b": list(self.witnesses_b),
            "complete": self.complete,
            "how": self.how,
        }

    def __str__(self) -> str:
        if self.outcome is Outcome.UNDECIDED:
            return f"undecided: {self.how}"
        if self.outcome is Outcome.EQUAL:
            if not self.complete:
                return f"equal: {self.how}"
            how = "" if self.how == _every(self.points) else f" ({self.how})"
            return f"equal: all {many(self.points)} points agree{how}"
        looked = "" if self.complete else " looked at"
        text = f"different: {many(self.only_a + self.only_b)} of {many(self.points)} points{looked}"
        for name, number, witnesses in (
            ("A", self.only_a, self.witnesses_a),
            ("B", self.only_b, self.witnesses_b),
        ):
            shown = [in_words(witness) for witness in witnesses[:3]]
            if number > len(shown) and shown:
                shown.append(f"and {many(number - len(shown))} more")
            text += f"; only {name} accepts {' | '.join(shown)}" if shown else ""
        return text


def compare(
    a: PointSet | Fitted,
    b: PointSet | Fitted,
    space: FeatureSpace | None = None,
    *,
    limit: int = ENUMERATION_LIMIT,
    witnesses: int = 10,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Comparison:
    """Whether a and b accept the same points of one space; proved unless the outcome is UNDECIDED.

    >>> from lcons_core import RectifierNetwork, Rules, one_hot
    >>> source, relation = one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])
    >>> pair = FeatureSpace([source, relation])
    >>> learned = RectifierNetwork([[-3.0, 0.5, -1.0, 2.0]], [-1.0])
    >>> print(compare(learned, Rules(pair).needs({"relation": "Kill"}, {"source": "Person"})))
    equal: all 4 points agree
    >>> print(compare(learned, Rules(pair)))
    different: 1 of 4 points; only B accepts source Place, relation Kill
    """
    sets = (as_points(a, "compare"), as_points(b, "compare"))
    space = common_space(space, *sets)
    for points in sets:
        check_width(points, space)
    if not space.integral:
        return _compare_sampled(sets, space, witnesses, seed)
    whole, free = space, 1
    if space.size > limit:
        unused = unused_axes(sets, space)
        free = math.prod(len(space.axes[i]) for i in unused)
        space = space.fixed(unused)
    if space.size > limit:
        proof = proof_of_equality(*sets, space)
        if proof:
            return Comparison(Outcome.EQUAL, 0, 0, 0, 0, (), (), False, proof)
    tally = _Tally(space, witnesses, free)
    if space.size <= limit:
        for flat, accepted in scan(sets, space):
            tally.add(flat, *accepted)
            if progress is not None and flat.size:
                progress(int(flat[-1]) + 1, space.size)
        return tally.result(complete=True, how=_enumerated(tally, whole, space))
    tally.free = 1
    found = candidates(*sets, space, np.random.default_rng(seed))
    tally.add(found, *(points.verdicts(space, found) for points in sets))
    return tally.result(
        complete=False,
        how=f"no difference at {tally.points:,} of {many(space.size)} points, drawn and searched near both"
        f" boundaries (seed {seed}), and no proof of equality; raise limit to enumerate",
    )


def _compare_sampled(
    sets: tuple[PointSet, PointSet], space: FeatureSpace, witnesses: int, seed: int
) -> Comparison:
    """The comparison on a space with real blocks: a closed form, else sampled points."""
    proof = proof_of_equality(*sets, space.corners())
    if proof:
        return Comparison(Outcome.EQUAL, 0, 0, 0, 0, (), (), False, proof)
    rng = np.random.default_rng(seed)
    psi = drawn_psi(space, REAL_DRAWN, rng)
    near = [psi_near_boundary(points, space, psi, CLIMBED, rng) for points in sets]
    tally = _Tally(space, witnesses)
    psi = np.concatenate([psi, *near])
    tally.add_psi(psi, *(points.accepts(psi) for points in sets))
    return tally.result(
        complete=False,
        how=f"no difference at {tally.points:,} points sampled from the {space.extent}, some near both"
        f" boundaries (seed {seed}), and no proof of equality",
    )


def unused_axes(sets: Sequence[PointSet], space: FeatureSpace) -> list[int]:
    """The axes that change no verdict of the sets and are in no rule of `requires`, by index."""
    needed = {name for rule in space.requires for name in (rule.block, rule.needs_block)}
    used = np.array([axis.name in needed for axis in space.axes])
    for points in sets:
        used |= _used(points, space)
    return np.flatnonzero(~used).tolist()


def _used(points: PointSet, space: FeatureSpace) -> Bools:
    """(axes,) False for the axes whose value changes no verdict of the set."""
    if isinstance(points, Rules):
        named = {name for box in (*points.forbidden, *(points.allowed or ())) for name, _ in box.conditions}
        return np.array([axis.name in named for axis in space.axes])
    forms = [part.W for part in points.networks()]
    try:
        forms = forms or [rows_of(points, PROOF_ROWS).coefficients]
    except LconsError:
        return np.ones(len(space.axes), dtype=np.bool_)
    tables = ([axis.table(W) for W in forms] for axis in space.axes)
    return np.array([any((table != table[0]).any() for table in some) for some in tables])


def _every(points: int) -> str:
    return f"all {many(points)} points enumerated"


def _enumerated(tally: _Tally, whole: FeatureSpace, space: FeatureSpace) -> str:
    """How a difference was excluded, or how many there are."""
    if space is whole:
        return _every(tally.points)
    used = sum(len(a) == len(b) for a, b in zip(whole.axes, space.axes, strict=True))
    return (
        f"all {tally.points // tally.free:,} combinations of the {used} axes that A or B uses enumerated;"
        f" the other {len(whole.axes) - used} change no verdict"
    )


class _Tally:
    """Counts and the first witnesses, for points that are added in chunks; each is `free` points."""

    def __init__(self, space: FeatureSpace, witnesses: int, free: int = 1) -> None:
        self.space, self.most, self.free = space, witnesses, free
        self.points = self.both = 0
        self.numbers = [0, 0]
        self.found: list[list[dict[str, Any]]] = [[], []]

    def add(self, points: Ints, a: Bools, b: Bools) -> None:
        """Counts points, given as assignments (N, axes) or as positions (N,), by their two verdicts."""
        self.points += self.free * len(points)
        self.both += self.free * int((a & b).sum())
        differ = a != b
        if not differ.any():
            return
        for side, only in enumerate((a & differ, b & differ)):
            self.numbers[side] += self.free * int(only.sum())
            wanted = points[only][: self.most - len(self.found[side])]
            named = self.space.unravelled(wanted) if points.ndim == 1 else wanted
            for psi in self.space.vectors(named):
                self.found[side].append(self.space.describe(psi))

    def add_psi(self, psi: Floats, a: Bools, b: Bools) -> None:
        """Counts points, given as psi (N, d), by their two verdicts."""
        self.points += len(psi)
        self.both += int((a & b).sum())
        for side, only in enumerate((a & ~b, b & ~a)):
            self.numbers[side] += int(only.sum())
            wanted = psi[only][: self.most - len(self.found[side])]
            self.found[side] += [self.space.describe(point) for point in wanted]

    def result(self, complete: bool, how: str) -> Comparison:
        """The comparison; without a difference, EQUAL only if every point was checked."""
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


def in_words(witness: dict[str, Any]) -> str:
    """A point by name (`space.describe`) as text: "source Person, relation Kill"."""
    words = []
    for block, value in witness.items():
        if isinstance(value, dict) and list(value) == [block]:
            value = value[block]
        elif isinstance(value, dict):
            value = " ".join(f"{name}={number}" for name, number in value.items())
        elif isinstance(value, list):
            value = "{" + " ".join(value) + "}"
        words.append(f"{block} {value}")
    return ", ".join(words)


PROOF_ROWS = 2**11
DRAWN = 2**14
CLIMBED = 2**8
REAL_DRAWN = 2**12


def proof_of_equality(a: PointSet, b: PointSet, space: FeatureSpace) -> str | None:
    """The reason why a and b are the same set; None if no closed form proves it."""
    units = [_units(points, space) for points in (a, b)]
    if units[0] is not None and units[0] == units[1]:
        return "both have the same units on this space, in some order"
    rows_a, rows_b = _rows(a), _rows(b)
    if rows_a is None or rows_b is None:
        return None
    if singly_implied(rows_b, rows_a, space).all() and singly_implied(rows_a, rows_b, space).all():
        return "each row of one is implied by a row of the other"
    return None


def candidates(a: PointSet, b: PointSet, space: FeatureSpace, rng: np.random.Generator) -> Ints:
    """Distinct assignments where a and b may differ."""
    starts = drawn_points(space, CLIMBED, rng)
    found = [drawn_points(space, DRAWN, rng), starts]
    for inside, outside in ((a, b), (b, a)):

        def difference(p: Ints, inside: PointSet = inside, outside: PointSet = outside) -> Floats:
            return np.minimum(inside.margins(space, p), -outside.margins(space, p))

        found.append(climb(space, starts, difference))
        found.append(near_boundary(inside, space, 2 * CLIMBED, rng))
        found.append(climb(space, found[-1], difference))
        found += [np.where(_lengths(space) == 1, 0, some) for some in inside.landmarks(rng)]
    return np.unique(np.concatenate(found), axis=0)


def _lengths(space: FeatureSpace) -> Ints:
    return np.array([len(axis) for axis in space.axes])


def _units(points: PointSet, space: FeatureSpace) -> list[list[bytes]] | None:
    """Per part, its units that can be active, by their values on the domain, in a canonical order."""
    networks = points.networks()
    return sorted(sorted(_unit_keys(part, space)) for part in networks) if networks else None


def _unit_keys(part: RectifierNetwork, space: FeatureSpace) -> list[bytes]:
    rows = np.column_stack([part.W, part.b])
    if not part.error_bound(space):
        active = least_values(space, -part.W, -part.b) < 0
        tables = [axis.table(part.W[active]) for axis in space.axes]
        first = part.b[active] + np.sum([table[0] for table in tables], axis=0)
        rows = np.column_stack([*((table - table[0]).T for table in tables), first])
    return [(row + 0.0).tobytes() for row in rows]


def _rows(points: PointSet) -> LinearInequalities | None:
    """At most `PROOF_ROWS` exact rows of the same set; None if there are no such rows."""
    if points.networks() and points.rounded:
        return None
    try:
        return rows_of(points, PROOF_ROWS)
    except LconsError:
        return None  # too many rows, or rules without rows (on counts, or with a too large complement)
