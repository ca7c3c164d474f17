"""The strongest rules of a domain too large to enumerate, each proved by a row.

Rounds of: take rejected points that no rule covers yet, find for each the rows that reject it most surely
and the boxes round it (`descent.py`), and add to the rules the boxes that cover the most for what they
cost to read (greedy set cover). A row rejects psi surely where little of its range lies above psi's value:

    sureness = -r_S(psi) / (max r_S - r_S(psi)),     1 where the row rejects everything

The rules are sound, not complete: some rejected points stay outside. No axis of a rule can be freed under
its row; another row might still prove a part of it.

Not in the paper.
"""

from __future__ import annotations

import numpy as np

from lcons_core._arithmetic import Floats
from lcons_core._inequalities import LinearInequalities
from lcons_core._psi import Ints
from lcons_core._space import FeatureSpace
from lcons_core.reason._explanation.bounds import RowBounds, rejecting_rows
from lcons_core.reason._explanation.descent import Candidate, Thresholds, greedy_cover
from lcons_core.reason._explanation.regions import Region, WeightedPoints, points_of
from lcons_core.reason._points import Bools, PointSet, verdicts

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
    rows = max(1, len(points)) if isinstance(points, LinearInequalities) else 1
    step = max(1, 2 * MOST_NUMBERS // rows)
    parts = [assignments[first : first + step] for first in range(0, len(assignments), step)]
    accepted = np.concatenate([verdicts(points, space, part) for part in parts])
    return ~accepted & space.possible(assignments)


def _worst_values(points: PointSet, space: FeatureSpace, rng: np.random.Generator, number: int) -> Ints:
    """(number, axes) the value of every axis that is worst for a unit drawn at random."""
    if isinstance(points, LinearInequalities):
        rows = points.coefficients[:64]
    else:
        rows = -np.concatenate([part.W for part in points.parts])[:64]
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
