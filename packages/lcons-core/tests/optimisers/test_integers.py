"""Rows scaled to integers hold at the same integer points, without rounding."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import RectifierNetwork, TooLarge
from lcons_core._theorem import Form
from lcons_core.optimisers._integers import RationalRow, check_range, common_scale, integer_row
from lcons_core.optimisers._system import Bounds, build_system
from lcons_core.testing import networks

fractions = st.builds(lambda n, q: Fraction(n, 2**q), st.integers(-40, 40), st.integers(0, 5))


@given(st.lists(fractions.filter(bool), max_size=4), st.booleans(), st.data())
def test_an_integer_row_holds_where_the_row_holds(coefficients, equal, data):
    x = data.draw(st.lists(st.integers(-5, 5), min_size=len(coefficients), max_size=len(coefficients)))
    value = Fraction(sum(c * v for c, v in zip(coefficients, x, strict=True)))
    rhs = value + data.draw(st.sampled_from([0, Fraction(1, 64), Fraction(-1, 64), Fraction(1, 2), 1, -1]))
    row = RationalRow("r", tuple(enumerate(coefficients)), rhs, equal)
    scaled = integer_row(row, frozenset(), 1)
    integers = sum(c * x[v] for v, c in scaled.terms)
    assert all(isinstance(number, int) for number in (scaled.rhs, *(c for _, c in scaled.terms)))
    if equal:
        assert (integers == scaled.rhs) == (value == rhs)
    else:
        assert (integers >= scaled.rhs) == (value >= rhs)


@given(networks(max_K=4, max_d=4))
def test_some_integers_fit_the_scaled_lifted_rows_where_the_network_accepts(network):
    system = build_system(network, [Bounds()] * network.d, Form.LIFTED)
    d, K = network.d, network.K
    rows = [RationalRow(r.name, tuple((j, Fraction(c)) for j, c in r.terms), r.rhs) for r in system.rows]
    real = frozenset(range(d, d + K))
    Q = common_scale(rows, real)
    scaled = [integer_row(row, real, Q) for row in rows]
    for psi in product([0, 1, 2], repeat=d):
        columns = dict(enumerate(psi))
        for k, row in enumerate(scaled[:K]):
            (factor,) = (c for v, c in row.terms if v == d + k)
            rest = row.rhs - sum(c * columns[v] for v, c in row.terms if v < d)
            columns[d + k] = max(0, -(-rest // factor))  # the least integer
        budget = sum(c * columns[v] for v, c in scaled[K].terms)
        assert (budget >= scaled[K].rhs) == network.accepts(np.array(psi, float))


def test_a_row_beyond_the_range_of_the_solver_is_refused():
    network = RectifierNetwork([[0.1, 1e3]], [0.0])
    (row, *_) = build_system(network, [Bounds()] * 2, Form.ROWS).rows
    scaled = integer_row(
        RationalRow("r", tuple((j, Fraction(c)) for j, c in row.terms), row.rhs), frozenset(), 1
    )
    with pytest.raises(TooLarge, match="below 2\\^62"):
        check_range(scaled, {0: 1, 1: 1})
    one = integer_row(RationalRow("r", ((0, Fraction(1)),), Fraction(0)), frozenset(), 1)
    check_range(one, {0: 2**62 - 1})
    with pytest.raises(TooLarge, match="2\\^62"):
        check_range(one, {0: 2**62})
