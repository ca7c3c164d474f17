"""Comparison of two constraints, and simplification: the rows that matter on a domain.

`compare` says whether two constraints accept the same points of a space:

    EQUAL        proved, by checking every point or every kind of points, or by a closed form
    DIFFERENT    proved, by a witness: a point that one accepts and the other rejects
    UNDECIDED    not proved: no witness among random points and points near both boundaries

Up to `limit` points the whole domain is enumerated and the counts are exact. Two networks on a larger domain
are equal if they have the same units, and two sets if they have the same rows: those that are never active,
or never violated, are ignored, and they are compared by their values on the domain. Otherwise one point of
each kind is checked, if there are few kinds of points (`_points.py`); if not, points are drawn. On a space
with real blocks points are sampled.

`simplify` drops a row r = c . psi + b that is, on the finite domain of a space,

    never violated:      min r >= 0
    jointly implied:     every point that violates r violates a row that is not dropped

The minimum is a sum over axes in closed form. The second needs enumeration: rows are chosen while some
rejected point violates none of those chosen, and then those that no point needs are dropped. So it is used on
small domains; on others, and on real blocks, the result is sound, but not minimal.

Paper: Appendix C.4 compares learned with designed constraints by enumerating all pairs.
Not in the paper: counts, witnesses, domains that are too large to enumerate; dropping rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from lcons_core._arithmetic import frozen, many, plain
from lcons_core._errors import InvalidInput, LconsError, TooLarge, Unsupported
from lcons_core._network import LinearInequalities
from lcons_core._pointset import Fitted, PointSet, Wrapped, as_points, check_width, least_values
from lcons_core._psi import Psi
from lcons_core._space import FeatureSpace
from lcons_core._theorem import rows_of
from lcons_core._types import Bools, Floats, Ints, OnProgress
from lcons_core.reason._points import (
    ENUMERATION_LIMIT,
    MOST_KINDS,
    both_sides,
    drawn_psi,
    kinds,
    near_boundary,
    needed,
    region_points,
    scan,
)
from lcons_core.reason._rules import DomainEquations, domain_equations

DRAWN, NUMBERS = 2**14, 2**23
MOST_ROWS = 2**10
CELLS = 2**24


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
    points: int = 0
    both: int = 0
    only_a: int = 0
    only_b: int = 0
    witnesses_a: tuple[dict[str, Any], ...] = ()
    witnesses_b: tuple[dict[str, Any], ...] = ()
    complete: bool = False
    how: str = ""

    @property
    def equal(self) -> bool | None:
        """True or False if proved, None if undecided."""
        return {"equal": True, "different": False}.get(self.outcome)

    def __bool__(self) -> bool:
        raise LconsError("a comparison has three outcomes and no truth value; use comparison.equal.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        numbers = {name: plain(getattr(self, name)) for name in ("points", "both", "only_a", "only_b")}
        witnesses = {name: list(getattr(self, name)) for name in ("witnesses_a", "witnesses_b")}
        return {**vars(self), "outcome": str(self.outcome), **numbers, **witnesses}

    def __str__(self) -> str:
        if self.outcome is not Outcome.DIFFERENT:
            how = f"all {many(self.points)} points agree" if self.complete else self.how
            return f"{self.outcome}: {how}"
        looked = "" if self.complete else " looked at"
        text = f"different: {many(self.only_a + self.only_b)} of {many(self.points)} points{looked}"
        sides = (("A", self.only_a, self.witnesses_a), ("B", self.only_b, self.witnesses_b))
        for name, number, witnesses in sides:
            shown = [in_words(witness) for witness in witnesses[:3]]
            if number > len(shown) and shown:
                shown.append(f"and {many(number - len(shown))} more")
            text += f"; only {name} accepts {' | '.join(shown)}" if shown else ""
        return text


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
    tally = _Tally(space, witnesses)
    if space.integral and space.size <= limit:
        for flat, accepted in scan(sets, space):
            tally.add(flat, *accepted)
            if progress is not None and flat.size:
                progress(int(flat[-1]) + 1, space.size)
        how = f"all {many(tally.points)} points enumerated"
        return tally.result(Outcome.EQUAL, how, complete=True)
    finite = space if space.integral else space.corners()
    for what, keys in (("units", _units), ("rows", _rows)):
        first, second = (keys(points, finite) for points in sets)
        if first and first == second:
            return Comparison(Outcome.EQUAL, how=f"both have the same {what} on this space, in some order")
    rng = np.random.default_rng(seed)
    if not space.integral:
        psi = drawn_psi(space, DRAWN, rng)
        tally.add(psi, *(points.accepts(psi) for points in sets))
        how = f"no difference at {tally.points:,} points sampled from the {space.extent} (seed {seed})"
        return tally.result(Outcome.UNDECIDED, f"{how}, and no proof of equality")
    region = kinds(space, sets)
    number = math.prod(int(mask.sum()) for mask in region.values())
    if number <= MOST_KINDS:
        for chunk in region_points(space, region, number):
            tally.add(chunk, *(points.verdicts(space, chunk) for points in sets))
        return tally.result(Outcome.EQUAL, f"all points are of {tally.points:,} kinds, which agree")
    number = int(np.clip(NUMBERS // space.d, 256, DRAWN))
    starts = np.concatenate([both_sides(points, space, number, rng) for points in sets])
    near = [near_boundary(points, space, number, rng, starts) for points in sets]
    assignments = np.unique(np.concatenate([starts, *near]), axis=0)
    tally.add(assignments, *(points.verdicts(space, assignments) for points in sets))
    return tally.result(
        Outcome.UNDECIDED,
        f"no difference at {tally.points:,} of {many(space.size)} points, drawn and near both boundaries"
        f" (seed {seed}), and no proof of equality; raise limit to enumerate",
    )


class _Tally:
    """Counts and the first witnesses, for points that are added in chunks."""

    def __init__(self, space: FeatureSpace, witnesses: int) -> None:
        self.space, self.most = space, witnesses
        self.points = self.both = 0
        self.numbers = [0, 0]
        self.witnesses: list[list[dict[str, Any]]] = [[], []]

    def add(self, points: Any, a: Bools, b: Bools) -> None:
        """Counts points by two verdicts: positions (N,), assignments (N, axes), or psi (N, d) on reals."""
        self.points += len(points)
        self.both += int((a & b).sum())
        for side, only in enumerate((a & ~b, b & ~a)):
            if not only.any():
                continue
            self.numbers[side] += int(only.sum())
            some = points[only][: self.most - len(self.witnesses[side])]
            if self.space.integral:
                some = self.space.vectors(self.space.unravelled(some) if points.ndim == 1 else some)
            self.witnesses[side] += [self.space.describe(psi) for psi in some]

    def result(self, otherwise: Outcome, how: str, complete: bool = False) -> Comparison:
        """The comparison: DIFFERENT if a witness was seen."""
        if any(self.numbers) and not complete:
            how = f"witnesses among {self.points:,} points"
        outcome = Outcome.DIFFERENT if any(self.numbers) else otherwise
        (only_a, only_b), (a, b) = self.numbers, map(tuple, self.witnesses)
        return Comparison(outcome, self.points, self.both, only_a, only_b, a, b, complete, how)


def _units(points: PointSet, space: FeatureSpace) -> list[list[bytes]]:
    """The units of each network of a set that can be active, by their values on the domain."""
    parts = points.networks()
    return sorted(sorted(_keys(part.W, part.b, part.error_bound(space), space)) for part in parts)


def _rows(points: PointSet, space: FeatureSpace) -> set[bytes]:
    """The rows of a set that can be violated, likewise; none if they are rounded, or too many."""
    if points.rounded:
        return set()
    try:
        rows = rows_of(points, MOST_ROWS)
        return set(_keys(-rows.coefficients, -rows.bias, rows.error_bound(space), space))
    except (TooLarge, Unsupported):
        return set()


def _keys(W: Floats, b: Floats, error: float, space: FeatureSpace) -> list[bytes]:
    """The functions `W psi + b` that are above 0 somewhere, by their values."""
    rows = np.column_stack([W, b])
    if not error:
        active = least_values(space, -W, -b) < 0
        tables = [axis.table(W[active]) for axis in space.axes]
        first = b[active] + np.sum([table[0] for table in tables], axis=0)
        rows = np.column_stack([*((table - table[0]).T for table in tables), first])
    return [(row + 0.0).tobytes() for row in rows]


class Reason(StrEnum):
    """The reason for which a row was dropped."""

    NEVER_VIOLATED = "never violated"
    IMPLIED = "jointly implied"


@dataclass(frozen=True)
class DroppedRow:
    """Row `row` of the input was dropped for `reason`."""

    row: int
    reason: Reason


@dataclass(frozen=True, eq=False)
class SimplifiedRows(Wrapped):
    """`rows` accept the same points of `space` as the rows of the input; outside the space they may differ.

    `kept` are their indices in the input. `minimal`: dropping any of them changes the set. `rounded`: the
    input was a network whose rows are not exact in float64, so this is the set of its rounded rows.
    """

    space: FeatureSpace
    rows: LinearInequalities
    kept: Ints
    dropped: tuple[DroppedRow, ...]
    minimal: bool
    rounded: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def points(self) -> LinearInequalities:
        """The rows, as a set of all psi."""
        return self.rows

    holds = Wrapped.accepts

    def _accepted(self, psi: Psi) -> Bools:
        self.space.check(psi)  # outside the space the rows are another set
        return self.rows._accepted(psi)

    def equations(self) -> DomainEquations:
        """The equations of the space, which a solver needs in addition to the rows."""
        return domain_equations(self.space)

    def counts(self) -> dict[Reason, int]:
        """The number of rows dropped for each reason."""
        return {reason: sum(d.reason is reason for d in self.dropped) for reason in Reason}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        subsets = self.rows.subsets
        return {
            "space": self.space.to_dict(),
            "coefficients": self.rows.coefficients.tolist(),
            "bias": self.rows.bias.tolist(),
            "subsets": None if subsets is None else [np.flatnonzero(s).tolist() for s in subsets],
            "kept": self.kept.tolist(),
            "dropped": [[d.row, str(d.reason)] for d in self.dropped],
            "minimal": self.minimal,
            "rounded": self.rounded,
        }

    def __str__(self) -> str:
        total = len(self.kept) + len(self.dropped)
        why = ", ".join(f"{n:,} {reason}" for reason, n in self.counts().items() if n)
        status = "minimal" if self.minimal else "sound, not minimal"
        names = ", ".join(block.name for block in self.space.blocks)
        lines = [
            f"{len(self.kept):,} of {total:,} rows ({status}; dropped: {why or 'none'});"
            f" on the {self.space.extent} of {names}"
        ]
        if self.rounded:
            lines.append("the rows are rounded to float64: `verify` counts the points where this matters")
        rows = self.rows.text([f"{block} {value}" for block, value in self.space.columns])
        return "\n".join([*lines, rows]) if rows else lines[0]


def simplify(
    constraint: PointSet | Fitted,
    space: FeatureSpace | None = None,
    *,
    enumeration_limit: int = ENUMERATION_LIMIT,
    progress: OnProgress | None = None,
) -> SimplifiedRows:
    """The rows that matter on the domain; minimal if it has at most `enumeration_limit` points.

    >>> from lcons_core import RectifierNetwork, one_hot
    >>> source, relation = one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])
    >>> space = FeatureSpace([source, relation])
    >>> network = RectifierNetwork([[0.0, 2.0, 0.0, 2.0], [-1.0, 1.0, -1.0, 0.0]], [-2.0, 0.0])
    >>> print(simplify(network, space))
    1 of 3 rows (minimal; dropped: 1 never violated, 1 jointly implied); on the 4 points of source, relation
      -2 [source Place] -2 [relation Kill] +3 >= 0
    """
    points = as_points(constraint, "simplify")
    space = common_space(space, points)
    check_width(points, space)
    rows = rows_of(points)
    # The minimum of a linear function over a box of reals is at a corner.
    finite = space if space.integral else space.corners()
    least = least_values(finite, rows.coefficients, rows.bias)
    never = least >= rows.error_bound(finite)
    dropped = [DroppedRow(m, Reason.NEVER_VIOLATED) for m in np.flatnonzero(never).tolist()]
    left = np.flatnonzero(~never)
    minimal = space.integral and space.size <= enumeration_limit
    if minimal:
        some = rows.take(left)
        # A network that decides the same points is faster than its rows.
        reference = points if points.networks() and not points.rounded else some
        every, left = left, left[_irredundant(some, space, reference, progress)]
        dropped += [DroppedRow(m, Reason.IMPLIED) for m in np.setdiff1d(every, left).tolist()]
    ordered = tuple(sorted(dropped, key=lambda drop: drop.row))
    return SimplifiedRows(space, rows.take(left), frozen(left), ordered, minimal, points.rounded)


def _irredundant(
    rows: LinearInequalities, space: FeatureSpace, reference: PointSet, progress: OnProgress | None
) -> Ints:
    """Positions of rows that reject the same points as `reference` (the set of all rows), none redundant."""
    chosen: list[int] = []
    step = max(1, CELLS // max(1, len(rows)))
    for flat, (accepted,) in scan([reference], space):
        rejected = space.unravelled(flat[~accepted])
        while len(rejected):
            holds = rows.take(np.array(chosen, np.int64)).satisfied(space.vectors(rejected)).all(1)
            rejected = rejected[holds]
            if len(rejected):
                chosen.append(int(rows.satisfied(space.vectors(rejected[:step])).sum(0).argmin()))
        if progress is not None and flat.size:
            progress(int(flat[-1]) + 1, space.size)
    patterns: dict[bytes, int] = {}
    some = rows.take(np.array(chosen, np.int64))
    for flat, (accepted,) in scan([reference], space):
        packed = np.packbits(~some.satisfied(space.vectors(space.unravelled(flat[~accepted]))), axis=1)
        for pattern, number in zip(*np.unique(packed, axis=0, return_counts=True), strict=True):
            patterns[pattern.tobytes()] = patterns.get(pattern.tobytes(), 0) + int(number)
    keys = np.frombuffer(b"".join(patterns), dtype=np.uint8).reshape(len(patterns), -(-len(chosen) // 8))
    violated = np.unpackbits(keys, axis=1, count=len(chosen)).view(np.bool_)
    # Rows that reject few points are dropped first.
    order = np.argsort(np.array(list(patterns.values())) @ violated, kind="stable")
    return np.sort(np.array(chosen, dtype=np.int64)[needed(violated, order)])


def common_space(space: FeatureSpace | None, *constraints: PointSet) -> FeatureSpace:
    """The common space of the constraints, or `space` if none has one; raises if spaces differ."""
    spaces = [space, *(constraint.space for constraint in constraints)]
    named = [candidate for candidate in spaces if candidate is not None]
    if not named:
        raise InvalidInput("networks and rows have no names of columns; pass the space.")
    for other in named[1:]:
        if other != named[0]:
            difference = _difference(named[0], other)
            raise InvalidInput(f"expected constraints on the same blocks and values, got {difference}.")
    return named[0]


def _difference(a: FeatureSpace, b: FeatureSpace) -> str:
    """The first difference of two spaces."""
    for left, right in zip(a.blocks, b.blocks, strict=False):
        if left.name != right.name:
            return f"block {left.name!r} against block {right.name!r}"
        if left != right:
            only = sorted({*left.values} ^ {*right.values})
            return f"block {left.name!r} in both, but only in one of them {only[:3]}"
    if len(a.blocks) != len(b.blocks):
        return f"{len(a.blocks)} blocks against {len(b.blocks)}"
    return "the same blocks with different `requires`"
