"""decode_relations returns the same as an enumeration of all labellings, ties included; the integer programs
reach the same objective."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relation_strategies import (
    PAPER_ENTITIES,
    PAPER_RELATIONS,
    constraints,
    designed,
    first_best,
    graphs,
    margins,
    named,
    printed_networks,
    printed_rows,
    problems,
    score_of,
    sentence,
)

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork, Unsupported
from lcons_core.features import NgramLabels, Tuples
from lcons_decode import Hard, RelationDecoding, RelationRules, Soft, Status, decode_relations
from lcons_decode._relations import SCALE
from lcons_decode.ilp._decoders import decode_relations_ilp

FORMS = ("auto", "rows", "lifted", "cuts")
SMALL = ((2, 2, 2), (3, 2, 2), (2, 3, 3), (3, 3, 2), (3, 1, 2), (1, 2, 2), (0, 2, 2))
E, R = ("Person", "Place"), ("NoRel", "Kill")
WEIGHTS = st.integers(0, 32).map(lambda n: n / 16)


def answer(decoding):
    """The part of a decoding that does not depend on how it was found."""
    return replace(decoding, stats={})


def by_ilp_of_pairs(scores, rules):
    """The answer above the node limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lcons_decode._relations.relation_ids.__defaults__", (1,))
        return decode_relations(scores, rules)


def on(members, W, b, entities=E, relations=R):
    """A constraint on tuples of these members."""
    values = tuple(entities if member in ("source", "target") else relations for member in members)
    feature = Tuples(members, values)
    return LearnedConstraint(RectifierNetwork(W, b), feature.space, feature)


def graph(n=2, entities=E, relations=R):
    """Scores that are all 0."""
    return named(np.zeros((n, len(entities))), np.zeros((n, n, len(relations))), entities, relations)


# Against the enumeration.


@settings(max_examples=120)
@given(problem=st.one_of(problems(), problems(min_size=1, max_size=2, strict=(-2.0, -1.0))))
def test_it_is_the_first_best_of_the_labellings_that_break_the_fewest_constraints(problem):
    decoding = decode_relations(*problem)
    assert answer(decoding) == first_best(*problem)
    assert not decoding.stats["ilp"]


@settings(max_examples=60)
@given(problem=problems(min_size=1, max_size=2), weight=WEIGHTS)
def test_under_soft_constraints_it_is_the_first_best_less_the_penalties(problem, weight):
    scores, (soft, *hard) = problem
    decoding = decode_relations(scores, [Soft(soft, weight, cost="hinge"), *hard])
    assert answer(decoding) == first_best(scores, hard, soft, weight, unit=1 / 256)


def test_log_sigmoid_penalties_are_those_of_chains():
    rule = on(("source", "relation"), [[2.0, 0.0, 0.0, 2.0]], [-2.0])
    rules = RelationRules.of([Soft(rule, 3.0)], E, R)
    margins = np.array([[1.0, -1.0], [1.0, 1.0]])
    own = 3.0 * np.log1p(np.exp(-margins))
    expected = own[:, None, :, None] + own[None, :, None, :]
    np.testing.assert_allclose(rules.penalty, np.broadcast_to(expected, (2, 2, 2, 2)))


@settings(max_examples=40)
@given(scores=graphs(), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_other_scores_are_rounded_to_multiples_of_2_to_the_minus_30_and_added_exactly(scores, seed, data):
    rng, labels = np.random.default_rng(seed), (scores.entity_labels, scores.relation_labels)
    scale = data.draw(st.sampled_from([1.0, 1e3, 1e-8, 1e-9]))
    arrays = [rng.normal(size=a.shape) * scale for a in (scores.entities, scores.relations)]
    drawn, rounded = (
        named(*values, *labels) for values in (arrays, [np.rint(a * SCALE) / SCALE for a in arrays])
    )
    uses = data.draw(st.lists(constraints(scores), max_size=2))
    decoding = answer(decode_relations(drawn, uses))
    assert replace(decoding, score=0.0) == replace(first_best(rounded, uses, unit=1 / SCALE), score=0.0)
    assert math.isclose(decoding.score, score_of(decoding, drawn), rel_tol=1e-12, abs_tol=1e-12 * scale)


@settings(max_examples=30)
@given(problem=problems(min_size=1, max_size=2, strict=(1.0, -1.0)), below=st.sampled_from([0.99, 0.5]))
def test_scores_near_the_largest_allowed_are_added_exactly(problem, below):
    scores, uses = problem
    n, labels = len(scores), (scores.entity_labels, scores.relation_labels)
    rules = RelationRules.of(uses, *labels)
    total = np.abs(scores.entities).sum() + np.abs(scores.relations).sum()
    breaches = max(int(rules.broken.max()), 1) * max(n * n // 2, 1)
    largest = 2.0**62 / (2 * breaches * (total or 1.0) * SCALE) * below
    factor = 2.0 ** math.floor(math.log2(largest))
    big = named(scores.entities * factor, scores.relations * factor, *labels)
    expected = replace(first_best(scores, uses), score=0.0)
    assert replace(answer(decode_relations(big, rules)), score=0.0) == expected


# Sets, not networks.


@pytest.mark.parametrize("seed", range(3))
def test_the_designed_the_learned_and_the_printed_rules_of_the_paper_give_identical_answers(seed):
    rng = np.random.default_rng(seed)
    for n in (2, 3, 5, 7):
        scores = sentence(rng, n, width=2, bias=0.0)
        by_rules = decode_relations(scores, designed())
        assert by_rules.status is Status.OPTIMAL
        for others in (printed_networks(), printed_rows(), [Hard(c) for c in printed_networks()[::-1]]):
            assert decode_relations(scores, others) == by_rules


def test_the_rules_of_the_paper_allow_what_they_say():
    sets = [
        RelationRules.of(rules, PAPER_ENTITIES, PAPER_RELATIONS)
        for rules in (designed(), printed_networks(), printed_rows())
    ]
    assert all((rules.broken == sets[0].broken).all() for rules in sets)
    # NoRel both ways for any labels; each of five relations in either direction, for its two labels.
    assert sets[0].allowed.sum() == 4 * 4 + 5 * 2


# The integer programs.


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(
    problem=problems(shapes=SMALL, min_size=1, max_size=2),
    weight=st.none() | WEIGHTS,
    solver=st.sampled_from(["cbc", "cbc", "highs"]),
)
def test_the_integer_program_finds_the_same_objective_in_every_form(form, problem, weight, solver):
    scores, (first, *others) = problem
    uses = [first if weight is None else Soft(first, weight, "soft", "hinge"), *others]
    decoding = decode_relations_ilp(scores, uses, form=form, solver=solver)
    expected = decode_relations(scores, uses)
    if expected.status is Status.RELAXED:
        assert decoding.status is Status.INFEASIBLE
        assert (decoding.entities, decoding.relations, decoding.score) == ((), {}, -math.inf)
        return
    below = [-margin for margin in margins(decoding, scores, first) if margin < 0]
    assert (decoding.status, decoding.score, decoding.broken) == (Status.OPTIMAL, expected.score, len(below))
    assert decoding.score == score_of(decoding, scores) - (weight or 0) * sum(below)
    hard = others if weight is not None else [first, *others]
    assert all(margin >= 0 for constraint in hard for margin in margins(decoding, scores, constraint))


def test_a_hinge_that_cbc_paid_for_though_nothing_had_to_be_broken():
    W = [
        [1.375, 0.9375, 0.0625, -1.25, -0.6875, -0.4375],
        [-1.625, 1.75, -0.75, 0.375, 0.125, 1.125],
        [0.6875, 1.5625, -2.0, 0.125, 1.9375, -0.625],
    ]
    rule = on(("source", "relation", "target"), W, [-0.75, -1.0, -1.125])
    for form in FORMS:
        assert decode_relations_ilp(graph(), [Soft(rule, 1.0, cost="hinge")], form=form).score == 0.0


def test_constraints_of_an_integer_program_keep_their_names():
    no_killer_places = on(("source", "relation"), [[0, 2, 0, 2]], [-2.0])
    only_killer_places = on(("source", "relation"), [[2, 0, 0, 0], [0, 0, 2, 0]], [0.0, 0.0])
    scores = graph()
    clash = decode_relations_ilp(scores, [Hard(no_killer_places, "no"), Hard(only_killer_places, "only")])
    assert clash.status is Status.INFEASIBLE
    assert set(clash.stats["clash"]) == {"no", "only"}
    clash = decode_relations_ilp(scores, [no_killer_places, only_killer_places])
    assert set(clash.stats["clash"]) == {"source relation", "source relation 2"}
    with pytest.raises(InvalidInput, match="distinct"):
        decode_relations_ilp(scores, [Hard(no_killer_places, "c"), Hard(only_killer_places, "c")])


@pytest.mark.parametrize("n", range(8, 15))
def test_larger_graphs_reach_the_objective_of_the_integer_program(n):
    rules = printed_networks()
    scores = sentence(np.random.default_rng(n), n, bias=4.0)
    found = decode_relations(scores, rules)
    by_ilp = decode_relations_ilp(scores, rules, form="lifted" if n > 10 else FORMS[n % 3])
    assert (found.status, by_ilp.status) == (Status.OPTIMAL, Status.OPTIMAL)
    assert not found.stats["ilp"]
    assert found.score == by_ilp.score == score_of(found, scores)
    assert all(margin >= 0 for rule in rules for margin in margins(found, scores, rule))


@settings(max_examples=60)
@given(problem=problems(shapes=SMALL))
def test_past_the_node_limit_the_integer_program_of_pairs_finds_the_same_objective(problem):
    by_ilp, expected = by_ilp_of_pairs(*problem), first_best(*problem)
    assert by_ilp.stats == ({"nodes": -1, "ilp": True} if len(problem[0]) else {"nodes": 0, "ilp": False})
    assert (by_ilp.status, by_ilp.broken, by_ilp.score) == (expected.status, expected.broken, expected.score)


@pytest.mark.parametrize("n", [8, 11, 14])
def test_so_it_does_on_larger_graphs(n):
    scores = sentence(np.random.default_rng(n), n)
    nobody_and_nothing = on(("source", "relation"), [[2.0] * 10], [0.0], PAPER_ENTITIES, PAPER_RELATIONS)
    for uses in (printed_networks(), [*printed_networks(), nobody_and_nothing]):
        by_ilp, expected = by_ilp_of_pairs(scores, uses), decode_relations(scores, uses)
        assert by_ilp.stats["ilp"]
        assert (by_ilp.broken, by_ilp.score) == (expected.broken, expected.score)
    assert expected.broken == n * (n - 1)


def test_the_integer_program_of_pairs_breaks_nothing_that_it_need_not_where_all_scores_are_0():
    only_places = on(("source", "target"), [[2, 0, 0, 0], [0, 0, 2, 0]], [0.0, 0.0])
    by_ilp = by_ilp_of_pairs(graph(3), [only_places])
    assert (by_ilp.entities, by_ilp.broken, by_ilp.stats["ilp"]) == (("Place",) * 3, 0, True)


# Edge cases and errors.


def test_no_candidates_and_one():
    kill_needs_persons = on(("relation", "source"), [[0, 2, 0, 2]], [-2.0])
    nothing = on(("source",), [[2, 2]], [0.0])
    for decode in (decode_relations, decode_relations_ilp):
        for empty in (graph(0), named([], [], E, R), named(np.zeros((0, 2)), [], E, R)):
            found = decode(empty, [kill_needs_persons, nothing])
            assert answer(found) == RelationDecoding((), {}, 0.0, Status.OPTIMAL, 0, {})
        for relations in ([], [[[9.0, 9.0]]], np.full((1, 1, 2), np.nan)):
            # Constraints are on pairs, so a single candidate cannot break one.
            found = decode(named([[1.0, 3.0]], relations, E, R), [kill_needs_persons, nothing])
            assert answer(found) == RelationDecoding(("Place",), {}, 3.0, Status.OPTIMAL, 0, {})


def test_ties_go_to_the_first_label_entities_before_relations():
    assert decode_relations(graph(3)).entities == ("Person",) * 3
    assert decode_relations(graph(3)).relations == {}
    differ = on(("source", "target"), [[2, 0, 2, 0], [0, 2, 0, 2]], [-2.0, -2.0])
    assert decode_relations(graph(2), [differ]).entities == ("Person", "Place")
    # One of the two relations must be Kill: (1, 0) is, so that (0, 1) keeps its first label.
    some_kill = on(("relation", "reverse"), [[2, 0, 2, 0]], [-2.0])
    assert decode_relations(graph(2), [some_kill]).relations == {(1, 0): "Kill"}
    # Entities are ordered first, even if relations then are not the first ones.
    placid = on(("source", "relation"), [[2, 0, 2, 0]], [-2.0])
    found = decode_relations(graph(2), [placid])
    assert found.entities == ("Person", "Person")
    assert found.relations == {(0, 1): "Kill", (1, 0): "Kill"}


def test_the_diagonal_is_not_read():
    relations = np.zeros((2, 2, 2))
    relations[[0, 1], [0, 1]] = [[np.nan, np.inf], [1e300, -np.inf]]
    scores = named(np.zeros((2, 2)), relations, E, R)
    assert answer(decode_relations(scores)) == answer(decode_relations(graph(2)))
    assert decode_relations_ilp(scores).score == 0.0
    assert np.isnan(relations[0, 0, 0])


@pytest.mark.parametrize(
    ("entities", "relations"),
    [
        (np.zeros((2, 3)), np.zeros((2, 2, 2))),
        (np.zeros((0, 3)), np.zeros((0, 0, 2))),
        ([0.0, 0.0], np.zeros((1, 1, 2))),
        (np.zeros((2, 2)), np.zeros((2, 2, 3))),
        (np.zeros((2, 2)), np.zeros((2, 2))),
        (np.zeros((2, 2)), np.zeros((3, 3, 2))),
        (np.zeros((2, 2)), []),
        ([["a", "b"]], np.zeros((1, 1, 2))),
        ([[1.0], [1.0, 2.0]], np.zeros((2, 2, 2))),
        (np.zeros((2, 2)), {"a": 1}),
        ([[0.0, np.nan]], []),
        ([[0.0, -np.inf]], []),
        (np.zeros((2, 2)), np.full((2, 2, 2), np.nan)),
    ],
)
def test_scores_of_the_wrong_shape_or_not_finite_are_refused(entities, relations):
    with pytest.raises(InvalidInput):
        named(entities, relations, E, R)


def test_labels_that_a_constraint_does_not_know_are_refused():
    persons_only = on(("source", "relation"), [[2, 0, 2]], [-2.0], entities=("Person",))
    for decode in (decode_relations, decode_relations_ilp):
        with pytest.raises(InvalidInput):
            decode(graph(), [persons_only])
    with pytest.raises(InvalidInput):
        decode_relations(graph(), RelationRules.none(E[::-1], R))
    with pytest.raises(InvalidInput):
        decode_relations(graph(), RelationRules.none(E, ("NoRel", "Kill", "LiveIn")))


def test_labels_that_only_a_constraint_knows_are_never_chosen():
    known = ("Thing", *E[::-1])
    no_person = on(("target",), [[0, 0, 2]], [0.0], entities=known)
    assert decode_relations(graph(), [no_person]).entities == ("Place", "Place")
    assert decode_relations_ilp(graph(), [no_person]).entities == ("Place", "Place")


def test_constraints_on_anything_else_are_refused():
    words = Tuples(("source", "word"), (E, R))
    other = LearnedConstraint(RectifierNetwork([[0, 2, 0, 2]], [-2.0]), words.space, words)
    bare = LearnedConstraint(RectifierNetwork([[0, 2, 0, 2]], [-2.0]), words.space)
    bigrams = NgramLabels(E, 2)
    chain = LearnedConstraint(RectifierNetwork([[0, 2, 0, 2]], [-2.0]), bigrams.space, bigrams)
    for decode in (decode_relations, decode_relations_ilp):
        for constraint in (other, bare, chain, Hard(other)):
            with pytest.raises(InvalidInput):
                decode(graph(), [constraint])
        with pytest.raises(InvalidInput):
            decode(graph(), ["no killer places"])  # type: ignore[list-item]
    soft = Soft(on(("source",), [[2, 0]], [0.0]), 1.0)
    with pytest.raises(Unsupported):
        decode_relations_ilp(graph(), [soft])


@pytest.mark.parametrize("size", [1e9, 1e10, 1e18, 1e60])
def test_scores_too_large_for_exact_sums_are_refused(size):
    for entities, relations in (([[0.0, size], [size, 0.0]], 0.0), (np.zeros((2, 2)), -size)):
        with pytest.raises(InvalidInput):
            decode_relations(named(entities, np.full((2, 2, 2), relations), E, R))
