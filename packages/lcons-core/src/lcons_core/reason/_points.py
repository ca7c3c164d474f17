"""All points of a finite domain, with the exact verdict of every set; see `_affine.py` for how."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from lcons_core._affine import check_width, points_at
from lcons_core._errors import InvalidInput
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Ints

ENUMERATION_LIMIT = 10**7

_CHUNK = 1 << 14  # points at a time: one unit's activations stay in the cache
_TABLE = 1 << 22  # numbers in the head and tail sums of one set


def space_of(points: PointSet, space: FeatureSpace | None) -> FeatureSpace:
    """The space of a set that knows the names of its columns, else the given one."""
    space = points.space or space
    if space is None:
        raise InvalidInput(
            f"a {type(points).__name__} does not know the names of its columns; pass space=..., or a"
            " LearnedConstraint."
        )
    check_width(points, space)
    return space


def enumerate_verdicts(
    sets: Sequence[PointSet], space: FeatureSpace, chunk: int = _CHUNK
) -> Iterator[tuple[Ints, list[Bools]]]:
    """All points of the domain, chunk by chunk, with the verdict of every set."""
    for flat, accepted in scan(sets, space, chunk):
        yield points_at(space, flat), accepted


def scan(
    sets: Sequence[PointSet], space: FeatureSpace, chunk: int = _CHUNK
) -> Iterator[tuple[Ints, list[Bools]]]:
    """As `enumerate_verdicts`, but points come as positions in the product of axes.

    The last axis is the fastest; `points_at` says which point a position is.
    """
    for points in sets:
        check_width(points, space)
    widest = max((points.width for points in sets), default=1)
    chunk = max(1, min(chunk, _TABLE // widest))
    shape = [len(axis) for axis in space.axes]
    split = len(shape) - 1
    while split and math.prod(shape[split - 1 :]) <= chunk:
        split -= 1
    tail = math.prod(shape[split:])
    deciders = [points.decider(space, split) for points in sets]
    heads = max(1, chunk // tail)
    for head in range(0, space.size // tail, heads):
        rows = np.arange(head, min(head + heads, space.size // tail))
        for low in range(0, tail, max(chunk, 1)):
            columns = slice(low, min(low + chunk, tail))
            flat = (rows[:, None] * tail + np.arange(columns.start, columns.stop)).ravel()
            accepted = [decide(rows, columns, flat) for decide in deciders]
            if space.requires:
                possible = space.possible(points_at(space, flat))
                flat, accepted = flat[possible], [a[possible] for a in accepted]
            yield flat, accepted
