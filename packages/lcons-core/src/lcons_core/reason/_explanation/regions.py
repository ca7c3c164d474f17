"""Regions: boxes of the domain by axis index, with weighted points and expected weights in them.

A region maps some axes to a Boolean mask over their values and leaves the others free: the set of points
whose value is in the mask on every mapped axis. It is the same as a `Box` (`_domain.py`), with indices
instead of names, for searches.

Points stay sparse: the values of one axis are read only from the columns of that axis, so with 10,000 binary
columns a rule costs only the columns that it mentions. Once few points are left in a region, their other axes
are read together. Drawn points are kept as value indices instead, and are made sparse only if that is asked.

`Chance` is the weight of positives in a forbidden box that is expected if its conditions were independent:

    expected(box) = N * sum over the possible points v of the box of prod_i share_i(v_i)

where i runs over the axes of the box, N is the weight of all positives, and share_i(v) is the share of this
weight with value v on axis i. A rule with one rare value has a small expectation, even with a large support.
For a single axis there is nothing to combine: the expectation is the weight that occurs.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core._blocks import CellAxis, Kind
from lcons_core._errors import InvalidInput
from lcons_core._psi import PsiRows, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._domain import Box

Region = Mapping[int, Bools]

# So few points are read on all axes at once.
FEW_POINTS = 64
# The most numbers of dense psi at a time: they stay in the cache.
DENSE_NUMBERS = 1 << 18


@dataclass(frozen=True, eq=False)
class Stacked:
    """The masks of a region that has axes, one after another: numpy is slow on thousands of short arrays.

    `axes` (m,) are in the order of the region; the mask of `axes[i]` begins at `starts[i]`.
    """

    axes: Ints
    masks: Bools
    starts: Ints

    @classmethod
    def of(cls, region: Region) -> Stacked:
        axes = np.fromiter(region, dtype=np.int64, count=len(region))
        lengths = np.fromiter(map(len, region.values()), dtype=np.int64, count=len(region))
        return cls(axes, np.concatenate(list(region.values())), np.cumsum(lengths) - lengths)

    @property
    def kept(self) -> list[int]:
        """The number of values of each axis in the region."""
        counts: list[int] = np.add.reduceat(self.masks, self.starts, dtype=np.int64).tolist()
        return counts

    def positions(self, first: Ints) -> Ints:
        """The position of each entry of `masks`, if the values of axis a begin at `first[a]`."""
        lengths = np.diff(self.starts, append=len(self.masks))
        return np.arange(len(self.masks)) + np.repeat(first[self.axes] - self.starts, lengths)


def box_of(space: FeatureSpace, region: Region) -> Box:
    """The region by name, its axes in the order of the space."""
    if not region:
        return Box(())
    ordered = {i: region[i] for i in sorted(region)}
    stacked = Stacked.of(ordered)
    starts = stacked.starts.tolist()
    held = np.flatnonzero(stacked.masks).tolist()
    conditions, first = [], 0
    for i, start, kept in zip(ordered, starts, stacked.kept, strict=True):
        axis = space.axes[i]
        conditions.append((axis.name, tuple(axis.values[v - start] for v in held[first : first + kept])))
        first += kept
    return Box(tuple(conditions))


def size_of(space: FeatureSpace, region: Region) -> int:
    """The number of points of the product of axes that are inside."""
    if not region:
        return space.size
    fixed = math.prod(Stacked.of(region).kept)
    return fixed * (space.size // math.prod(map(len, region.values())))


def within(inner: Region, outer: Region) -> bool:
    """Whether every point of `inner` is a point of `outer`."""
    return all(i in inner and not (inner[i] & ~mask).any() for i, mask in outer.items())


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """N points of the domain with their weights, read axis by axis."""

    space: FeatureSpace
    rows: PsiRows

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def psi(self) -> SparsePsi:
        """(N, d)."""
        return self.rows.psi

    @property
    def weights(self) -> Floats:
        """(N,)."""
        return self.rows.weight

    @property
    def total(self) -> float:
        """The total weight of all points."""
        return self.rows.total

    def take(self, rows: Ints | Bools) -> WeightedPoints:
        """The chosen points."""
        return WeightedPoints(self.space, self.rows.take(rows))

    def joined(self, other: WeightedPoints) -> WeightedPoints:
        """These points, then the others."""
        both = SparsePsi.stack([self.psi, other.psi])
        return WeightedPoints(self.space, PsiRows.of(both, weight=np.append(self.weights, other.weights)))

    def sample(self, most: int, rng: np.random.Generator) -> WeightedPoints:
        """All points, or `most` random ones."""
        if len(self) <= most:
            return self
        return self.take(np.sort(rng.permutation(len(self))[:most]))

    def values(self, axis: int) -> Ints:
        """(N,) the value index of every point on one axis."""
        if axis not in self._values:
            self._values[axis] = self._read(axis)
        return self._values[axis]

    def assignments(self) -> Ints:
        """(N, axes) value indices; for few points, because they are made dense."""
        dense = self.psi.dense()
        pieces: list[Ints] = []
        column = axis = 0
        for block in self.space.blocks:
            width = len(block.values)
            if block.kind is Kind.ONE_HOT:
                pieces.append(self.values(axis)[:, None])
                axis += 1
            elif block.kind is Kind.REAL:
                pieces += [self.values(axis + i)[:, None] for i in range(width)]
                axis += width
            else:
                low = block.low if block.whole else 0
                pieces.append(dense[:, column : column + width].astype(np.int64) - low)
                axis += width
            column += width
        return np.concatenate(pieces, axis=1)

    def forms(self, W: Floats) -> Floats:
        """(N, K) `W psi`; for few points, because they are made dense."""
        return self.psi.dense() @ W.T

    def inside(self, region: Region) -> Bools:
        """Which points are in the region."""
        left = np.arange(len(self))
        rest = dict(region)
        for axis, mask in region.items():
            if len(left) <= FEW_POINTS:
                break
            left = left[mask[self.values(axis)[left]]]
            del rest[axis]
        if rest and len(left):
            stacked = Stacked.of(rest)
            chosen = self.take(left).assignments()[:, stacked.axes]
            left = left[stacked.masks[stacked.starts + chosen].all(1)]
        inside = np.zeros(len(self), dtype=np.bool_)
        inside[left] = True
        return inside

    def weight(self, region: Region) -> float:
        """The weight of the points in the region."""
        return float(self.weights[self.inside(region)].sum())

    @cached_property
    def _values(self) -> dict[int, Ints]:
        return {}

    @cached_property
    def _by_column(self) -> tuple[Ints, Ints]:
        """The stored entries ordered by column, and the position at which each column starts."""
        order = np.argsort(self.psi.indices, kind="stable")
        counts = np.bincount(self.psi.indices, minlength=self.psi.d)
        return order, np.concatenate(([0], np.cumsum(counts)))

    @cached_property
    def _row_of(self) -> Ints:
        return self.psi.row_of

    def _read(self, index: int) -> Ints:
        axis = self.space.axes[index]
        block = self.space.block(axis.block)
        order, starts = self._by_column
        columns = axis.columns[axis.columns >= 0]
        entries = order[starts[columns.min()] : starts[columns.max() + 1]]
        rows = self._row_of[entries]
        if block.kind is Kind.ONE_HOT:
            values = np.full(len(self), len(columns), dtype=np.int64)
            values[rows] = self.psi.indices[entries] - columns[0]
        elif isinstance(axis, CellAxis):
            numbers = np.zeros(len(self))
            numbers[rows] = self.psi.values[entries]
            values = axis.index(numbers)
        else:
            low = block.low if block.whole else 0
            values = np.full(len(self), -low, dtype=np.int64)
            values[rows] = self.psi.values[entries].astype(np.int64) - low
        if ((values < 0) | (values >= len(axis))).any():
            raise InvalidInput(
                f"examples need one of {len(axis)} values for {axis.name!r}, found an example without one;"
                " pass examples made by the feature or space of the constraint."
            )
        return values


class DrawnPoints(WeightedPoints):
    """Points of weight one, kept as value indices (N, axes), which may be shorter integers than int64."""

    indices: Ints

    def __init__(self, space: FeatureSpace, indices: Ints) -> None:
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "indices", indices)

    def __len__(self) -> int:
        return len(self.indices)

    @cached_property
    def rows(self) -> PsiRows:
        """The same points as sparse psi."""
        pairs = list(zip(self.space.axes, self.indices.T, strict=True))
        columns = np.stack([axis.columns[v] for axis, v in pairs], axis=1)
        values = np.stack([axis.coefficients[v] for axis, v in pairs], axis=1)
        present = (columns >= 0) & (values != 0)
        indptr = np.concatenate(([0], np.cumsum(present.sum(1))))
        return PsiRows.of(SparsePsi(indptr, columns[present], values[present], self.space.d))

    @cached_property
    def weights(self) -> Floats:
        """(N,)."""
        return np.ones(len(self))

    @property
    def total(self) -> float:
        """The number of points."""
        return float(len(self))

    def take(self, rows: Ints | Bools) -> DrawnPoints:
        """The chosen points."""
        return DrawnPoints(self.space, self.indices[rows])

    def values(self, axis: int) -> Ints:
        """(N,) the value index of every point on one axis."""
        return self.indices[:, axis]

    def assignments(self) -> Ints:
        """(N, axes) value indices."""
        return self.indices

    def forms(self, W: Floats) -> Floats:
        """(N, K) `W psi`."""
        step = max(1, DENSE_NUMBERS // self.space.d)
        parts = [self.indices[first : first + step] for first in range(0, max(len(self), 1), step)]
        return np.concatenate([self.space.vectors(part) @ W.T for part in parts])


def points_of(space: FeatureSpace, assignments: Ints) -> DrawnPoints:
    """Value indices (N, axes) as points of weight one."""
    return DrawnPoints(space, assignments)


@dataclass(frozen=True, eq=False)
class Chance:
    """The shares of the values of each axis among the positives."""

    positives: WeightedPoints

    def expected(self, region: Region) -> float:
        """The weight of positives in the region if its axes were independent."""
        total = self.positives.total
        if not total:
            return 0.0
        inside = {axis: np.where(mask, self.share(axis), 0.0) for axis, mask in region.items()}
        possible = [pair for pair in self._possible if set(pair[:2]) <= set(region)]
        tied = sorted({axis for pair in possible for axis in pair[:2]})
        chance = float(np.prod([share.sum() for axis, share in inside.items() if axis not in tied]))
        if tied:
            # Combinations that the space excludes cannot occur, also not by chance.
            place = {axis: i for i, axis in enumerate(tied)}
            operands: list[Any] = [x for axis in tied for x in (inside[axis], [place[axis]])]
            operands += [x for one, other, table in possible for x in (table, [place[one], place[other]])]
            chance *= float(np.einsum(*operands, [], optimize="greedy"))
        return total * chance

    def share(self, axis: int) -> Floats:
        """The share of each value of an axis."""
        if axis not in self._shares:
            points = self.positives
            counts = np.bincount(points.values(axis), points.weights, minlength=len(points.space.axes[axis]))
            self._shares[axis] = counts / max(points.total, 1e-300)
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
