"""Exact verdicts on points of a finite domain, given as value indices instead of vectors.

    a = b + sum over axes of axis.table(W)[v]

so a point costs one gather and one addition an axis. Verdicts are those of rational arithmetic:
floats decide where they clear the rounding bound (always, for dyadic weights), rationals the rest.

All points of a finite domain, with the exact verdict of every set.

The axes are split into a head and a tail, and each part is added up once,

    a(head, tail) = (b + sum over head axes) + (sum over tail axes)

so a point costs one addition a unit however many axes there are. Verdicts are those of `domain.py`.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lcons_core._arithmetic import Floats, exponent, rounding_bound
from lcons_core._blocks import Axis
from lcons_core._errors import InvalidInput
from lcons_core._inequalities import LinearInequalities
from lcons_core._network import Conjunction, Network, RectifierNetwork
from lcons_core._psi import Ints
from lcons_core._space import FeatureSpace

ENUMERATION_LIMIT = 10**7

Bools = NDArray[np.bool_]
PointSet = Network | LinearInequalities


class NamedPoints(Protocol):
    """A set that decides on value indices itself, such as rules by name."""

    @property
    def d(self) -> int:
        """The length of psi."""
        ...

    def contains(self, assignments: Ints) -> Bools:
        """Which assignments (N, axes) belong to it."""
        ...


AnyPoints = PointSet | NamedPoints


def verdicts(points: AnyPoints, space: FeatureSpace, assignments: Ints) -> Bools:
    """Which of the assignments (N, axes) belong to the set `points`, exactly."""
    check_width(points, space)
    if isinstance(points, LinearInequalities):
        return np.all(row_verdicts(points, space, assignments), axis=1)
    if not isinstance(points, RectifierNetwork | Conjunction):
        return points.contains(assignments)
    accepted = np.ones(len(assignments), dtype=np.bool_)
    for part in points.parts:
        accepted &= network_verdicts(part, space, assignments)
    return accepted


def row_verdicts(rows: LinearInequalities, space: FeatureSpace, assignments: Ints) -> Bools:
    """Which rows hold at which assignments: (N, M), exactly."""
    values = affine(space, rows.coefficients, rows.bias, assignments)
    holds = values >= 0
    bound = row_bound(rows, space) or -1.0
    for i in np.flatnonzero((~(np.abs(values) > bound)).any(1)):
        holds[i] = rows.satisfied(space.vectors(assignments[i : i + 1])[0])
    return holds


def affine(space: FeatureSpace, W: Floats, b: Floats, assignments: Ints) -> Floats:
    """`W psi + b` (N, M) at assignments (N, axes), for W (M, d)."""
    total = np.broadcast_to(b, (len(assignments), len(b))).copy()
    for axis, values in zip(space.axes, assignments.T, strict=True):
        total += axis.table(W)[values]
    return total


def row_reach(space: FeatureSpace, W: Floats) -> Floats:
    """(M,) the largest sum of absolute contributions that any point can give a row of W."""
    reach = np.zeros(len(W))
    for axis in space.axes:
        reach += np.abs(axis.table(W)).max(0)
    return reach


def least_values(space: FeatureSpace, W: Floats, b: Floats) -> Floats:
    """(M,) the minimum of `W psi + b` over the product of axes, block by block, in closed form."""
    least = b.copy()
    for axis in space.axes:
        least += axis.table(W).min(0)
    return least


def row_bound(rows: LinearInequalities, space: FeatureSpace) -> float:
    """How far a float value of a row can be off anywhere on the domain; 0.0 where all are exact."""
    reach = row_reach(space, rows.coefficients) + np.abs(rows.bias)
    q = exponent(rows.coefficients, rows.bias)
    return rounding_bound(float(reach.max(initial=0.0)), len(space.axes) + 1, q)


def margin_bound(part: RectifierNetwork, space: FeatureSpace) -> float:
    """How far a float margin can be off anywhere on the domain; 0.0 where all are exact."""
    total = 1.0 + row_reach(space, part.W).sum() + np.abs(part.b).sum()
    return rounding_bound(float(total), len(space.axes) + part.K + 1, part.exponent)


def check_width(points: AnyPoints, space: FeatureSpace) -> None:
    """Raises where the set and the space do not have the same d."""
    if points.d != space.d:
        raise InvalidInput(
            f"the space has {space.d} columns but the constraint has {points.d}; pass the space"
            " it was learned on."
        )


def network_verdicts(part: RectifierNetwork, space: FeatureSpace, assignments: Ints) -> Bools:
    margin = 1.0 - np.maximum(affine(space, part.W, part.b, assignments), 0.0).sum(1)
    accepted: Bools = margin >= 0
    bound = margin_bound(part, space) or -1.0
    for i in np.flatnonzero(~(np.abs(margin) > bound)):
        accepted[i] = part.rational_margin(space.vectors(assignments[i : i + 1])[0]) >= 0
    return accepted


_CHUNK = 1 << 14  # points at a time: one unit's activations stay in the cache
_TABLE = 1 << 22  # numbers in the head and tail sums of one set


def enumerate_verdicts(
    sets: Sequence[AnyPoints], space: FeatureSpace, chunk: int = _CHUNK
) -> Iterator[tuple[Ints, list[Bools]]]:
    """All points of the domain, chunk by chunk, with the verdict of every set."""
    for flat, accepted in scan(sets, space, chunk):
        yield points_at(space, flat), accepted


def scan(
    sets: Sequence[AnyPoints], space: FeatureSpace, chunk: int = _CHUNK
) -> Iterator[tuple[Ints, list[Bools]]]:
    """As `enumerate_verdicts`, but points come as positions in the product of axes.

    The last axis is the fastest; `points_at` says which point a position is.
    """
    for points in sets:
        check_width(points, space)
    widest = max((_unit_count(points) for points in sets), default=1)
    chunk = max(1, min(chunk, _TABLE // widest))
    shape = [len(axis) for axis in space.axes]
    split = len(shape) - 1
    while split and math.prod(shape[split - 1 :]) <= chunk:
        split -= 1
    tail = math.prod(shape[split:])
    deciders = [_decider(points, space, split) for points in sets]
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


def points_at(space: FeatureSpace, flat: Ints) -> Ints:
    """Value indices (N, axes) of the points at these positions of the product of axes."""
    shape = tuple(len(axis) for axis in space.axes)
    return np.stack(np.unravel_index(flat, shape), axis=1).astype(np.int64)


Decider = Callable[[Ints, slice, Ints], Bools]


def _decider(points: AnyPoints, space: FeatureSpace, split: int) -> Decider:
    """A function of head positions, a slice of the tail and the points they make: the verdicts."""
    if isinstance(points, LinearInequalities):
        return _row_decider(points, space, split)
    if isinstance(points, RectifierNetwork | Conjunction):
        parts = [_network_decider(part, space, split) for part in points.parts]
        return lambda head, tail, flat: np.all([part(head, tail, flat) for part in parts], axis=0)
    return lambda head, tail, flat: points.contains(points_at(space, flat))


def _network_decider(part: RectifierNetwork, space: FeatureSpace, split: int) -> Decider:
    low, bound = _sums(space.axes[split:], part.W), margin_bound(part, space)

    def decide(head: Ints, tail: slice, flat: Ints) -> Bools:
        high = _sums_at(space.axes[:split], part.W, head) + part.b[:, None]
        total = np.zeros((len(head), tail.stop - tail.start))
        activation = np.empty_like(total)
        for k in range(part.K):
            np.add.outer(high[k], low[k, tail], out=activation)
            np.maximum(activation, 0.0, out=activation)
            total += activation
        accepted: Bools = (total <= 1.0).ravel()
        if bound:
            near = np.flatnonzero(np.abs(1.0 - total.ravel()) <= bound)
            accepted[near] = network_verdicts(part, space, points_at(space, flat[near]))
        return accepted

    return decide


def _row_decider(rows: LinearInequalities, space: FeatureSpace, split: int) -> Decider:
    low, bound = _sums(space.axes[split:], rows.coefficients), row_bound(rows, space)
    least = low.min(1)

    def decide(head: Ints, tail: slice, flat: Ints) -> Bools:
        high = _sums_at(space.axes[:split], rows.coefficients, head) + rows.bias[:, None]
        # A value above the bound is safe in floats; rows that no point here can bring below it are
        # left out, and each row is asked only about the points that all rows before it left open.
        worst = high.min(1) + least
        order = np.flatnonzero(worst <= bound)
        order = order[np.argsort(worst[order])]
        open_ = np.arange(flat.size)
        unsure = np.zeros(flat.size, dtype=np.bool_)
        for first in range(0, len(order), 8):
            h, t = np.divmod(open_, tail.stop - tail.start)
            some = order[first : first + 8, None]
            value = (high[some, h] + low[some, t + tail.start]).min(0)
            unsure[open_[np.abs(value) <= bound]] |= bound > 0
            open_ = open_[value >= -bound]
        accepted = np.zeros(flat.size, dtype=np.bool_)
        accepted[open_] = True
        near = open_[unsure[open_]]
        if near.size:
            accepted[near] = row_verdicts(rows, space, points_at(space, flat[near])).all(1)
        return accepted

    return decide


def _sums(axes: Sequence[Axis], W: Floats) -> Floats:
    """(M, points) what all combinations of the axes' values add to `W psi`."""
    total = np.zeros((len(W), 1))
    for axis in axes:
        points = total.shape[1] * len(axis)
        total = (total[:, :, None] + axis.table(W).T[:, None, :]).reshape(len(W), points)
    return total


def _sums_at(axes: Sequence[Axis], W: Floats, positions: Ints) -> Floats:
    """(M, N) what the combinations at these positions add to `W psi`."""
    total = np.zeros((len(W), len(positions)))
    for axis in reversed(axes):
        total += axis.table(W)[positions % len(axis)].T
        positions = positions // len(axis)
    return total


def _unit_count(points: AnyPoints) -> int:
    if isinstance(points, LinearInequalities):
        return max(1, len(points))
    return points.K if isinstance(points, RectifierNetwork | Conjunction) else 1
