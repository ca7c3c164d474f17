"""The points of a finite domain: all points with exact verdicts, or points near the boundary of a set.

Points near the boundary, on both sides of it, are found in three ways. Climbing starts at random points: each
axis in turn is set to the value that maximises an objective, until nothing improves. The objective is to be
near the boundary on one side, or min(margin_a, -margin_b) to find a point that a accepts and b rejects. Some
starts are extreme points of units and rows, which have a closed form axis by axis. Walking changes an
accepted point into a rejected one, one axis after another: on the way there are two neighbours that differ in
one axis, one accepted and one rejected, and bisection finds them.

Floats only guide the search: the code that uses a point decides it exactly.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lcons_core._errors import InvalidInput
from lcons_core._pointset import PointSet, check_width
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._domain import drawn_points

ENUMERATION_LIMIT = 10**7
# Climbing tries all values of axes up to this length, and so many values spread over longer ones.
LONG_AXIS, SPREAD = 2**10, 2**6
# The largest work of one sweep: points x axes x values tried; beyond it, only some axes are changed.
SWEEP_WORK, LEAST_AXES = 2**25, 8

_CHUNK = 1 << 14  # points at a time: one unit's activations stay in the cache
_TABLE = 1 << 22  # numbers in the head and tail sums of one set


def space_of(points: PointSet, space: FeatureSpace | None) -> FeatureSpace:
    """The space of the set, if it has one, else the given one."""
    space = points.space or space
    if space is None:
        raise InvalidInput(
            f"a {type(points).__name__} has no names of columns; pass space=..., or a LearnedConstraint."
        )
    check_width(points, space)
    return space


def enumerate_verdicts(
    sets: Sequence[PointSet], space: FeatureSpace, chunk: int = _CHUNK
) -> Iterator[tuple[Ints, list[Bools]]]:
    """All points of the domain, chunk by chunk, with the verdict of every set."""
    for flat, accepted in scan(sets, space, chunk):
        yield space.unravelled(flat), accepted


def scan(
    sets: Sequence[PointSet], space: FeatureSpace, chunk: int = _CHUNK
) -> Iterator[tuple[Ints, list[Bools]]]:
    """As `enumerate_verdicts`, but points are positions in the product of axes.

    The last axis is the fastest; `space.unravelled` returns the point at a position.
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
        head_values = space.unravelled(rows * tail)[:, :split]
        for low in range(0, tail, max(chunk, 1)):
            columns = slice(low, min(low + chunk, tail))
            flat = (rows[:, None] * tail + np.arange(columns.start, columns.stop)).ravel()
            accepted = [decide(head_values, columns) for decide in deciders]
            if space.requires:
                possible = space.possible(space.unravelled(flat))
                flat, accepted = flat[possible], [a[possible] for a in accepted]
            yield flat, accepted


Objective = Callable[[Ints], Floats]

# A space of at most this number of points is searched completely.
WHOLE = 1024
EXTREMES = 64


def drawn_around(space: FeatureSpace, centres: Ints, number: int, rng: np.random.Generator) -> Ints:
    """At most `number` mixtures of two of the centres; in every second one, one axis has a random value."""
    one, other = (centres[rng.integers(0, len(centres), number)] for _ in range(2))
    points = np.where(rng.random(one.shape) < rng.random((number, 1)), one, other)
    sizes = np.array([len(axis) for axis in space.axes])
    changed = np.arange(0, number, 2)
    axes = rng.integers(0, len(sizes), len(changed))
    points[changed, axes] = rng.integers(0, sizes[axes])
    return points[space.possible(points)]


def climb(space: FeatureSpace, starts: Ints, objective: Objective, sweeps: int = 4) -> Ints:
    """The starts, each moved one axis at a time to where the objective is largest."""
    points = starts.copy()
    best = objective(points)
    for sweep in range(sweeps):
        before = best
        for i in _axes_tried(space, len(points), sweep):
            for value in _tried(points[:, i], len(space.axes[i])):
                moved = points.copy()
                moved[:, i] = value
                found = objective(moved)
                better = (found > best) & space.possible(moved)
                points[better, i] = moved[better, i]
                best = np.where(better, found, best)
        if np.array_equal(before, best):
            break
    return points


def _axes_tried(space: FeatureSpace, number: int, sweep: int) -> Ints:
    """The axes that a sweep changes: all, or some if there are very many, others in the next sweep."""
    axes = len(space.axes)
    values = sum(min(len(axis), LONG_AXIS) for axis in space.axes)
    work = max(1, number * values * axes)
    if work <= SWEEP_WORK:
        return np.arange(axes)
    some = min(axes, max(LEAST_AXES, axes * SWEEP_WORK // work))
    return np.unique((np.arange(some) * axes // some + sweep) % axes)


def _tried(now: Ints, length: int) -> Iterator[Ints | int]:
    """All values of an axis; of a long one, values all over it and at distances 1, 2, 4, ... from `now`."""
    if length <= LONG_AXIS:
        yield from range(length)
        return
    yield from np.linspace(0, length - 1, SPREAD).astype(np.int64).tolist()
    for power in range((length - 1).bit_length()):
        yield np.minimum(now + 2**power, length - 1)
        yield np.maximum(now - 2**power, 0)


def near_boundary(points: PointSet, space: FeatureSpace, number: int, rng: np.random.Generator) -> Ints:
    """At most `number` assignments near the boundary, on both sides of it if both were found.

    A side is missed only if neither random points nor climbing from them and from extreme points reaches it;
    a space of at most 1,024 points is searched completely.
    """

    def margin(p: Ints) -> Floats:
        return points.margins(space, p)

    known = _known(points, space, number, rng)
    starts = known[rng.integers(0, len(known), -(-number // 2))] if len(known) else known
    half = -(-len(starts) // 2)
    inside = climb(space, starts[:half], lambda p: _just(margin(p), 1.0), 2)
    outside = climb(space, starts[half:], lambda p: _just(margin(p), -1.0), 2)
    found = np.concatenate([inside, outside])
    accepted, rejected = (_on_side(margin, np.concatenate([found, known]), side) for side in (1.0, -1.0))
    if not len(accepted):
        accepted = _on_side(margin, climb(space, known[-EXTREMES:], margin), 1.0)
    if not len(rejected):
        rejected = _on_side(margin, climb(space, known[-EXTREMES:], lambda p: -margin(p)), -1.0)
    if not len(accepted) or not len(rejected):
        return np.concatenate([found, accepted[:1], rejected[:1]])[-number:]
    pairs = max(1, (number - len(found)) // 2)
    first, last = (side[rng.integers(0, len(side), pairs)] for side in (accepted, rejected))
    walked = np.concatenate(_walk(margin, first, last, rng))
    possible = walked[space.possible(walked)]
    # The two ends are last, so that both sides remain even if no step between them is possible.
    return np.concatenate([found, possible, accepted[:1], rejected[:1]])[-number:]


def _just(margin: Floats, side: float) -> Floats:
    """An objective: on the given side largest for the smallest margin, on the other side larger if nearer."""
    right = margin >= 0 if side > 0 else margin < 0
    return np.where(right, 1.0 / (1.0 + np.abs(margin)), -np.abs(margin))


def _on_side(margin: Objective, points: Ints, side: float) -> Ints:
    values = margin(points)
    return points[values >= 0 if side > 0 else values < 0]


def _known(points: PointSet, space: FeatureSpace, number: int, rng: np.random.Generator) -> Ints:
    """All points of a small space, else random ones; extreme points last."""
    if space.size <= WHOLE:
        return np.concatenate(list(space.points()))
    extremes = _extremes(points, space)
    return np.concatenate([drawn_points(space, number, rng), extremes[space.possible(extremes)]])


def _extremes(points: PointSet, space: FeatureSpace) -> Ints:
    """Assignments at which all of psi is 0, each axis is lowest or highest, or a unit, a row or the sum of
    the units of a part is smallest or largest."""
    empty = [int(np.argmin(np.abs(axis.coefficients))) for axis in space.axes]
    found = [[empty, [0] * len(space.axes), [len(axis) - 1 for axis in space.axes]]]
    for form in points.directions(EXTREMES // 4):
        tables = [axis.table(form) for axis in space.axes]
        found.append(np.stack([table.argmin(0) for table in tables], axis=1).tolist())
        found.append(np.stack([table.argmax(0) for table in tables], axis=1).tolist())
    return np.concatenate([np.array(some, dtype=np.int64) for some in found])


def _walk(margin: Objective, accepted: Ints, rejected: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Per pair, two points that differ by one step in one axis: the first is accepted, the second is not."""
    rank = rng.permuted(np.broadcast_to(np.arange(accepted.shape[1]), accepted.shape), axis=1)

    def part_of_the_way(steps: Ints) -> Ints:
        return np.where(rank < steps[:, None], rejected, accepted)

    last = _last_accepted(margin, part_of_the_way, np.full(len(accepted), accepted.shape[1]))
    before, after = part_of_the_way(last), part_of_the_way(last + 1)
    # The axis that changed may have many values in between: bisect along it in the same way.
    rows, axis = np.arange(len(before)), np.argmax(rank == last[:, None], axis=1)
    low, high = before[rows, axis], after[rows, axis]

    def part_of_the_axis(steps: Ints) -> Ints:
        moved = before.copy()
        moved[rows, axis] = low + np.sign(high - low) * steps
        return moved

    last = _last_accepted(margin, part_of_the_axis, np.abs(high - low))
    return part_of_the_axis(last), part_of_the_axis(last + 1)


def _last_accepted(margin: Objective, at: Callable[[Ints], Ints], length: NDArray[np.int64]) -> Ints:
    """(N,) a step that is accepted while the next is not, given that step 0 is accepted and the last not."""
    low, high = np.zeros_like(length), length.copy()
    while bool((high - low > 1).any()):
        middle = (low + high) // 2
        holds = margin(at(middle)) >= 0
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return low
