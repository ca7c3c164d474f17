"""Decoding under a relation schema is the same as an enumeration of all labellings, ties included, by the
search and by the integer program."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core.relations import EntityGraph, RelationSchema, RelationType
from lcons_decode import RelationRules, RelationScores, Status, _relations, _schema_problem, decode_relations
from lcons_decode.ilp import decode_relations_ilp

E, R = ("No", "P", "L"), ("none", "r", "q")


@st.composite
def schemas(draw):
    types = st.sampled_from([("P",), ("L",), ("P", "L")])
    most = st.sampled_from([None, None, 1, 2])
    found = []
    kind = draw(st.sampled_from(["plain", "plain", "symmetric", "acyclic", "inverse"]))
    head, tail = draw(types), draw(types)
    if kind == "inverse":
        return RelationSchema(
            E[1:],
            [
                RelationType("r", head, tail, draw(most), draw(most), inverse="q"),
                RelationType("q", tail, head, draw(most), inverse="r"),
            ],
        )
    for name in R[1:]:
        if kind == "symmetric":
            tail = head
        found.append(
            RelationType(
                name,
                head,
                tail,
                draw(most),
                draw(most),
                symmetric=kind == "symmetric",
                acyclic=kind == "acyclic",
            )
        )
        kind, head, tail = draw(st.sampled_from(["plain", "acyclic"])), draw(types), draw(types)
    return RelationSchema(E[1:], found[: draw(st.integers(1, 2))])


@st.composite
def problems(draw, largest=3):
    n = draw(st.integers(1, largest))
    whole = st.integers(-3, 4)
    entities = draw(st.lists(whole, min_size=n * 3, max_size=n * 3))
    relations = draw(st.lists(whole, min_size=n * n * 3, max_size=n * n * 3))
    scores = RelationScores(
        np.array(entities, dtype=float).reshape(n, 3),
        np.array(relations, dtype=float).reshape(n, n, 3),
        entity_labels=E,
        relation_labels=R,
    )
    return scores, draw(schemas())


def enumerated(scores, schema):
    """(score, entities, relations) of the first best labelling that the schema allows."""
    n = len(scores)
    pairs = [pair for i in range(n) for j in range(i + 1, n) for pair in ((i, j), (j, i))]
    labellings = np.array(list(product(range(3), repeat=n + len(pairs))), dtype=int).reshape(
        -1, n + len(pairs)
    )
    total = np.zeros(len(labellings))
    for i in range(n):
        total += scores.entities[i, labellings[:, i]]
    for at, (i, j) in enumerate(pairs, start=n):
        total += scores.relations[i, j, labellings[:, at]]
    for own in np.argsort(-total, kind="stable"):
        y, found = labellings[own, :n], labellings[own, n:]
        triples = [(i, R[r], j) for (i, j), r in zip(pairs, found.tolist(), strict=True) if r]
        entities = tuple(E[e] for e in y)
        if schema.allows(EntityGraph(entities, triples)):
            return total[own], entities, {(i, j): r for i, r, j in triples}
    raise AssertionError("no relations at all are always allowed.")


@settings(max_examples=80)
@given(problem=problems())
def test_it_is_the_first_best_of_all_labellings_that_the_schema_allows(problem):
    scores, schema = problem
    found = decode_relations(scores, schema=schema)
    assert found.status is Status.OPTIMAL
    assert (found.score, found.entities, found.relations) == enumerated(scores, schema)


@settings(max_examples=25, deadline=None)
@given(problem=problems(largest=4))
def test_the_integer_program_reaches_the_same_score(problem):
    scores, schema = problem
    found = decode_relations_ilp(scores, schema=schema)
    assert found.status is Status.OPTIMAL
    assert found.score == decode_relations(scores, schema=schema).score


def test_a_relation_that_the_schema_does_not_have_is_free():
    scores = RelationScores(
        np.zeros((2, 3)), np.tile([0.0, 1.0, 2.0], (2, 2, 1)), entity_labels=E, relation_labels=R
    )
    schema = RelationSchema(["P", "L"], [RelationType("r", "P", "P")])
    for found in (decode_relations(scores, schema=schema), decode_relations_ilp(scores, schema=schema)):
        assert found.relations == {(0, 1): "q", (1, 0): "q"}


def crowded(n, seed=0):
    """Scores with many conflicts, and a schema of all kinds of rules on more than two candidates."""
    rng = np.random.default_rng(seed)
    double = rng.normal(size=(n, n, 3)) + np.array([0, 2, 2])
    scores = RelationScores(rng.normal(size=(n, 3)), double, entity_labels=E, relation_labels=R)
    types = [RelationType(r, ("P", "L"), ("P", "L"), 1, 1, acyclic=True) for r in R[1:]]
    return scores, RelationSchema(["P", "L"], types)


@settings(max_examples=50)
@given(problem=problems())
def test_many_conflicts_are_packed_with_the_same_score(problem):
    scores, schema = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_relations, "MAX_PARTS", 0)
        found = decode_relations(scores, schema=schema)
    assert found.status is Status.OPTIMAL
    assert found.score == decode_relations(scores, schema=schema).score
    assert schema.allows(EntityGraph(found.entities, [(i, r, j) for (i, j), r in found.relations.items()]))


def test_with_many_conflicts_the_score_is_that_of_the_integer_program():
    scores, schema = crowded(5)
    found = decode_relations(scores, schema=schema)
    assert found.status is Status.OPTIMAL
    assert found.score == pytest.approx(decode_relations_ilp(scores, schema=schema).score, abs=1e-7)


def test_without_a_proof_the_answer_satisfies_the_schema_and_claims_no_optimum(monkeypatch):
    monkeypatch.setattr(_schema_problem, "MAX_LEAVES", 0)
    scores, schema = crowded(6)
    found = decode_relations(scores, schema=schema)
    assert found.status is Status.OUT_OF_BUDGET
    assert schema.allows(EntityGraph(found.entities, [(i, r, j) for (i, j), r in found.relations.items()]))


def test_the_schema_holds_even_where_constraints_cannot():
    from lcons_core import LearnedConstraint, RectifierNetwork
    from lcons_core.features import Tuples

    pairs = Tuples(("relation", "reverse"), (R, R))
    # Every pair needs the relation r in one direction at least.
    needs = LearnedConstraint(RectifierNetwork([[2.0, 0.0, 2.0, 2.0, 0.0, 2.0]], [-2.0]), pairs.space, pairs)
    scores = RelationScores(np.zeros((3, 3)), np.zeros((3, 3, 3)), entity_labels=E, relation_labels=R)
    schema = RelationSchema(["P", "L"], [RelationType("r", "P", "L", 1, 1)])
    free = decode_relations(scores, [needs])
    found = decode_relations(scores, [needs], schema)
    assert free.status is Status.OPTIMAL
    assert found.status is Status.RELAXED
    assert schema.allows(EntityGraph(found.entities, [(i, r, j) for (i, j), r in found.relations.items()]))


def test_a_schema_beside_rules_is_an_error():
    scores = RelationScores(np.zeros((2, 3)), np.zeros((2, 2, 3)), entity_labels=E, relation_labels=R)
    schema = RelationSchema(["P"], [RelationType("r", "P", "P")])
    with pytest.raises(ValueError, match="pass the schema to RelationRules"):
        decode_relations(scores, RelationRules.none(E, R), schema)
