"""All minimal rules of a small domain, exactly, merged into boxes.

Let R[v_1, ..., v_m] be true iff the point is rejected. Append to every axis a slot "any" with the conjunction
over the axis:

    R[..., any, ...] = all_v R[..., v, ...]

Then a cell of this lattice of prod(n_i + 1) cells is a rule iff R is true there. The rule is minimal iff no
axis with a value can be set to "any" such that R stays true. Every rejected point is in some minimal rule, so
the rules cover exactly the rejected set. Points that `space.requires` excludes count as rejected, because
they cannot be completions; rules that have only such completions are empty and are dropped.

`merge_cells` merges cells into boxes. Cells are points of one product of axes. Cells that are equal on all
axes except one form a box, whose set on that axis is their union. Merging along every axis in turn partitions
the cells into boxes. The number of boxes depends on the order of the axes, so all orders are tried (only some
if there are many cells), and the fewest boxes are kept.

Not in the paper: the paper interprets rows by hand and leaves a general method to future research.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._explanation.regions import Region, WeightedPoints, points_of

Words = NDArray[np.uint64]

MERGE_WORK = 4_000_000


def merge_cells(cells: Ints, sizes: tuple[int, ...]) -> list[tuple[Bools, ...]]:
    """Disjoint boxes, each with one mask per axis, whose union is exactly the cells (C, axes).

    >>> boxes = merge_cells(np.array([[0, 1], [0, 2], [1, 1], [1, 2]]), (2, 3))
    >>> [mask.astype(int).tolist() for mask in boxes[0]], len(boxes)
    ([[1, 1], [0, 1, 1]], 1)
    """
    start = _packed(cells, max(sizes))
    best = start
    for order in _orders(len(sizes), len(cells)):
        boxes = start
        for axis in order:
            boxes = _merge_along(boxes, axis)
        if best is start or len(boxes) < len(best):
            best = boxes
    return [tuple(_unpacked(box[axis], size) for axis, size in enumerate(sizes)) for box in best]


def _orders(axes: int, cells: int) -> Iterator[tuple[int, ...]]:
    """Orders of the axes, at least one and as many as the work allows; each axis is soon the last one."""
    affordable = max(1, MERGE_WORK // max(1, axes * cells))
    backwards = permutations(reversed(range(axes)))
    return (tuple(reversed(order)) for order in islice(backwards, min(affordable, 120)))


def _packed(cells: Ints, most: int) -> Words:
    """(C, axes, words): the set {value} of each cell and axis as bits."""
    bits = np.zeros((*cells.shape, most // 64 + 1), dtype=np.uint64)
    row, axis = np.indices(cells.shape)
    bits[row, axis, cells // 64] = np.uint64(1) << (cells % 64).astype(np.uint64)
    return bits


def _unpacked(words: Words, size: int) -> Bools:
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, count=size, bitorder="little").view(np.bool_)


def _merge_along(boxes: Words, axis: int) -> Words:
    """The boxes after merging those that are equal on all other axes."""
    others = np.delete(boxes, axis, axis=1).reshape(len(boxes), -1)
    if not others.shape[1]:
        return np.bitwise_or.reduce(boxes, axis=0, keepdims=True)
    order = np.lexsort(others.T)
    others = others[order]
    new = np.concatenate(([True], (others[1:] != others[:-1]).any(1)))
    starts = np.flatnonzero(new)
    merged = boxes[order[starts]]
    merged[:, axis] = np.bitwise_or.reduceat(boxes[order, axis], starts, axis=0)
    return merged


CHUNK = 1 << 16
MOST_NUMBERS = 1 << 23


def lattice_size(space: FeatureSpace) -> int:
    """prod(n_i + 1): the number of cells of a `Lattice`."""
    return math.prod(len(axis) + 1 for axis in space.axes)


@dataclass(frozen=True, eq=False)
class Lattice:
    """`rule` and `vacuous` on the extended domain; `rejected` is the number of rejected points per cell."""

    space: FeatureSpace
    rule: Bools
    vacuous: Bools
    rejected: Floats

    @classmethod
    def of(cls, points: PointSet, space: FeatureSpace) -> Lattice:
        """The lattice of the points that are not in the set `points`."""
        shape = tuple(len(axis) for axis in space.axes)
        rejected, impossible = np.empty(space.size, np.bool_), np.empty(space.size, np.bool_)
        # All rows are evaluated at once, so with many rows only few points fit at a time.
        chunk = max(1, min(CHUNK, MOST_NUMBERS // points.width))
        for first in range(0, space.size, chunk):
            flat = np.arange(first, min(first + chunk, space.size))
            assignments = np.stack(np.unravel_index(flat, shape), axis=1).astype(np.int64)
            rejected[flat] = ~points.verdicts(space, assignments)
            impossible[flat] = ~space.possible(assignments)
        counts = (rejected & ~impossible).astype(np.float64).reshape(shape)
        return cls(
            space,
            _extended((rejected | impossible).reshape(shape), np.all),
            _extended(impossible.reshape(shape), np.all),
            _extended(counts, np.sum),
        )

    def weights(self, points: WeightedPoints) -> Floats:
        """The weight of the points in each cell."""
        shape = tuple(len(axis) for axis in self.space.axes)
        values = [points.values(i) for i in range(len(shape))]
        flat = np.ravel_multi_index(values, shape)
        counts = np.bincount(flat, points.weights, minlength=self.space.size)
        return _extended(counts.reshape(shape), np.sum)

    def rejected_points(self, most: int, seed: int) -> WeightedPoints:
        """The possible rejected points, or `most` random ones of them."""
        points = self.rejected[(slice(0, -1),) * self.rejected.ndim]
        flat = np.flatnonzero(points)
        if len(flat) > most:
            flat = np.sort(np.random.default_rng(seed).permutation(flat)[:most])
        assignments = np.stack(np.unravel_index(flat, points.shape), axis=1)
        return points_of(self.space, assignments.astype(np.int64))

    def minimal_rules(self) -> Iterator[Region]:
        """Boxes of minimal rules, merged within each set of axes."""
        minimal = self.rule & ~self.vacuous
        for i in range(minimal.ndim):
            values = _along(i, slice(0, -1))
            minimal[values] &= ~self.rule[_along(i, slice(-1, None))]
        cells = np.argwhere(minimal)
        fixed = cells < np.array([len(axis) for axis in self.space.axes])
        patterns, which = np.unique(fixed, axis=0, return_inverse=True)
        for p, pattern in enumerate(patterns):
            axes = np.flatnonzero(pattern)
            if not len(axes):
                yield {}
                continue
            chosen = cells[which.reshape(-1) == p][:, axes]
            sizes = tuple(len(self.space.axes[i]) for i in axes)
            for masks in merge_cells(chosen, sizes):
                region = dict(zip(map(int, axes), masks, strict=True))
                yield self._with_whole_ranges(region)

    def grown(self, region: Region, axis: int) -> Bools:
        """All values of one axis that can be added to the region: a mask that contains that of the region."""
        others = {i: mask for i, mask in region.items() if i != axis}
        others[axis] = np.ones(len(self.space.axes[axis]), dtype=np.bool_)
        cells = self._cells(self.rule, others)
        mask: Bools = cells.all(tuple(i for i in range(cells.ndim) if i != axis)).reshape(-1)
        return mask

    def sum(self, extended: Floats, region: Region) -> float:
        """The sum of an extended tensor over a region."""
        return float(self._cells(extended, region).sum())

    def _cells(self, extended: NDArray[Any], region: Region) -> NDArray[Any]:
        picked = [
            np.flatnonzero(region[i]) if i in region else np.array([n - 1])
            for i, n in enumerate(extended.shape)
        ]
        return extended[np.ix_(*picked)]

    def _with_whole_ranges(self, region: dict[int, Bools]) -> Region:
        """The region with neighbouring counts that are also rejected, because ranges are easier to read."""
        for i in region:
            if self.space.block(self.space.axes[i].block).whole:
                region[i] = self.grown(region, i)
        return region


def _extended(tensor: NDArray[Any], reduce: Callable[..., NDArray[Any]]) -> NDArray[Any]:
    for axis in range(tensor.ndim):
        tensor = np.concatenate([tensor, reduce(tensor, axis=axis, keepdims=True)], axis=axis)
    return tensor


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None) for _ in range(axis)), part)
