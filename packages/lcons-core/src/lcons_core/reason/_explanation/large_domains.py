"""The strongest rules of a domain that is too large to enumerate, each proved by a row.

Each round takes rejected points that no rule covers yet, finds for each point the rows that reject it with
the largest sureness and boxes around it (`bounds.py`), and adds the boxes with the best coverage for their
reading cost (greedy set cover). A row has a large sureness at psi if little of its range is above its value:

    sureness = -r_S(psi) / (max r_S - r_S(psi)),     1 if the row rejects everything

If no short rule is found, or valid points are rejected that none covers, rules with as many conditions as
it takes are searched for them.

The rules are sound, not complete: some rejected points may be in no rule. No axis of a rule can be made free
with the row of the rule; another row might still prove a wider rule.

There are 2^K - 1 rows. If these are too many, only rows that reject the given points are tried: those of the
active sets S* = {k : a_k > 0}, of their most active parts, and of single units.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lcons_core._arithmetic import exponent, rounding_bound
from lcons_core._blocks import check_numbers
from lcons_core._network import LinearInequalities, RectifierNetwork
from lcons_core._pointset import PointSet, row_reach
from lcons_core._space import FeatureSpace
from lcons_core._theorem import rows_of
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._explanation.bounds import MOST_STEPS, Candidate, RowBounds, Thresholds, greedy_cover
from lcons_core.reason._explanation.regions import DENSE_NUMBERS, DrawnPoints, Region, WeightedPoints
from lcons_core.reason._explanation.result import Proof

FEWEST_ROWS, MOST_ROWS = 32, 1023
ROWS_AT_ONCE = 128
ROW_NUMBERS = 8_000_000
ROUNDS = 3
SEEDS = 400
ROWS_A_SEED = 4
SAMPLE = 5_000
MOST_RULES = 300
LEAST_SHARE = 2e-4
# The points that no short rule covers for which a long one is searched.
LONG_SEEDS = 60
DRAWN = 20_000
MOST_NUMBERS = 4_000_000


def strongest_rules(
    points: PointSet,
    space: FeatureSpace,
    rejected: WeightedPoints,
    seed: int,
    gold: WeightedPoints | None = None,
) -> list[tuple[Region, RowBounds, int]]:
    """The rules found, each with the rows tried and its own row of them, in the order of a greedy cover.
    `gold`: valid points that are rejected, which should be in some rule, however long."""
    rng = np.random.default_rng(seed)
    most = int(np.clip(MOST_NUMBERS // len(space.axes), 200, SAMPLE))
    sample = rejected.sample(most, rng)
    important = np.zeros(len(sample), dtype=np.bool_)
    if gold is not None and len(gold):
        some = gold.sample(SEEDS, rng)
        important = np.arange(len(sample) + len(some)) >= len(sample)
        sample = sample.joined(some)
    search = _Search(sample, *rejecting_rows(points, space, sample))
    chosen: list[int] = []
    uncovered = np.ones(len(sample), dtype=np.bool_)
    for _ in range(ROUNDS if search.short.any() else 0):
        search.extend(rng.permutation(np.flatnonzero(uncovered))[: min(SEEDS, most // 4)], ROWS_A_SEED)
        chosen, uncovered = search.cover()
        if not chosen or not uncovered.any():
            break
    left = np.flatnonzero(uncovered & important if chosen else uncovered)[:LONG_SEEDS]
    if len(left):
        search.extend(left, 1, whole=True)
        chosen, _ = search.cover()
    return [(search.candidates[i].region, *search.proofs[i]) for i in chosen]


@dataclass(frozen=True, eq=False)
class _Search:
    """The rules found so far around points of a sample, and the row that proves each; `values` (N, M) are
    those of the rows at the sample."""

    sample: WeightedPoints
    bounds: RowBounds
    values: Floats
    candidates: list[Candidate] = field(default_factory=list)
    proofs: list[tuple[RowBounds, int]] = field(default_factory=list)
    known: set[tuple[tuple[int, bytes], ...]] = field(default_factory=set)

    @cached_property
    def short(self) -> Bools:
        """(M,) the rows that a short rule can bring below zero: each of its steps changes a single axis."""
        most = MOST_STEPS * self.bounds.widest * (1 + 1e-9)
        short: Bools = self.bounds.highest + self.bounds.slack <= most
        return short

    def extend(self, seeds: Ints, most: int, whole: bool = False) -> None:
        """Adds the rules around seeds by the `most` surest rows of each."""
        which, rows = _surest_rows(self.bounds, self.values[seeds], most)
        if not whole:
            which, rows = which[self.short[rows]], rows[self.short[rows]]
        if not len(rows):
            return
        # Tables are sorted only for the rows that are needed.
        few, place = np.unique(rows, return_inverse=True)
        bounds = self.bounds.take(few)
        thresholds = Thresholds.of(bounds, self.sample, self.values[:, few])
        for region, row in thresholds.boxes(self.sample, seeds[which], place, whole):
            freed = bounds.freed(row, region)
            key = _key(freed)
            if key not in self.known:
                self.known.add(key)
                self.candidates.append(Candidate.of(self.sample, freed))
                self.proofs.append((bounds, row))

    def cover(self) -> tuple[list[int], Bools]:
        """The rules to show, best first, and which points of the sample are in none of them."""
        return greedy_cover(self.sample, self.candidates, MOST_RULES, LEAST_SHARE)


def draw_rejected(points: PointSet, space: FeatureSpace, seed: int) -> WeightedPoints:
    """Random rejected points, used if there are no examples; empty if none was found."""
    rng = np.random.default_rng(seed)
    most = int(np.clip(MOST_NUMBERS // len(space.axes), 200, min(DRAWN, 200 + 4 * space.size)))
    short = _shortest(space)
    drawn = np.empty((len(space.axes), most), dtype=short).T
    for i, axis in enumerate(space.axes):
        drawn[:, i] = rng.integers(0, len(axis), most)
    found = drawn[_rejects(points, space, drawn)]
    if len(found) < most // 20:
        # Few points are rejected: search where single units or rows have their extreme values.
        worst = _worst_values(points, space, rng, most)
        mixed = np.where(rng.random(drawn.shape) < rng.random((most, 1)), worst, drawn)
        found = np.concatenate([found, mixed[_rejects(points, space, mixed)]])
    return DrawnPoints(space, _distinct(found))


def _shortest(space: FeatureSpace) -> np.dtype[np.unsignedinteger[Any]]:
    """The shortest integers for the value indices of all axes, with the byte that counts most first."""
    return np.dtype(np.min_scalar_type(max(map(len, space.axes)) - 1)).newbyteorder(">")


def _distinct(points: Ints) -> Ints:
    """The distinct rows in ascending order, compared byte by byte."""
    whole = np.ascontiguousarray(points)
    rows = np.unique(whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))))
    return rows.view(points.dtype).reshape(len(rows), points.shape[1])


def _rejects(points: PointSet, space: FeatureSpace, assignments: Ints) -> Bools:
    # All rows are evaluated at once, so with many rows only few points fit at a time.
    step = max(1, min(2 * MOST_NUMBERS // points.width, 4 * DENSE_NUMBERS // len(space.axes)))
    parts = [assignments[first : first + step] for first in range(0, len(assignments), step)]
    accepted = np.concatenate([points.verdicts(space, part) for part in parts])
    return ~accepted & space.possible(assignments)


def _worst_values(points: PointSet, space: FeatureSpace, rng: np.random.Generator, number: int) -> Ints:
    """(number, axes) on every axis, the worst value for a random unit."""
    networks = points.networks()
    units = -np.concatenate([part.W for part in networks]) if networks else rows_of(points).coefficients
    rows = units[:64]
    worst = np.stack([axis.table(rows).argmin(0) for axis in space.axes], axis=1)
    return worst[rng.integers(0, len(rows), number)]


def _surest_rows(bounds: RowBounds, values: Floats, most: int) -> tuple[Ints, Ints]:
    """(seed, row) pairs: per seed, the rows that reject it with the largest sureness."""
    reach = bounds.highest - values
    with np.errstate(over="ignore"):
        sure = np.where(values < -bounds.slack, -values / np.maximum(reach, 1e-300), -1.0)
    rows = np.argsort(-sure, axis=1, kind="stable")[:, :most]
    seeds, place = np.nonzero(np.take_along_axis(sure, rows, axis=1) > 0)
    return seeds, rows[seeds, place]


def _key(region: Region) -> tuple[tuple[int, bytes], ...]:
    return tuple((axis, region[axis].tobytes()) for axis in sorted(region))


def rejecting_rows(points: PointSet, space: FeatureSpace, seeds: WeightedPoints) -> tuple[RowBounds, Floats]:
    """The candidate rows that reject some seed (if many, those that reject most seeds), and their values."""
    parts = _parts(points, space, seeds)
    weight = [part.weights(seeds) for part in parts]
    order = np.argsort(-np.concatenate(weight), kind="stable")[: _affordable(space)]
    kept = np.zeros(sum(map(len, weight)), dtype=np.bool_)
    kept[order] = True
    stops = np.cumsum([len(part.bounds) for part in parts])[:-1]
    best = [(own & (held > 0)).nonzero()[0] for own, held in zip(np.split(kept, stops), weight, strict=True)]
    chosen = list(zip(parts, best, strict=True))
    values = np.concatenate([part.values(seeds, rows) for part, rows in chosen], axis=1)
    return RowBounds.joined([part.bounds.take(rows) for part, rows in chosen]), values


def candidate_rows(points: PointSet, space: FeatureSpace, seeds: WeightedPoints) -> RowBounds:
    """The rows that are worth trying at the seeds: all rows, if they are few."""
    return RowBounds.joined([part.bounds for part in _parts(points, space, seeds)])


@dataclass(frozen=True, eq=False)
class _Part:
    """Some rows; if they are those of a network, also the activations (N, K) of the seeds and the subsets
    (M, K), because K sums per seed are fewer than M."""

    bounds: RowBounds
    activations: Floats | None = None
    subsets: Floats | None = None

    def values(self, seeds: WeightedPoints, rows: Any) -> Floats:
        """(N, rows) the values of chosen rows at the seeds."""
        if self.activations is None or self.subsets is None:
            return seeds.forms(self.bounds.coefficients[rows]) + self.bounds.bias[rows]
        return 1.0 - self.activations @ self.subsets[rows].T

    def weights(self, seeds: WeightedPoints) -> Floats:
        """(M,) the weight of the seeds that each row rejects."""
        steps = (slice(first, first + ROWS_AT_ONCE) for first in range(0, len(self.bounds), ROWS_AT_ONCE))
        rejected = [self.values(seeds, rows) < -self.bounds.slack[rows] for rows in steps]
        return np.concatenate([seeds.weights @ part for part in rejected]) if rejected else np.zeros(0)


def _parts(points: PointSet, space: FeatureSpace, seeds: WeightedPoints) -> list[_Part]:
    networks = points.networks()
    if not networks:
        return [_Part(bounds) for bounds in _given_rows(rows_of(points), space)]
    share = max(16, _affordable(space) // len(networks))
    several = len(networks) > 1
    return [
        _network_part(network, p if several else 0, space, seeds, share)
        for p, network in enumerate(networks, start=1)
    ]


def _affordable(space: FeatureSpace) -> int:
    """The number of rows whose sorted tables (`bounds.py`) fit in memory."""
    longest = max(len(axis) for axis in space.axes)
    check_numbers(8 * len(space.axes) * longest * FEWEST_ROWS, "the sorted tables of rules")
    return int(np.clip(ROW_NUMBERS // (len(space.axes) * longest), FEWEST_ROWS, MOST_ROWS))


def _network_part(
    part: RectifierNetwork, number: int, space: FeatureSpace, seeds: WeightedPoints, most: int
) -> _Part:
    activations = seeds.forms(part.W) + part.b
    subsets = _subsets(part.K, activations, seeds.weights, most)
    numeric = subsets.astype(np.float64)
    total = 1.0 + row_reach(space, part.W).sum() + np.abs(part.b).sum()
    q = part.exponent if space.integral else None
    slack = rounding_bound(float(3 * total), part.K + 4 * len(space.axes) + 4, q)
    names = [Proof("row", tuple(int(k) for k in np.flatnonzero(subset)), number) for subset in subsets]
    bounds = RowBounds(
        space,
        0.0 - numeric @ part.W,
        1.0 - numeric @ part.b,
        np.full(len(subsets), slack),
        tuple(names),
    )
    return _Part(bounds, activations, numeric)


def _subsets(K: int, activations: Floats, weights: Floats, most: int) -> Bools:
    """All non-empty subsets of the units if at most `most`, else the subsets that reject most seeds."""
    if most >= 2**K - 1:
        return (np.arange(1, 2**K)[:, None] >> np.arange(K) & 1).astype(np.bool_)
    order = np.argsort(-activations, axis=1)
    ranked = np.take_along_axis(activations, order, axis=1)
    rank = np.argsort(order, axis=1)
    # The fewest most active units that reject, the whole active set, and a subset halfway between them.
    shortest = (np.maximum(ranked, 0.0).cumsum(1) <= 1.0).sum(1) + 1
    whole = (ranked > 0).sum(1)
    kept = [rank < size[:, None] for size in (shortest, whole, (shortest + whole) // 2)]
    found, which = np.unique(np.concatenate(kept), axis=0, return_inverse=True)
    weight = np.bincount(which.reshape(-1), np.tile(weights, len(kept)))
    heaviest = found[np.argsort(-weight, kind="stable")[:most]]
    return np.concatenate([heaviest[heaviest.any(1)], np.eye(K, dtype=np.bool_)[:most]])


def _given_rows(rows: LinearInequalities, space: FeatureSpace) -> list[RowBounds]:
    reach = row_reach(space, rows.coefficients) + np.abs(rows.bias)
    q = exponent(rows.coefficients, rows.bias) if space.integral else None
    terms = 4 * len(space.axes) + 4
    slack = np.full(len(rows), rounding_bound(float(3 * reach.max(initial=0.0)), terms, q))
    names = tuple(Proof("row", row=m) for m in range(len(rows)))
    every = RowBounds(space, rows.coefficients, rows.bias, slack, names)
    return [every.take(slice(first, first + MOST_ROWS)) for first in range(0, max(len(rows), 1), MOST_ROWS)]
