"""Networks, conjunctions, rows and threshold networks decide like rationals, whatever their weights are."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LinearInequalities,
    RectifierNetwork,
    SparsePsi,
    binary,
    to_inequalities,
)
from lcons_core._arithmetic import rational_dot
from lcons_core._pointset import affine, least_values, row_reach
from lcons_core._theorem import cut_of
from lcons_core.testing import float_weights, spaces, weights

NETWORK = RectifierNetwork([[2.0, 2.0], [1.0, -1.0]], [-2.0, 0.0])
ROWS = LinearInequalities([[-2.0, -2.0], [1.0, 0.0]], [3.0, 0.0], np.array([[True, False], [False, True]]))


def exact_activations(network, psi):
    return [rational_dot(w, psi, b) for w, b in zip(network.W, network.b, strict=True)]


def exact_margin(network, psi):
    return 1 - sum(max(a, Fraction(0)) for a in exact_activations(network, psi))


@st.composite
def cases(draw):
    """(network, rows, space, all points of the space, their psi): weights that round, or that do not."""
    space = draw(spaces(max_blocks=2, max_values=3))
    tenths = st.integers(-30, 30).map(lambda n: n / 10)
    numbers = draw(st.sampled_from([weights(), tenths, float_weights(2.0), float_weights()]))
    K = draw(st.integers(1, 3))
    W = np.array([draw(st.lists(numbers, min_size=space.d, max_size=space.d)) for _ in range(K)])
    b = np.array(draw(st.lists(numbers, min_size=K, max_size=K)))
    points = np.concatenate(list(space.points()))
    psi = space.vectors(points)
    if draw(st.booleans()):
        # As near to the boundary as one bias allows, at one point: exactly on it or one rounding away.
        at, k = psi[draw(st.integers(0, len(psi) - 1))], draw(st.integers(0, K - 1))
        b[k] = 0.0
        rest = exact_margin(RectifierNetwork(np.delete(W, k, 0), np.delete(b, k)), at) if K > 1 else 1
        b[k] = float(rest - rational_dot(W[k], at, 0.0))
    return RectifierNetwork(W, b), LinearInequalities(W, b), space, points, psi


@given(cases())
def test_verdicts_of_a_network_are_rational_in_every_way_of_asking(case):
    network, _, space, points, psi = case
    expected = [exact_margin(network, row) >= 0 for row in psi]
    assert network.accepts(psi).tolist() == expected
    assert [network.accepts(row) for row in psi] == expected
    assert network.accepts(SparsePsi.from_dense(psi)).tolist() == expected
    assert network.verdicts(space, points).tolist() == expected
    assert [network.rational_margin(row) for row in psi] == [exact_margin(network, row) for row in psi]
    both = network & RectifierNetwork(-network.W, network.b)
    wanted = [exact_margin(part, row) for row in psi for part in both.parts]
    smallest = [min(pair) for pair in zip(wanted[::2], wanted[1::2], strict=True)]
    assert [both.rational_margin(row) for row in psi] == smallest
    assert both.accepts(psi).tolist() == both.verdicts(space, points).tolist() == [m >= 0 for m in smallest]
    floats = [part.margins(space, points) for part in both.parts]
    assert both.margins(space, points).tolist() == np.minimum(*floats).tolist()
    np.testing.assert_allclose(
        both.margin(psi), [float(m) for m in smallest], rtol=1e-9, atol=network_error(network)
    )


@given(cases())
def test_verdicts_of_rows_are_rational_in_every_way_of_asking(case):
    _, rows, space, points, psi = case
    held = [
        [rational_dot(w, row, b) >= 0 for w, b in zip(rows.coefficients, rows.bias, strict=True)]
        for row in psi
    ]
    assert rows.satisfied(psi).tolist() == held
    assert [rows.satisfied(row).tolist() for row in psi] == held
    assert rows.satisfied(SparsePsi.from_dense(psi)).tolist() == held
    expected = [all(row) for row in held]
    assert (
        rows.accepts(psi).tolist()
        == rows.holds(psi).tolist()
        == rows.verdicts(space, points).tolist()
        == expected
    )
    z = rows.to_threshold_network()
    assert np.array_equal(np.column_stack([z.W, z.b]), np.column_stack([rows.coefficients, rows.bias]))
    assert z.accepts(psi).tolist() == expected
    assert z.margin(psi).tolist() == [1 - len(rows) + sum(1 if h else -1 for h in row) for row in held]


@given(cases(), st.data())
def test_blocks_of_points_are_decided_as_points(case, data):
    network, rows, space, _, _ = case
    split = data.draw(st.integers(0, len(space.axes) - 1))
    tails = math.prod(len(axis) for axis in space.axes[split:])
    heads = space.size // tails
    head = np.array(sorted(data.draw(st.sets(st.integers(0, heads - 1), min_size=1, max_size=4))))
    first = data.draw(st.integers(0, tails - 1))
    tail = slice(first, data.draw(st.integers(first + 1, tails)))
    flat = (head[:, None] * tails + np.arange(tail.start, tail.stop)).ravel()
    own = space.unravelled(flat)
    for form in (network, rows, network & RectifierNetwork(-network.W, network.b), to_inequalities(network)):
        found = form.decider(space, split)(space.unravelled(head * tails)[:, :split], tail)
        possible = space.possible(own)
        assert found[possible].tolist() == form.verdicts(space, own[possible]).tolist()


@given(cases())
def test_bounds_on_a_domain_are_attained(case):
    network, rows, space, points, psi = case
    product = space.unravelled(np.arange(space.size))
    values = affine(space, network.W, network.b, product)
    exact = [exact_activations(network, row) for row in space.vectors(product)]
    bound = network.error_bound(space) + rows.error_bound(space)
    for found, wanted in zip(values.tolist(), exact, strict=True):
        assert all(abs(Fraction(f) - w) <= Fraction(bound) for f, w in zip(found, wanted, strict=True))
    least = [min(float(row[k]) for row in exact) for k in range(network.K)]
    np.testing.assert_allclose(least_values(space, network.W, network.b), least, rtol=1e-9, atol=bound)
    tables = [np.abs(axis.table(network.W)).max(0) for axis in space.axes]
    assert row_reach(space, network.W).tolist() == np.sum(tables, axis=0).tolist()
    margins = network.margins(space, points)
    np.testing.assert_allclose(
        margins, [float(exact_margin(network, row)) for row in psi], rtol=1e-9, atol=bound
    )
    assert all(
        abs(Fraction(m) - exact_margin(network, row)) <= Fraction(network.error_bound(space))
        for m, row in zip(margins.tolist(), psi, strict=True)
    )


def network_error(network):
    return 1e-12 * network.magnitude(3.0)


def test_cuts_and_chosen_rows_keep_their_subsets():
    assert cut_of(ROWS, [1.0, 1.0]).coefficients.tolist() == [[-2.0, -2.0]]
    assert ROWS.take(np.array([1])).bias.tolist() == [0.0]
    assert LinearInequalities([[1.0]], [0.0]).take(np.array([0])).subsets is None
    assert LinearInequalities(np.zeros((0, 2)), []).margin([1.0, 1.0]) == math.inf
    assert LinearInequalities(np.zeros((0, 2)), []).accepts([[1.0, 1.0]]).tolist() == [True]


def test_what_is_built_is_read_only_and_checked():
    writable = np.array([[1.0, 2.0]])
    rows = LinearInequalities(writable, [1.0])
    writable[0, 0] = 9.0
    assert rows.coefficients.tolist() == [[1.0, 2.0]]
    for array in (rows.coefficients, rows.bias, NETWORK.W, NETWORK.b, to_inequalities(NETWORK).subsets):
        assert not array.flags.writeable
    with pytest.raises(InvalidInput):
        LinearInequalities(ROWS.coefficients, ROWS.bias, np.array([[True]]))
    with pytest.raises(InvalidInput):
        LinearInequalities(np.zeros((1, 0)), [1.0])
    for W, b in (([[1.0]], [1.0, 2.0]), (np.zeros((0, 2)), []), (np.zeros((1, 0)), [1.0])):
        with pytest.raises(InvalidInput):
            RectifierNetwork(W, b)
    with pytest.raises(InvalidInput):
        NETWORK & RectifierNetwork([[1.0]], [0.0])
    for network in (NETWORK, NETWORK & NETWORK):
        with pytest.raises(TypeError):
            network & ROWS
        assert network != ROWS
    with pytest.raises(InvalidInput):
        NETWORK.verdicts(FeatureSpace([binary("bit", "abc")]), np.zeros((1, 3), dtype=np.int64))


def test_blocks_with_points_that_floats_decide_wrongly_are_decided_by_rationals():
    space = FeatureSpace([binary("bit", "abcd")])
    W = np.array([[0.1, 0.2, -0.3, 1.0]])
    network, rows = RectifierNetwork(W, [0.0]), LinearInequalities(-W, [1.0])
    points = space.unravelled(np.arange(16))
    psi = space.vectors(points)
    expected = [rational_dot(W[0], row, 0.0) <= 1 for row in psi]
    everything = RectifierNetwork(np.zeros((1, 4)), [0.0])
    for form in (network, rows, network & everything, LinearInequalities(np.tile(-W, (20, 1)), np.ones(20))):
        floats = form.margins(space, points) >= 0
        assert floats.tolist() != expected
        assert form.verdicts(space, points).tolist() == form.accepts(psi).tolist() == expected
        for split in range(4):
            tails = 2 ** (4 - split)
            found = form.decider(space, split)(points[::tails, :split], slice(0, tails))
            assert found.tolist() == expected
    assert rows.satisfied(psi)[:, 0].tolist() == expected
    certain = LinearInequalities(np.concatenate([-W, np.zeros((1, 4))]), [1.0, 5.0])
    assert certain.satisfied(psi).tolist() == [[verdict, True] for verdict in expected]


def test_rows_as_text_have_a_line_each_and_of_many_the_first_ten():
    for number, lines in ((0, 0), (1, 1), (10, 10), (12, 11)):
        text = str(LinearInequalities(np.ones((number, 2)), np.zeros(number)))
        assert len(text.splitlines()) == lines
    assert "-2 [psi 0] -2 [psi 1] +3 >= 0" in str(ROWS)
