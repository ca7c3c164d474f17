"""The other forms describe the same set: lifted rows, decided by a solver, and cuts to a fixpoint."""

import numpy as np
import pytest
from core_strategies import cube
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from lcons_core import InvalidInput, RectifierNetwork, TooLarge, lift, most_violated, to_inequalities
from lcons_core._theorem import check_form_size, cut_of, estimate_form, estimate_rows, rows_of
from lcons_core.testing import conjunctions, networks, weights


def feasible(lifted, psi):
    """Whether a solver finds some s.

    HiGHS allows violations up to 1e-7. With weights in sixteenths and 0/1 psi the least infeasibility of
    an infeasible system is 1/16 spread over at most K + 1 rows, so the tolerance cannot change a verdict.
    """
    answer = linprog(
        np.zeros(lifted.K),
        A_ub=-lifted.A_s,
        b_ub=lifted.A_psi @ psi - lifted.rhs,
        bounds=[(0, None)] * lifted.K,
        method="highs",
    )
    assert answer.status in (0, 2)
    return answer.status == 0


@settings(max_examples=60)
@given(networks(max_K=4, max_d=4))
def test_lifted_rows_have_a_solution_iff_the_network_accepts(network):
    lifted = lift(network)
    assert len(lifted) == network.K + 1
    for psi in cube(network.d):
        assert feasible(lifted, psi) == network.accepts(psi)


@settings(max_examples=40)
@given(networks(max_K=4, max_d=4), st.data())
def test_lifted_rows_at_and_beyond_the_boundary(network, data):
    psi = data.draw(st.sampled_from(cube(network.d).tolist()).map(np.array))
    b = network.b - 64.0
    b[0] = 1.0 - network.W[0] @ psi
    assert feasible(lift(RectifierNetwork(network.W, b)), psi)
    b[0] += 1 / 16
    assert not feasible(lift(RectifierNetwork(network.W, b)), psi)


@settings(max_examples=30)
@given(conjunctions(max_d=3))
def test_lifted_rows_of_a_conjunction_have_one_budget_a_part(conjunction):
    lifted = lift(conjunction)
    assert len(lifted) == conjunction.K + len(conjunction.parts)
    for psi in cube(conjunction.d):
        assert feasible(lifted, psi) == conjunction.accepts(psi)


@given(st.one_of(networks(max_K=4, max_d=5), conjunctions(max_d=4)), st.data())
def test_cuts_to_a_fixpoint_reach_the_constrained_optimum(network, data):
    psi = cube(network.d)
    costs = np.array(data.draw(st.tuples(*[weights()] * network.d)))
    order = np.argsort(psi @ costs, kind="stable")
    cuts = []
    while True:
        allowed = [i for i in order if all(cut.holds(psi[i]) for cut in cuts)]
        if not allowed or network.accepts(psi[allowed[0]]):
            break
        cuts.append(most_violated(network, psi[allowed[0]]))
        assert not cuts[-1].holds(psi[allowed[0]])
    accepted = [i for i in order if network.accepts(psi[i])]
    assert allowed[:1] == accepted[:1]
    assert len({cut.coefficients.tobytes() + cut.bias.tobytes() for cut in cuts}) == len(cuts)


@given(st.one_of(networks(max_K=4, max_d=4), conjunctions(max_d=4)))
def test_a_cut_holds_iff_the_network_accepts(network):
    for psi in cube(network.d):
        cut = most_violated(network, psi)
        assert len(cut) == 1
        assert cut.holds(psi) == network.accepts(psi)


@given(networks(max_K=4, max_d=4))
def test_a_cut_never_removes_an_accepted_point(network):
    psi = cube(network.d)
    accepted = psi[network.accepts(psi)]
    for point in psi:
        assert most_violated(network, point).holds(accepted).all()


def test_a_cut_is_made_for_one_point():
    network = RectifierNetwork([[1.0, 2.0]], [0.0])
    with pytest.raises(InvalidInput):
        most_violated(network, np.zeros((2, 2)))
    with pytest.raises(InvalidInput):
        most_violated(network, np.zeros(3))


def test_zeros_of_the_forms_are_positive():
    network = RectifierNetwork([[0.0, 1.0], [2.0, -0.0]], [0.0, -0.0])
    lifted = lift(network & network)
    cut = most_violated(network, [1.0, 1.0])
    for array in (lifted.A_psi, lifted.A_s, cut.coefficients):
        assert not np.signbit(array[array == 0]).any()
    assert not any(array.flags.writeable for array in (lifted.A_psi, lifted.A_s, lifted.rhs))
    assert lifted.A_s[4:].tolist() == [[-1.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, -1.0]]


def test_a_form_has_the_size_that_is_estimated_and_is_refused_above_a_limit():
    network = RectifierNetwork(np.ones((3, 4)), np.zeros(3)) & RectifierNetwork(np.ones((2, 4)), np.zeros(2))
    lifted, size = lift(network), estimate_form(network, "lifted")
    assert size.rows == len(lifted)
    assert (lifted.d, lifted.K) == (network.d, network.K)
    assert size.bytes == lifted.A_psi.nbytes + lifted.A_s.nbytes + lifted.rhs.nbytes
    assert estimate_form(network, "rows") == estimate_form(network, "simplified") == estimate_rows(network)
    check_form_size(network, "lifted", size.bytes)
    for form in ("lifted", "rows"):
        with pytest.raises(TooLarge, match="linear in K" if form == "rows" else r"MiB\.$"):
            check_form_size(network, form, estimate_form(network, form).bytes - 1)
    with pytest.raises(InvalidInput):
        estimate_form(network, "cuts")


def test_rows_and_cuts_of_any_set_are_those_that_state_it_or_those_of_the_theorem():
    network = RectifierNetwork([[2.0, 1.0], [0.0, 1.0]], [-1.0, 0.0])
    rows = to_inequalities(network)
    for points in (network, rows):
        for most in (3, 4):
            assert np.array_equal(rows_of(points, most).coefficients, rows.coefficients)
        with pytest.raises(TooLarge):
            rows_of(points, most=2)
        for psi in cube(2):
            assert cut_of(points, psi).values(psi)[0] == rows.values(psi).min()
    assert rows_of(rows) is rows


def test_rows_of_more_than_a_gibibyte_are_refused_with_their_size():
    network = RectifierNetwork(np.ones((24, 5)), np.zeros(24))
    with pytest.raises(TooLarge, match=r"16,777,215 rows, 1,152\.0 MiB, above 1,024 MiB"):
        to_inequalities(network)
    with pytest.raises(TooLarge, match=r"about 10\^60 rows, about 10\^56 MiB"):
        to_inequalities(RectifierNetwork(np.ones((200, 5)), np.zeros(200)))
