"""The other forms describe the same set: lifted rows, decided by a solver, and cuts to a fixpoint."""

import numpy as np
import pytest
from core_strategies import cube
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from lcons_core import InvalidInput, RectifierNetwork, lift, most_violated
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
