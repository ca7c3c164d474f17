"""Exact verdicts on points of a finite domain, given as value indices instead of vectors.

    a = b + sum over axes of axis.table(W)[v]

so a point costs one gather and one addition an axis. Verdicts are those of rational arithmetic:
floats decide where they clear the rounding bound (always, for dyadic weights), rationals the rest.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lcons_core.errors import InvalidInput
from lcons_core.exact import Floats, exponent, rounding_bound
from lcons_core.psi import Ints
from lcons_core.rectifier import Conjunction, Network, RectifierNetwork
from lcons_core.space import FeatureSpace
from lcons_core.theorem1 import LinearInequalities

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
