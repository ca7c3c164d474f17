"""Rows of Theorem 1 as tables by axis: closed-form bounds over boxes.

The row of S is r_S(psi) = bias + sum over axes of c_a[v_a], and psi is rejected where some r_S(psi) < 0.
Over a region

    max r_S = bias + sum over fixed axes of max {c_a[v] : v in V_a} + sum over free axes of max c_a

so a region is proved by S iff that maximum is below zero: exactly for dyadic weights, and for other
weights iff it clears a bound on the rounding error, which keeps every proof sound.

Not in the paper. There are 2^K - 1 rows; where that is many, those that reject the given points are
tried: the active sets S* = {k : a_k > 0}, their most active parts, and single units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lcons_core._arithmetic import Floats, exponent, rounding_bound
from lcons_core._inequalities import LinearInequalities
from lcons_core._network import RectifierNetwork
from lcons_core._psi import Ints
from lcons_core._space import FeatureSpace
from lcons_core.reason._explanation.regions import Region, WeightedPoints
from lcons_core.reason._explanation.result import Proof
from lcons_core.reason._points import Bools, PointSet, row_reach

MOST_ROWS = 1023
MOST_NUMBERS = 8_000_000


@dataclass(frozen=True, eq=False)
class RowBounds:
    """M rows `coefficients @ psi + bias >= 0`; a bound proves where it is below `-slack[m]`."""

    space: FeatureSpace
    coefficients: Floats
    bias: Floats
    slack: Floats
    names: tuple[Proof, ...]

    def __len__(self) -> int:
        return len(self.bias)

    @cached_property
    def tables(self) -> tuple[Floats, ...]:
        """c_a: (n_a, M) for every axis."""
        return tuple(axis.table(self.coefficients) for axis in self.space.axes)

    @cached_property
    def most(self) -> Floats:
        """(axes, M) the maximum of every axis."""
        return np.stack([table.max(0) for table in self.tables])

    @cached_property
    def highest(self) -> Floats:
        """(M,) the maximum of every row over the whole domain."""
        total: Floats = self.bias + self.most.sum(0)
        return total

    def values(self, points: WeightedPoints) -> Floats:
        """(N, M) the rows at the points, which must be few: they are made dense."""
        return points.psi.dense() @ self.coefficients.T + self.bias

    def bound(self, row: int, region: Region) -> float:
        """The maximum of one row over a region."""
        bound = self.highest[row]
        for axis, mask in region.items():
            bound += self.tables[axis][mask, row].max() - self.most[axis, row]
        return float(bound)

    def proves(self, row: int, region: Region) -> bool:
        """Whether the row is below zero all over the region, rounding included."""
        return self.bound(row, region) < -self.slack[row]

    def grown(self, row: int, region: Region, axis: int) -> Bools:
        """All values of one axis that the row forbids under the region's other conditions."""
        rest = self.bound(row, {i: mask for i, mask in region.items() if i != axis})
        table = self.tables[axis][:, row]
        forbidden: Bools = rest - self.most[axis, row] + table < -self.slack[row]
        return forbidden

    def take(self, rows: Ints | Bools) -> RowBounds:
        """The chosen rows."""
        chosen = np.arange(len(self))[rows]
        return RowBounds(
            self.space,
            self.coefficients[chosen],
            self.bias[chosen],
            self.slack[chosen],
            tuple(self.names[m] for m in chosen),
        )


def rejecting_rows(points: PointSet, space: FeatureSpace, seeds: WeightedPoints) -> tuple[RowBounds, Floats]:
    """The candidates that reject some seed (most seeds, where they are many), and their values."""
    rows = candidate_rows(points, space, seeds)
    psi = seeds.psi.dense()
    weight = np.empty(len(rows))
    for first in range(0, len(rows), MOST_ROWS):
        part = slice(first, first + MOST_ROWS)
        values = psi @ rows.coefficients[part].T + rows.bias[part]
        weight[part] = seeds.weights @ (values < -rows.slack[part])
    order = np.argsort(-weight, kind="stable")[: _affordable(space)]
    chosen = rows.take(np.sort(order[weight[order] > 0]))
    return chosen, chosen.values(seeds)


def candidate_rows(points: PointSet, space: FeatureSpace, seeds: WeightedPoints) -> RowBounds:
    """The rows that are worth trying at the seeds: all, where they are few."""
    if isinstance(points, LinearInequalities):
        return _given_rows(points, space)
    share = max(16, _affordable(space) // len(points.parts))
    several = len(points.parts) > 1
    parts = [
        _part_rows(part, p if several else 0, space, seeds, share)
        for p, part in enumerate(points.parts, start=1)
    ]
    return RowBounds(
        space,
        np.concatenate([part.coefficients for part in parts]),
        np.concatenate([part.bias for part in parts]),
        np.concatenate([part.slack for part in parts]),
        tuple(name for part in parts for name in part.names),
    )


def _affordable(space: FeatureSpace) -> int:
    """How many rows the sorted tables of `descent.py` have room for."""
    longest = max(len(axis) for axis in space.axes)
    return int(np.clip(MOST_NUMBERS // (len(space.axes) * longest), 32, MOST_ROWS))


def _part_rows(
    part: RectifierNetwork, number: int, space: FeatureSpace, seeds: WeightedPoints, most: int
) -> RowBounds:
    subsets = _subsets(part, seeds, most)
    numeric = subsets.astype(np.float64)
    total = 1.0 + row_reach(space, part.W).sum() + np.abs(part.b).sum()
    slack = rounding_bound(float(3 * total), part.K + 3 * len(space.axes) + 4, part.exponent)
    names = [Proof("row", tuple(int(k) for k in np.flatnonzero(subset)), number) for subset in subsets]
    return RowBounds(
        space,
        0.0 - numeric @ part.W,
        1.0 - numeric @ part.b,
        np.full(len(subsets), slack),
        tuple(names),
    )


def _subsets(part: RectifierNetwork, seeds: WeightedPoints, most: int) -> Bools:
    """All non-empty subsets of the units where at most `most`, else those that reject most seeds."""
    number = 2**part.K - 1
    if number <= most:
        counting = np.arange(1, 2**part.K)
        return (counting[:, None] >> np.arange(part.K) & 1).astype(np.bool_)
    activations = part.activations(seeds.psi)
    order = np.argsort(-activations, axis=1)
    ranked = np.take_along_axis(activations, order, axis=1)
    rank = np.argsort(order, axis=1)
    # The shortest run of most active units that rejects, the whole active set, and what lies halfway.
    shortest = (np.maximum(ranked, 0.0).cumsum(1) <= 1.0).sum(1) + 1
    whole = (ranked > 0).sum(1)
    kept = [rank < size[:, None] for size in (shortest, whole, (shortest + whole) // 2)]
    found, which = np.unique(np.concatenate(kept), axis=0, return_inverse=True)
    weight = np.bincount(which.reshape(-1), np.tile(seeds.weights, len(kept)))
    heaviest = found[np.argsort(-weight, kind="stable")[:most]]
    return np.concatenate([heaviest[heaviest.any(1)], np.eye(part.K, dtype=np.bool_)[:most]])


def _given_rows(rows: LinearInequalities, space: FeatureSpace) -> RowBounds:
    reach = row_reach(space, rows.coefficients) + np.abs(rows.bias)
    q = exponent(rows.coefficients, rows.bias)
    terms = 3 * len(space.axes) + 4
    slack = np.full(len(rows), rounding_bound(float(3 * reach.max(initial=0.0)), terms, q))
    names = tuple(Proof("row", row=m) for m in range(len(rows)))
    return RowBounds(space, rows.coefficients, rows.bias, slack, names)
