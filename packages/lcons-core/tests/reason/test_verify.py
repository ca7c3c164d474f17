"""Verify agrees with the theorem, reports rounding as rounding, and catches a form that is wrong."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    LconsError,
    LearnedConstraint,
    LiftedInequalities,
    LinearInequalities,
    RectifierNetwork,
    TooLarge,
    Unsupported,
    count,
    lift,
    one_hot,
    to_inequalities,
    verify,
)
from lcons_core._theorem import row_of_subset
from lcons_core.testing import conjunctions, networks, spaces

# The module, also where the package exports the function of that name.
VERIFY = sys.modules["lcons_core.reason._verify"]
NETWORK = RectifierNetwork([[2.0, 1.5, -1.0], [1.0, 1.0, 0.25]], [-1.0, -0.5])
COUNTS = FeatureSpace([count("count", [f"c{i}" for i in range(12)], high=70)])
AT_MOST_FOUR = RectifierNetwork(np.ones((1, COUNTS.d)), [-3.0])


@settings(max_examples=50)
@given(st.one_of(networks(max_K=4, max_d=5), conjunctions(max_d=4)))
def test_every_form_agrees_on_all_0_1_points(network):
    found = verify(network)
    assert found.ok
    assert found.scope == "all 0/1 vectors"
    assert found.all_rows
    assert found.points == found.cuts == 2**network.d
    assert found.rows == len(to_inequalities(network))
    assert found.rounding_differences == 0


@settings(max_examples=30)
@given(spaces(), st.data())
def test_every_form_agrees_on_a_whole_space(space, data):
    network = data.draw(networks(max_K=3, d=space.d))
    found = verify(LearnedConstraint(network, space))
    assert found.ok
    assert found.exhausted
    assert found.points == sum(len(points) for points in space.points())


def test_rounding_differences_are_real_and_reported_as_such():
    # 0.1 + 0.2 and 0.3 are different doubles: the float row of {1, 2} puts the point on the other side.
    tenths = np.random.default_rng(0).integers(-20, 20, (40, 3, 5)) / 10
    cases = [RectifierNetwork(W[:, :4], W[:, 4]) for W in tenths]
    reports = [(network, verify(network)) for network in cases]
    assert all(report.ok for _, report in reports)
    rounded = [(network, report) for network, report in reports if report.rounding_differences]
    assert rounded
    for network, report in rounded:
        example = report.rounding_example
        psi = np.array(example.psi)
        assert network.accepts(psi) is example.accepted
        assert to_inequalities(network).holds(psi) is not example.accepted


def wrong_rows(row, change):
    def patched(network):
        rows = to_inequalities(network)
        bias = rows.bias.copy()
        bias[row] += change
        return LinearInequalities(rows.coefficients, bias, rows.subsets)

    return patched


@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("space", [None, FeatureSpace([one_hot("x", "abc", other=True)])])
def test_a_wrong_row_is_caught(monkeypatch, row, space):
    network = RectifierNetwork([[2.0, 2.0, -1.0], [1.0, -0.5, 0.25]], [-2.0, 1.0 if row == 1 else 0.25])
    assert verify(network, space).ok
    monkeypatch.setattr(VERIFY, "to_inequalities", wrong_rows(row, -8.0))
    found = verify(network, space)
    assert not found.ok
    assert found.witness.form == "the rows"
    assert found.witness.accepted
    assert (found.witness.point is None) == (space is None)
    assert json.loads(json.dumps(found.to_dict()))["witness"]["accepted"]


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [("A_psi", (0, 0), 5.0), ("A_s", (2, 1), 0.0), ("rhs", 2, -3.0), ("rhs", 0, 9.0)],
)
def test_a_wrong_lifted_matrix_is_caught(monkeypatch, name, index, value):
    def patched(network):
        lifted = lift(network)
        arrays = {field: getattr(lifted, field).copy() for field in ("A_psi", "A_s", "rhs")}
        arrays[name][index] = value
        return LiftedInequalities(**arrays)

    monkeypatch.setattr(VERIFY, "lift", patched)
    assert verify(NETWORK).witness.form == "the lifted rows"
    name, index, value = "A_s", (0, 0), 4.0
    with pytest.raises(LconsError):
        verify(NETWORK)


def test_a_wrong_cut_and_a_wrong_verdict_are_caught(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(VERIFY, "most_violated", lambda n, psi: row_of_subset(n, np.array([True, False])))
        assert verify(NETWORK).witness.form == "the cut"
    monkeypatch.setattr(RectifierNetwork, "accepts", lambda self, psi: self.margin(psi) > 0)
    assert verify(RectifierNetwork([[1.0, 0.0]], [0.0])).witness.form == "accepts()"


def test_rows_that_are_too_many_are_not_claimed_to_be_checked():
    found = verify(RectifierNetwork(np.eye(20), np.full(20, -0.5)), samples=200)
    assert (found.ok, found.rows, found.all_rows, found.total_rows) == (True, 0, False, 2**20 - 1)


def test_large_domains_are_drawn_from_on_both_sides_with_the_seed():
    found = verify(AT_MOST_FOUR, COUNTS, samples=400, seed=7)  # of 71^12 points
    assert found.ok
    assert not found.exhausted
    assert found.seed == 7
    assert min(found.accepted, found.rejected, found.boundary) > 20
    assert found.one_sided is None
    assert found == verify(AT_MOST_FOUR, COUNTS, samples=400, seed=7)
    assert verify(RectifierNetwork(np.zeros((1, COUNTS.d)), [0.0]), COUNTS, samples=50).one_sided


def test_a_wrong_row_is_caught_where_uniform_draws_miss_the_accepted_points(monkeypatch):
    monkeypatch.setattr(VERIFY, "to_inequalities", wrong_rows(0, -1.0))
    witness = verify(AT_MOST_FOUR, COUNTS, samples=400).witness
    assert (witness.form, witness.accepted, sum(witness.psi)) == ("the rows", True, 4.0)


def test_what_has_no_network_or_too_many_units_is_refused():
    with pytest.raises(Unsupported):
        verify(LinearInequalities(np.ones((1, 2)), [0.0]))
    with pytest.raises(TooLarge):
        verify(RectifierNetwork(np.ones((1000, COUNTS.d)), np.zeros(1000)), COUNTS)
