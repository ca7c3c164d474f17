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

import numpy as np

from lcons_core._arithmetic import exponent, rounding_bound
from lcons_core._blocks import check_numbers
from lcons_core._inequalities import LinearInequalities, row_reach
from lcons_core._network import RectifierNetwork
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._explanation.bounds import Candidate, RowBounds, Thresholds, greedy_cover
from lcons_core.reason._explanation.regions import Region, WeightedPoints, points_of
from lcons_core.reason._explanation.result import Proof

FEWEST_ROWS, MOST_ROWS = 32, 1023
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
) -> tuple[RowBounds, list[tuple[Region, int]]]:
    """The rows tried; and the rules found with their rows, in the order of a greedy cover. `gold`: valid
    points that are rejected, which should be in some rule, however long."""
    rng = np.random.default_rng(seed)
    most = int(np.clip(MOST_NUMBERS // len(space.axes), 200, SAMPLE))
    sample = rejected.sample(most, rng)
    important = np.zeros(len(sample), dtype=np.bool_)
    if gold is not None and len(gold):
        some = gold.sample(SEEDS, rng)
        important = np.arange(len(sample) + len(some)) >= len(sample)
        sample = sample.joined(some)
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
    left = np.flatnonzero(uncovered & important if chosen else uncovered)[:LONG_SEEDS]
    if len(left):
        which, rows = _surest_rows(bounds, values[left], 1)
        for region, row in thresholds.boxes(sample, left[which], rows, whole=True):
            freed = _freed(bounds, row, region)
            if _key(freed) not in pool:
                pool[_key(freed)] = Candidate.of(sample, freed)
                proofs.append(row)
        candidates = list(pool.values())
        chosen, _ = greedy_cover(sample, candidates, MOST_RULES, LEAST_SHARE)
    return bounds, [(candidates[i].region, proofs[i]) for i in chosen]


def draw_rejected(points: PointSet, space: FeatureSpace, seed: int) -> WeightedPoints:
    """Random rejected points, used if there are no examples; empty if none was found."""
    rng = np.random.default_rng(seed)
    most = int(np.clip(MOST_NUMBERS // len(space.axes), 200, min(DRAWN, 200 + 4 * space.size)))
    drawn = np.stack([rng.integers(0, len(axis), most) for axis in space.axes], axis=1)
    found = drawn[_rejects(points, space, drawn)]
    if len(found) < most // 20:
        # Few points are rejected: search where single units or rows have their extreme values.
        worst = _worst_values(points, space, rng, most)
        mixed = np.where(rng.random(drawn.shape) < rng.random((most, 1)), worst, drawn)
        found = np.concatenate([found, mixed[_rejects(points, space, mixed)]])
    return points_of(space, np.unique(found, axis=0))


def _rejects(points: PointSet, space: FeatureSpace, assignments: Ints) -> Bools:
    # All rows are evaluated at once, so with many rows only few points fit at a time.
    step = max(1, 2 * MOST_NUMBERS // points.width)
    parts = [assignments[first : first + step] for first in range(0, len(assignments), step)]
    accepted = np.concatenate([points.verdicts(space, part) for part in parts])
    return ~accepted & space.possible(assignments)


def _worst_values(points: PointSet, space: FeatureSpace, rng: np.random.Generator, number: int) -> Ints:
    """(number, axes) on every axis, the worst value for a random unit."""
    networks = [part for alternative in points.alternatives() for part in alternative.networks()]
    units = -np.concatenate([part.W for part in networks]) if networks else points.inequalities().coefficients
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


def _freed(bounds: RowBounds, row: int, region: Region) -> Region:
    """The region without the axes that the row does not need, removed in the order of their price."""
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


def rejecting_rows(points: PointSet, space: FeatureSpace, seeds: WeightedPoints) -> tuple[RowBounds, Floats]:
    """The candidate rows that reject some seed (if many, those that reject most seeds), and their values."""
    rows = candidate_rows(points, space, seeds)
    psi = seeds.psi.dense()
    weight = np.empty(len(rows))
    for first in range(0, len(rows), MOST_ROWS):
        part = slice(first, first + MOST_ROWS)
        values = psi @ rows.coefficients[part].T + rows.bias[part]
        weight[part] = seeds.weights @ (values < -rows.slack[part])
    order = np.argsort(-weight, kind="stable")[: _affordable(space)]
    best = np.sort(order[weight[order] > 0])
    if len(rows) <= MOST_ROWS:
        return rows.take(best), values[:, best]
    chosen = rows.take(best)
    return chosen, chosen.values(seeds)


def candidate_rows(points: PointSet, space: FeatureSpace, seeds: WeightedPoints) -> RowBounds:
    """The rows that are worth trying at the seeds: all rows, if they are few."""
    networks = points.networks()
    if not networks:
        return _given_rows(points.inequalities(), space)
    share = max(16, _affordable(space) // len(networks))
    several = len(networks) > 1
    parts = [
        _part_rows(part, p if several else 0, space, seeds, share) for p, part in enumerate(networks, start=1)
    ]
    return RowBounds(
        space,
        np.concatenate([part.coefficients for part in parts]),
        np.concatenate([part.bias for part in parts]),
        np.concatenate([part.slack for part in parts]),
        tuple(name for part in parts for name in part.names),
    )


def _affordable(space: FeatureSpace) -> int:
    """The number of rows whose sorted tables (`bounds.py`) fit in memory."""
    longest = max(len(axis) for axis in space.axes)
    check_numbers(8 * len(space.axes) * longest * FEWEST_ROWS, "the sorted tables of rules")
    return int(np.clip(ROW_NUMBERS // (len(space.axes) * longest), FEWEST_ROWS, MOST_ROWS))


def _part_rows(
    part: RectifierNetwork, number: int, space: FeatureSpace, seeds: WeightedPoints, most: int
) -> RowBounds:
    subsets = _subsets(part, seeds, most)
    numeric = subsets.astype(np.float64)
    total = 1.0 + row_reach(space, part.W).sum() + np.abs(part.b).sum()
    q = part.exponent if space.integral else None
    slack = rounding_bound(float(3 * total), part.K + 4 * len(space.axes) + 4, q)
    names = [Proof("row", tuple(int(k) for k in np.flatnonzero(subset)), number) for subset in subsets]
    return RowBounds(
        space,
        0.0 - numeric @ part.W,
        1.0 - numeric @ part.b,
        np.full(len(subsets), slack),
        tuple(names),
    )


def _subsets(part: RectifierNetwork, seeds: WeightedPoints, most: int) -> Bools:
    """All non-empty subsets of the units if at most `most`, else the subsets that reject most seeds."""
    number = 2**part.K - 1
    if number <= most:
        counting = np.arange(1, 2**part.K)
        return (counting[:, None] >> np.arange(part.K) & 1).astype(np.bool_)
    activations = part.activations(seeds.psi)
    order = np.argsort(-activations, axis=1)
    ranked = np.take_along_axis(activations, order, axis=1)
    rank = np.argsort(order, axis=1)
    # The fewest most active units that reject, the whole active set, and a subset halfway between them.
    shortest = (np.maximum(ranked, 0.0).cumsum(1) <= 1.0).sum(1) + 1
    whole = (ranked > 0).sum(1)
    kept = [rank < size[:, None] for size in (shortest, whole, (shortest + whole) // 2)]
    found, which = np.unique(np.concatenate(kept), axis=0, return_inverse=True)
    weight = np.bincount(which.reshape(-1), np.tile(seeds.weights, len(kept)))
    heaviest = found[np.argsort(-weight, kind="stable")[:most]]
    return np.concatenate([heaviest[heaviest.any(1)], np.eye(part.K, dtype=np.bool_)[:most]])


def _given_rows(rows: LinearInequalities, space: FeatureSpace) -> RowBounds:
    reach = row_reach(space, rows.coefficients) + np.abs(rows.bias)
    q = exponent(rows.coefficients, rows.bias) if space.integral else None
    terms = 4 * len(space.axes) + 4
    slack = np.full(len(rows), rounding_bound(float(3 * reach.max(initial=0.0)), terms, q))
    names = tuple(Proof("row", row=m) for m in range(len(rows)))
    return RowBounds(space, rows.coefficients, rows.bias, slack, names)
