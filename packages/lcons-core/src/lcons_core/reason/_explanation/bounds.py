"""Rows of Theorem 1 as tables by axis: bounds over boxes, the widest boxes that a row proves, and covers.

The row of S is r_S(psi) = bias + sum over axes of c_a[v_a], and psi is rejected iff some r_S(psi) < 0. Over
a region

    max r_S = bias + sum over fixed axes of max {c_a[v] : v in V_a} + sum over free axes of max c_a

so S proves that a region is rejected iff this maximum is below zero. For weights that are not dyadic, it must
be below zero by more than a bound on the rounding error, so that every proof is sound.

`Thresholds` finds wide boxes around rejected points. For a row S and a seed that it rejects, each axis keeps
the values {v : c_a[v] <= tau_a} up to a threshold; they always include the value of the seed. At the start
all axes are free, and the maximum of the row is too high by an excess; the search lowers thresholds until
there is no excess. Of all steps (an axis and a new threshold) it takes the one that removes the most excess
per price. The price of an axis measures the effort of the reader and the loss of coverage:

    price(V_a) = NAME * names(V_a) + AXIS * (axis is not free) - log(share of rejected seeds in V_a)

Then thresholds are raised again as far as the remaining slack allows. All seeds are searched together.

`greedy_cover` chooses the rules to show first: the next rule is the one with the largest
`newly covered weight * exp(-READING * price)` (`price_of`). The newly covered weight of a rule only falls
when others are chosen. So if the figure of the entry on top of the heap is up to date, it is the best, and
few figures are computed twice.

Not in the paper.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcons_core._blocks import Kind
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._explanation.regions import Region, Stacked, WeightedPoints
from lcons_core.reason._explanation.result import Proof

NAME = 0.15
AXIS = 0.3
MOST_NAMES = 12
MOST_STEPS = 24
MOST_AXES = 64
MOST_NUMBERS = 4_000_000
READING = 0.6


@dataclass(frozen=True, eq=False)
class RowBounds:
    """M rows `coefficients @ psi + bias >= 0`; a bound is a proof if it is below `-slack[m]`."""

    space: FeatureSpace
    coefficients: Floats
    bias: Floats
    slack: Floats
    names: tuple[Proof, ...]

    def __len__(self) -> int:
        return len(self.bias)

    @cached_property
    def table(self) -> Floats:
        """(values of all axes, M) c_a[v]; the values of an axis begin at `first`."""
        self.space.check_tables(len(self))
        return np.concatenate([axis.table(self.coefficients) for axis in self.space.axes])

    @cached_property
    def first(self) -> Ints:
        """(axes,) where the values of each axis begin in `table`."""
        return np.cumsum([0, *map(len, self.space.axes)])[:-1]

    @cached_property
    def most(self) -> Floats:
        """(axes, M) the maximum of every axis."""
        most: Floats = np.maximum.reduceat(self.table, self.first, axis=0)
        return most

    @property
    def highest(self) -> Floats:
        """(M,) the maximum of every row over the whole domain."""
        return self._extent[0]

    @property
    def widest(self) -> Floats:
        """(M,) the largest difference that the value of a single axis can make."""
        return self._extent[1]

    @cached_property
    def _extent(self) -> tuple[Floats, Floats]:
        """`highest` and `widest`, without the table of all axes."""
        total, widest = np.zeros(len(self)), np.zeros(len(self))
        for axis in self.space.axes:
            table = axis.table(self.coefficients)
            most = table.max(0)
            total += most
            np.maximum(widest, most - table.min(0), out=widest)
        return self.bias + total, widest

    def falls(self, row: int, stacked: Stacked) -> Floats:
        """(m,) what each condition of a region adds to the maximum of one row: 0 or less."""
        table = self.table[stacked.positions(self.first), row]
        most = np.maximum.reduceat(np.where(stacked.masks, table, -np.inf), stacked.starts)
        falls: Floats = most - self.most[stacked.axes, row]
        return falls

    def bound(self, row: int, region: Region) -> float:
        """The maximum of one row over a region."""
        highest = self.highest[row]
        if not region:
            return float(highest)
        return float(np.add.accumulate(np.append(highest, self.falls(row, Stacked.of(region))))[-1])

    def proves(self, row: int, region: Region) -> bool:
        """Whether the row is below zero at every point of the region, also with rounding errors."""
        return self.bound(row, region) < -self.slack[row]

    def grown(self, row: int, region: Region, axis: int) -> Bools:
        """All values of one axis that the row forbids under the region's other conditions."""
        rest = self.bound(row, {i: mask for i, mask in region.items() if i != axis})
        first = self.first[axis]
        table = self.table[first : first + len(self.space.axes[axis]), row]
        forbidden: Bools = rest - self.most[axis, row] + table < -self.slack[row]
        return forbidden

    def freed(self, row: int, region: Region) -> Region:
        """The region without the axes that the row does not need, removed in the order of their price."""
        if not region:
            return region
        stacked = Stacked.of(region)
        cheapest = stacked.axes[np.argsort(-self.falls(row, stacked), kind="stable")]
        kept = dict(region)
        for axis in cheapest.tolist():
            fewer = {a: mask for a, mask in kept.items() if a != axis}
            if not self.proves(row, fewer):
                break
            kept = fewer
        return kept

    @classmethod
    def joined(cls, parts: Sequence[RowBounds]) -> RowBounds:
        """The rows of all parts, which must have the same space."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            parts[0].space,
            np.concatenate([part.coefficients for part in parts]),
            np.concatenate([part.bias for part in parts]),
            np.concatenate([part.slack for part in parts]),
            tuple(name for part in parts for name in part.names),
        )

    def take(self, rows: Ints | slice) -> RowBounds:
        """The chosen rows, in ascending order."""
        chosen = np.arange(len(self))[rows]
        if len(chosen) == len(self):
            return self
        return RowBounds(
            self.space,
            self.coefficients[chosen],
            self.bias[chosen],
            self.slack[chosen],
            tuple(self.names[m] for m in chosen),
        )


def names_of(space: FeatureSpace, axis: int, kept: int) -> int:
    """The number of values that a reader must read if an axis keeps `kept` of its values."""
    if kept == len(space.axes[axis]):
        return 0
    if space.block(space.axes[axis].block).kind is not Kind.ONE_HOT:
        return 1
    return min(kept, len(space.axes[axis]) - kept, MOST_NAMES)


def price_of(space: FeatureSpace, region: Region) -> float:
    """The part of the price of a region that measures the effort of the reader."""
    kept = Stacked.of(region).kept if region else []
    names = sum(names_of(space, axis, number) for axis, number in zip(region, kept, strict=True))
    return NAME * names + AXIS * len(region)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Per row and axis, the values in ascending order of c: (M, axes, longest), padded at the end."""

    bounds: RowBounds
    order: Ints
    levels: Floats
    rank: Ints
    price: Floats
    last: Ints

    @classmethod
    def of(cls, bounds: RowBounds, seeds: WeightedPoints, values: Floats) -> Thresholds:
        """Sorted tables, with prices from the seeds that each row rejects (`values` (N, M) below zero)."""
        axes = bounds.space.axes
        last = np.array([len(axis) - 1 for axis in axes])
        shape = (len(bounds), len(axes), int(last.max()) + 1)
        tables = np.full(shape, np.inf)
        reading = np.full((len(axes), shape[2]), np.inf)
        for a, (axis, first) in enumerate(zip(axes, bounds.first.tolist(), strict=True)):
            tables[:, a, : len(axis)] = bounds.table[first : first + len(axis)].T
            reading[a, : len(axis)] = [
                NAME * names_of(bounds.space, a, kept) + AXIS * (kept < len(axis))
                for kept in range(1, len(axis) + 1)
            ]
        order = np.argsort(tables, axis=2, kind="stable")
        rejected = (values < -bounds.slack).T * seeds.weights
        share = _shares(rejected, seeds.assignments(), shape[2])
        mass = np.take_along_axis(share, order, axis=2).cumsum(2)
        price = reading - np.log(np.clip(mass, 1e-6, 1.0))
        levels = np.take_along_axis(tables, order, axis=2)
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(shape[2])[None, None], axis=2)
        return cls(bounds, order, levels, rank, price, last)

    def boxes(
        self, seeds: WeightedPoints, which: Ints, rows: Ints, whole: bool = False
    ) -> Iterator[tuple[Region, int]]:
        """A region around seed `which[i]` proved by `rows[i]`, for every i whose search ends in time;
        `whole`: with as many axes as it takes, so that every search ends."""
        values = seeds.take(which).assignments()
        step = max(1, MOST_NUMBERS // self.levels[0].size)
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            axes, kept, done = self._search(values[part], rows[part], whole)
            found = zip(rows[part][done], axes[done], kept[done], strict=True)
            for row, some, levels in found:
                lowered = levels < self.last[some]
                region = self._region(int(row), some[lowered], levels[lowered])
                if self.bounds.proves(int(row), region):
                    yield region, int(row)

    def _region(self, row: int, axes: Ints, levels: Ints) -> Region:
        """Each of the axes with its values up to a position."""
        masks = np.empty((len(axes), self.order.shape[2]), dtype=np.bool_)
        upto = np.arange(masks.shape[1]) <= levels[:, None]
        np.put_along_axis(masks, self.order[row, axes], upto, axis=1)
        lengths = (self.last[axes] + 1).tolist()
        return {a: mask[:n] for a, mask, n in zip(axes.tolist(), masks, lengths, strict=True)}

    def _search(self, values: Ints, rows: Ints, whole: bool) -> tuple[Ints, Ints, Bools]:
        """(B, m) axes that may matter, the position of each threshold, and (B,) whether the search ended."""
        most = len(self.last) if whole else MOST_AXES
        steps = int((self.last + 1).sum()) if whole else MOST_STEPS
        axes = self._telling_axes(values, rows, most)
        pick = rows[:, None], axes
        levels, price, last = self.levels[pick], self.price[pick], self.last[axes]
        chosen = np.take_along_axis(values, axes, axis=1)
        lowest = np.take_along_axis(self.rank[pick], chosen[:, :, None], axis=2)
        place = np.arange(levels.shape[2])
        now = last.copy()
        over = self.bounds.highest[rows] + self.bounds.slack[rows]
        todo = np.flatnonzero(over >= 0)
        drop, cost = self._steps(levels, price, lowest, now)
        for _ in range(steps):
            if not len(todo):
                break
            enough = over[todo][:, None, None] * (1 + 1e-9) + 1e-9
            worth = np.minimum(drop[todo], enough) / cost[todo]
            axis, level = np.divmod(worth.reshape(len(todo), -1).argmax(1), len(place))
            over[todo] -= drop[todo, axis, level]
            now[todo, axis] = level
            # Only the steps of the lowered axis have changed.
            one = todo[:, None], axis[:, None]
            drop[one], cost[one] = self._steps(levels[one], price[one], lowest[one], now[one])
            todo = todo[over[todo] >= 0]
        self._buy_back(now, over, levels, price, last)
        return axes, now, over < 0

    def _steps(self, levels: Floats, price: Floats, lowest: Ints, now: Ints) -> tuple[Floats, Floats]:
        """(B, m, positions) how much each position of a threshold lowers the bound, and what it costs."""
        place, here = np.arange(levels.shape[2]), now[:, :, None]
        tau, paid = (np.take_along_axis(x, here, axis=2) for x in (levels, price))
        open_ = (place >= lowest) & (place < here)
        drop = np.where(open_, tau - np.where(open_, levels, 0.0), 0.0)
        return drop, np.maximum(price - paid, 1e-2)

    def _telling_axes(self, values: Ints, rows: Ints, most: int) -> Ints:
        """(B, m) the axes on which the seed's value is furthest below the maximum; few rules need others."""
        every = np.arange(len(self.last))
        if len(every) <= most:
            return np.tile(every, (len(rows), 1))
        chosen = rows[:, None], every
        fall = self.bounds.most.T[rows] - self.levels[(*chosen, self.rank[(*chosen, values)])]
        return np.argpartition(-fall, most, axis=1)[:, :most]

    def _buy_back(self, now: Ints, over: Floats, levels: Floats, price: Floats, last: Ints) -> None:
        """Raises thresholds while there is slack and a price falls."""
        place = np.arange(levels.shape[2])
        todo = np.flatnonzero(over < 0)
        for _ in range(MOST_STEPS):
            if not len(todo):
                break
            here = now[todo][:, :, None]
            tau, paid = (np.take_along_axis(x[todo], here, axis=2) for x in (levels, price))
            rise = levels[todo] - tau
            fits = (place > here) & (place <= last[todo][:, :, None])
            fits &= over[todo][:, None, None] + rise < 0
            saved = np.where(fits, paid - price[todo], 0.0).reshape(len(todo), -1)
            best = saved.argmax(1)
            useful = saved[np.arange(len(todo)), best] > 0
            axis, level = np.divmod(best[useful], len(place))
            todo = todo[useful]
            over[todo] += rise[useful, axis, level]
            now[todo, axis] = level


def _shares(rejected: Floats, values: Ints, longest: int) -> Floats:
    """(M, axes, longest) the share of each row's rejected weight (M, N) that has each value; in single
    precision, because shares only set prices."""
    share = np.empty((len(rejected), values.shape[1], longest))
    scaled = (rejected / np.maximum(rejected.sum(1, keepdims=True), 1e-300)).astype(np.float32)
    step = max(1, MOST_NUMBERS // (len(values) * longest))
    for first in range(0, values.shape[1], step):
        part = slice(first, first + step)
        # Every point has one value, so the shares of all values but one are enough.
        chosen = values[:, part, None] == np.arange(1, longest)
        own = chosen.shape[1:]
        product = scaled @ chosen.reshape(len(values), math.prod(own)).astype(np.float32)
        share[:, part, 1:] = product.reshape(len(rejected), *own)
    share[:, :, 0] = 1.0 - share[:, :, 1:].sum(2)
    return share


@dataclass(frozen=True, eq=False)
class Candidate:
    """A region, the points inside it as bits, and its discount."""

    region: Region
    bits: NDArray[np.uint8]
    discount: float

    @classmethod
    def of(cls, points: WeightedPoints, region: Region) -> Candidate:
        """The region with the points that it covers."""
        price = price_of(points.space, region)
        return cls(region, np.packbits(points.inside(region)), float(np.exp(-READING * price)))


def greedy_cover(
    points: WeightedPoints, candidates: Sequence[Candidate], most: int, least: float = 0.0
) -> tuple[list[int], Bools]:
    """The indices of at most `most` candidates, best first, and which points remain uncovered.

    A candidate is chosen only if it newly covers more than a share `least` of the weight.
    """
    number = len(points)
    uncovered = np.ones(number, dtype=np.bool_)

    def members(i: int) -> Bools:
        return np.unpackbits(candidates[i].bits, count=number).view(np.bool_)

    def gain(i: int) -> float:
        return float(points.weights[members(i) & uncovered].sum())

    heap = [(-gain(i) * candidates[i].discount, i, 0) for i in range(len(candidates))]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < most:
        _, i, computed_at = heapq.heappop(heap)
        fresh = gain(i)
        if fresh <= least * points.total:
            continue
        if computed_at < len(chosen):
            heapq.heappush(heap, (-fresh * candidates[i].discount, i, len(chosen)))
            continue
        chosen.append(i)
        uncovered &= ~members(i)
    return chosen, uncovered
