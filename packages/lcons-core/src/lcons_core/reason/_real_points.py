"""Random psi of a space with real blocks, exact in few bits, some near the boundary of a set.

A real column is drawn on a grid of multiples of 2^-g inside its bounds. The grid is fine, but so coarse that
a point is exact in short arithmetic. Points near the boundary are found by bisection between an accepted and
a rejected point with the same values in the finite blocks, and rounded to the grid.

Floats only guide the search: the code that uses a point decides it exactly.

Not in the paper.
"""

from __future__ import annotations

import numpy as np

from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats
from lcons_core.reason._domain import domain_equations, drawn_points

GRID_BITS = 40
STEPS = 48


def drawn_psi(space: FeatureSpace, number: int, rng: np.random.Generator) -> Floats:
    """(N, d) at most `number` random points."""
    finite = space.finite_part
    values = finite.vectors(drawn_points(finite, number, rng))
    psi = np.zeros((len(values), space.d))
    psi[:, ~space.real_columns] = values[:, : space.d - int(space.real_columns.sum())]
    psi[:, space.real_columns] = drawn_reals(space, len(psi), rng)
    return psi


def drawn_reals(space: FeatureSpace, number: int, rng: np.random.Generator) -> Floats:
    """(number, real columns) random numbers; every eighth row has each column at one of its bounds."""
    low, high = _bounds(space)
    drawn = low + rng.random((number, len(low))) * (high - low)
    ends = rng.random(drawn.shape) < 0.5
    drawn[::8] = np.where(ends, low, high)[::8]
    return _on_grid(drawn, space)


def psi_near_boundary(
    points: PointSet, space: FeatureSpace, psi: Floats, number: int, rng: np.random.Generator
) -> Floats:
    """(N, d) at most `number` points near the boundary, on both sides, between points of `psi`; none if all
    of these are on one side."""
    real = space.real_columns
    first, last = (psi[rng.integers(0, len(psi), 4 * number)] for _ in range(2))
    last[:, ~real] = first[:, ~real]
    before, after = points.margin(first) >= 0, points.margin(last) >= 0
    differ = np.flatnonzero(before != after)[: max(1, number // 2)]
    if not differ.size:
        return psi[:0]
    swap = ~before[differ]
    inside, outside = first[differ].copy(), last[differ].copy()
    inside[swap], outside[swap] = last[differ][swap], first[differ][swap]
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        holds = (points.margin(middle) >= 0)[:, None]
        inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
    found = np.concatenate([inside, outside])
    found[:, real] = _on_grid(found[:, real], space)
    return found


def _bounds(space: FeatureSpace) -> tuple[Floats, Floats]:
    equations = domain_equations(space)
    return equations.lower[space.real_columns], equations.upper[space.real_columns]


def _on_grid(drawn: Floats, space: FeatureSpace) -> Floats:
    """The numbers rounded to the grid, inside their bounds."""
    low, high = _bounds(space)
    mass = float(np.maximum(np.abs(low), np.abs(high)).sum()) + space.d + 1.0
    g = GRID_BITS - int(np.ceil(np.log2(mass)))
    first, last = np.ceil(np.ldexp(low, g)), np.floor(np.ldexp(high, g))
    # Bounds that have no multiple between them stay as they are.
    fine = first <= last
    rounded = np.ldexp(np.clip(np.rint(np.ldexp(drawn, g)), first, np.maximum(first, last)), -g)
    return np.where(fine, rounded, np.clip(drawn, low, high))
