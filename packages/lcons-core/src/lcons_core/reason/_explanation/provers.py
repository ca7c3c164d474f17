"""The strongest rules of a large domain with the rows that prove them: one row, or one per member of a union.

A union rejects a box iff each of its members rejects it, so a rule needs one row per member whose maximum
over the box is below zero. The rules of the members are found first (`large_domains.py`), with the points
that the union rejects as seeds. For each such point, the strongest rule of each member that contains the
point is taken; their intersection is a box that all members reject. Axes that no row needs are made free
again, and a greedy cover chooses the rules to show.

Not in the paper.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools
from lcons_core.reason._explanation.bounds import Candidate, RowBounds, greedy_cover
from lcons_core.reason._explanation.large_domains import (
    LEAST_SHARE,
    MOST_RULES,
    SAMPLE,
    SEEDS,
    strongest_rules,
)
from lcons_core.reason._explanation.regions import Region, WeightedPoints
from lcons_core.reason._explanation.result import Proof

MOST_BOXES = 2_000


@dataclass(frozen=True, eq=False)
class Prover:
    """Rows that are all below zero in a box; one (bounds, row) per member, one in all without a union."""

    rows: tuple[tuple[RowBounds, int], ...]

    def proves(self, region: Region) -> bool:
        """Whether every row is below zero at every point of the region, also with rounding errors."""
        return all(bounds.proves(row, region) for bounds, row in self.rows)

    def grown(self, region: Region, axis: int) -> Bools:
        """All values of one axis that the rows forbid under the region's other conditions."""
        values: Bools = np.all([bounds.grown(row, region, axis) for bounds, row in self.rows], axis=0)
        return values

    def proof(self, region: Region) -> Proof:
        """The proof that the region is rejected."""
        proofs = [replace(bounds.names[row], bound=bounds.bound(row, region)) for bounds, row in self.rows]
        if len(proofs) == 1:
            return proofs[0]
        first, *others = (replace(proof, member=m) for m, proof in enumerate(proofs, start=1))
        return replace(first, others=tuple(others))


def proved_rules(
    points: PointSet,
    space: FeatureSpace,
    rejected: WeightedPoints,
    seed: int,
    gold: WeightedPoints | None = None,
) -> list[tuple[Region, Prover]]:
    """The rules found with their provers, in the order of a greedy cover; `gold` as in `strongest_rules`."""
    members = []
    for alternative in points.alternatives():
        found = strongest_rules(alternative, space, rejected, seed, gold)
        members.append([(region, Prover(((bounds, row),))) for region, bounds, row in found])
    if len(members) == 1:
        return members[0]
    if not all(members):
        return []
    rng = np.random.default_rng(seed)
    sample = rejected.sample(SAMPLE, rng)
    if gold is not None and len(gold):
        sample = sample.joined(gold.sample(SEEDS, rng))
    first = np.stack([_first_inside(sample, [region for region, _ in found]) for found in members])
    combined = Counter(map(tuple, first.T[(first >= 0).all(0)].tolist()))
    pool: list[tuple[Region, Prover]] = []
    for chosen, _ in combined.most_common(MOST_BOXES):
        rules = [found[i] for found, i in zip(members, chosen, strict=True)]
        prover = Prover(tuple(rows for _, own in rules for rows in own.rows))
        pool.append((_freed(prover, _intersection([region for region, _ in rules])), prover))
    order, _ = greedy_cover(
        sample, [Candidate.of(sample, region) for region, _ in pool], MOST_RULES, LEAST_SHARE
    )
    return [pool[i] for i in order]


def _first_inside(
    points: WeightedPoints, regions: list[Region]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(N,) the index of the first region that contains each point, -1 if none does."""
    inside = np.stack([points.inside(region) for region in regions])
    return np.where(inside.any(0), inside.argmax(0), -1)


def _intersection(regions: list[Region]) -> Region:
    both: dict[int, Bools] = {}
    for region in regions:
        for axis, mask in region.items():
            both[axis] = both[axis] & mask if axis in both else mask
    return both


def _freed(prover: Prover, region: Region) -> Region:
    """The region without the axes that the rows do not need, the widest ones removed first."""
    kept = dict(region)
    for axis in sorted(region, key=lambda a: -int(region[a].sum())):
        fewer = {a: mask for a, mask in kept.items() if a != axis}
        if prover.proves(fewer):
            kept = fewer
    return kept
