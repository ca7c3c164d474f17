"""Differences found, or excluded, by integer programs are those that enumeration finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lcons_decode.ilp._compare as module
from lcons_core._blocks import binary, count, one_hot
from lcons_core._constraint import LearnedConstraint
from lcons_core._network import LinearInequalities, RectifierNetwork
from lcons_core._space import FeatureSpace
from lcons_core._theorem import to_inequalities
from lcons_core.reason._compare import Comparison, Outcome, compare
from lcons_core.reason._rules import Rules
from lcons_core.testing import conjunctions, networks, spaces
from lcons_decode.ilp import MipModel, compare_by_ilp
from lcons_decode.ilp._check import no_good, rounded
from lcons_decode.ilp._compare import Difference, find_difference
from lcons_decode.ilp._constraint_program import space_program

SOLVERS = ["cbc", "highs"]


@st.composite
def cases(draw):
    space = draw(spaces())

    def network():
        d = space.d
        return draw(st.one_of(networks(max_K=3, d=d), conjunctions(2, 2, d=d)))

    a = network()
    b = draw(st.sampled_from([network(), a]))
    if draw(st.booleans()) and isinstance(a, RectifierNetwork):
        # Nearly the same: one weight or bias moves by a sixteenth.
        W, bias = a.W.copy(), a.b.copy()
        W[0, draw(st.integers(0, space.d - 1))] += draw(st.sampled_from([0.0, 1 / 16]))
        bias[0] += draw(st.sampled_from([-1 / 16, 0.0, 1 / 16]))
        b = RectifierNetwork(W, bias)
    return space, a, b


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=40)
@given(case=cases())
def test_a_difference_is_found_exactly_where_enumeration_finds_one(solver, case):
    space, a, b = case
    points = np.concatenate([space.vectors(chunk) for chunk in space.points()])
    differ = (a.accepts(points) & ~b.accepts(points)).any()
    found = find_difference(a, b, space, solver=solver)
    if differ:
        assert found.witness is not None
        assert space.contains(found.witness).all()
        assert a.accepts(found.witness)
        assert not b.accepts(found.witness)
    else:
        assert found.witness is None
        assert found.doubt == ""


@settings(max_examples=8)
@given(space=spaces(max_blocks=2))
def test_the_solutions_of_a_spaces_program_are_its_points(space):
    points = space_program(space)
    model, seen = MipModel(points.program), []
    while (answer := model.optimise()).values:
        values = rounded(points.program, answer.values)
        seen.append(tuple(points.psi(values)))
        model.add(no_good(points.program, values, len(seen)))
    expected = [tuple(psi) for chunk in space.points() for psi in space.vectors(chunk)]
    assert sorted(seen) == sorted(expected)


def undecided(*given, **named):
    """A search that found nothing on a space that is too large to enumerate."""
    return Comparison(Outcome.UNDECIDED, 0, 0, 0, 0, (), (), False, "nothing found")


@pytest.mark.parametrize("other_way", [False, True])
def test_a_difference_that_the_search_missed_is_named(monkeypatch, other_way):
    monkeypatch.setattr(module, "compare", undecided)
    space = large_space()
    everything = LinearInequalities(np.zeros((0, 32)), np.zeros(0))
    not_all = LinearInequalities([[-1.0] * 30 + [0.0] * 2], [29.0])
    pair = (not_all, everything) if other_way else (everything, not_all)
    found = compare_by_ilp(*pair, space)
    ((witness,), none) = (found.witnesses_a, found.witnesses_b)[:: -1 if other_way else 1]
    assert (found.outcome, none) == (Outcome.DIFFERENT, ())
    assert not not_all.holds(space.vector(witness))


def test_rows_whose_bias_would_be_rounded_stay_undecided_with_the_reason(monkeypatch):
    monkeypatch.setattr(module, "compare", undecided)
    rows = LinearInequalities([[-1.0] * 32], [1e-20])
    found = compare_by_ilp(rows, rows, large_space())
    assert found.outcome is Outcome.UNDECIDED
    assert "the bias of a row would be rounded" in found.how


def large_space():
    return FeatureSpace([binary("bit", [f"b{j}" for j in range(30)]), one_hot("label", ["A", "B"])])


def test_equal_sets_with_other_weights_are_proved_equal():
    space = large_space()
    W = np.zeros((1, 32))
    W[0, :4] = 0.5
    # At most three of four bits: 0.5 * 4 - 0.5 > 1, and so is 0.75 * 4 - 1.5.
    a = RectifierNetwork(W, [-0.5])
    b = RectifierNetwork(1.5 * W, [-1.5])
    both = RectifierNetwork(np.concatenate([W, W]) / 2, [-0.25, -0.25])
    for other in (b, both):
        found = compare_by_ilp(a, other, space, limit=0)
        assert found.outcome is Outcome.EQUAL
        assert not found.complete


def test_a_needle_is_found_where_drawing_finds_none():
    space = large_space()
    target = np.arange(30) % 2
    sign = np.concatenate([2.0 * target - 1.0, [0.5, 0.0]])
    everything = RectifierNetwork(np.zeros((1, 32)), [0.0])
    needle = RectifierNetwork(4 * sign[None], [2.0 - 4 * (target.sum() + 0.5)])
    found = find_difference(everything, needle, space)
    assert space.describe(found.witness)["label"] == "A"
    assert found.witness[:30].tolist() == target.tolist()
    assert compare_by_ilp(needle, everything, space).outcome is Outcome.DIFFERENT


def test_counts_rules_rows_and_learned_constraints_are_compared():
    space = FeatureSpace([count("n", [f"c{j}" for j in range(6)], high=40), one_hot("label", ["A", "B"])])
    W = np.zeros((1, 8))
    W[0, :6] = 0.25
    a = LearnedConstraint(RectifierNetwork(W, [-4.0]), space)  # a sum of at most 20
    rows = LinearInequalities(-W * 4, [20.0])
    assert compare_by_ilp(a, rows).outcome is Outcome.EQUAL
    assert compare_by_ilp(a, to_inequalities(a.network)).outcome is Outcome.EQUAL
    found = compare_by_ilp(a, LinearInequalities(-W * 4, [19.0]))
    assert found.outcome is Outcome.DIFFERENT
    assert found.only_a
    assert not found.only_b
    wide = FeatureSpace([one_hot(f"block {i}", ["A", "B", "C"]) for i in range(16)])
    rules = Rules(wide).needs({"block 0": "A"}, {"block 1": "B"})
    network = RectifierNetwork(2 * rules.network().W, 2 * rules.network().b)
    assert compare_by_ilp(rules, network).outcome is Outcome.EQUAL


def test_what_is_not_proved_is_undecided():
    space = large_space()
    W = np.zeros((1, 32))
    W[0, :4] = 1.0
    dyadic, decimal = RectifierNetwork(0.5 * W, [-0.5]), RectifierNetwork(0.6 * W, [-0.9])
    assert find_difference(dyadic, dyadic, space).doubt == ""
    assert "2^-20" in find_difference(dyadic, decimal, space).doubt
    assert compare_by_ilp(dyadic, decimal, space, limit=0).equal is True  # by the search over boxes
    assert "time limit" in find_difference(dyadic, decimal, space, time_limit=0.0).doubt


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_difference_of_the_least_step_is_found_and_its_absence_proved(solver):
    space = large_space()
    step = 2.0**-20
    for seed in range(3):
        rng = np.random.default_rng(seed)
        W = np.zeros((3, 32))
        W[:, :9] = np.rint(rng.normal(size=(3, 9)) / step) * step
        psi = space.vectors(np.array([[*rng.integers(0, 2, 30), 1]]))[0]
        # psi lies exactly on the boundary of a, and one step outside b.
        bias = np.array([0.25, 0.25, 0.5]) - W @ psi
        a, b = RectifierNetwork(W, bias), RectifierNetwork(W, bias + np.array([0.0, 0.0, step]))
        found = find_difference(a, b, space, solver=solver)
        assert a.accepts(found.witness)
        assert not b.accepts(found.witness)
        assert find_difference(b, a, space, solver=solver) == Difference()


def test_small_domains_are_enumerated():
    space = FeatureSpace([one_hot("label", ["A", "B"])])
    a, b = RectifierNetwork([[2.0, 0.0]], [0.0]), RectifierNetwork([[3.0, 0.0]], [0.0])
    assert compare_by_ilp(a, b, space).complete


def test_columns_that_are_all_used_are_decided_where_enumeration_ends():
    # At most two of 24 hold: equal on 0/1 points, but not on real ones, so that only a solver proves it.
    space = FeatureSpace([binary("x", [str(j) for j in range(24)])])
    two, half = RectifierNetwork(np.ones((1, 24)), [-1.0]), np.full((1, 24), 0.5)
    more = RectifierNetwork(np.vstack([half, half]), [-0.75, -0.75])
    assert "compare_by_ilp" in compare(two, more, space).how
    found = compare_by_ilp(two, more, space, solver="highs")
    assert found.outcome is Outcome.EQUAL
    assert found.how == "highs proved that neither accepts a point that the other rejects"
