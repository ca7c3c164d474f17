"""Merging forbidden cells into boxes.

Cells are points of one product of axes. Cells that agree on all axes but one join into a box whose set on
that axis is their union; doing so along every axis in turn ends in a partition of the cells into boxes.
The order of the axes decides how many there are, so all orders are tried (some, where there are many
cells) and the fewest boxes win.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations

import numpy as np
from numpy.typing import NDArray

from lcons_core.domain import Bools
from lcons_core.psi import Ints

Words = NDArray[np.uint64]

MERGE_WORK = 4_000_000


def merge_cells(cells: Ints, sizes: tuple[int, ...]) -> list[tuple[Bools, ...]]:
    """Disjoint boxes, a mask an axis each, whose union is exactly the cells (C, axes).

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
    """Axis orders, as many as the work allows but one at least; each axis comes last early on."""
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
    """Boxes that agree on all other axes, joined."""
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
