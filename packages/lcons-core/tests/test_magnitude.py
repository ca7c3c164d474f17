"""Numbers whose sums could overflow are refused on the way in; up to the limit every verdict is exact."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LinearInequalities,
    RectifierNetwork,
    ThresholdNetwork,
    binary,
    compare,
    lift,
    simplify,
    to_inequalities,
    verify,
)
from lcons_core._arithmetic import LARGEST_MAGNITUDE, rounding_bound
from lcons_core._network import Conjunction

LARGE = [0.0, 1.0, -1.0, 2.0**-200, 3.0, LARGEST_MAGNITUDE, -LARGEST_MAGNITUDE, LARGEST_MAGNITUDE / 2]
BITS = FeatureSpace([binary("bit", "abc")])


@st.composite
def large_networks(draw):
    K = draw(st.integers(1, 3))
    numbers = st.lists(st.sampled_from(LARGE), min_size=3, max_size=3)
    W = draw(st.lists(numbers, min_size=K, max_size=K))
    return RectifierNetwork(W, draw(st.lists(st.sampled_from(LARGE), min_size=K, max_size=K)))


@pytest.mark.parametrize("size", [2 * LARGEST_MAGNITUDE, 1e308, -1e308])
def test_numbers_beyond_the_limit_are_refused_in_one_sentence(size):
    for make in (
        lambda: RectifierNetwork([[size]], [0.0]),
        lambda: RectifierNetwork([[1.0]], [size]),
        lambda: LinearInequalities([[size]], [0.0]),
        lambda: ThresholdNetwork([[1.0]], [size]),
        lambda: RectifierNetwork([[1.0]], [0.0]).accepts([size]),
    ):
        with pytest.raises(InvalidInput):
            make()


@settings(max_examples=60)
@given(large_networks(), large_networks())
def test_verdicts_of_every_form_at_the_limit_are_those_of_rationals(a, b):
    points = np.concatenate([BITS.vectors(chunk) for chunk in BITS.points()])
    with np.errstate(over="raise", invalid="raise"):
        truth = [[part.rational_margin(psi) >= 0 for psi in points] for part in (a, b)]
        assert a.accepts(points).tolist() == truth[0]
        found = compare(a, b, BITS)
        assert found.equal == (truth[0] == truth[1])
        assert found.only_a == sum(x and not y for x, y in zip(*truth, strict=True))
        assert verify(Conjunction((a, b)), BITS).ok
        assert np.isfinite(to_inequalities(a).coefficients).all()
        assert np.isfinite(lift(a).A_psi).all()
        simplify(a, BITS)


@given(
    st.sampled_from([2.0**-600, 2.0**-1074, 3e-200, 1.0]),
    st.sampled_from([-(2.0**-600), -(2.0**-1000), 1e-200, -1.0]),
)
def test_products_that_underflow_are_decided_by_rationals(w, psi):
    rows = LinearInequalities([[w]], [0.0])
    assert rows.accepts([psi]) == (Fraction(w) * Fraction(psi) >= 0)
    assert rounding_bound(0.0, 1, None) > 0
