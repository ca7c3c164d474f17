"""How many positives a forbidden box would hold by chance, if its conditions were independent.

    expected(box) = N * sum over the possible points v of the box of prod_i share_i(v_i)

i runs over the axes of the box, N is the weight of all positives, and share_i(v) is the share of it that has
value v on axis i. A rule that rests on one rare value has a small expectation, whatever its support. On a
single axis nothing is combined: the expectation is what was seen.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core.exact import Floats
from lcons_core.explanation.regions import Region, WeightedPoints


@dataclass(frozen=True, eq=False)
class Chance:
    """The shares of the values of each axis among the positives."""

    positives: WeightedPoints

    def expected(self, region: Region) -> float:
        """The weight of positives in the region if its axes were independent."""
        total = self.positives.total
        if not total:
            return 0.0
        inside = {axis: np.where(mask, self._share(axis), 0.0) for axis, mask in region.items()}
        possible = [pair for pair in self._possible if set(pair[:2]) <= set(region)]
        tied = sorted({axis for pair in possible for axis in pair[:2]})
        chance = float(np.prod([share.sum() for axis, share in inside.items() if axis not in tied]))
        if tied:
            # What a space leaves out cannot occur, by chance or otherwise.
            place = {axis: i for i, axis in enumerate(tied)}
            operands: list[Any] = [x for axis in tied for x in (inside[axis], [place[axis]])]
            operands += [x for one, other, table in possible for x in (table, [place[one], place[other]])]
            chance *= float(np.einsum(*operands, [], optimize="greedy"))
        return total * chance

    def _share(self, axis: int) -> Floats:
        if axis not in self._shares:
            points = self.positives
            counts = np.bincount(points.values(axis), points.weights, minlength=len(points.space.axes[axis]))
            self._shares[axis] = counts / points.total
        return self._shares[axis]

    @cached_property
    def _shares(self) -> dict[int, Floats]:
        return {}

    @cached_property
    def _possible(self) -> list[tuple[int, int, NDArray[np.float64]]]:
        """(axis, axis, 1 where their values can occur together) for each requirement of the space."""
        space = self.positives.space
        tables = []
        for rule in space.requires:
            axes = [space.axis_index(name) for name in (rule.block, rule.needs_block)]
            chosen, needed = (space.axes[i].values for i in axes)
            table = np.ones((len(chosen), len(needed)))
            table[chosen.index(rule.value)] = [value in rule.needs_values for value in needed]
            tables.append((axes[0], axes[1], table))
        return tables
