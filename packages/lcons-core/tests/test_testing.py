"""The public testing module draws valid objects and finds what is broken."""

import builtins
import importlib
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from lcons_core import (
    InvalidInput,
    LiftedInequalities,
    LinearInequalities,
    MissingExtra,
    RectifierNetwork,
    TooLarge,
    to_inequalities,
)
from lcons_core import _theorem as theorem1
from lcons_core._arithmetic import is_dyadic
from lcons_core._network import Conjunction
from lcons_core.testing import (
    boundary_cases,
    check_theorem1,
    conjunctions,
    float_networks,
    float_weights,
    networks,
)

# Finding is enough here: no smallest example is wanted.
GENERATE = settings(phases=[Phase.generate], max_examples=5000)
NETWORK = RectifierNetwork([[2.0, 2.0], [1.0, -1.0]], [-2.0, 0.0])


@given(networks(max_K=3, max_d=4))
def test_networks_are_small_dyadic_and_obey_the_theorem(network):
    assert network.K <= 3
    assert network.d <= 4
    assert is_dyadic(network.W)
    assert is_dyadic(network.b)
    check_theorem1(network)


@given(conjunctions(max_parts=2, max_K=2, max_d=4))
def test_conjunctions_obey_the_theorem(network):
    assert isinstance(network, Conjunction)
    check_theorem1(network)


@given(float_networks(max_K=3, max_d=4), st.data())
def test_weights_that_round_obey_the_theorem_in_rationals(network, data):
    check_theorem1(network)
    check_theorem1(network, [data.draw(st.lists(float_weights(2.0), min_size=network.d, max_size=network.d))])


@given(boundary_cases())
def test_boundary_cases_are_on_their_side_of_the_boundary_in_every_form(case):
    network, psi, side = case
    assert network.rational_margin(psi) == Fraction(side, 2**52)
    assert network.accepts(psi) is (side >= 0)
    assert (network & network).accepts(psi) is (side >= 0)
    check_theorem1(network, psi)


@pytest.mark.parametrize(
    "case",
    [
        lambda case: case[2] == 0 and case[0].margin(case[1]) != 0,
        lambda case: case[2] == 1 and case[0].margin(case[1]) < 0,
        lambda case: case[2] == -1 and case[0].margin(case[1]) > 0,
        lambda case: case[2] == 0 and (case[0].b > 0).sum() > 1,
    ],
)
def test_boundary_cases_that_floats_decide_wrongly_are_drawn(case):
    find(boundary_cases(), case, settings=GENERATE)


ROWS, LIFTED = to_inequalities(NETWORK), theorem1.lift(NETWORK)
OFF = np.eye(3, 2, -1)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        (
            "to_inequalities",
            LinearInequalities(ROWS.coefficients + OFF, ROWS.bias, ROWS.subsets),
        ),
        ("to_inequalities", ROWS.take(np.array([0, 1]))),
        ("lift", LiftedInequalities(LIFTED.A_psi, LIFTED.A_s, LIFTED.rhs + np.array([0.0, 0.0, -1.0]))),
        ("most_violated", ROWS.take(np.array([1]))),
    ],
    ids=["coefficient", "missing row", "lifted bias", "cut"],
)
def test_a_wrong_form_is_found(monkeypatch, name, wrong):
    monkeypatch.setattr(theorem1, name, lambda *_: wrong)
    with pytest.raises(AssertionError):
        check_theorem1(NETWORK)


def test_a_network_that_rounds_its_verdict_is_found(monkeypatch):
    monkeypatch.setattr(RectifierNetwork, "accepts", lambda self, psi: self.margin(psi) > 0)
    with pytest.raises(AssertionError, match=r"network.accepts is False"):
        check_theorem1(RectifierNetwork([[1.0]], [0.0]))


def test_given_points_need_not_be_corners():
    check_theorem1(NETWORK, [[3, 0], [0, 7]])
    check_theorem1(NETWORK, np.array([0.3, 0.1]))
    with pytest.raises(InvalidInput):
        check_theorem1(NETWORK, [[1, 2, 3]])


def test_what_is_too_large_is_said():
    with pytest.raises(InvalidInput):
        check_theorem1(RectifierNetwork(np.zeros((1, 11)), [0.0]))
    with pytest.raises(TooLarge):
        check_theorem1(RectifierNetwork(np.zeros((13, 1)), np.zeros(13)))


def test_without_hypothesis_it_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("hypothesis"):
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.delitem(sys.modules, "lcons_core.testing")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra):
        importlib.import_module("lcons_core.testing")
