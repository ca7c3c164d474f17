"""explain: rules cover exactly what is rejected, or are proved; figures equal a count by hand."""

import itertools
import json
import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
from core_strategies import every_point, sets_on_spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LabelledExamples,
    LearnedConstraint,
    RectifierNetwork,
    SparsePsi,
    binary,
    explain,
    one_hot,
    to_inequalities,
    why,
)
from lcons_core._network import Conjunction
from lcons_core._psi import PsiRows
from lcons_core.features import Existence, NgramContext
from lcons_core.reason._explain import explain_rejected
from lcons_core.reason._rules import Box, forbid_boxes

CONSTRAINTS = sets_on_spaces(("sixteenths", "boundary"), max_blocks=4).map(
    lambda case: LearnedConstraint(*case)
)


@st.composite
def labelled(draw, space):
    """Positives and negatives of any verdict, so that there are exceptions."""
    points = every_point(space)
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    rows = [points[rng.integers(0, len(points), draw(st.integers(0, 30)))] for _ in range(2)]
    sides = [PsiRows.of(psi_of(space, some), weight=rng.integers(1, 5, len(some))) for some in rows]
    return SimpleNamespace(positives=sides[0], negatives=sides[1])


def psi_of(space, points):
    return SparsePsi.from_dense(space.vectors(points))


def accepted_by_hand(constraint):
    points = every_point(constraint.space)
    return points, constraint.network.verdicts(constraint.space, points)


def inside(space, box, points):
    """As `Box.contains`, written out by name."""
    wanted = box.to_dict()
    named = [{a.name: a.values[v] for a, v in zip(space.axes, row, strict=True)} for row in points]
    held = [all(row[axis] in values for axis, values in wanted.items()) for row in named]
    return np.array(held, dtype=bool)


def weight_by_hand(space, box, rows):
    return float(rows.weight[inside(space, box, space.assignments(rows.psi))].sum()) if len(rows) else 0.0


def expected_by_hand(space, box, rows):
    """N times the product of the shares of values, over every combination in the box that can occur."""
    if not len(rows):
        return 0.0
    points, weights = space.assignments(rows.psi), rows.weight
    share = {
        (axis.name, value): weights[points[:, i] == v].sum() / weights.sum()
        for i, axis in enumerate(space.axes)
        for v, value in enumerate(axis.values)
    }
    total = 0.0
    for values in itertools.product(*box.to_dict().values()):
        choice = dict(zip(box.to_dict(), values, strict=True))
        possible = all(
            choice.get(rule.block) != rule.value
            or choice.get(rule.needs_block, rule.needs_values[0]) in rule.needs_values
            for rule in space.requires
        )
        total += possible * math.prod(share[pair] for pair in choice.items())
    return float(weights.sum() * total)


@given(CONSTRAINTS, st.sampled_from([1.0, 0.1]))
def test_the_rules_of_a_small_domain_are_minimal_and_exactly_the_rejected_set(constraint, scale):
    parts = [RectifierNetwork(p.W * scale, p.b * scale + 1 - scale) for p in constraint.network.parts]
    constraint = LearnedConstraint(Conjunction(tuple(parts)), constraint.space)
    points, accepted = accepted_by_hand(constraint)
    explanation = explain(constraint)
    union = np.zeros(len(points), dtype=bool)
    for rule in explanation.rules:
        held = inside(constraint.space, rule.box, points)
        assert held.any()
        union |= held
        for condition in rule.box.conditions:
            wider = Box(tuple(c for c in rule.box.conditions if c != condition))
            assert accepted[inside(constraint.space, wider, points)].any()
    assert explanation.complete
    np.testing.assert_array_equal(union, ~accepted)
    assert explanation.coverage.found == (~accepted).sum()


@settings(max_examples=60)
@given(CONSTRAINTS, st.sampled_from([1.0, 0.1]))
def test_a_rule_of_a_large_domain_is_proved_by_the_row_that_it_names(constraint, scale):
    parts = [RectifierNetwork(p.W * scale, p.b * scale + 1 - scale) for p in constraint.network.parts]
    constraint = LearnedConstraint(Conjunction(tuple(parts)), constraint.space)
    points, accepted = accepted_by_hand(constraint)
    explanation = explain(constraint, enumeration=0)
    assert not explanation.complete
    for rule in explanation.rules:
        held = inside(constraint.space, rule.box, points)
        assert not accepted[held].any()
        part = parts[max(0, rule.proof.part - 1)]
        psi = constraint.space.vectors(points[held])
        values = 1 - part.activations(psi)[:, list(rule.proof.units)].sum(1)
        assert (values <= rule.proof.bound + 1e-9).all()
        assert rule.proof.bound < 0
    rows = to_inequalities(constraint.network)
    for rule in explain(rows, space=constraint.space, enumeration=0).rules:
        assert not rows.verdicts(constraint.space, points)[inside(constraint.space, rule.box, points)].any()


@settings(max_examples=60)
@given(st.data(), CONSTRAINTS, st.sampled_from([0, 10**7]))
def test_support_exceptions_expectation_and_coverage_are_counted_by_weight(data, constraint, enumeration):
    space = constraint.space
    examples = data.draw(labelled(space))
    good, bad = examples.positives, examples.negatives
    explanation = explain(constraint, examples, enumeration=enumeration, limit=2)
    covered = np.zeros(len(bad), dtype=bool)
    shown = 0.0
    for i, rule in enumerate(explanation.rules):
        assert rule.support == weight_by_hand(space, rule.antecedent, good)
        assert rule.exceptions == weight_by_hand(space, rule.box, good) <= rule.support
        assert rule.expected == pytest.approx(expected_by_hand(space, rule.box, good))
        assert rule.covered == weight_by_hand(space, rule.box, bad)
        if len(covered):
            covered |= inside(space, rule.box, space.assignments(bad.psi))
        if i < 2:
            shown = float(bad.weight[covered].sum())
    rejected = bad.weight[~np.asarray(constraint.accepts(bad.psi))].sum()
    figures = explanation.coverage
    assert (figures.total, figures.rejected) == (bad.weight.sum(), rejected)
    assert (figures.found, figures.shown) == (bad.weight[covered].sum(), shown)


@given(CONSTRAINTS)
def test_why_agrees_with_the_network_and_adds_up(constraint):
    points, accepted = accepted_by_hand(constraint)
    for point, verdict in list(zip(points, accepted, strict=True))[::7]:
        reason = why(constraint, constraint.space.describe(constraint.space.vectors(point[None])[0]))
        assert reason.value == sum(value for _, value in reason.terms) + reason.bias
        assert reason.forbidden == (reason.value < 0) == (not verdict)
        assert not reason.partial
    block = constraint.space.blocks[0]
    if block.kind == "one-hot" and why(constraint, {block.name: block.values[0]}).forbidden:
        assert not accepted[points[:, 0] == 0].any()


# Sizes: what people will explain must take seconds and stay readable.


def test_pos_four_grams_are_explained_in_seconds_and_a_page():
    feature = NgramContext(tuple(f"L{i}" for i in range(22)), tuple(f"T{i}" for i in range(45)), n=4)
    space, rng = feature.space, np.random.default_rng(0)
    # Sparse dyadic weights: each unit forbids a few label pairs, with some weight on other columns.
    W = np.round(rng.normal(0, 0.1, (10, space.d)) * (rng.random((10, space.d)) < 0.3) * 64) / 64
    for unit in W:
        for name in rng.choice([f"label {i}" for i in range(1, 5)], 2, replace=False):
            for value in rng.choice(feature.labels, 3, replace=False):
                unit[space.column(name, value)] += 3.0
    network, rng = RectifierNetwork(W, np.full(10, -3.0)), np.random.default_rng(0)
    points = np.stack([rng.integers(0, len(axis), 100_000) for axis in space.axes], axis=1)
    accepted = network.verdicts(space, points)
    good, bad = (PsiRows.of(psi_of(space, points[accepted == side])) for side in (True, False))
    examples = SimpleNamespace(positives=good, negatives=bad)
    start = time.process_time()
    explanation = explain(LearnedConstraint(network, feature.space, feature), examples, limit=20)
    assert time.process_time() - start < 5.0
    assert not explanation.complete
    assert len(str(explanation).splitlines()) <= 21
    assert explanation.coverage.shown > 0.9 * explanation.coverage.rejected
    assert all(rule.exceptions == 0 for rule in explanation.rules)
    json.dumps(explanation.to_dict())


def test_ten_thousand_binary_columns_are_explained():
    space = Existence(tuple(f"L{i}" for i in range(22)), n=3).space
    W = np.zeros((2, space.d))
    W[0, [5, 9]], W[1, 7] = 2.0, -2.0
    explanation = explain(RectifierNetwork(W, [-2.0, 2.0]), space=space)
    assert {rule.words for rule in explanation.rules} == {
        "L0 L0 L7 always exists",
        "where L0 L0 L5 exists, L0 L0 L9 must be missing",
    }


def test_a_rare_combination_of_a_large_domain_is_found():
    space = FeatureSpace([one_hot(f"label {i}", [f"L{v}" for v in range(30)]) for i in range(6)])
    box = Box.of(space, {f"label {i}": f"L{i}" for i in range(4)})
    (rule,) = explain(forbid_boxes(space, [box]), space=space).rules
    assert rule.box == box


@pytest.mark.parametrize("enumeration", [0, 100])
def test_everything_and_nothing_can_be_rejected(enumeration):
    space = FeatureSpace([one_hot("label", "AB")])
    for bias, words in ((0.0, []), (2.0, ["nothing is allowed"])):
        network = RectifierNetwork(np.zeros((1, 2)), [bias])
        assert [r.words for r in explain(network, space=space, enumeration=enumeration).rules] == words


@pytest.mark.parametrize("enumeration", [0, 10**7])
def test_negatives_that_are_all_accepted_do_not_hide_the_rules(enumeration):
    space = FeatureSpace([one_hot("label 1", "ABC"), one_hot("label 2", "ABC")])
    network = RectifierNetwork([[2.0, 0.0, 0.0, 2.0, 0.0, 0.0]], [-2.0])
    sides = (PsiRows.of(SparsePsi.from_indices([row], d=6)) for row in ([1, 4], [2, 5]))
    examples = SimpleNamespace(**dict(zip(("positives", "negatives"), sides, strict=True)))
    explanation = explain(network, examples, space=space, enumeration=enumeration)
    assert [rule.words for rule in explanation.rules] == ["A never after A"]
    assert (explanation.coverage.total, explanation.coverage.rejected) == (1.0, 0.0)


def test_many_units_are_explained_without_all_their_rows():
    space = FeatureSpace([one_hot(f"label {i}", "ABCDEFGH") for i in range(8)])
    W = np.zeros((200, space.d))
    for k in range(200):
        W[k, [k % 8, 8 + k // 8 % 8]] = 2.0
    first, again = (explain(RectifierNetwork(W, np.full(200, -2.0)), space=space, seed=3) for _ in range(2))
    assert not first.complete
    assert first.coverage.found == first.coverage.total
    assert first == again


def test_a_space_or_examples_that_do_not_fit_are_refused():
    space, network = FeatureSpace([one_hot("label", "AB")]), RectifierNetwork([[1.0, 2.0]], [0.0])
    empty = PsiRows.of(SparsePsi.from_indices([[]], d=2))
    wide = PsiRows.of(SparsePsi.from_indices([[0]], d=3))
    wrong = FeatureSpace([one_hot("label", "ABC")])
    for arguments in (
        {},
        {"space": wrong},
        {"space": space, "limit": 0},
        {"space": space, "examples": SimpleNamespace(positives=wide, negatives=empty)},
        {"space": space, "examples": SimpleNamespace(positives=empty, negatives=empty)},
    ):
        with pytest.raises(InvalidInput):
            explain(network, **arguments)


def test_valid_points_that_are_rejected_are_in_some_rule_however_long():
    space = FeatureSpace([binary("bit", map(str, range(100)))])
    at_most_30 = RectifierNetwork(np.ones((1, 100)), [-30.0])
    rng = np.random.default_rng(0)
    gold = [rng.permutation(np.arange(100) < number).astype(float) for number in (10, 20, 40, 50, 60)]
    crowd = [rng.permutation(np.arange(100) < 90).astype(float) for _ in range(30)]
    explanation = explain(at_most_30, LabelledExamples.of(space, gold, crowd), space=space)
    rejected = np.array([psi for psi in gold if psi.sum() > 30], dtype=int)
    assert np.any([rule.box.contains(space, rejected) for rule in explanation.rules], axis=0).all()
    for rule in explanation.rules:
        assert sum(values == ("1",) for _, values in rule.box.conditions) > 30


@given(st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=1, max_size=12), st.booleans())
@settings(deadline=None, max_examples=40)
def test_every_rejected_gold_part_is_in_a_rule_and_every_rule_rejects_some(gold, enumerated):
    space = FeatureSpace([binary("bit", "abcdef")])
    at_most_2 = RectifierNetwork(np.ones((1, 6)), [-1.0])
    rows = PsiRows.of(SparsePsi.from_dense(np.array(gold, dtype=float)))
    explanation = explain_rejected(
        at_most_2, rows, space=space, enumeration=10**6 if enumerated else 0, limit=3
    )
    psi = np.unique(np.array(gold), axis=0)
    bad = psi[psi.sum(1) > 2]
    held = np.array([rule.box.contains(space, bad) for rule in explanation.rules]).reshape(
        len(explanation), len(bad)
    )
    assert held.any(0).all()
    assert held.any(1).all()
    assert explanation.coverage.total == explanation.coverage.found == sum(sum(part) > 2 for part in gold)
