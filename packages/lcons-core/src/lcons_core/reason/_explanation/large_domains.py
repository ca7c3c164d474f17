"""The strongest rules of a domain too large to enumerate, each proved by a row.

Rounds of: take rejected points that no rule covers yet, find for each the rows that reject it most surely
and the boxes round it (below), and add to the rules the boxes that cover the most for what they
cost to read (greedy set cover). A row rejects psi surely where little of its range lies above psi's value:

    sureness = -r_S(psi) / (max r_S - r_S(psi)),     1 where the row rejects everything

The rules are sound, not complete: some rejected points stay outside. No axis of a rule can be freed under
its row; another row might still prove a part of it.

Boxes round rejected points: from the whole domain down to the widest box that a row still proves.

For a row S and a seed that it rejects, every axis keeps the values {v : c_a[v] <= tau_a}: those at least
as bad as a threshold, the seed's own value always among them. The search starts with everything free,
where the row's maximum is too high by some excess, and lowers thresholds until the excess is gone. Of all
steps (an axis and a new threshold) the best removes the most excess per price, and the price of an axis
is what a reader and the rule's coverage pay:

    price(V_a) = NAME * names(V_a) + AXIS * (axis is not free) - log(share of rejected seeds in V_a)

What is left of the slack then buys thresholds back. All seeds are searched side by side.

Which rules to show first: greedy set cover, discounted by what a rule costs to read.

The next rule is the one with the largest `newly covered weight * exp(-READING * price)`
(`price_of`). The weight that a rule newly covers only falls as others are chosen, so an entry on
top of the heap whose figure is up to date is the best, and few figures are ever computed twice.

Not in the paper.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcons_core._blocks import Kind
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._explanation.bounds import RowBounds, rejecting_rows
from lcons_core.reason._explanation.regions import Region, WeightedPoints, points_of

ROUNDS = 3
SEEDS = 400
ROWS_A_SEED = 4
SAMPLE = 5_000
MOST_RULES = 300
LEAST_SHARE = 2e-4
DRAWN = 20_000
MOST_NUMBERS = 4_000_000


def strongest_rules(
    points: PointSet, space: FeatureSpace, rejected: WeightedPoints, seed: int
) -> tuple[RowBounds, list[tuple[Region, int]]]:
    """The rows tried; and the rules found with their rows, in the order of a greedy cover of the rejected."""
    rng = np.random.default_rng(seed)
    most = int(np.clip(MOST_NUMBERS // len(space.axes), 200, SAMPLE))
    sample = rejected.sample(most, rng)
    bounds, values = rejecting_rows(points, space, sample)
    if not len(bounds):
        return bounds, []
    thresholds = Thresholds.of(bounds, sample, values)
    pool: dict[tuple[tuple[int, bytes], ...], Candidate] = {}
    proofs: list[int] = []
    chosen: list[int] = []
    uncovered = np.ones(len(sample), dtype=np.bool_)
    for _ in range(ROUNDS):
        seeds = rng.permutation(np.flatnonzero(uncovered))[: min(SEEDS, most // 4)]
        which, rows = _surest_rows(bounds, values[seeds], ROWS_A_SEED)
        for region, row in thresholds.boxes(sample, seeds[which], rows):
            freed = _freed(bounds, row, region)
            if _key(freed) not in pool:
                pool[_key(freed)] = Candidate.of(sample, freed)
                proofs.append(row)
        candidates = list(pool.values())
        chosen, uncovered = greedy_cover(sample, candidates, MOST_RULES, LEAST_SHARE)
        if not chosen or not uncovered.any():
            break
    return bounds, [(candidates[i].region, proofs[i]) for i in chosen]


def draw_rejected(points: PointSet, space: FeatureSpace, seed: int) -> WeightedPoints:
    """Rejected points drawn at random, for want of examples; none where drawing finds none."""
    rng = np.random.default_rng(seed)
    most = int(np.clip(MOST_NUMBERS // len(space.axes), 200, min(DRAWN, 200 + 4 * space.size)))
    drawn = np.stack([rng.integers(0, len(axis), most) for axis in space.axes], axis=1)
    found = drawn[_rejects(points, space, drawn)]
    if len(found) < most // 20:
        # Few points are rejected: look where single units or rows are at their worst.
        worst = _worst_values(points, space, rng, most)
        mixed = np.where(rng.random(drawn.shape) < rng.random((most, 1)), worst, drawn)
        found = np.concatenate([found, mixed[_rejects(points, space, mixed)]])
    return points_of(space, np.unique(found, axis=0))


def _rejects(points: PointSet, space: FeatureSpace, assignments: Ints) -> Bools:
    # Rows are compared all at once, so many rows need few points at a time.
    step = max(1, 2 * MOST_NUMBERS // points.width)
    parts = [assignments[first : first + step] for first in range(0, len(assignments), step)]
    accepted = np.concatenate([points.verdicts(space, part) for part in parts])
    return ~accepted & space.possible(assignments)


def _worst_values(points: PointSet, space: FeatureSpace, rng: np.random.Generator, number: int) -> Ints:
    """(number, axes) the value of every axis that is worst for a unit drawn at random."""
    networks = points.networks()
    units = -np.concatenate([part.W for part in networks]) if networks else points.inequalities().coefficients
    rows = units[:64]
    worst = np.stack([axis.table(rows).argmin(0) for axis in space.axes], axis=1)
    return worst[rng.integers(0, len(rows), number)]


def _surest_rows(bounds: RowBounds, values: Floats, most: int) -> tuple[Ints, Ints]:
    """(seed, row) pairs: for each seed the rows that reject it most surely."""
    reach = bounds.highest - values
    sure = np.where(values < -bounds.slack, -values / np.maximum(reach, 1e-300), -1.0)
    rows = np.argsort(-sure, axis=1, kind="stable")[:, :most]
    seeds, place = np.nonzero(np.take_along_axis(sure, rows, axis=1) > 0)
    return seeds, rows[seeds, place]


def _freed(bounds: RowBounds, row: int, region: Region) -> Region:
    """The region without the axes that the row can do without, the cheapest first."""
    cost = {a: bounds.most[a, row] - bounds.tables[a][mask, row].max() for a, mask in region.items()}
    kept = dict(region)
    for axis in sorted(cost, key=lambda a: float(cost[a])):
        fewer = {a: mask for a, mask in kept.items() if a != axis}
        if not bounds.proves(row, fewer):
            break
        kept = fewer
    return kept


def _key(region: Region) -> tuple[tuple[int, bytes], ...]:
    return tuple((axis, region[axis].tobytes()) for axis in sorted(region))


NAME = 0.15
AXIS = 0.3
MOST_NAMES = 12
MOST_STEPS = 24
MOST_AXES = 64
MOST_NUMBERS = 4_000_000


def names_of(space: FeatureSpace, axis: int, kept: int) -> int:
    """How many values a reader must take in where an axis keeps `kept` of its values."""
    if kept == len(space.axes[axis]):
        return 0
    if space.block(space.axes[axis].block).kind is not Kind.ONE_HOT:
        return 1
    return min(kept, len(space.axes[axis]) - kept, MOST_NAMES)


def price_of(space: FeatureSpace, region: Region) -> float:
    """The reader's part of the price of a region."""
    names = sum(names_of(space, axis, int(mask.sum())) for axis, mask in region.items())
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
        for a, (axis, table) in enumerate(zip(axes, bounds.tables, strict=True)):
            tables[:, a, : len(axis)] = table.T
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
        return cls(bounds, order, levels, np.argsort(order, axis=2), price, last)

    def boxes(self, seeds: WeightedPoints, which: Ints, rows: Ints) -> Iterator[tuple[Region, int]]:
        """A region round seed `which[i]` proved by `rows[i]`, for every i where the search ends in time."""
        values = seeds.take(which).assignments()
        step = max(1, MOST_NUMBERS // self.levels[0].size)
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            axes, kept, done = self._search(values[part], rows[part])
            found = zip(rows[part][done], axes[done], kept[done], strict=True)
            for row, some, levels in found:
                region = {
                    int(a): self._mask(int(row), int(a), int(level))
                    for a, level in zip(some, levels, strict=True)
                    if level < self.last[a]
                }
                if self.bounds.proves(int(row), region):
                    yield region, int(row)

    def _mask(self, row: int, axis: int, level: int) -> Bools:
        mask = np.zeros(self.last[axis] + 1, dtype=np.bool_)
        mask[self.order[row, axis, : level + 1]] = True
        return mask

    def _search(self, values: Ints, rows: Ints) -> tuple[Ints, Ints, Bools]:
        """(B, m) axes that may matter, how far up its order each keeps its values; where that was enough."""
        axes = self._telling_axes(values, rows)
        pick = rows[:, None], axes
        levels, price, last = self.levels[pick], self.price[pick], self.last[axes]
        chosen = np.take_along_axis(values, axes, axis=1)
        lowest = np.take_along_axis(self.rank[pick], chosen[:, :, None], axis=2)
        place = np.arange(levels.shape[2])
        now = last.copy()
        over = self.bounds.highest[rows] + self.bounds.slack[rows]
        todo = np.flatnonzero(over >= 0)
        for _ in range(MOST_STEPS):
            if not len(todo):
                break
            here = now[todo][:, :, None]
            tau, paid = (np.take_along_axis(x[todo], here, axis=2) for x in (levels, price))
            open_ = (place >= lowest[todo]) & (place < here)
            drop = np.where(open_, tau - np.where(open_, levels[todo], 0.0), 0.0)
            enough = over[todo][:, None, None] * (1 + 1e-9) + 1e-9
            worth = np.minimum(drop, enough) / np.maximum(price[todo] - paid, 1e-2)
            axis, level = np.divmod(worth.reshape(len(todo), -1).argmax(1), len(place))
            over[todo] -= drop[np.arange(len(todo)), axis, level]
            now[todo, axis] = level
            todo = todo[over[todo] >= 0]
        self._buy_back(now, over, levels, price, last)
        return axes, now, over < 0

    def _telling_axes(self, values: Ints, rows: Ints) -> Ints:
        """(B, m) the axes on which the seed's value is furthest below the maximum: no rule has many more."""
        every = np.arange(len(self.last))
        if len(every) <= MOST_AXES:
            return np.tile(every, (len(rows), 1))
        chosen = rows[:, None], every
        fall = self.bounds.most.T[rows] - self.levels[(*chosen, self.rank[(*chosen, values)])]
        return np.argpartition(-fall, MOST_AXES, axis=1)[:, :MOST_AXES]

    def _buy_back(self, now: Ints, over: Floats, levels: Floats, price: Floats, last: Ints) -> None:
        """Raises thresholds while slack is left and a price falls."""
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
    """(M, axes, longest) the share of each row's rejected weight (M, N) that has each value."""
    share = np.empty((len(rejected), values.shape[1], longest))
    scaled = rejected / np.maximum(rejected.sum(1, keepdims=True), 1e-300)
    step = max(1, MOST_NUMBERS // (len(values) * longest))
    for first in range(0, values.shape[1], step):
        part = slice(first, first + step)
        chosen = values[:, part, None] == np.arange(longest)
        product = scaled @ chosen.reshape(len(values), -1).astype(np.float64)
        share[:, part] = product.reshape(len(rejected), -1, longest)
    return share


READING = 0.6


@dataclass(frozen=True, eq=False)
class Candidate:
    """A region, the points inside it as bits, and its discount."""

    region: Region
    bits: NDArray[np.uint8]
    discount: float

    @classmethod
    def of(cls, points: WeightedPoints, region: Region) -> Candidate:
        """The region with what it covers of the points."""
        price = price_of(points.space, region)
        return cls(region, np.packbits(points.inside(region)), float(np.exp(-READING * price)))


def greedy_cover(
    points: WeightedPoints, candidates: Sequence[Candidate], most: int, least: float = 0.0
) -> tuple[list[int], Bools]:
    """The indices of at most `most` candidates, best first, and which points they leave uncovered.

    A candidate that newly covers no more than a share `least` of the weight is not chosen.
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
