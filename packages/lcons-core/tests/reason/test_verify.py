"""Verify agrees with the theorem, reports rounding as rounding, and catches a form that is wrong."""

import json
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_tables import SOURCE_RELATION, designed, printed_network

from lcons_core._arithmetic import ScaledForms
from lcons_core._blocks import count, one_hot
from lcons_core._constraint import LearnedConstraint
from lcons_core._inequalities import LinearInequalities
from lcons_core._network import RectifierNetwork
from lcons_core._space import FeatureSpace
from lcons_core._theorem1 import LiftedInequalities, lift, row_of_subset, to_inequalities
from lcons_core.reason._verify import verify
from lcons_core.testing import conjunctions, networks, spaces

# The module, also where the package exports the function of that name.
VERIFY = sys.modules["lcons_core.reason._verify"]
NETWORK = RectifierNetwork([[2.0, 2.0, -1.0], [1.0, -0.5, 0.25]], [-2.0, 0.25])


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


@given(st.integers(0, 2**32))
def test_scaled_forms_are_rational_arithmetic(seed):
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(3, 4)) * 10.0 ** rng.integers(-8, 20, (3, 4))
    c, psi = rng.normal(size=3), rng.integers(-5, 6, (4, 4)).astype(float)
    c[0], C[0] = 0.0, C[0] * (psi[0] == 0)
    forms = ScaledForms.of(C, c)
    for i, point in enumerate(psi):
        for m in range(3):
            terms = (Fraction(w) * int(x) for w, x in zip(C[m], point, strict=True))
            expected = sum(terms, Fraction(c[m]))
            assert Fraction(forms.values(psi)[i, m], 1 << forms.q) == expected
            assert forms.signs(psi)[i, m] == (expected > 0) - (expected < 0)
    assert forms.signs(psi)[0, 0] == 0


def test_rounding_differences_are_reported_as_such():
    # 0.1 + 0.2 and 0.3 are different doubles: the float row of {1, 2} puts the point on the other side.
    tenths = np.random.default_rng(0).integers(-20, 20, (40, 3, 5)) / 10
    reports = [verify(RectifierNetwork(W[:, :4], W[:, 4])) for W in tenths]
    assert all(report.ok for report in reports)
    rounded = [report for report in reports if report.rounding_differences]
    assert rounded
    example = rounded[0].rounding_example
    assert example is not None
    assert "rounded" in example.form
    assert "rounding: the rows in float64 differ" in str(rounded[0])


def test_a_rounding_difference_is_a_real_one():
    for W in np.random.default_rng(0).integers(-20, 20, (40, 3, 5)) / 10:
        network = RectifierNetwork(W[:, :4], W[:, 4])
        example = verify(network).rounding_example
        if example is not None and example.form == "the rounded rows":
            psi = np.array(example.psi)
            assert network.accepts(psi) is example.accepted
            assert to_inequalities(network).holds(psi) is not example.accepted
            return
    pytest.fail("no rounding difference was drawn")


def wrong_rows(change):
    def patched(network):
        rows = to_inequalities(network)
        coefficients, bias = rows.coefficients.copy(), rows.bias.copy()
        change(coefficients, bias)
        return LinearInequalities(coefficients, bias, rows.subsets)

    return patched


@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("space", [None, "named"])
def test_a_wrong_row_is_caught(monkeypatch, row, space):
    network = NETWORK if row != 1 else RectifierNetwork(NETWORK.W, [-2.0, 1.0])
    space = FeatureSpace([one_hot("x", "abc", other=True)]) if space else None
    assert verify(network, space).ok

    def change(coefficients, bias):
        bias[row] -= 8.0

    monkeypatch.setattr(VERIFY, "to_inequalities", wrong_rows(change))
    found = verify(network, space)
    assert not found.ok
    assert found.witness.form == "the rows"
    assert found.witness.accepted
    assert str(found).startswith("false")
    assert (found.witness.point is None) == (space is None)


def test_a_row_too_weak_by_a_sixteenth_is_caught_at_the_boundary(monkeypatch):
    network = RectifierNetwork([[1.0, 1.0]], [-1 + 1 / 16])  # rejects (1, 1) by a sixteenth
    assert verify(network).ok

    def change(coefficients, bias):
        bias[0] += 1 / 16

    monkeypatch.setattr(VERIFY, "to_inequalities", wrong_rows(change))
    witness = verify(network).witness
    assert witness.psi == (1.0, 1.0)
    assert not witness.accepted


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [("A_psi", (0, 0), 5.0), ("A_s", (2, 1), 0.0), ("A_s", (0, 0), 4.0), ("rhs", 2, -3.0), ("rhs", 0, 9.0)],
)
def test_a_wrong_lifted_matrix_is_caught(monkeypatch, name, index, value):
    def patched(network):
        lifted = lift(network)
        arrays = {field: getattr(lifted, field).copy() for field in ("A_psi", "A_s", "rhs")}
        arrays[name][index] = value
        return LiftedInequalities(**arrays)

    network = RectifierNetwork([[2.0, 1.5, -1.0], [1.0, 1.0, 0.25]], [-1.0, -0.5])
    assert verify(network).ok
    monkeypatch.setattr(VERIFY, "lift", patched)
    found = verify(network)
    assert not found.ok
    assert found.witness.form == "the lifted rows"


def test_a_wrong_cut_is_caught(monkeypatch):
    def patched(network, psi):
        return row_of_subset(network, np.array([True, False]))

    network = RectifierNetwork([[2.0, 1.5, -1.0], [1.0, 1.0, 0.25]], [-1.0, -0.5])
    monkeypatch.setattr(VERIFY, "most_violated", patched)
    assert verify(network).witness.form == "the cut"


def test_a_wrong_verdict_of_the_network_is_caught(monkeypatch):
    monkeypatch.setattr(RectifierNetwork, "accepts", lambda self, psi: self.margin(psi) > 0)
    boundary = RectifierNetwork([[1.0, 0.0]], [0.0])
    assert verify(boundary).witness.form == "accepts()"


def test_rows_that_are_too_many_are_not_claimed_to_be_checked():
    found = verify(RectifierNetwork(np.eye(20), np.full(20, -0.5)), samples=200)
    assert (found.ok, found.rows, found.all_rows, found.total_rows) == (True, 0, False, 2**20 - 1)
    assert "rows" in str(found)


def test_large_domains_are_drawn_from_and_the_seed_is_kept():
    space = FeatureSpace([one_hot(f"label {i}", [f"L{v}" for v in range(20)]) for i in range(6)])
    rng = np.random.default_rng(0)
    network = RectifierNetwork(
        np.rint(rng.normal(size=(4, space.d)) * 16) / 16, np.rint(rng.normal(size=4) * 16) / 16 - 2
    )
    found = verify(network, space, samples=500, seed=7)
    assert found.ok
    assert not found.exhausted
    assert found.seed == 7
    assert found.boundary > 0  # points near the boundary are looked for, not left to chance
    assert found == verify(network, space, samples=500, seed=7)
    assert json.loads(json.dumps(found.to_dict()))["ok"] is True


def counts(number=12, high=70):
    return FeatureSpace([count("count", [f"c{i}" for i in range(number)], high=high)])


def test_a_set_that_uniform_draws_miss_is_checked_on_both_sides():
    space = counts()
    few = RectifierNetwork(np.ones((1, space.d)), [-3.0])  # at most four in all, of 71^12 points
    found = verify(few, space, samples=400)
    assert found.ok
    assert min(found.accepted, found.rejected, found.boundary) > 20
    assert found.one_sided is None
    assert found.to_dict()["rejected"] == found.points - found.accepted


def test_a_wrong_row_is_caught_where_uniform_draws_miss_the_accepted_points(monkeypatch):
    space = counts()

    def change(coefficients, bias):
        bias[0] -= 1.0

    monkeypatch.setattr(VERIFY, "to_inequalities", wrong_rows(change))
    found = verify(RectifierNetwork(np.ones((1, space.d)), [-3.0]), space, samples=400)
    assert found.witness.form == "the rows"
    assert found.witness.accepted
    assert sum(found.witness.psi) == 4.0


def test_int64_and_longer_values_are_the_same_numbers():
    rng = np.random.default_rng(0)
    C, c = rng.integers(-99, 99, (3, 4)) / 16, rng.integers(-99, 99, 3) / 16
    psi = rng.integers(-9, 9, (20, 4)).astype(float)
    short, long = ScaledForms.of(C, c), ScaledForms.of(C, c, 90)
    assert (short.values(psi).dtype, long.values(psi).dtype) == (np.int64, object)
    assert ((short.values(psi).astype(object) << 86) == long.values(psi)).all()
    assert (short.signs(psi) == long.signs(psi)).all()
    assert (short.all_hold(psi) == (short.signs(psi) >= 0).all(1)).all()
    assert (short.all_hold(psi) == long.all_hold(psi)).all()


def test_printed_table_verifies_on_its_pairs():
    found = verify(printed_network("source-relation"), SOURCE_RELATION)
    assert found.ok
    assert found.points == 24
    assert found.accepted == sum(designed("source-relation").accepts(_pairs()))


def _pairs():
    return SOURCE_RELATION.vectors(np.concatenate(list(SOURCE_RELATION.points())))
