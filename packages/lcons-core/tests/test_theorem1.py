"""Theorem 1: the network is its 2^K - 1 rows. Weights are sixteenths, so nothing here has a tolerance."""

from fractions import Fraction

import numpy as np
import pytest
from core_strategies import cube
from hypothesis import given
from hypothesis import strategies as st
from paper_tables import PRINTED, SPACES, designed, printed_network

from lcons_core import (
    LinearInequalities,
    RectifierNetwork,
    TooLarge,
    compare,
    most_violated,
    to_inequalities,
)
from lcons_core._arithmetic import rational_dot
from lcons_core._network import Conjunction
from lcons_core._theorem import estimate_rows, row_of_subset
from lcons_core.testing import conjunctions, networks


@st.composite
def networks_on_the_boundary(draw):
    """(network, psi) whose margin at psi is exactly 0, by the choice of one bias."""
    network = draw(networks(max_K=4, max_d=5))
    psi = np.array(draw(st.tuples(*[st.sampled_from([0.0, 1.0])] * network.d)))
    k = draw(st.integers(0, network.K - 1))
    b = network.b.copy()
    others = np.maximum(np.delete(network.activations(psi), k), 0).sum()
    if others > 1:
        # Silence the other units: unit k alone then brings the margin to 0.
        b -= 64.0
        others = 0.0
    b[k] = 1.0 - others - network.W[k] @ psi
    return RectifierNetwork(network.W, b), psi


@st.composite
def decimal_networks(draw, max_K=4, max_d=4, least_d=1):
    """Weights in tenths, which float64 does not hold exactly."""
    K, d = draw(st.integers(1, max_K)), draw(st.integers(least_d, max_d))
    tenths = st.integers(-30, 30).map(lambda n: n / 10)
    W = [draw(st.lists(tenths, min_size=d, max_size=d)) for _ in range(K)]
    return RectifierNetwork(W, draw(st.lists(tenths, min_size=K, max_size=K)))


def rational_row(network, subset):
    """The row of one subset, formed without rounding."""
    members = np.flatnonzero(subset)
    coefficients = [-sum(Fraction(w) for w in network.W[members, j]) for j in range(network.d)]
    return coefficients, 1 - sum((Fraction(x) for x in network.b[members]), Fraction(0))


@given(networks(max_K=5, max_d=5))
def test_network_accepts_iff_every_row_holds(network):
    rows, psi = to_inequalities(network), cube(network.d)
    assert len(rows) == 2**network.K - 1
    assert np.array_equal(network.accepts(psi), rows.holds(psi))


@given(networks_on_the_boundary())
def test_a_margin_of_exactly_zero_is_accepted_by_every_form(case):
    network, psi = case
    rows = to_inequalities(network)
    assert network.margin(psi) == 0
    assert network.accepts(psi)
    assert rows.holds(psi)
    assert rows.values(psi).min() == 0
    assert rows.to_threshold_network().accepts(psi)
    assert most_violated(network, psi).values(psi)[0] == 0


@given(networks_on_the_boundary())
def test_a_sixteenth_beyond_the_boundary_is_rejected_by_every_form(case):
    network, psi = case
    active = int(np.argmax(network.activations(psi)))
    b = network.b.copy()
    b[active] += 1 / 16
    beyond = RectifierNetwork(network.W, b)
    assert not beyond.accepts(psi)
    assert not to_inequalities(beyond).holds(psi)
    assert not most_violated(beyond, psi).holds(psi)


@given(networks(max_K=5, max_d=4))
def test_active_set_attains_the_minimum_slack(network):
    rows = to_inequalities(network)
    for psi in cube(network.d):
        least = min(1.0, rows.values(psi).min())
        assert least == network.margin(psi)
        assert most_violated(network, psi).values(psi)[0] == rows.values(psi).min()


@given(networks(max_K=6, max_d=3))
def test_each_row_is_the_row_of_its_subset(network):
    rows = to_inequalities(network)
    assert len({subset.tobytes() for subset in rows.subsets}) == len(rows)
    for m, subset in enumerate(rows.subsets):
        one = row_of_subset(network, subset)
        assert np.array_equal(rows.coefficients[m], one.coefficients[0])
        assert rows.bias[m] == one.bias[0]


@pytest.mark.parametrize("unit", [2.0**-20, 0.1])
def test_rows_of_many_units_are_those_of_their_subsets(unit):
    rng = np.random.default_rng(0)
    network = RectifierNetwork(rng.integers(-9, 9, (14, 2)) * unit, rng.integers(-9, 9, 14) * unit)
    if unit == 0.1:
        network = RectifierNetwork(network.W[:13] * [1.0, 1e9], network.b[:13])
    assert network.rounded == (unit == 0.1)
    rows = to_inequalities(network)
    for mask in [1, 2**12 - 1, 2**12, 2**12 + 1, 2**13 - 1, *rng.integers(1, 2**network.K, 40).tolist()]:
        subset = np.array([mask >> k & 1 for k in range(network.K)], dtype=bool)
        one = row_of_subset(network, subset)
        assert np.array_equal(rows.subsets[mask - 1], subset)
        assert np.array_equal(rows.coefficients[mask - 1], one.coefficients[0])
        assert rows.bias[mask - 1] == one.bias[0]


@given(conjunctions(max_d=4))
def test_rows_of_a_conjunction_are_the_rows_of_its_parts(conjunction):
    rows, psi = to_inequalities(conjunction), cube(conjunction.d)
    assert len(rows) == sum(2**part.K - 1 for part in conjunction.parts)
    assert np.array_equal(rows.holds(psi), conjunction.accepts(psi))
    assert rows.subsets.shape == (len(rows), conjunction.K)


@given(conjunctions(max_d=4))
def test_the_subset_of_a_cut_is_the_active_units_of_the_worst_part(conjunction):
    for psi in cube(conjunction.d):
        activations = [part.activations(psi) for part in conjunction.parts]
        sums = [np.maximum(a, 0.0).sum() for a in activations]
        worst = sums.index(max(sums))
        expected = [np.zeros(part.K, dtype=bool) for part in conjunction.parts]
        expected[worst] = activations[worst] > 0
        if not max(sums):
            expected[worst] = np.arange(len(expected[worst])) == activations[worst].argmax()
        cut = most_violated(conjunction, psi)
        assert np.array_equal(cut.subsets, [np.concatenate(expected)])
        assert len(cut) == 1


@given(
    st.integers(1, 3).flatmap(
        lambda d: st.lists(decimal_networks(least_d=d, max_d=d), min_size=1, max_size=3)
    )
)
def test_the_subset_of_a_cut_is_exact_where_float_sums_are_not(parts):
    conjunction = Conjunction(tuple(parts))
    for psi in cube(conjunction.d):
        exact = [[rational_dot(w, psi, b) for w, b in zip(part.W, part.b, strict=True)] for part in parts]
        sums = [sum(max(a, 0) for a in part) for part in exact]
        chosen = np.split(most_violated(conjunction, psi).subsets[0], np.cumsum([p.K for p in parts])[:-1])
        (worst,) = (i for i, subset in enumerate(chosen) if subset.any())
        assert sums[worst] == max(sums)
        if sums[worst]:
            assert chosen[worst].tolist() == [a > 0 for a in exact[worst]]


def test_a_rejected_point_has_a_violated_cut_where_two_parts_are_equal_as_floats():
    # The first part has the margin 0; the second one a margin below 0, which is 0 in float64.
    weights = [0.9200026789449729, -0.992498296692064]
    half = RectifierNetwork(np.zeros((2, 2)), [0.5, 0.5])
    both = Conjunction((half, RectifierNetwork([weights], [1.0724956177470912])))
    assert not both.accepts([1.0, 1.0])
    assert most_violated(both, [1.0, 1.0]).subsets.tolist() == [[False, False, True]]


def test_a_unit_that_is_active_by_less_than_rounding_is_in_the_cut():
    # 0.5 + 0.1 - 0.6 is 0 in float64, and 2^-55 for the rationals that these floats are.
    network = RectifierNetwork([[0.5, 0.1, -0.6], [1.0, 0.0, 0.0]], [0.0, 0.0])
    psi = np.ones(3)
    assert not network.accepts(psi)
    assert most_violated(network, psi).subsets.tolist() == [[True, True]]


def test_a_unit_of_activation_zero_is_not_in_the_cut():
    network = RectifierNetwork([[1.0], [2.0], [-1.0]], [-1.0, 0.0, 0.0])
    assert most_violated(network, [1.0]).subsets.tolist() == [[False, True, False]]
    assert most_violated(network, [0.0]).subsets.tolist() == [[False, True, False]]


@given(decimal_networks())
def test_rows_of_other_weights_are_correctly_rounded(network):
    rows = to_inequalities(network)
    for m, subset in enumerate(rows.subsets):
        coefficients, bias = rational_row(network, subset)
        assert rows.coefficients[m].tolist() == [float(c) for c in coefficients]
        assert rows.bias[m] == float(bias)


def test_rows_of_a_large_network_are_estimated_and_refused():
    network = RectifierNetwork(np.ones((40, 50)), np.zeros(40))
    size = estimate_rows(network)
    assert size.rows == 2**40 - 1
    assert size.bytes == size.rows * (8 * 51 + 40)
    with pytest.raises(TooLarge):
        to_inequalities(network)
    small = RectifierNetwork(np.ones((3, 2)), np.zeros(3))
    with pytest.raises(TooLarge):
        to_inequalities(small, max_bytes=10)
    assert estimate_rows(small).bytes == 7 * (8 * 3 + 3)
    assert len(to_inequalities(small, max_bytes=7 * 27)) == 7
    huge = Conjunction((network, RectifierNetwork(np.ones((3, 50)), np.zeros(3))))
    assert estimate_rows(huge).rows == 2**40 - 1 + 7


@pytest.mark.parametrize("table", ["source-relation", "relation-target"])
def test_first_two_printed_rows_give_the_third(table):
    rows = to_inequalities(printed_network(table))
    found = np.column_stack([rows.coefficients, rows.bias])
    assert np.allclose(found[:2], np.array(PRINTED[table])[:2], rtol=0, atol=1e-12)
    assert np.abs(found[2] - np.array(PRINTED[table][2])).max() < 0.015


@pytest.mark.parametrize("table", list(PRINTED))
def test_printed_tables_are_the_designed_constraints(table):
    space, rules = SPACES[table], designed(table)
    printed = np.array(PRINTED[table])
    rows = LinearInequalities(printed[:, :-1], printed[:, -1])
    for learned in (rows, printed_network(table)):
        comparison = compare(learned, rules, space)
        assert comparison.equal is True
        assert comparison.points == {"relation-relation": 36}.get(table, 24)


def test_a_threshold_network_has_rows_whose_sums_exceed_the_largest_weight():
    network = RectifierNetwork(np.full((3, 1), 2.0**200), [0.0, 0.0, 0.0])
    threshold = to_inequalities(network).to_threshold_network()
    assert [threshold.accepts([x]) for x in (0.0, 1.0)] == [True, False]
