"""The bounded search over boxes of a finite space, all points of small spaces, random points of large ones.

A box has some values of every axis. Affine values are sums over axes, so over a box

    max (W psi + b) = b + sum over axes of max {table[v] : v in the box}

and likewise the minimum. These bound the margin of a set, which is 1 - sum_k ReLU(a_k) for a network, the
smallest value for rows, and for rules a minimum over forbidden and a maximum over allowed boxes. `search`
looks for points that one set accepts and another rejects. A box whose bounds exclude such a point is closed;
at some points of the other boxes both sets are asked, and then they are split along the axis that changes the
margins most. If nothing is left to split within the budget, every such point was seen or there is none: a
proof. Bounds are floats that close a box only beyond their rounding error; verdicts are exact.

`explain` grows its rules by the same maxima (`_explain.py`), `compare` searches for differences, `verify` for
points near the boundary, and `completions` for an accepted point.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from lcons_core._arithmetic import unravelled
from lcons_core._blocks import check_numbers
from lcons_core._errors import InvalidInput
from lcons_core._pointset import PointSet, check_width
from lcons_core._space import FeatureSpace
from lcons_core._theorem import rows_of
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._rules import Box, Rules, domain_equations

# A region maps some axes, by index, to a mask over their values; the others are free.
Region = Mapping[int, Bools]

ENUMERATION_LIMIT = 10**7
MOST_BOXES, BOUNDARY_BOXES = 2**12, 2**9
BOXES_AT_ONCE = 32
# Numbers that a search may look at, in total and at once.
WORK, CELLS = 2**28, 2**21
CHUNK = 2**14
UNITS, ROWS, CHOICE = "units", "rows", "choice"


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


@dataclass(frozen=True, eq=False)
class Values:
    """M affine values at the points of a space: `bias + sum over axes of table[first[axis] + v]`."""

    space: FeatureSpace
    table: Floats
    bias: Floats

    @classmethod
    def of(cls, space: FeatureSpace, W: Floats, b: Floats) -> Values:
        """`W psi + b`."""
        check_numbers(len(W) * sum(map(len, space.axes)), f"the tables of {len(W):,} rows")
        return cls(space, np.concatenate([axis.table(W) for axis in space.axes]), b)

    @cached_property
    def first(self) -> Ints:
        """(axes,) where the values of each axis begin in the table."""
        return np.cumsum([0, *map(len, self.space.axes)])[:-1]

    def of_axis(self, axis: int) -> Floats:
        """(values, M) the part of the table of one axis."""
        return self.table[self.first[axis] : self.first[axis] + len(self.space.axes[axis])]

    @cached_property
    def maxima(self) -> Floats:
        """(axes, M) the largest contribution of every axis."""
        maxima: Floats = np.maximum.reduceat(self.table, self.first, axis=0)
        return maxima

    def most(self, region: Region, values: int | slice = slice(None)) -> Floats:
        """The maximum over a region of all values, or of one of them."""
        total = self.bias[values] + self.maxima[:, values].sum(0)
        for axis, mask in region.items():
            total = total + self.of_axis(axis)[mask][:, values].max(0) - self.maxima[axis, values]
        return total

    def spans(self, boxes: Bools) -> tuple[Floats, Floats]:
        """(B, axes, M) the smallest and the largest contribution of each axis within boxes (B, values)."""
        inside = boxes[:, :, None]
        least = np.minimum.reduceat(np.where(inside, self.table, np.inf), self.first, axis=1)
        most = np.maximum.reduceat(np.where(inside, self.table, -np.inf), self.first, axis=1)
        return least, most


@dataclass(frozen=True, eq=False)
class _Judge:
    """A set by groups of affine values; `error` is a bound on the rounding error of its margins.

    The margin of a group is 1 - sum of the positive parts of its UNITS, the smallest of its ROWS, or the
    largest value of a CHOICE; that of the set is the smallest of its groups.
    """

    points: PointSet
    groups: tuple[tuple[Values, str], ...]
    error: float

    @classmethod
    def of(cls, points: PointSet, space: FeatureSpace) -> _Judge:
        if isinstance(points, Rules):
            groups = [(_inside(points.forbidden, space, -2.0), ROWS)]
            if points.allowed is not None:
                groups.append((_inside(points.allowed, space, 2.0), CHOICE))
            return cls(points, tuple(groups), 0.0)
        parts = points.networks()
        if parts:
            units = tuple((Values.of(space, part.W, part.b), UNITS) for part in parts)
            return cls(points, units, max(part.error_bound(space) for part in parts))
        rows = rows_of(points)
        values = Values.of(space, rows.coefficients, rows.bias)
        return cls(points, ((values, ROWS),), rows.error_bound(space))

    @property
    def width(self) -> int:
        """The number of values."""
        return sum(len(values.bias) for values, _ in self.groups)

    def bound(self, boxes: Bools) -> tuple[Floats, Floats, Floats, Floats]:
        """The least and the largest margin in boxes (B, values), how much each axis changes it (B, axes), and
        each value (B, values); affine values that can no longer change the verdict do not count."""
        lows, highs, spread, pull = [], [], 0.0, 0.0
        for values, kind in self.groups:
            least, most = values.spans(boxes)
            bottom, top = least.sum(1) + values.bias, most.sum(1) + values.bias
            margins = _margin(bottom, kind), _margin(top, kind)
            lows.append(np.minimum(*margins))
            highs.append(np.maximum(*margins))
            counts = (bottom <= self.error) if kind == ROWS else (top >= -self.error)
            counts &= (lows[-1] < self.error)[:, None]
            spread = spread + ((most - least) * counts[:, None, :]).sum(2)
            pull = pull + counts @ values.table.T * (-1.0 if kind == UNITS else 1.0)
        return np.min(lows, axis=0), np.min(highs, axis=0), np.asarray(spread), np.asarray(pull)


def _margin(values: Floats, kind: str) -> Floats:
    """(B,) the margin of values (B, M); it falls as units rise."""
    if kind == UNITS:
        margin: Floats = 1.0 - np.maximum(values, 0.0).sum(1)
        return margin
    return values.min(1, initial=np.inf) if kind == ROWS else values.max(1, initial=-np.inf)


def _inside(boxes: Sequence[Box], space: FeatureSpace, weight: float) -> Values:
    """`weight` times the number of conditions that hold, shifted so that it is +1 or -1 if all of them do and
    has the other sign if not."""
    starts = np.cumsum([0, *map(len, space.axes)])[:-1]
    table = np.zeros((sum(map(len, space.axes)), len(boxes)))
    for m, box in enumerate(boxes):
        for i, mask in box.masks(space):
            table[starts[i] : starts[i] + len(mask), m] = weight * mask
    sign = np.sign(weight)
    return Values(space, table, np.array([sign - weight * len(box.conditions) for box in boxes]))


@dataclass(frozen=True, eq=False)
class Searched:
    """`points` (N, axes) that were wanted, all points `seen`, and whether the search `ended`: then, without
    points, there is none."""

    points: Ints
    seen: Ints
    ended: bool


def search(
    space: FeatureSpace,
    inside: PointSet | None,
    outside: PointSet | None,
    *,
    region: Region | None = None,
    wanted: int = 1,
    most: int = MOST_BOXES,
    seed: int = 0,
) -> Searched:
    """About `wanted` points of a region that `inside` accepts and `outside` rejects (None: any point)."""
    rng = np.random.default_rng(seed)
    sides = ((inside, True), (outside, False))
    start = [(region or {}).get(i, np.ones(len(axis), np.bool_)) for i, axis in enumerate(space.axes)]
    stack = [np.concatenate(start)]
    seen = [np.zeros((0, len(space.axes)), np.int64)]
    points = seen[0]
    judges = [(_Judge.of(points, space), accepts) for points, accepts in sides if points is not None]
    cells = len(stack[0]) * max(1, sum(judge.width for judge, _ in judges))
    at_once = int(np.clip(CELLS // cells, 1, BOXES_AT_ONCE))
    boxes_left = int(np.clip(WORK // cells, 1, most))
    while stack and boxes_left > 0 and len(points) < wanted:
        boxes = np.array(stack[-at_once:])
        del stack[-at_once:]
        boxes_left -= len(boxes)
        hope, spread, pull = _hope(judges, boxes)
        is_open = hope >= 0
        hope, boxes, spread, pull = hope[is_open], boxes[is_open], spread[is_open], pull[is_open]
        drawn = _picked(space, boxes, rng.random(boxes.shape))
        seen.append(np.unique(np.concatenate([_picked(space, boxes, pull), drawn]), axis=0))
        seen[-1] = seen[-1][space.possible(seen[-1])]
        verdicts = [judge.points.verdicts(space, seen[-1]) == accepts for judge, accepts in judges]
        points = np.unique(np.concatenate([points, seen[-1][np.all(verdicts, axis=0)]]), axis=0)
        for i in np.argsort(hope, kind="stable").tolist():
            stack += _halves(space, boxes[i], spread[i], pull[i])
    return Searched(points, np.concatenate(seen), not stack)


def _hope(judges: Sequence[tuple[_Judge, bool]], boxes: Bools) -> tuple[Floats, Floats, Floats]:
    """(B,) negative for boxes without a wanted point, the spread by axis, and the pull to wanted points."""
    hopes, spreads, pulls = [], [], []
    for judge, accepts in judges:
        low, high, spread, pull = judge.bound(boxes)
        rejects = low < judge.error if judge.error else low < 0
        hopes.append(high + judge.error if accepts else np.where(rejects, judge.error - low, -1.0))
        spreads.append(spread)
        pulls.append(pull if accepts else -pull)
    return np.min(hopes, axis=0), np.sum(spreads, axis=0), np.sum(pulls, axis=0)


def _picked(space: FeatureSpace, boxes: Bools, scores: Floats) -> Ints:
    """(B, axes) the value of each axis inside each box that has the largest score."""
    masked = np.where(boxes, scores, -np.inf)
    stops = np.cumsum([0, *map(len, space.axes)])
    parts = [masked[:, low:high].argmax(1) for low, high in pairwise(stops)]
    return np.stack(parts, axis=1)


def _halves(space: FeatureSpace, box: Bools, spread: Floats, pull: Floats) -> list[Bools]:
    """The box split along the axis that matters most, the better half last; none if no axis matters."""
    spread = spread.copy()
    for rule in space.requires:
        for name in (rule.block, rule.needs_block):
            spread[space.axis_index(name)] += 1e-9
    starts = np.cumsum([0, *map(len, space.axes)])
    spread[np.add.reduceat(box, starts[:-1], dtype=np.int64) < 2] = 0.0
    axis = int(spread.argmax())
    if not spread[axis]:
        return []
    values = starts[axis] + np.flatnonzero(box[starts[axis] : starts[axis + 1]])
    ordered = values[np.argsort(pull[values], kind="stable")]
    halves = []
    for part in (ordered[len(ordered) // 2 :], ordered[: len(ordered) // 2]):
        half = box.copy()
        half[part] = False
        halves.append(half)
    return halves


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


def near_boundary(points: PointSet, space: FeatureSpace, number: int, seed: int) -> Ints:
    """At most `number` assignments near the boundary, on both sides of it if the search saw both."""
    near = search(space, points, points, most=BOUNDARY_BOXES, seed=seed).seen
    accepted = points.verdicts(space, near)
    sides = [near[accepted == side] for side in (True, False)]
    share = max(1, number // 2, *(number - len(side) for side in sides))
    return np.concatenate([side[-share:] for side in sides])[:number]


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
