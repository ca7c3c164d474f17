"""Which rules to show first: greedy set cover, discounted by what a rule costs to read.

The next rule is the one with the largest `newly covered weight * exp(-READING * price)`
(`descent.price_of`). The weight that a rule newly covers only falls as others are chosen, so an entry on
top of the heap whose figure is up to date is the best, and few figures are ever computed twice.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcons_core.domain import Bools
from lcons_core.explanation.descent import price_of
from lcons_core.explanation.regions import Region, WeightedPoints

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
