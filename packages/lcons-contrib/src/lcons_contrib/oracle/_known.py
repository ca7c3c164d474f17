"""Known solutions as exact rows: the outer polytope, the equality hull and the trust region.

Programs share a hidden feasible set F of psi. Known are some points of F and, for some of these, an objective
under which they are optimal over F.

    outer polytope   c . psi <= c . x     for each known x that maximises c over F            contains F
    equality hull    A psi = r            all linear equations that all known points satisfy  contains them
    trust region     min_i |psi - x_i| <= radius       0/1 columns that differ from some x_i  contains them

The outer polytope is sound: it never cuts off a point of F. The two others are guesses in the direction of
safety: a feasible point outside them is rejected. On 0/1 columns the convex hull of known points contains no
other 0/1 point, so the trust region measures a distance instead:

    |psi - x| = sum_j x_j + sum_j (1 - 2 x_j) psi_j        linear, because x_j is 0 or 1

A ball around one point is one row. The union of N balls has one binary u_i per point, and d - radius is the
smallest valid big-M, because the complement of x_i has distance d:

    |psi - x_i| <= radius + (d - radius) (1 - u_i),    sum_i u_i >= 1

Equations are found by elimination over the rationals and have whole coefficients without a common factor.

Not in the paper. The outer polytope and the equality hull are those of Meng and Chang (2021), "An Integer
Linear Programming Framework for Mining Constraints from Data".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lcons_core import InvalidInput, LinearInequalities, TooLarge
from lcons_core._arithmetic import checked_array, frozen, rational_dot
from lcons_core._types import Floats

LARGEST_COEFFICIENT = 2**53


def outer_polytope(objectives: ArrayLike, optima: ArrayLike, *, maximise: bool = True) -> LinearInequalities:
    """The rows `c . psi <= c . x` for objectives c (N, d) and their optima x (N, d); `>=` to minimise.

    The optima must be proven: a point that is only good may cut off better ones. A bound that float64 cannot
    represent is rounded towards the weaker row, so the rows stay sound.

    >>> rows = outer_polytope([[3.0, 2.0, 1.0]], [[1, 0, 1]])
    >>> rows.holds([[1, 0, 1], [0, 1, 1], [1, 1, 0]])
    array([ True,  True, False])
    """
    c, x = checked_array(objectives, "objectives", 2), checked_array(optima, "optima", 2)
    if c.shape != x.shape:
        raise InvalidInput(
            f"objectives and optima must have the same shape (N, d), found {c.shape} and {x.shape}; pass one"
            " optimum per objective."
        )
    coefficients = -c if maximise else c
    bias = [_at_least(-rational_dot(row, point, 0.0)) for row, point in zip(coefficients, x, strict=True)]
    return LinearInequalities(coefficients + 0.0, np.array(bias))


def equality_hull(points: ArrayLike) -> LinearInequalities:
    """The equations of the smallest affine space that contains the points (N, d), d minus its dimension:
    all of them as `>=`, then all of them as `<=`.

    >>> hull = equality_hull([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    >>> hull.coefficients[:2], hull.bias[:2]
    (array([[1., 1., 1., 0.],
           [0., 0., 0., 1.]]), array([-1., -1.]))
    """
    known = checked_array(points, "points", 2)
    if not known.size:
        raise InvalidInput(f"points must be (N, d) with N, d >= 1, found {known.shape}; pass a known point.")
    first = [Fraction(value) for value in known[0].tolist()]
    basis: dict[int, list[Fraction]] = {}
    while True:
        hull = _equations(basis, first)
        # Elimination is slow, so it sees only the points that contradict the equations: at most d of them.
        outside = np.flatnonzero(~hull.holds(known)) if len(hull) else np.zeros(0)
        if not outside.size:
            return hull
        point = [Fraction(value) for value in known[outside[0]].tolist()]
        _insert(basis, [a - b for a, b in zip(point, first, strict=True)])


def _insert(basis: dict[int, list[Fraction]], vector: list[Fraction]) -> None:
    """Adds a vector to a basis in reduced echelon form, by pivot column; it must be independent."""
    for pivot, row in basis.items():
        if vector[pivot]:
            vector = [a - vector[pivot] * b for a, b in zip(vector, row, strict=True)]
    # The last column is the pivot, so that equations have their free columns first.
    pivot = max(j for j, value in enumerate(vector) if value)
    vector = [value / vector[pivot] for value in vector]
    for other, row in basis.items():
        if row[pivot]:
            basis[other] = [a - row[pivot] * b for a, b in zip(row, vector, strict=True)]
    basis[pivot] = vector


def _equations(basis: dict[int, list[Fraction]], point: list[Fraction]) -> LinearInequalities:
    """The equations of the affine space through a point along a basis: one per column without pivot."""
    d = len(point)
    rows: list[list[Fraction]] = []
    constants: list[Fraction] = []
    for free in (j for j in range(d) if j not in basis):
        row = [Fraction(j == free) for j in range(d)]
        for pivot, vector in basis.items():
            row[pivot] = -vector[free]
        scale = math.lcm(*(value.denominator for value in row))
        shared = math.gcd(*(int(value * scale) for value in row))
        rows.append([value * scale / shared for value in row])
        constants.append(sum((a * b for a, b in zip(rows[-1], point, strict=True)), Fraction(0)))
    for value in (*(value for row in rows for value in row), *constants):
        if abs(value) > LARGEST_COEFFICIENT or Fraction(float(value)) != value:
            raise TooLarge(
                "the equality hull needs numbers that float64 can represent, found one that it cannot; pass"
                " points with fewer digits, or fewer columns."
            )
    A, r = np.array(rows, dtype=np.float64).reshape(len(rows), d), np.array(constants, dtype=np.float64)
    return LinearInequalities(np.concatenate([A, -A]) + 0.0, np.concatenate([-r, r]) + 0.0)


@dataclass(frozen=True, eq=False)
class RegionRows:
    """`A_psi @ psi + A_u @ u >= rhs` with binary u."""

    A_psi: Floats
    A_u: Floats
    rhs: Floats

    def __len__(self) -> int:
        return len(self.rhs)


@dataclass(frozen=True, eq=False)
class TrustRegion:
    """The 0/1 vectors that differ from some known point in at most `radius` columns.

    points: (N, d), 0/1, read-only; equal points are kept once.

    >>> region = TrustRegion([[1, 0, 0], [1, 1, 1]], radius=1)
    >>> region.accepts([[1, 1, 0], [0, 1, 0]]), region.distance([0, 1, 0])
    (array([ True, False]), 2)
    """

    points: Floats
    radius: int

    def __init__(self, points: ArrayLike, radius: int) -> None:
        known = checked_array(points, "points", 2)
        if not known.size or not _is_binary(known):
            raise InvalidInput(
                f"points must be 0/1 vectors (N, d) with N, d >= 1, found shape {known.shape}; pass known"
                " feasible points of 0/1 columns."
            )
        whole = isinstance(radius, int | np.integer) and not isinstance(radius, bool)
        if not whole or radius < 0:
            raise InvalidInput(f"radius must be a whole number of at least 0, found {radius!r}.")
        _, first = np.unique(known, axis=0, return_index=True)
        object.__setattr__(self, "points", frozen(known[np.sort(first)] + 0.0))
        object.__setattr__(self, "radius", min(int(radius), known.shape[1]))

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.points.shape[1]

    def distance(self, psi: Any) -> Any:
        """The number of columns that differ from the nearest known point: an int, (N,) for many."""
        columns = np.asarray(psi, dtype=np.float64)
        if columns.shape[-1:] != (self.d,) or not _is_binary(columns):
            raise InvalidInput(f"a trust region is defined on {self.d} 0/1 columns; pass such points.")
        distances = (self.points.sum(1) + columns @ (1.0 - 2.0 * self.points).T).min(-1).astype(np.int64)
        return int(distances) if distances.ndim == 0 else distances

    def accepts(self, psi: Any) -> Any:
        """Whether psi is inside: a bool for one psi, (N,) for many."""
        return self.distance(psi) <= self.radius

    def rows(self) -> RegionRows:
        """The region as rows, one binary per known point; a single point needs one row and no binary."""
        N, d = self.points.shape
        A, ones = 2.0 * self.points - 1.0, self.points.sum(1)
        if N == 1:
            return RegionRows(frozen(A), frozen(np.zeros((1, 0))), frozen(ones - self.radius))
        A_psi = np.concatenate([A, np.zeros((1, d))])
        A_u = np.concatenate([np.diag(np.full(N, self.radius - d + 0.0)) + 0.0, np.ones((1, N))])
        return RegionRows(frozen(A_psi), frozen(A_u), frozen(np.append(ones - d, 1.0)))


def _is_binary(values: Floats) -> bool:
    return bool(((values == 0) | (values == 1)).all())


def _at_least(value: Fraction) -> float:
    """The smallest float that is at least the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
