"""Redundant rows on a finite domain: dominance in closed form, and irredundant covers by enumeration.

Dominance needs only block-wise minima, no enumeration:

    min over the domain of c . psi + b  =  b + sum over axes of min over values v of axis.table(c)[v]

so "r is never violated" is min r >= 0 and "r is dominated by q" is min (r - q) >= 0. The mean of a dominator
is at most the mean of the rows that it dominates, so one pass in the order of means finds every dominator
first; of rows that are equal on the domain the first is kept. Decisions are exact: a float minimum decides if
it is outside its rounding bound, otherwise the minimum is computed in rationals.

A cover is a set of rows that rejects the same points of a domain as all rows, such that no row of the set can
be dropped. The rows that a rejected point violates are its pattern; a cover needs a row from every pattern
(set cover). Rows that reject many points are chosen first. A scan of the domain stores only patterns of
points that the rows chosen so far accept; then chosen rows that no stored pattern needs are dropped, and the
domain is scanned again. When a scan finds no new pattern, the chosen rows reject every rejected point, and
each row has a stored pattern that no other chosen row is in.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lcons_core._arithmetic import exponent, rounding_bound
from lcons_core._network import LinearInequalities
from lcons_core._pointset import PointSet, row_reach
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints, OnProgress
from lcons_core.reason._points import scan

PROBES = 12


@dataclass(frozen=True, eq=False)
class RowTables:
    """Contributions of every value of every axis to every row: `tables` (M, values of all axes)."""

    rows: LinearInequalities
    space: FeatureSpace
    tables: Floats
    starts: Ints

    @classmethod
    def of(cls, rows: LinearInequalities, space: FeatureSpace) -> RowTables:
        space.check_tables(len(rows))
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
        """(2 PROBES, M) the values of all rows at points where the sampled rows are smallest and largest."""
        stops = [*self.starts[1:].tolist(), self.tables.shape[1]]
        spans = [slice(a, b) for a, b in zip(self.starts.tolist(), stops, strict=True)]
        values = np.broadcast_to(self.rows.bias, (2 * len(sampled), len(self.rows))).copy()
        for axis in (self.tables[:, span] for span in spans):
            points = np.concatenate([axis[sampled].argmin(1), axis[sampled].argmax(1)])
            values += axis.T[points]
        return values

    def bound(self, other: RowTables) -> float:
        """The largest possible error of a float minimum of a difference; 0.0 if all are exact."""
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
        q = exponent(*arrays) if self.space.integral else None
        return rounding_bound(reach, 4 * len(self.space.axes) + 3, q)


def undominated(rows: LinearInequalities, space: FeatureSpace) -> tuple[Ints, list[tuple[int, int]]]:
    """(the rows that no other row dominates, (dominated row, dominator) for the other rows)."""
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
        # A row that is below q at some point is not dominated: a few points exclude nearly all rows.
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
    """(M,) which rows are never violated, or dominated by one row of `by`: then `by` implies them."""
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
    """The smallest value of row m, or of row m minus row q of `others`, over the product of axes."""
    c, total = rows.coefficients[m].tolist(), Fraction(float(rows.bias[m]))
    minus = [0.0] * space.d if others is None else others.coefficients[q].tolist()
    if others is not None:
        total -= Fraction(float(others.bias[q]))
    for axis in space.axes:
        total += min(
            (Fraction(c[j]) - Fraction(minus[j])) * Fraction(number) if number else Fraction(0)
            for j, number in zip(axis.columns.tolist(), axis.coefficients.tolist(), strict=True)
        )
    return total


_CELLS = 2**24
_STORED_A_CHUNK = 256


def irredundant_rows(
    rows: LinearInequalities,
    space: FeatureSpace,
    reference: PointSet,
    progress: OnProgress | None = None,
) -> Ints:
    """Positions of rows that reject the same points as `reference` (the set of all rows), none redundant."""
    cover = _Cover(rows, space)
    for flat in cover.pieces(_sample(space, _CELLS // max(1, len(rows)))):
        cover.extend(flat, stored=len(flat))
    cover.reduce()
    searching = True
    while searching:
        searching = False
        start = list(cover.chosen)
        for flat, (accepted, open_) in scan([reference, rows.take(np.array(start, np.int64))], space):
            for piece in cover.pieces(flat[open_ & ~accepted]):
                cover.extend(piece, stored=_STORED_A_CHUNK)
            if progress is not None and flat.size:
                progress(int(flat[-1]) + 1, space.size)
        if len(cover.chosen) > len(start):
            searching = cover.reduce()
    return np.sort(np.array(cover.chosen, dtype=np.int64))


class _Cover:
    """The rows chosen so far, and the patterns for which they were chosen."""

    def __init__(self, rows: LinearInequalities, space: FeatureSpace) -> None:
        self.rows, self.space = rows, space
        self.chosen: list[int] = []
        self.stored: dict[bytes, int] = {}

    def pieces(self, flat: Ints) -> list[Ints]:
        """The points, split into pieces whose patterns fit in memory."""
        size = max(1, _CELLS // max(1, len(self.rows)))
        return [flat[i : i + size] for i in range(0, len(flat), size)]

    def extend(self, flat: Ints, stored: int) -> None:
        """Chooses rows until these reject every rejected point; stores at most `stored` patterns."""
        points = self.space.unravelled(flat)
        violated = ~self.rows.satisfied(self.space.vectors(points))
        violated = violated[violated.any(1) & ~violated[:, self.chosen].any(1)]
        if not len(violated):
            return
        packed, counts = np.unique(np.packbits(violated, axis=1), axis=0, return_counts=True)
        weights = counts.astype(np.float64)
        for pattern, weight in zip(packed[:stored], counts[:stored], strict=True):
            key = pattern.tobytes()
            self.stored[key] = self.stored.get(key, 0) + int(weight)
        patterns = _unpacked(packed, len(self.rows))
        gain: Floats = weights @ patterns.astype(np.float64)
        open_ = np.ones(len(patterns), dtype=np.bool_)
        while open_.any():
            row = int(np.argmax(gain))
            met = open_ & patterns[:, row]
            gain -= weights[met] @ patterns[met].astype(np.float64)
            open_ &= ~met
            self.chosen.append(row)

    def reduce(self) -> bool:
        """Drops chosen rows that no stored pattern needs, rows with few points first; True if any."""
        before = len(self.chosen)
        if not before:
            return False
        keys = np.frombuffer(b"".join(self.stored), dtype=np.uint8).reshape(len(self.stored), -1)
        patterns = _unpacked(keys, len(self.rows))[:, self.chosen]
        weights = np.array(list(self.stored.values()), dtype=np.float64)
        needed, times_met = np.ones(before, dtype=np.bool_), patterns.sum(1)
        for i in np.argsort(weights @ patterns, kind="stable"):
            if (times_met[patterns[:, i]] >= 2).all():
                needed[i] = False
                times_met = times_met - patterns[:, i]
        self.chosen = [row for row, keep in zip(self.chosen, needed, strict=True) if keep]
        return len(self.chosen) < before


def _unpacked(packed: NDArray[np.uint8], rows: int) -> Bools:
    return np.unpackbits(packed, axis=1, count=rows).view(np.bool_)


def _sample(space: FeatureSpace, most: int) -> Ints:
    """All points of a small domain, else random ones, so that the first chosen rows reject many points."""
    if space.size <= most:
        flat = np.arange(space.size)
    else:
        flat = np.unique(np.random.default_rng(0).integers(0, space.size, max(most // 8, 1024)))
    return flat[space.possible(space.unravelled(flat))]
