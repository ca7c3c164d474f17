"""Dominance: rows that a finite domain makes superfluous, by block-wise minima, without enumeration.

    min over the domain of c . psi + b  =  b + sum over axes of min over values v of axis.table(c)[v]

so "r is never violated" is min r >= 0 and "r is dominated by q" is min (r - q) >= 0. A dominator has at
most the mean of what it dominates, so one pass in the order of means meets every dominator first; of
rows that are equal on the domain the first stays.

Exact: a float minimum decides where it clears its rounding bound, else the minimum is formed in rationals.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lcons_core.domain import Bools, row_reach
from lcons_core.exact import Floats, exponent, rounding_bound
from lcons_core.psi import Ints
from lcons_core.space import FeatureSpace
from lcons_core.theorem1 import LinearInequalities

PROBES = 12


@dataclass(frozen=True, eq=False)
class RowTables:
    """What every value of every axis adds to every row: `tables` (M, values of all axes)."""

    rows: LinearInequalities
    space: FeatureSpace
    tables: Floats
    starts: Ints

    @classmethod
    def of(cls, rows: LinearInequalities, space: FeatureSpace) -> RowTables:
        tables = np.concatenate([axis.table(rows.coefficients).T for axis in space.axes], axis=1)
        lengths = [len(axis) for axis in space.axes]
        return cls(rows, space, tables, np.cumsum([0, *lengths[:-1]]))

    def never_violated(self) -> Bools:
        """(M,) which rows hold at every point of the product of axes."""
        least = self._minima(self.tables) + self.rows.bias
        bound = self._bound(self)
        holds: Bools = least >= bound
        for m in np.flatnonzero(np.abs(least) < bound):
            holds[m] = _rational_minimum(self.space, self.rows, int(m)) >= 0
        return holds

    def dominated_by(self, other: RowTables, q: int, candidates: Ints, bound: float) -> Bools:
        """Which of the candidate rows are dominated by row q of `other`."""
        least = self._minima(self.tables[candidates] - other.tables[q])
        least += self.rows.bias[candidates] - other.rows.bias[q]
        holds: Bools = least >= bound
        for i in np.flatnonzero(np.abs(least) < bound):
            row = int(candidates[i])
            holds[i] = _rational_minimum(self.space, self.rows, row, other.rows, q) >= 0
        return holds

    def means(self) -> Floats:
        """(M,) the mean of each row over the product of axes."""
        lengths = np.diff([*self.starts, self.tables.shape[1]])
        return self.rows.bias + (self.tables / np.repeat(lengths, lengths)).sum(1)

    def probes(self, sampled: Ints) -> Floats:
        """(2 PROBES, M) the values of all rows where the sampled rows are least and largest."""
        stops = [*self.starts[1:].tolist(), self.tables.shape[1]]
        spans = [slice(a, b) for a, b in zip(self.starts.tolist(), stops, strict=True)]
        values = np.broadcast_to(self.rows.bias, (2 * len(sampled), len(self.rows))).copy()
        for axis in (self.tables[:, span] for span in spans):
            points = np.concatenate([axis[sampled].argmin(1), axis[sampled].argmax(1)])
            values += axis.T[points]
        return values

    def bound(self, other: RowTables) -> float:
        """How far a float minimum of a difference can be off; 0.0 where all are exact."""
        return self._bound(self, other)

    def _minima(self, tables: Floats) -> Floats:
        minima: Floats = np.minimum.reduceat(tables, self.starts, axis=1).sum(1)
        return minima

    def _bound(self, *tables: RowTables) -> float:
        reach = 0.0
        arrays = []
        for rows in (table.rows for table in tables):
            row_mass = row_reach(self.space, rows.coefficients) + np.abs(rows.bias)
            reach += float(row_mass.max(initial=0.0))
            arrays += [rows.coefficients, rows.bias]
        return rounding_bound(reach, 3 * len(self.space.axes) + 3, exponent(*arrays))


def undominated(rows: LinearInequalities, space: FeatureSpace) -> tuple[Ints, list[tuple[int, int]]]:
    """(the rows that no other dominates, (dominated row, dominator) of the others)."""
    tables = RowTables.of(rows, space)
    bound = tables.bound(tables)
    order = np.argsort(tables.means(), kind="stable")
    sampled = order[np.linspace(0, max(len(order) - 1, 0), min(PROBES, len(order))).astype(np.int64)]
    probes = np.ascontiguousarray(tables.probes(sampled)[:, order])
    alive = np.ones(len(order), dtype=np.bool_)
    dominated: list[tuple[int, int]] = []
    for i, q in enumerate(order.tolist()):
        if not alive[i]:
            continue
        # A row that is below q somewhere is not dominated: a few points rule out nearly all of them.
        open_ = alive[i + 1 :].copy()
        for probe in probes[:4]:
            open_ &= probe[i + 1 :] >= probe[i] - bound
        later = np.flatnonzero(open_) + i + 1
        for probe in probes[4:]:
            later = later[probe[later] >= probe[i] - bound]
        if later.size:
            later = later[tables.dominated_by(tables, q, order[later], bound)]
            alive[later] = False
            dominated += [(m, q) for m in order[later].tolist()]
    return np.sort(order[alive]), dominated


def singly_implied(rows: LinearInequalities, by: LinearInequalities, space: FeatureSpace) -> Bools:
    """(M,) which rows are never violated or dominated by a row of `by`: a proof that `by` implies them."""
    tables, others = RowTables.of(rows, space), RowTables.of(by, space)
    implied = tables.never_violated()
    bound = tables.bound(others)
    for q in range(len(by)):
        open_ = np.flatnonzero(~implied)
        if not open_.size:
            break
        implied[open_] = tables.dominated_by(others, q, open_, bound)
    return implied


def _rational_minimum(
    space: FeatureSpace,
    rows: LinearInequalities,
    m: int,
    others: LinearInequalities | None = None,
    q: int = 0,
) -> Fraction:
    """The least value of row m, or of row m minus row q of `others`, over the product of axes."""
    c, total = rows.coefficients[m].tolist(), Fraction(float(rows.bias[m]))
    minus = [0.0] * space.d if others is None else others.coefficients[q].tolist()
    if others is not None:
        total -= Fraction(float(others.bias[q]))
    for axis in space.axes:
        total += min(
            (Fraction(c[j]) - Fraction(minus[j])) * int(number) if number else Fraction(0)
            for j, number in zip(axis.columns.tolist(), axis.coefficients.tolist(), strict=True)
        )
    return total
