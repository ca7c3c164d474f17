"""Columns of any scale and offset are learned alike, and the weights are folded back without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import ConstraintLearner, SparsePsi
from lcons_core.learn._schedule import Scaling

UNIT = Fraction(1, 2**20)


def fractions(row):
    return [Fraction(float(value)) for value in row]


def columns(draw, rows, exponents, offsets):
    """Normal columns times 2^exponent, plus an offset in units of that."""
    return np.stack(
        [np.ldexp(draw.normal(size=rows) + m, e) for e, m in zip(exponents, offsets, strict=True)], axis=1
    )


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(
        st.tuples(st.integers(-150, 150), st.sampled_from([0, 1, -7, 10**5, -(2**26)])),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 3),
)
def test_folding_back_is_exact_in_rationals(seed, shapes, K):
    draw = np.random.default_rng(seed)
    X = np.hstack((draw.integers(0, 2, (9, 2)), columns(draw, 9, *zip(*shapes, strict=True))))
    scaling = Scaling.of(SparsePsi.from_dense(X))
    W, b = draw.normal(size=(K, X.shape[1])) * 8, draw.normal(size=K)
    network = scaling.fold_back(W, b)
    s, m = fractions(scaling.scale), fractions(scaling.centre)
    assert all(one.denominator == 1 for one in m)
    assert all(np.frexp(scaling.scale)[0] == 0.5)
    for k in range(K):
        weights = [w * scale for w, scale in zip(fractions(network.W[k]), s, strict=True)]
        bias = Fraction(float(network.b[k])) + sum(w * c for w, c in zip(weights, m, strict=True))
        # The weights of psi' are the given ones, rounded to multiples of 2^-20.
        for found, given_weight in zip([*weights, bias], [*W[k], b[k]], strict=True):
            assert (found / UNIT).denominator == 1
            assert abs(found - Fraction(float(given_weight))) <= UNIT / 2
    for psi in X:
        scaled = [x / scale - c for x, scale, c in zip(fractions(psi), s, m, strict=True)]
        total = Fraction(0)
        for w, b_k in zip(network.W, network.b, strict=True):
            weights = [x * scale for x, scale in zip(fractions(w), s, strict=True)]
            shift = sum(x * c for x, c in zip(weights, m, strict=True))
            value = sum(x * z for x, z in zip(weights, scaled, strict=True)) + Fraction(float(b_k)) + shift
            total += max(value, Fraction(0))
        assert network.rational_margin(psi) == 1 - total
        assert network.accepts(psi) == (total <= 1)


def planted(seed=0, rows=300, d=3):
    """Multiples of 1/16, so that scaling and shifting are exact, and a set of about half of them."""
    draw = np.random.default_rng(seed)
    X = np.rint(draw.normal(size=(rows, d)) * 16) / 16
    load = np.maximum(X @ draw.normal(size=(d, 2)), 0).sum(1)
    return X, load <= np.median(load)


@pytest.mark.parametrize(("exponent", "offset"), [(0, 2**17), (23, 0), (-23, 0), (10, -5000)])
def test_scale_and_offset_change_nothing_but_the_weights(exponent, offset):
    X, y = planted()
    learner = ConstraintLearner(2, restarts=2, epochs=60)
    plain = learner.fit(X, y).network_
    moved = np.ldexp(X + offset, exponent)
    found = learner.fit(moved, y).network_
    # The order of the examples depends on their bytes, and with it the last bits of float32 sums.
    np.testing.assert_allclose(np.ldexp(found.W, exponent), plain.W, atol=1e-3)
    assert np.mean(found.accepts(moved) == plain.accepts(X)) > 0.99
    assert learner.score(moved, y) > 0.9
