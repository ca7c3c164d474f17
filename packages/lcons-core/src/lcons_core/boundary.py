"""Points near the boundary of a set, by drawing and coordinate-wise climbing.

From drawn points, every axis in turn takes the value that makes an objective largest, until nothing
improves. With the objective -|margin| that ends near the boundary; with min(margin_a, -margin_b) it looks
for a point that a accepts and b rejects. Floats only steer: whoever uses a point decides on it exactly.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lcons_core.domain import AnyPoints, affine
from lcons_core.exact import Floats
from lcons_core.psi import Ints
from lcons_core.rectifier import Conjunction, RectifierNetwork
from lcons_core.space import FeatureSpace
from lcons_core.theorem1 import LinearInequalities

Objective = Callable[[Ints], Floats]


def drawn_points(space: FeatureSpace, number: int, rng: np.random.Generator) -> Ints:
    """At most `number` assignments, uniform over the product of axes; impossible ones are left out."""
    drawn = [rng.integers(0, len(axis), number) for axis in space.axes]
    points = np.stack(drawn, axis=1)
    return points[space.possible(points)]


def margins(points: AnyPoints, space: FeatureSpace, assignments: Ints) -> Floats:
    """(N,) float margins: least slack of rows, margin of a network, +1 or -1 for rules."""
    if isinstance(points, LinearInequalities):
        values = affine(space, points.coefficients, points.bias, assignments)
        return np.min(values, axis=1, initial=np.inf)
    if isinstance(points, RectifierNetwork | Conjunction):
        sums = [np.maximum(affine(space, part.W, part.b, assignments), 0.0).sum(1) for part in points.parts]
        return 1.0 - np.max(sums, axis=0)
    return np.where(points.contains(assignments), 1.0, -1.0)


def climb(space: FeatureSpace, starts: Ints, objective: Objective, sweeps: int = 4) -> Ints:
    """The starts, each moved one axis at a time to where the objective is largest."""
    points = starts.copy()
    best = objective(points)
    for _ in range(sweeps):
        before = best
        for i, axis in enumerate(space.axes):
            for value in range(len(axis)):
                moved = points.copy()
                moved[:, i] = value
                found = objective(moved)
                better = (found > best) & space.possible(moved)
                points[better, i] = value
                best = np.where(better, found, best)
        if np.array_equal(before, best):
            break
    return points


def near_boundary(points: AnyPoints, space: FeatureSpace, number: int, rng: np.random.Generator) -> Ints:
    """At most `number` assignments near the boundary of the set, on both sides of it."""
    starts = drawn_points(space, number, rng)
    half = len(starts) // 2
    inside = climb(space, starts[:half], lambda p: _just(margins(points, space, p), 1.0), 2)
    outside = climb(space, starts[half:], lambda p: _just(margins(points, space, p), -1.0), 2)
    return np.concatenate([inside, outside])


def _just(margin: Floats, side: float) -> Floats:
    """Largest for the smallest margin on that side; every margin on the other side is worse."""
    right = margin >= 0 if side > 0 else margin < 0
    return np.where(right, -np.abs(margin), -1e300 - np.abs(margin))
