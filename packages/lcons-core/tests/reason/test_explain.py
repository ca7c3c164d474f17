"""explain: rules cover exactly what is rejected, or are proved; figures equal a count by hand."""

from __future__ import annotations

import itertools
import json
import math
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import LabelledExamples, Recipe
from lcons_core._blocks import Block, Requirement, binary, count, one_hot
from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput
from lcons_core._network import Conjunction, Network, RectifierNetwork
from lcons_core._psi import PsiRows, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core._theorem import to_inequalities
from lcons_core.features._kinds import Counts, Existence, Tuples
from lcons_core.features._ngrams import NgramContext, NgramLabels
from lcons_core.reason import Explanation, explain, explain_rejected, why
from lcons_core.reason._domain import Box
from lcons_core.reason._explanation.regions import Chance, WeightedPoints, box_of, points_of
from lcons_core.reason._explanation.small_domains import merge_cells
from lcons_core.reason._rules import forbid_boxes

SIXTEENTHS = st.integers(-32, 32).map(lambda n: n / 16)


@st.composite
def blocks(draw: st.DrawFn, name: str) -> Block:
    kind = draw(st.sampled_from(["one-hot", "other", "binary", "count"]))
    values = "abcd"[: draw(st.integers(2 if kind == "one-hot" else 1, 4))]
    if kind == "binary":
        return binary(name, values[:2])
    if kind == "count":
        low = draw(st.integers(0, 1))
        return count(name, values[:1], high=low + draw(st.integers(1, 3)), low=low)
    return one_hot(name, values, other=kind == "other")


@st.composite
def spaces(draw: st.DrawFn) -> FeatureSpace:
    chosen = [draw(blocks(f"block {i}")) for i in range(draw(st.integers(1, 4)))]
    choices = [b for b in chosen if b.kind == "one-hot"]
    requires = []
    if len(choices) > 1 and draw(st.booleans()):
        first, second = choices[:2]
        needed = tuple(second.values[: draw(st.integers(1, len(second.values)))])
        requires = [Requirement(first.name, first.values[0], second.name, needed)]
    return FeatureSpace(chosen, requires)


@st.composite
def networks(draw: st.DrawFn, d: int) -> RectifierNetwork:
    K = draw(st.integers(1, 4))
    weights = st.lists(SIXTEENTHS, min_size=d, max_size=d)
    W = draw(st.lists(weights, min_size=K, max_size=K))
    return RectifierNetwork(W, draw(st.lists(SIXTEENTHS, min_size=K, max_size=K)))


@st.composite
def constraints(draw: st.DrawFn) -> LearnedConstraint:
    space = draw(spaces())
    parts = [draw(networks(space.d)) for _ in range(draw(st.integers(1, 2)))]
    network: Network = parts[0] if len(parts) == 1 else Conjunction(tuple(parts))
    return LearnedConstraint(network, space)


@st.composite
def labelled(draw: st.DrawFn, space: FeatureSpace) -> SimpleNamespace:
    """Positives and negatives of any verdict, so that there are exceptions."""
    points = np.concatenate(list(space.points()))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    rows = [points[rng.integers(0, len(points), draw(st.integers(0, 30)))] for _ in range(2)]
    return SimpleNamespace(
        positives=PsiRows.of(points_of(space, rows[0]).psi, weight=rng.integers(1, 5, len(rows[0]))),
        negatives=PsiRows.of(points_of(space, rows[1]).psi, weight=rng.integers(1, 5, len(rows[1]))),
    )


def accepted_by_hand(constraint: LearnedConstraint) -> tuple[Any, Any]:
    points = np.concatenate(list(constraint.space.points()))
    return points, constraint.network.verdicts(constraint.space, points)


def inside(space: FeatureSpace, box: Box, points: Any) -> Any:
    """As `Box.contains`, written out by name."""
    wanted = box.to_dict()
    names = [[axis.values[v] for axis, v in zip(space.axes, row, strict=True)] for row in points]
    axes = [axis.name for axis in space.axes]
    return np.array(
        [
            all(value in wanted.get(axis, [value]) for axis, value in zip(axes, row, strict=True))
            for row in names
        ],
        dtype=bool,
    )


def weight_by_hand(space: FeatureSpace, box: Box, psi: SparsePsi, weights: Any) -> float:
    if not len(psi):
        return 0.0
    return float(weights[inside(space, box, space.assignments(psi))].sum())


def expected_by_hand(space: FeatureSpace, box: Box, psi: SparsePsi, weights: Any) -> float:
    """N times the product of the shares of values, over every combination in the box that can occur."""
    if not len(psi):
        return 0.0
    names = [axis.name for axis in space.axes]
    points = space.assignments(psi)
    share = {
        (name, value): weights[points[:, i] == v].sum() / weights.sum()
        for i, name in enumerate(names)
        for v, value in enumerate(space.axes[i].values)
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


@given(constraints())
def test_the_rules_of_a_small_domain_are_exactly_the_rejected_set(constraint):
    points, accepted = accepted_by_hand(constraint)
    explanation = explain(constraint)
    union = np.zeros(len(points), dtype=bool)
    for rule in explanation.rules:
        union |= inside(constraint.space, rule.box, points)
    assert explanation.complete
    np.testing.assert_array_equal(union, ~accepted)
    assert explanation.coverage.found == (~accepted).sum()


@given(constraints())
def test_no_condition_of_an_enumerated_rule_can_be_dropped(constraint):
    points, accepted = accepted_by_hand(constraint)
    for rule in explain(constraint).rules:
        assert inside(constraint.space, rule.box, points).any()
        for left_out in rule.box.conditions:
            wider = Box(tuple(c for c in rule.box.conditions if c != left_out))
            assert accepted[inside(constraint.space, wider, points)].any()


@settings(max_examples=60)
@given(constraints())
def test_rules_proved_by_a_row_contain_only_rejected_points(constraint):
    points, accepted = accepted_by_hand(constraint)
    explanation = explain(constraint, enumeration=0)
    assert not explanation.complete
    for rule in explanation.rules:
        assert rule.proof.method == "row"
        assert rule.proof.bound < 0
        assert not accepted[inside(constraint.space, rule.box, points)].any()


@settings(max_examples=60)
@given(constraints())
def test_the_named_row_is_below_zero_all_over_its_box(constraint):
    points, _ = accepted_by_hand(constraint)
    for rule in explain(constraint, enumeration=0).rules:
        part = constraint.network.parts[max(0, rule.proof.part - 1)]
        units = list(rule.proof.units)
        psi = constraint.space.vectors(points[inside(constraint.space, rule.box, points)])
        values = 1 - part.activations(psi)[:, units].sum(1)
        assert (values <= rule.proof.bound).all()


@settings(max_examples=50)
@given(constraints())
def test_given_rows_are_explained_as_the_network_is(constraint):
    rows = to_inequalities(constraint.network)
    of_rows, of_network = explain(rows, space=constraint.space), explain(constraint)
    assert [r.words for r in of_rows.rules] == [r.words for r in of_network.rules]
    points, accepted = accepted_by_hand(constraint)
    for rule in explain(rows, space=constraint.space, enumeration=0).rules:
        assert not accepted[inside(constraint.space, rule.box, points)].any()


@settings(max_examples=60)
@given(st.data(), constraints(), st.sampled_from([0, 10**7]))
def test_support_exceptions_expectation_and_coverage_are_counted_by_weight(data, constraint, enumeration):
    space = constraint.space
    examples = data.draw(labelled(space))
    explanation = explain(constraint, examples, enumeration=enumeration, limit=2)
    covered = np.zeros(len(examples.negatives), dtype=bool)
    shown = 0.0
    for i, rule in enumerate(explanation.rules):
        support = weight_by_hand(space, rule.antecedent, examples.positives.psi, examples.positives.weight)
        assert rule.support == support
        exceptions = weight_by_hand(space, rule.box, examples.positives.psi, examples.positives.weight)
        assert rule.exceptions == exceptions <= support
        by_hand = expected_by_hand(space, rule.box, examples.positives.psi, examples.positives.weight)
        assert rule.expected == pytest.approx(by_hand)
        if len(rule.box.conditions) == 1:
            assert rule.expected == pytest.approx(exceptions)
        assert rule.covered == weight_by_hand(
            space, rule.box, examples.negatives.psi, examples.negatives.weight
        )
        if len(covered):
            covered |= inside(space, rule.box, space.assignments(examples.negatives.psi))
        if i < 2:
            shown = float(examples.negatives.weight[covered].sum())
    rejected = ~np.asarray(constraint.accepts(examples.negatives.psi))
    assert explanation.coverage.total == examples.negatives.weight.sum()
    assert explanation.coverage.rejected == examples.negatives.weight[rejected].sum()
    assert explanation.coverage.found == examples.negatives.weight[covered].sum()
    assert explanation.coverage.shown == shown


def test_what_padding_rules_out_is_not_expected():
    feature = NgramLabels(("A", "B", "C"), n=2, pad=True)
    examples = Recipe(feature).examples([["A"], ["B", "A"], ["A", "C"]])
    box = Box.of(feature.space, {"label 1": ["B", "C"], "label 2": "(stop)"})
    (rule,) = explain(forbid_boxes(feature.space, [box]), examples, space=feature.space).rules
    assert rule.words == "label 2 (stop) needs label 1 A"
    assert rule.box.to_dict()["label 1"] == ["B", "C", "(start)"]
    # (start) (stop) would be expected most, 8 * 3/8 * 3/8. It cannot occur; B (stop) and C (stop) can.
    assert rule.expected == pytest.approx(8 * 2 / 8 * 3 / 8)


PADDED = NgramContext(("A", "B"), ("x", "y"), n=3, pad=True).space


@given(st.data(), st.just(PADDED) | spaces())
def test_what_is_expected_is_the_sum_over_all_that_can_occur(data, space):
    examples = data.draw(labelled(space))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    region = {i: rng.random(len(axis)) < 0.6 for i, axis in enumerate(space.axes) if rng.random() < 0.6}
    positives = WeightedPoints(space, examples.positives)
    by_hand = expected_by_hand(
        space, box_of(space, region), examples.positives.psi, examples.positives.weight
    )
    assert Chance(positives).expected(region) == pytest.approx(by_hand)


def test_a_rule_on_a_rare_label_expects_little_whatever_its_support():
    pairs = Tuples(("source", "relation"), (("P", "Q"), ("x", "y")))
    examples = Recipe(pairs).examples([[("P", "x")] * 98 + [("P", "y"), ("Q", "x")]])
    box = Box.of(pairs.space, {"source": "Q", "relation": "y"})
    (rule,) = explain(forbid_boxes(pairs.space, [box]), examples, space=pairs.space).rules
    assert rule.expected == pytest.approx(0.01)
    never = Box.of(pairs.space, {"relation": "y"})
    (rule,) = explain(forbid_boxes(pairs.space, [never]), examples, space=pairs.space).rules
    assert (rule.support, rule.exceptions, rule.expected) == (100, 1, pytest.approx(1))


def test_counts_in_plain_data_are_whole_numbers():
    pairs = Tuples(("source", "relation"), (("P", "Q"), ("x", "y")))
    examples = Recipe(pairs).examples([[("P", "x")] * 3 + [("P", "y"), ("Q", "x")]])
    box = Box.of(pairs.space, {"source": "Q", "relation": "y"})
    found = explain(forbid_boxes(pairs.space, [box]), examples, space=pairs.space).to_dict()
    counted = [found["rules"][0][name] for name in ("support", "exceptions", "covered")]
    counted += [found["coverage"][name] for name in ("total", "rejected", "found", "shown")]
    assert all(isinstance(number, int) for number in counted)
    assert found["rules"][0]["expected"] == 0.2


@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 69)), min_size=1))
def test_merged_boxes_partition_the_cells(cells):
    boxes = merge_cells(np.array(sorted(cells)), (3, 4, 70))
    found = [
        (int(a), int(b), int(c))
        for x, y, z in boxes
        for a in np.flatnonzero(x)
        for b in np.flatnonzero(y)
        for c in np.flatnonzero(z)
    ]
    assert len(found) == len(set(found))
    assert set(found) == cells


@settings(max_examples=60)
@given(constraints())
def test_weights_that_are_not_dyadic_are_proved_all_the_same(constraint):
    parts = [RectifierNetwork(part.W * 0.1, part.b * 0.1 + 0.9) for part in constraint.network.parts]
    thirds = LearnedConstraint(Conjunction(tuple(parts)), constraint.space)
    points, accepted = accepted_by_hand(thirds)
    union = np.zeros(len(points), dtype=bool)
    for rule in explain(thirds).rules:
        union |= inside(thirds.space, rule.box, points)
    np.testing.assert_array_equal(union, ~accepted)
    for rule in explain(thirds, enumeration=0).rules:
        assert not accepted[inside(thirds.space, rule.box, points)].any()


@given(constraints())
def test_why_agrees_with_the_network_and_adds_up(constraint):
    points, accepted = accepted_by_hand(constraint)
    for point, verdict in list(zip(points, accepted, strict=True))[::7]:
        reason = why(constraint, constraint.space.describe(constraint.space.vectors(point[None])[0]))
        assert reason.forbidden == (not verdict)
        assert reason.value == sum(value for _, value in reason.terms) + reason.bias
        assert (reason.value < 0) == (not verdict)
        assert not reason.partial


@given(constraints())
def test_why_of_a_rule_with_open_blocks_is_sound(constraint):
    points, accepted = accepted_by_hand(constraint)
    block = constraint.space.blocks[0]
    if block.kind == "one-hot":
        reason = why(constraint, {block.name: block.values[0]})
        if reason.forbidden:
            assert not accepted[points[:, 0] == 0].any()


# Sizes: what people will explain must take seconds and stay readable.


def trained_like(space: FeatureSpace, K: int, seed: int) -> RectifierNetwork:
    """Sparse dyadic weights: each unit forbids a few label pairs, with some weight on other columns."""
    rng = np.random.default_rng(seed)
    W = np.round(rng.normal(0, 0.1, (K, space.d)) * (rng.random((K, space.d)) < 0.3) * 64) / 64
    b = np.full(K, -3.0)
    labels = [block.name for block in space.blocks if block.name.startswith("label")]
    for k in range(K):
        for name in rng.choice(labels, 2, replace=False):
            for value in rng.choice(space.block(name).values, 3, replace=False):
                W[k, space.column(name, value)] += 3.0
    return RectifierNetwork(W, b)


def drawn_examples(network: RectifierNetwork, space: FeatureSpace, number: int) -> SimpleNamespace:
    rng = np.random.default_rng(0)
    points = np.stack([rng.integers(0, len(axis), number) for axis in space.axes], axis=1)
    accepted = network.verdicts(space, points)
    good, bad = points_of(space, points[accepted]).rows, points_of(space, points[~accepted]).rows
    return SimpleNamespace(positives=good, negatives=bad)


def test_pos_four_grams_are_explained_in_seconds_and_a_page():
    tags = tuple(f"T{i}" for i in range(45))
    feature = NgramContext(tuple(f"L{i}" for i in range(22)), tags, n=4)
    network = trained_like(feature.space, 10, 0)
    examples = drawn_examples(network, feature.space, 100_000)
    start = time.process_time()
    explanation = explain(LearnedConstraint(network, feature.space, feature), examples, limit=20)
    assert time.process_time() - start < 5.0
    assert not explanation.complete
    assert len(str(explanation).splitlines()) <= 21
    assert explanation.coverage.shown > 0.5 * explanation.coverage.rejected
    assert all(rule.exceptions == 0 for rule in explanation.rules)


def test_ten_thousand_binary_columns_are_explained():
    space = Existence(tuple(f"L{i}" for i in range(22)), n=3).space
    W = np.zeros((2, space.d))
    W[0, [5, 9]], W[1, 7] = 2.0, -2.0
    network = RectifierNetwork(W, [-2.0, 2.0])
    explanation = explain(network, space=space)
    assert {rule.words for rule in explanation.rules} == {
        "L0 L0 L7 always exists",
        "where L0 L0 L5 exists, L0 L0 L9 must be missing",
    }


def test_large_counts_become_ranges():
    space = Counts(("author", "title", "date", "pages"), high=200).space
    network = RectifierNetwork([[1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0]], [-30.0, 2.0])
    words = {rule.words for rule in explain(network, space=space).rules}
    assert "count author is always <= 31" in words
    assert "count title is always >= 1" in words


def test_a_constraint_that_accepts_everything_has_no_rules():
    space = FeatureSpace([one_hot("label", "AB")])
    network = RectifierNetwork(np.zeros((1, 2)), [0.0])
    assert str(explain(network, space=space)) == "nothing is forbidden."
    assert str(explain(network, space=space, enumeration=0)) == "no rule was found."


def test_a_constraint_that_rejects_everything_says_so():
    space = FeatureSpace([one_hot("label", "AB")])
    network = RectifierNetwork(np.zeros((1, 2)), [2.0])
    for enumeration in (0, 100):
        rules = explain(network, space=space, enumeration=enumeration).rules
        assert [rule.words for rule in rules] == ["nothing is allowed"]


def test_negatives_that_are_all_accepted_do_not_hide_the_rules():
    space = FeatureSpace([one_hot("label 1", "ABC"), one_hot("label 2", "ABC")])
    network = RectifierNetwork([[2.0, 0.0, 0.0, 2.0, 0.0, 0.0]], [-2.0])
    examples = SimpleNamespace(
        positives=PsiRows.of(SparsePsi.from_indices([[1, 4]], d=6)),
        negatives=PsiRows.of(SparsePsi.from_indices([[2, 5]], d=6)),
    )
    for enumeration in (0, 10**7):
        explanation = explain(network, examples, space=space, enumeration=enumeration)
        assert [rule.words for rule in explanation.rules] == ["label 1 A cannot go with label 2 A"]
        assert (explanation.coverage.total, explanation.coverage.rejected) == (1.0, 0.0)


def test_many_units_are_explained_without_all_their_rows():
    space = FeatureSpace([one_hot(f"label {i}", "ABCDEFGH") for i in range(8)])
    W = np.zeros((200, space.d))
    for k in range(200):
        W[k, [k % 8, 8 + k // 8 % 8]] = 2.0
    network = RectifierNetwork(W, np.full(200, -2.0))
    explanation = explain(network, space=space)
    assert not explanation.complete
    assert explanation.coverage.found == explanation.coverage.total


def test_the_same_seed_gives_the_same_rules():
    space = NgramContext(tuple("ABCDEF"), tuple("xyz"), n=3).space
    network = trained_like(space, 4, 1)
    first, second = (explain(network, space=space, enumeration=0, seed=3) for _ in range(2))
    assert first == second


def test_a_bare_network_needs_a_space_of_its_width():
    network = RectifierNetwork([[1.0, 2.0]], [0.0])
    with pytest.raises(InvalidInput, match="pass space="):
        explain(network)
    with pytest.raises(InvalidInput, match="columns"):
        explain(network, space=FeatureSpace([one_hot("label", "ABC")]))
    with pytest.raises(InvalidInput, match="limit"):
        explain(network, space=FeatureSpace([one_hot("label", "AB")]), limit=0)


def test_examples_of_another_space_are_refused():
    space = FeatureSpace([one_hot("label", "AB")])
    network = RectifierNetwork([[1.0, 2.0]], [0.0])
    empty = PsiRows.of(SparsePsi.from_indices([[]], d=2))
    wrong = SimpleNamespace(positives=PsiRows.of(SparsePsi.from_indices([[0]], d=3)), negatives=empty)
    with pytest.raises(InvalidInput, match="2 columns"):
        explain(network, wrong, space=space)
    wrong.positives = empty
    with pytest.raises(InvalidInput, match="values for 'label', found an example without one"):
        explain(network, wrong, space=space)


def test_everything_shown_is_plain_data():
    space = FeatureSpace([one_hot("label 1", "ABC"), one_hot("label 2", "ABC")])
    network = trained_like(space, 2, 0)
    for enumeration in (0, 10**7):
        explanation: Explanation = explain(
            network, drawn_examples(network, space, 50), space=space, enumeration=enumeration
        )
        again = json.loads(json.dumps(explanation.to_dict()))
        assert len(again["rules"]) == len(explanation) == len(explanation.table())
        json.dumps(explanation.table())


def test_valid_points_that_are_rejected_are_in_some_rule_however_long():
    space = FeatureSpace([binary("bit", map(str, range(100)))])
    at_most_30 = RectifierNetwork(np.ones((1, 100)), [-30.0])
    rng = np.random.default_rng(0)
    gold = [rng.permutation(np.arange(100) < number).astype(float) for number in (10, 20, 40, 50, 60)]
    crowd = [rng.permutation(np.arange(100) < 90).astype(float) for _ in range(30)]
    found = explain(at_most_30, LabelledExamples.of(space, gold, crowd), space=space)
    rejected = [psi for psi in gold if psi.sum() > 30]
    for psi in rejected:
        values = {f"bit {i}": str(int(bit)) for i, bit in enumerate(psi)}
        assert any(all(values[a] in some for a, some in rule.box.conditions) for rule in found.rules)
    assert sum(rule.exceptions for rule in found.rules) >= len(rejected)
    for rule in found.rules:
        fixed = {int(name.removeprefix("bit ")): float(values[0]) for name, values in rule.box.conditions}
        drawn = rng.integers(0, 2, (50, 100)).astype(float)
        for column, value in fixed.items():
            drawn[:, column] = value
        assert not at_most_30.accepts(drawn).any()


@given(st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=1, max_size=12), st.booleans())
@settings(deadline=None, max_examples=40)
def test_every_rejected_gold_part_is_in_a_rule_and_every_rule_rejects_some(gold, enumerated):
    space = FeatureSpace([binary("bit", "abcdef")])
    at_most_2 = RectifierNetwork(np.ones((1, 6)), [-1.0])
    rows = PsiRows.of(SparsePsi.from_dense(np.array(gold, dtype=float)))
    found = explain_rejected(at_most_2, rows, space=space, enumeration=10**6 if enumerated else 0, limit=3)
    psi = np.unique(np.array(gold), axis=0)
    bad = psi[psi.sum(1) > 2]
    inside = [rule.box.contains(space, bad) for rule in found.rules]
    assert np.array(inside).reshape(len(inside), len(bad)).any(0).all()
    assert all(some.any() for some in inside)
    assert found.coverage.total == found.coverage.found == sum(sum(one) > 2 for one in gold)


@pytest.mark.parametrize("valid", [True, False])
def test_a_space_of_one_value_is_explained_without_enumeration(valid):
    space = FeatureSpace([one_hot("block", ["only"])])
    network = RectifierNetwork(np.array([[1.0], [0.5]]), np.array([-1.0 if valid else 1.0, 0.0]))
    assert network.accepts(np.ones(1)) == valid
    assert bool(explain(network, space=space, enumeration=0).rules) != valid
