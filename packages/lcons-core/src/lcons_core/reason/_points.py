"""Points of a finite space: all of a small one, one for each kind, drawn ones, and ones near a boundary.

Statements about a small space are proved at all of its points. A larger space may have few kinds of points:
values of an axis that no set can distinguish, because they add the same to each of its affine values (or are
in the same boxes of rules), and that `requires` does not distinguish either, are one `kind`. If one point of
each kind can be enumerated, that is a proof, too.

Of other spaces, points are drawn: at random, and near the boundary of a set. Each unit or row has its largest
and its smallest value at a point that is known axis by axis, and a drawn point is moved along one axis after
the other to the value with the largest margin. Between an accepted and a rejected point, a path of single
steps has two neighbours with different verdicts, which bisection finds.

All verdicts on points are exact. Points of spaces with real blocks are only drawn.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lcons_core._arithmetic import unravelled
from lcons_core._blocks import check_numbers
from lcons_core._errors import InvalidInput
from lcons_core._pointset import PointSet, check_width
from lcons_core._space import FeatureSpace
from lcons_core._theorem import rows_of
from lcons_core._types import Bools, Floats, Ints, Objects
from lcons_core.reason._rules import Box, Rules, domain_equations

# A region maps some axes, by index, to a mask over their values; the others are free.
Region = Mapping[int, Bools]

ENUMERATION_LIMIT = 10**7
MOST_KINDS = 10**6
# Numbers that moving points may compute, and how many points are moved, and ends of units are tried.
WORK, MOVED = 2**26, 64
CELLS = 2**21
CHUNK = 2**14


def space_of(points: PointSet, space: FeatureSpace | None) -> FeatureSpace:
    """The space of the set, if it has one, else the given one."""
    space = points.space or space
    if space is None:
        raise InvalidInput(f"a {type(points).__name__} has no names of columns; pass the space.")
    check_width(points, space)
    return space


def scan(
    sets: Sequence[PointSet], space: FeatureSpace, chunk: int = CHUNK
) -> Iterator[tuple[Ints, list[Bools]]]:
    """All points of the space, as positions in the product of axes, with the verdict of every set.

    The last axis is the fastest; `space.unravelled` returns the point at a position.
    """
    for points in sets:
        check_width(points, space)
    widest = max((points.width for points in sets), default=1)
    chunk = max(1, min(chunk, 2 * CELLS // widest))
    shape = [len(axis) for axis in space.axes]
    split = len(shape) - 1
    while split and math.prod(shape[split - 1 :]) <= chunk:
        split -= 1
    tail = math.prod(shape[split:])
    deciders = [points.decider(space, split) for points in sets]
    heads = max(1, chunk // tail)
    for head in range(0, space.size // tail, heads):
        rows = np.arange(head, min(head + heads, space.size // tail))
        head_values = space.unravelled(rows * tail)[:, :split]
        for low in range(0, tail, chunk):
            columns = slice(low, min(low + chunk, tail))
            flat = (rows[:, None] * tail + np.arange(columns.start, columns.stop)).ravel()
            accepted = [decide(head_values, columns) for decide in deciders]
            if space.requires:
                possible = space.possible(space.unravelled(flat))
                flat, accepted = flat[possible], [a[possible] for a in accepted]
            yield flat, accepted


def kinds(space: FeatureSpace, sets: Sequence[PointSet], region: Region | None = None) -> Region:
    """One value of each axis, in a region, for all values that no set and no rule of the space can
    distinguish; a verdict on a point holds for all points of its kind."""
    W = np.concatenate([_weights(points) for points in sets])
    check_numbers(len(W) * sum(map(len, space.axes)), f"the tables of {len(W):,} rows")
    different: list[list[Objects]] = [[axis.table(W)] for axis in space.axes]
    for box in (box for points in sets for box in _boxes(points)):
        for i, mask in box.masks(space):
            different[i].append(mask[:, None])
    for rule in space.requires:
        for name, values in ((rule.block, (rule.value,)), (rule.needs_block, rule.needs_values)):
            i = space.axis_index(name)
            different[i].append(np.isin(space.axes[i].values, values)[:, None])
    chosen = {}
    for i, columns in enumerate(different):
        inside = _values(space, i, region)
        _, first = np.unique(np.hstack(columns)[inside], axis=0, return_index=True)
        chosen[i] = np.isin(np.arange(len(columns[0])), inside[first])
    return chosen


def both_sides(
    points: PointSet, space: FeatureSpace, number: int, rng: np.random.Generator, region: Region | None = None
) -> Ints:
    """Points of a region, on both sides of the boundary of the set if some were reached: drawn ones,
    drawn ones that were moved into the set, and the ends of each unit."""
    drawn = drawn_points(space, number, rng, region)
    few = drawn[: int(np.clip(WORK // (space.d * max(map(len, space.axes)) * points.width), 1, MOVED))]
    pieces = [drawn, _moved(points, space, few, rng, region)]
    if region is None:
        pieces += [drawn_points(space, MOVED, rng, dict(box.masks(space))) for box in _boxes(points)[:MOVED]]
    W = _weights(points)
    W = W[:: 1 + len(W) // MOVED]
    ends: tuple[list[Ints], list[Ints]] = ([], [])
    for i, axis in enumerate(space.axes if len(W) else ()):
        values = _values(space, i, region)
        table = axis.table(W)[values]
        ends[0].append(values[table.argmax(0)])
        ends[1].append(values[table.argmin(0)])
    every = np.concatenate([*pieces, *(np.stack(end, axis=1) for end in ends if end)])
    return every[space.possible(every)]


def _weights(points: PointSet) -> Floats:
    """(M, d) the weights of all units or rows; none for rules, which are read as boxes."""
    if isinstance(points, Rules):
        return np.zeros((0, points.d))
    networks = points.networks()
    return np.concatenate([part.W for part in networks]) if networks else rows_of(points).coefficients


def _boxes(points: PointSet) -> tuple[Box, ...]:
    """The boxes of rules; none of other sets."""
    return (*points.forbidden, *(points.allowed or ())) if isinstance(points, Rules) else ()


def _values(space: FeatureSpace, axis: int, region: Region | None) -> Ints:
    """The values of an axis in a region."""
    return np.flatnonzero((region or {}).get(axis, np.ones(len(space.axes[axis]), dtype=np.bool_)))


def _moved(
    points: PointSet, space: FeatureSpace, assignments: Ints, rng: np.random.Generator, region: Region | None
) -> Ints:
    """The points after one axis after the other got the value in a region with the largest margin."""
    assignments = assignments.copy()
    numbers = len(assignments) * space.d * points.width * sum(map(len, space.axes)) // len(space.axes)
    for i in rng.permutation(len(space.axes))[: 1 + WORK // max(1, numbers)].tolist():
        values = _values(space, i, region)
        tried = np.repeat(assignments, len(values), axis=0)
        tried[:, i] = np.tile(values, len(assignments))
        margins = points.margin(space.vectors(tried))
        margins[~space.possible(tried)] = -np.inf
        assignments[:, i] = values[margins.reshape(-1, len(values)).argmax(1)]
    return assignments


def near_boundary(
    points: PointSet, space: FeatureSpace, number: int, rng: np.random.Generator, starts: Ints
) -> Ints:
    """At most `number` neighbours with different verdicts, between points that are accepted and rejected."""
    accepted = points.verdicts(space, starts)
    if accepted.all() or not accepted.any():
        return starts[:0]
    x, y = (rng.choice(starts[accepted == side], max(1, number // 2)) for side in (True, False))
    steps, order = np.abs(y - x), rng.permutation(len(space.axes))
    before = np.zeros_like(steps)  # how many steps of a path come before those of each axis
    before[:, order] = steps[:, order].cumsum(1) - steps[:, order]
    low, high = np.zeros(len(x), dtype=np.int64), steps.sum(1)

    def after(taken: Ints) -> Ints:
        return x + np.sign(y - x) * np.clip(taken[:, None] - before, 0, steps)

    while (high - low > 1).any():
        middle = (low + high) // 2
        accepted = points.verdicts(space, after(middle))
        low, high = np.where(accepted, middle, low), np.where(accepted, high, middle)
    near = np.concatenate([after(low), after(high)])[:number]
    return near[space.possible(near)]


def needed(covers: Bools, order: Ints) -> Bools:
    """(columns,) those left of `covers` (points, columns) when each column whose points are all in others is
    dropped, in this order."""
    needed, times = np.ones(covers.shape[1], dtype=np.bool_), covers.sum(1)
    for i in order.tolist():
        if (times[covers[:, i]] >= 2).all():
            needed[i] = False
            times = times - covers[:, i]
    return needed


def drawn_points(
    space: FeatureSpace, number: int, rng: np.random.Generator, region: Region | None = None
) -> Ints:
    """At most `number` random assignments, uniform over a region, without impossible ones."""
    points = np.empty((number, len(space.axes)), dtype=np.int64)
    for i, axis in enumerate(space.axes):
        mask = None if region is None else region.get(i)
        points[:, i] = (
            rng.integers(0, len(axis), number) if mask is None else rng.choice(mask.nonzero()[0], number)
        )
    return points[space.possible(points)]


def region_points(space: FeatureSpace, region: Region, total: int) -> Iterator[Ints]:
    """Every point of a region of `total` points of the product of axes, in chunks."""
    choices = [
        region[i].nonzero()[0] if i in region else np.arange(len(axis)) for i, axis in enumerate(space.axes)
    ]
    for first in range(0, total, CHUNK):
        flat = np.arange(first, min(first + CHUNK, total))
        places = unravelled(flat, [len(choice) for choice in choices])
        chunk = np.stack([choice[at] for choice, at in zip(choices, places.T, strict=True)], axis=1)
        yield chunk[space.possible(chunk)]


def drawn_psi(space: FeatureSpace, number: int, rng: np.random.Generator) -> Floats:
    """(N, d) at most `number` random points of a space with real blocks."""
    finite = space.finite_part
    values = finite.vectors(drawn_points(finite, number, rng))
    psi = np.zeros((len(values), space.d))
    psi[:, ~space.real_columns] = values[:, : space.d - int(space.real_columns.sum())]
    psi[:, space.real_columns] = drawn_reals(space, len(psi), rng)
    return psi


def drawn_reals(space: FeatureSpace, number: int, rng: np.random.Generator) -> Floats:
    """(number, real columns) random numbers; every eighth row has each column at one of its bounds."""
    equations, columns = domain_equations(space), space.real_columns
    low, high = equations.lower[columns], equations.upper[columns]
    drawn = np.clip(low + rng.random((number, len(low))) * (high - low), low, high)
    drawn[::8] = np.where(rng.random(drawn.shape) < 0.5, low, high)[::8]
    return drawn
