"""Rows from known solutions against enumeration, in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lcons_contrib.oracle import TrustRegion, equality_hull, outer_polytope
from lcons_core import InvalidInput, TooLarge

Array = np.ndarray[Any, np.dtype[np.float64]]


def cube(d: int) -> Array:
    """All 0/1 vectors of length d."""
    return np.array(list(product((0.0, 1.0), repeat=d)))


@st.composite
def binary_points(draw: st.DrawFn, most: int = 6) -> Array:
    """Some 0/1 vectors of up to five columns."""
    d, N = draw(st.integers(1, 5)), draw(st.integers(1, most))
    return draw(arrays(np.float64, (N, d), elements=st.sampled_from([0.0, 1.0])))


@given(binary_points(most=4), st.integers(0, 6))
def test_a_trust_region_and_its_rows_hold_the_points_within_its_radius(points: Array, radius: int) -> None:
    region = TrustRegion(points, radius)
    rows = region.rows()
    for psi in cube(points.shape[1]):
        nearest = min(int((psi != x).sum()) for x in points)
        values = [rows.A_psi @ psi + rows.A_u @ u for u in product((0.0, 1.0), repeat=rows.A_u.shape[1])]
        assert region.distance(psi) == nearest
        assert region.accepts(psi) == (nearest <= radius)
        assert region.accepts(psi) == any((value >= rows.rhs).all() for value in values)


@pytest.mark.parametrize(("points", "radius"), [([[0.5]], 1), ([[1.0]], -1), ([[1.0]], 1.5), ([[]], 1)])
def test_a_trust_region_needs_binary_points_and_a_whole_radius(points: Any, radius: Any) -> None:
    with pytest.raises(InvalidInput):
        TrustRegion(points, radius)


@given(binary_points(most=8), st.integers(0, 2**32 - 1), st.booleans())
def test_the_outer_polytope_of_any_feasible_set_contains_it(points: Array, seed: int, maximise: bool) -> None:
    """Also for objectives whose values round: 0.1 and 1e17 in one row."""
    rng = np.random.default_rng(seed)
    objectives = rng.choice([0.1, -0.3, 1e17, -1e17, 3.0, 1 / 3], (4, points.shape[1]))
    optima = []
    for c in objectives:
        values = [
            sum((Fraction(a) for a, x in zip(c, point, strict=True) if x), Fraction(0)) for point in points
        ]
        optima.append(points[values.index(max(values) if maximise else min(values))])
    rows = outer_polytope(objectives, optima, maximise=maximise)
    assert rows.holds(points).all()
    # A row is weaker than the exact bound by less than one unit in the last place.
    for row, bias, x in zip(rows.coefficients, rows.bias, optima, strict=True):
        left = sum((Fraction(a) for a, value in zip(row, x, strict=True) if value), Fraction(0))
        assert 0 <= left + Fraction(bias) <= Fraction(np.spacing(abs(bias)) if bias else 0)


def test_the_outer_polytope_cuts_off_what_is_better_than_an_optimum() -> None:
    rows = outer_polytope([[1.0, 1.0]], [[1, 0]])
    assert rows.holds(cube(2)).tolist() == [True, True, True, False]
    rows = outer_polytope([[1.0, 1.0]], [[1, 0]], maximise=False)
    assert rows.holds(cube(2)).tolist() == [False, True, True, True]


@given(binary_points(most=8), st.sampled_from([1.0, 3.0, 0.1]))
def test_the_equality_hull_is_the_affine_hull(points: Array, scale: float) -> None:
    """A point satisfies the equations exactly when adding it does not raise the rank."""
    points = points * scale
    hull = equality_hull(points)
    assert hull.holds(points).all()
    rank = np.linalg.matrix_rank(points - points[0])
    assert len(hull) == 2 * (points.shape[1] - rank)
    for psi in cube(points.shape[1]) * scale:
        larger = np.linalg.matrix_rank(np.concatenate([points, psi[None]]) - points[0])
        assert hull.holds(psi) == (larger == rank)


def test_equations_that_floats_cannot_represent_are_refused() -> None:
    with pytest.raises(TooLarge, match="float64"):
        equality_hull([[0.0, 0.0], [1.0, 2.0**-60]])
    with pytest.raises(InvalidInput):
        equality_hull(np.zeros((0, 2)))
