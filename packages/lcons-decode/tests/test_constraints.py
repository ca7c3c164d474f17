"""Constraints: lists and rows have their exact meaning, weights are exact, mistakes raise clear errors."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from chain_strategies import LABELS, TOLERANCE, enumerated, generators, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    InvalidInput,
    LearnedConstraint,
    LinearInequalities,
    RectifierNetwork,
    TooLarge,
    Unsupported,
)
from lcons_core.features import Counts, NgramContext, NgramLabels, Tuples
from lcons_core.features._ngrams import START, STOP
from lcons_core.testing import networks
from lcons_decode import (
    ChainConstraints,
    ChainScores,
    Hard,
    Soft,
    Status,
    allowed_ngrams,
    brute,
    constrained_viterbi,
    decode_batch,
    decode_lagrangian,
    forbidden_ngrams,
    nbest,
    rows_constraint,
    usual_cost,
)
from lcons_decode._constraints import ConstraintSet
from lcons_decode.chains._brute import labellings
from lcons_decode.ilp import decode_ilp
from lcons_decode.ilp._ground import ground_columns

quick = settings(max_examples=50, deadline=None)


@st.composite
def lists_of_ngrams(draw):
    """(labels, n-grams, pad)."""
    labels, pad = LABELS[: draw(st.integers(1, 3))], draw(st.booleans())
    n = draw(st.integers(2 if pad else 1, 3))
    feature = NgramLabels(labels, n, pad)
    listed = st.tuples(*(st.sampled_from(feature.label_values(i)) for i in range(n)))
    return labels, draw(st.lists(listed, min_size=1, max_size=8)), pad


def ngrams(y, n, pad):
    padded = [START] * (n - 1) + list(y) + [STOP] if pad and y else list(y)
    return [tuple(padded[i : i + n]) for i in range(len(padded) - n + 1)]


def sequences(labels):
    return [y for T in range(5) for y in product(labels, repeat=T)]


@quick
@given(lists_of_ngrams())
def test_a_list_forbids_or_allows_exactly_what_it_lists(listed):
    labels, grams, pad = listed
    forbids, allows = (make(labels, grams, pad=pad) for make in (forbidden_ngrams, allowed_ngrams))
    for y in sequences(labels):
        there = set(ngrams(y, len(grams[0]), pad))
        assert forbids.satisfied(list(y)) == (not there & set(grams))
        assert allows.satisfied(list(y)) == (there <= set(grams))


@quick
@given(st.data())
def test_weights_in_tenths_are_taken_as_exact_rationals(data):
    rng, n, pad = data.draw(generators), data.draw(st.integers(2, 3)), data.draw(st.booleans())
    feature = NgramContext(("b", "a"), ("x", "y"), n, pad=pad)
    K = data.draw(st.integers(1, 3))
    W, b = rng.integers(-5, 6, (K, feature.space.d)) / 10, rng.integers(-5, 11, K) / 10
    use = Hard(LearnedConstraint(RectifierNetwork(W, b), feature.space, feature), "tenths")
    scores = ChainScores(rng.integers(-16, 17, (4, 2)) / 16, labels="ab")
    x = {"pos": list("xyzx")}
    answer, oracle = constrained_viterbi(scores, [use], x), brute(scores, [use], x)
    assert (answer.y, answer.score, answer.violations) == (oracle.y, oracle.score, oracle.violations)
    satisfying = [each.y for each in enumerated(scores, [use], x) if not each.violations]
    assert sorted(each.y for each in nbest(scores, 16, [use], x)) == sorted(satisfying)


@quick
@given(st.data())
def test_rows_accept_exactly_what_the_rows_and_their_network_accept(data):
    feature = data.draw(
        st.sampled_from([NgramLabels(("a", "b"), 2), NgramContext(("a", "b"), ("x",), 2, pad=True)])
    )
    network = data.draw(networks(max_K=3, d=feature.space.d))
    learned = LearnedConstraint(network, feature.space, feature)
    rows = learned.inequalities()
    points = feature.space.vectors(np.concatenate(list(feature.space.points())))
    verdicts = rows_constraint(rows, feature).accepts(points)
    assert verdicts.tolist() == rows.holds(points).tolist() == network.accepts(points).tolist()


def test_rows_that_are_no_binary_fractions_are_kept_exactly():
    rows = LinearInequalities([[0.1, 0.0]], [-0.1])
    constraint = rows_constraint(rows, NgramLabels(("a", "b"), 1))
    assert rows.holds([1.0, 0.0])
    assert constraint.accepts([1.0, 0.0])


@quick
@given(problems())
def test_the_oracle_is_the_enumeration(problem):
    scores, uses, x = problem
    oracle = [found for found in labellings(scores, uses, x) if found.score > -np.inf]
    expected = enumerated(scores, uses, x)
    assert [found.y for found in oracle] == [each.y for each in expected]
    for found, each in zip(oracle, expected, strict=True):
        assert abs(found.score - each.score) <= TOLERANCE
        assert len(found.violations) == len(each.violations)
        assert set(found.violations) == set(each.violations)
        assert found.status is (Status.RELAXED if each.violations else Status.OPTIMAL)


def test_lists_of_mixed_length_none_or_unannounced_padding_are_refused():
    for make in (forbidden_ngrams, allowed_ngrams):
        with pytest.raises(InvalidInput):
            make("ab", ["a", "ab"])
        with pytest.raises(InvalidInput):
            make("ab", [])
        with pytest.raises(InvalidInput):
            make("ab", [(START, "a")])


def margins_of(*margins):
    """A constraint on one label of the alphabet, with these margins."""
    labels = "abc"[: len(margins)]
    feature = NgramLabels(tuple(labels), 1)
    network = RectifierNetwork([[1.0 - margin for margin in margins]], [0.0])
    return LearnedConstraint(network, feature.space, feature)


def test_only_violations_cost_under_hinge_and_standard():
    rule = margins_of(1.0, 0.25, -2.0)
    expected = {"hinge": (0.0, 0.0, -6.0), "standard": (0.0, 0.0, -1.5)}
    expected["sigmoid"] = tuple(-3 * np.log1p(np.exp(-np.array([1.0, 0.25, -2.0]))))
    for cost, penalties in expected.items():
        use = Soft(replace(rule, provenance={"violation": 4.0}), 3.0, cost=cost)
        compiled = ChainConstraints.of([use], "abc")
        assert [compiled.penalty([label]) for label in "abc"] == pytest.approx(penalties)


@pytest.mark.parametrize("recorded", [None, 0.0, -1.0, np.nan, np.inf, "2", True])
def test_without_a_usable_record_a_typical_violation_has_the_margin_minus_one(recorded):
    rule = replace(margins_of(1.0, -2.0), provenance={"violation": recorded})
    assert Soft(rule, 3.0, cost="standard").rate == 3.0


def test_windows_of_labels_usually_cost_violations_alone():
    assert usual_cost(forbidden_ngrams("ab", ["ab"])) == "hinge"
    assert usual_cost(on_contexts()) == "sigmoid"
    counts = Counts(("a", "b"))
    over = LearnedConstraint(RectifierNetwork(np.zeros((1, 2)), [0.0]), counts.space, counts)
    assert usual_cost(over) == "sigmoid"


def test_names_are_given_where_missing_and_refused_where_used_twice():
    constraint = forbidden_ngrams("ab", ["a"])
    named = ConstraintSet.of([constraint, Soft(constraint, 1.0)])
    assert [use.name for use in named.hard + named.soft] == ["constraint 1", "constraint 2"]
    with pytest.raises(InvalidInput):
        ConstraintSet.of([Hard(constraint, "twice"), Soft(constraint, 1.0, "twice")])


def test_what_is_no_constraint_on_chains_is_refused():
    with pytest.raises(InvalidInput):
        ConstraintSet.of(["ab"])  # type: ignore[list-item]
    pairs = Tuples(("one", "two"), (("a",), ("b",)))
    on_pairs = LearnedConstraint(RectifierNetwork(np.zeros((1, 2)), [0.0]), pairs.space, pairs)
    with pytest.raises(InvalidInput):
        ConstraintSet.of([on_pairs])
    both = on_pairs.network & on_pairs.network
    for weights in (on_pairs.network, both, SimpleNamespace(network_=both)):  # the last one is a learner
        for use in (Hard, lambda some: Soft(some, 1.0), lambda some: ConstraintSet.of([some])):
            with pytest.raises(InvalidInput):
                use(weights)
        assert ground_columns(weights, list("ab")).network in (on_pairs.network, both)


def test_labels_unknown_to_a_constraint_are_free_unless_it_knows_none():
    scores = ChainScores([[1.0, 0.0]], labels="aq")
    assert constrained_viterbi(scores, [forbidden_ngrams("ab", ["a"])]).y == ("q",)
    with pytest.raises(InvalidInput):
        constrained_viterbi(scores, [Hard(forbidden_ngrams("xy", ["x"]), "no x")])
    assert constrained_viterbi(scores, [forbidden_ngrams("zqa", ["a"])]).y == ("q",)


def test_constraints_compiled_for_other_labels_are_refused():
    compiled = ChainConstraints.of([forbidden_ngrams("ab", ["a"])], "ab")
    with pytest.raises(InvalidInput):
        constrained_viterbi(ChainScores([[1.0, 0.0]], labels="ba"), compiled)


def test_too_many_states_are_refused():
    labels = [str(i) for i in range(50)]
    with pytest.raises(TooLarge):
        ChainConstraints.of([forbidden_ngrams(labels, [("0",) * 5])], labels)


def on_contexts():
    feature = NgramContext(("a", "b"), ("x",), 1)
    return LearnedConstraint(RectifierNetwork(np.ones((1, 3)), [0.0]), feature.space, feature)


def test_a_missing_column_and_one_of_another_length_are_refused():
    scores = ChainScores(np.zeros((2, 2)), labels="ab")
    for use in (Hard(on_contexts()), Soft(on_contexts(), 1.0)):
        with pytest.raises(InvalidInput):
            constrained_viterbi(scores, [use])
        with pytest.raises(InvalidInput):
            constrained_viterbi(scores, [use], {"word": ["u", "v"]})
        with pytest.raises(InvalidInput):
            constrained_viterbi(scores, [use], {"pos": ["x", "x", "x"]})


def few_a():
    """The label a occurs at most once; no count is above 2."""
    feature = Counts(("a", "b"), high=2)
    return LearnedConstraint(RectifierNetwork([[1.0, 0.0]], [0.0]), feature.space, feature)


@pytest.mark.parametrize("make", [Hard, lambda learned: Soft(learned, 9.0, cost="hinge")])
def test_labellings_with_counts_above_the_bound_are_free_and_the_others_of_a_stream_are_decoded(make):
    sequences = [ChainScores(np.tile([1.0, 0.0], (T, 1)), labels="ab") for T in (2, 5, 2)]
    answers = list(decode_batch(sequences, [make(few_a())], decoder="global"))
    assert [answer.y for answer in answers] == [("a", "b"), ("a",) * 5, ("a", "b")]
    assert answers[1].violations == ()


def test_decoders_of_linear_counts_refuse_a_sequence_longer_than_the_bound():
    scores = ChainScores(np.zeros((3, 2)), labels="ab")
    for decode in (decode_ilp, decode_lagrangian):
        with pytest.raises(Unsupported):
            decode(scores, [few_a()])


@pytest.mark.parametrize("weight", ["1", None, -1.0, np.nan, np.inf, [1.0]])
def test_a_soft_weight_is_finite_and_not_negative_and_its_cost_has_a_name(weight):
    for options in ({"weight": weight}, {"weight": 1.0, "cost": "square"}):
        with pytest.raises(InvalidInput):
            Soft(few_a(), **options)


@pytest.mark.parametrize("use", [few_a(), Hard(few_a()), Soft(few_a(), 1.0)])
def test_a_constraint_outside_a_list_is_refused(use):
    with pytest.raises(InvalidInput):
        constrained_viterbi(ChainScores([[0.0, 1.0]], labels="ab"), use)
