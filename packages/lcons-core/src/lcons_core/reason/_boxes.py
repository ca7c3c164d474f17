"""Differences of two sets over boxes of real numbers, by exact linear programs.

With the finite blocks at fixed values, a set is a polytope {psi in a box : sum_k ReLU(a_k) <= 1}, in its
lifted form linear in psi and s. So A is inside B iff for every row r of B

    min {r(psi) : psi in A} >= 0

one linear program per row, solved in integers (`_polytope.py`): a minimum of at least 0 is a proof, and a
negative one is attained at a point that A accepts and B rejects. Rows that hold in the whole box need no
program. There is one polytope per point of the finite blocks that the sets use.

If there are too many points of the finite blocks, and on finite domains too large to enumerate, all columns
are real numbers between their bounds, with at most 1 in total per one-hot block. If one set is inside the
other there, it is so on the domain, which is a part of it. A negative minimum decides nothing.

The vertex of a program is a rational point. A witness is the float64 point nearest to it, or on the way from
it into the polytope, if A accepts that and B rejects it, both exactly; otherwise the rational point itself.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lcons_core._arithmetic import ScaledForms, exponent, many, scaled
from lcons_core._blocks import Kind
from lcons_core._errors import LconsError, TooLarge, Unsupported
from lcons_core._network import Conjunction
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._theorem1 import estimate_rows, to_inequalities
from lcons_core._types import Floats, Objects
from lcons_core.reason._domain import domain_equations
from lcons_core.reason._polytope import Polytope
from lcons_core.reason._sides import rational_rows

MOST_ROWS = 2**11
MOST_BOXES = 2**12
CELLS = 4 * 10**7  # entries of dictionaries that all pivots may change: some ten seconds
CENTRE = 12
HALVINGS = 48
MOST_ENTRIES = 10**4  # of a dictionary: about a hundred columns


@dataclass(frozen=True)
class BoxSearch:
    """A point by name that one set accepts and the other rejects, and which set accepts it (0 or 1); or how
    it was proved that there is none; or, if undecided, why."""

    witness: dict[str, Any] | None = None
    side: int = 0
    how: str = ""
    decided: bool = True


def search_boxes(sets: tuple[PointSet, PointSet], space: FeatureSpace, unused: Collection[str]) -> BoxSearch:
    """A difference of the two sets in the space, whose axes `unused` (by name) change no verdict."""
    finite = space.finite_part
    fixed = finite.fixed(i for i, axis in enumerate(finite.axes) if axis.name in unused)
    if fixed.size > MOST_BOXES:
        return BoxSearch(
            how=f"{many(fixed.size)} boxes are too many for linear programs (at most {MOST_BOXES:,})",
            decided=False,
        )
    programs = 0
    try:
        forms = [_Side.of(points) for points in sets]
        search = _Search(sets, forms, space, {})
        for values in np.concatenate(list(fixed.points())):
            for side in (0, 1):
                witness, solved = search.difference(side, finite.vectors(values[None])[0])
                programs += solved
                if witness is not None:
                    return BoxSearch(witness, side, "a witness found by a linear program in exact integers")
    except (TooLarge, Unsupported) as error:  # a union is no polytope
        return BoxSearch(how=f"{programs:,} linear programs found no difference; {error}", decided=False)
    boxes = f"{fixed.size:,} boxes" if fixed.size > 1 else "the box"
    return BoxSearch(
        how=f"every row of one holds on the other in {boxes}, by {programs:,} linear programs in exact"
        " integers"
    )


def accepted_in_box(
    points: PointSet, space: FeatureSpace, pinned: Mapping[int, float], finite: Floats
) -> dict[str, Any] | None:
    """A point by name that the set accepts, with these values of the finite columns and these numbers in some
    real columns; None if there is provably none."""
    for alternative in points.alternatives():
        search = _Search((alternative,), [_Side.of(alternative)], space, pinned)
        start = search.start(finite)
        polytope = search.polytope(search.sides[0], start)
        if not polytope.empty:
            return search.named(polytope, start, polytope.vertex(), 0)
    return None


def proof_on_reals(sets: tuple[PointSet, PointSet], space: FeatureSpace) -> str | None:
    """The proof that the sets are equal if psi may be any real numbers between the bounds; None if they are
    not, or if it would take too long."""
    equations = domain_equations(space)
    programs = 0
    try:
        search = _Search(sets, [_Side.of(points) for points in sets], space)
        if (len(search.real) + search.sides[0].width) ** 2 > MOST_ENTRIES:
            return None
        for side in (0, 1):
            solved = search.inside(side, scaled(equations.lower, search.q))
            if solved is None:
                return None
            programs += solved
    except LconsError:
        return None
    return (
        f"every row of one holds on the other, even if psi may be real, by {programs:,} linear programs in"
        " exact integers"
    )


@dataclass(frozen=True, eq=False)
class _Side:
    """One set in exact integers: its rows; and its hidden units by part, or none if it has only rows."""

    rows: ScaledForms
    units: ScaledForms | None
    parts: tuple[slice, ...]

    @property
    def width(self) -> int:
        """The number of auxiliary variables, or of rows."""
        return len(self.rows if self.units is None else self.units)

    @classmethod
    def of(cls, points: PointSet) -> _Side:
        networks = points.networks()
        if not networks:
            rows = points.inequalities(MOST_ROWS)
            return cls(ScaledForms.of(rows.coefficients, rows.bias), None, ())
        network = Conjunction(networks)
        if estimate_rows(network).rows > MOST_ROWS:
            raise TooLarge(
                f"{many(estimate_rows(network).rows)} rows are too many for linear programs (at most"
                f" {MOST_ROWS:,})"
            )
        q = max(part.exponent for part in networks)
        subsets = to_inequalities(network).subsets
        W = np.concatenate([part.W for part in networks])
        b = np.concatenate([part.b for part in networks])
        stops = np.cumsum([part.K for part in networks]).tolist()
        parts = tuple(slice(stop - part.K, stop) for stop, part in zip(stops, networks, strict=True))
        assert subsets is not None
        return cls(rational_rows(network, subsets, q), ScaledForms.of(W, b, q), parts)


class _Search:
    """The boxes of one space, in units of 2^-q: numbers of the columns `real`, from `low` to `high`."""

    def __init__(
        self,
        sets: tuple[PointSet, ...],
        sides: list[_Side],
        space: FeatureSpace,
        pinned: Mapping[int, float] | None = None,
    ) -> None:
        # Without `pinned`, all columns are continuous.
        self.sets, self.sides, self.space = sets, sides, space
        equations = domain_equations(space)
        bounds = [equations.lower.copy(), equations.upper.copy()]
        for bound in bounds:
            for j, number in (pinned or {}).items():
                bound[j] = number
        self.bounds = bounds
        self.q = exponent(*bounds)
        self.low, self.high = (scaled(bound, self.q) for bound in bounds)
        used = np.zeros(space.d, dtype=np.bool_)
        for side in sides:
            used |= np.any(side.rows.C != 0, axis=0)
        self.real = np.flatnonzero(space.real_columns & used if pinned is not None else used)
        self.cells = CELLS

    def difference(self, side: int, finite: Floats) -> tuple[dict[str, Any] | None, int]:
        """A point with these values of the finite columns that set `side` accepts and the other rejects, and
        the number of linear programs."""
        start = self.start(finite)
        number = 0
        for number, polytope, vertex in self._differences(side, start):
            if polytope is not None and vertex is not None:
                return self.named(polytope, start, vertex, side), number
        return None, number

    def inside(self, side: int, start: Objects) -> int | None:
        """The number of linear programs that prove set `side` to be inside the other; None if it is not."""
        solved = 0
        for number, _, vertex in self._differences(side, start):
            if vertex is not None:
                return None
            solved = number
        return solved

    def _differences(
        self, side: int, start: Objects
    ) -> Iterator[tuple[int, Polytope | None, list[Fraction] | None]]:
        """The number of programs so far, with the vertex of each row that is negative there; at last with
        None."""
        inside, outside = self.sides[side], self.sides[1 - side]
        rows = outside.rows.times(self.q)
        value = rows.C.dot(start) + rows.c
        slope = rows.C[:, self.real]
        least = value + np.minimum(slope * (self.high - self.low)[self.real], 0).sum(1)
        open_ = np.flatnonzero(least < 0)
        if not open_.size:
            yield 0, None, None
            return
        polytope = self.polytope(inside, start)
        if polytope.empty:
            yield 1, None, None
            return
        extra = [0] * (polytope.n - len(self.real))
        for solved, m in enumerate(open_.tolist(), start=1):
            minimum, vertex = polytope.minimum([*slope[m].tolist(), *extra])
            if minimum + int(value[m]) < 0:
                yield solved, polytope, vertex
        self.cells = polytope.pivots * polytope.D.size
        yield len(open_), None, None

    def start(self, finite: Floats) -> Objects:
        """(d,) the corner of the box at which each real column has its lower bound."""
        start: Objects = self.low.copy()
        here = ~self.space.real_columns
        start[here] = scaled(finite[: int(here.sum())], self.q)
        return start

    def polytope(self, side: _Side, start: Objects) -> Polytope:
        """The points of the box that the set accepts, over the real columns minus `low`, then s."""
        columns = len(self.real)
        if side.units is None:
            rows = side.rows.times(self.q)
            A, b = -rows.C[:, self.real], rows.C.dot(start) + rows.c
        else:
            units = side.units.times(self.q)
            K = len(units)
            budgets = np.zeros((len(side.parts), columns + K), dtype=object)
            for budget, own in zip(budgets, side.parts, strict=True):
                budget[columns:][own] = 1
            A = np.concatenate([np.column_stack([units.C[:, self.real], -np.eye(K, dtype=object)]), budgets])
            b = np.append(-(units.C.dot(start) + units.c), [1 << units.q] * len(budgets))
        hot, ones = self._one_hot()
        upper = np.zeros((columns + len(ones), A.shape[1]), dtype=object)
        upper[:, :columns] = np.concatenate([np.eye(columns, dtype=np.int64).astype(object), hot])
        A = np.concatenate([A, upper]).astype(object)
        b = np.concatenate([b, (self.high - self.low)[self.real], ones]).astype(object)
        size = (A.shape[0] + 1) * (A.shape[1] + 2)
        return Polytope(A, b, pivots=self.cells // size)

    def named(self, polytope: Polytope, start: Objects, vertex: list[Fraction], side: int) -> dict[str, Any]:
        """The vertex by name, as floats on or near it that only set `side` accepts, or else as rationals."""
        exact = self._point(start, vertex)
        for point in self._towards_centre(polytope, start, exact):
            psi = np.array([float(x) for x in point])
            verdicts = [
                bool(points.accepts(psi[None])[0]) == (i == side) for i, points in enumerate(self.sets)
            ]
            if self.space.contains(psi)[0] and all(verdicts):
                return self.space.describe(psi)
        near = self.space.describe(np.clip([float(x) for x in exact], *self.bounds))
        for j in np.flatnonzero(self.space.real_columns).tolist():
            block, value = self.space.columns[j]
            near[block][value] = str(exact[j])
        return near

    def _one_hot(self) -> tuple[Objects, Objects]:
        """Rows `sum of the columns of a one-hot block <= 1`, and `>= 1` if each is used and there is no
        OTHER; only for one-hot blocks with continuous columns."""
        place = {j: i for i, j in enumerate(self.real.tolist())}
        A, b = [], []
        for block in self.space.blocks:
            columns = [self.space.column(block.name, value) for value in block.values]
            used = [place[j] for j in columns if j in place]
            if block.kind is not Kind.ONE_HOT or not used:
                continue
            row = np.zeros(len(self.real), dtype=object)
            row[used] = 1
            A.append(row)
            b.append(1 << self.q)
            if len(used) == len(columns) and not block.other:
                A.append(-row)
                b.append(-(1 << self.q))
        return np.array(A, dtype=object).reshape(len(b), len(self.real)), np.array(b, dtype=object)

    def _towards_centre(
        self, polytope: Polytope, start: Objects, exact: list[Fraction]
    ) -> Iterator[list[Fraction]]:
        """The point, then points from halfway to the mean of some vertices down to very near the point."""
        yield exact
        vertices = []
        for j in range(min(CENTRE, len(self.real))):
            for sign in (1, -1):
                cost = [0] * polytope.n
                cost[j] = sign
                vertices.append(self._point(start, polytope.minimum(cost)[1]))
        if not vertices:
            return
        centre = [sum(column, Fraction(0)) / len(vertices) for column in zip(*vertices, strict=True)]
        for halving in range(1, HALVINGS):
            yield [x + (c - x) / 2**halving for x, c in zip(exact, centre, strict=True)]

    def _point(self, start: Objects, vertex: list[Fraction]) -> list[Fraction]:
        point = [Fraction(int(x)) for x in start]
        for j, x in zip(self.real.tolist(), vertex, strict=False):
            point[j] += x
        return [x / 2**self.q for x in point]
