"""Exact arithmetic: every function against rationals, and at the edges of its ranges."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lcons_core import InvalidInput, round_dyadic
from lcons_core._arithmetic import (
    exact_values,
    is_dyadic,
    rational_dot,
    rounding_bound,
)
from lcons_core.testing import float_weights, weights

FLOATS = st.lists(st.one_of(float_weights(), float_weights(2.0), weights()), min_size=1, max_size=6)


@given(FLOATS, st.data())
def test_a_rational_dot_product_has_no_rounding(numbers, data):
    psi = data.draw(st.lists(float_weights(), min_size=len(numbers), max_size=len(numbers)))
    bias = data.draw(float_weights())
    expected = Fraction(bias) + sum(Fraction(w) * Fraction(x) for w, x in zip(numbers, psi, strict=True))
    assert rational_dot(np.array(numbers), np.array(psi), bias) == expected


@pytest.mark.parametrize("q", [0, 20, 53, 60])
def test_sums_are_exact_below_two_to_the_53_steps(q):
    limit = 2.0 ** (53 - q)
    assert rounding_bound(np.nextafter(limit, 0.0), 5, q) == 0.0
    assert rounding_bound(limit, 5, q) > 0.0
    assert rounding_bound(limit / 2, 5, None) > 0.0


@given(st.lists(st.tuples(float_weights(4.0), float_weights(4.0)), min_size=1, max_size=8))
def test_no_float_sum_is_farther_from_the_rational_one_than_the_bound(terms):
    total, size, exact = 0.0, 0.0, Fraction(0)
    for w, x in terms:
        total += w * x
        size += abs(w * x)
        exact += Fraction(w) * Fraction(x)
    assert abs(Fraction(total) - exact) <= Fraction(rounding_bound(size, 2 * len(terms), None)) + 2**-1000


@given(st.lists(float_weights(2.0**10), max_size=5))
@example([2.0**10, -(2.0**10), -0.0, 2.0**-21, 3 * 2.0**-21])
def test_dyadic_weights_are_the_nearest_multiples(numbers):
    found = round_dyadic(numbers)
    for rounded, x in zip(found.tolist(), numbers, strict=True):
        assert abs(Fraction(rounded) - Fraction(x)) <= Fraction(1, 2**21)
        assert (Fraction(rounded) * 2**20).denominator == 1
        assert math.copysign(1.0, rounded) > 0 or rounded < 0
    assert is_dyadic(found)
    assert is_dyadic(np.array(numbers)) == (found.tolist() == numbers)


def test_weights_too_large_to_be_rounded_are_refused():
    for bad in (np.nextafter(2.0**10, np.inf), -(2.0**11), math.nan, math.inf):
        with pytest.raises(InvalidInput):
            round_dyadic([0.0, bad])
    assert not is_dyadic(np.array([2.0**10 + 1.0]))
    assert is_dyadic(np.array([2.0**10, 2.0**-20]))
    assert not is_dyadic(np.array([2.0**-21]))
    assert is_dyadic(np.array([]))


@st.composite
def forms(draw):
    """(C, c, psi): M forms with arbitrary floats, some the negative of another, at N whole psi."""
    M, d, N = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    numbers = st.one_of(float_weights(2.0**60), float_weights(2.0), weights(), st.just(0.0))
    C = [draw(st.lists(numbers, min_size=d, max_size=d)) for _ in range(M)]
    c = draw(st.lists(st.one_of(numbers, st.just(0.0)), min_size=M, max_size=M))
    whole = st.one_of(st.integers(-3, 3), st.integers(0, 1), st.integers(-(2**30), 2**30))
    psi = [draw(st.lists(whole, min_size=d, max_size=d)) for _ in range(N)]
    if draw(st.booleans()):
        # The last form is exactly zero, or a tiny bit away from it, at the first psi.
        C[-1] = [C[-1][0], -C[-1][0], 0.0][:d] if d > 1 else [0.0]
        psi[0] = [psi[0][0]] * d
        c[-1] = draw(st.sampled_from([0.0, 5e-324, -5e-324, 2.0**-60, -(2.0**-60)]))
    return np.array(C), np.array(c), np.array(psi, dtype=np.float64)


@given(forms(), st.integers(0, 3))
def test_exact_values_are_rational_values(drawn, shift):
    C, c, psi = drawn
    psi = psi * 2.0**-shift
    values, q = exact_values(C, c, psi)
    expected = [[rational_dot(row, point, bias) for row, bias in zip(C, c, strict=True)] for point in psi]
    assert [[Fraction(value) / 2**q for value in row] for row in values.tolist()] == expected
