"""The problem that trains entities and relations is that of the definition."""

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_decode import RelationRules
from lcons_decode._relations import relation_ids
from lcons_tasks.data._passage import ENTITIES, RELATIONS
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.experiments.entity_relation._corpus import load_corpus
from lcons_tasks.models._relation_model import Attributes, rules_of
from lcons_tasks.models._relation_svm import MISS, RelationProblem, encode_passages, train_relations
from lcons_tasks.models._structured_svm import SvmSettings
from lcons_tasks.models.phi._candidates import candidate_attributes, pair_attributes

E, R = len(ENTITIES), len(RELATIONS)
PASSAGES = load_corpus("bundled").passages[:30]
FREE = rules_of({})
# Nothing is allowed, so that every answer breaks rules.
ODD = RelationRules(ENTITIES, RELATIONS, np.random.default_rng(0).integers(1, 3, (E, E, R, R)))


def numbers(passage, attributes, *candidates):
    """The attributes of one candidate or an ordered pair, one by one."""
    if len(candidates) == 1:
        return [attributes.candidates.index(name) for name in candidate_attributes(passage, *candidates)]
    return [attributes.pairs.index(name) for name in pair_attributes(passage, *candidates)]


def worst_of_the_definition(labelled, attributes, W, V, rules):
    """phi of the gold labelling minus phi of the worst one, as counts like W and V, and the worst loss."""
    passage, n = labelled.passage, len(labelled.entities)
    gold = (
        np.array([ENTITIES.index(label) for label in labelled.entities]),
        np.array([[RELATIONS.index(labelled.relation(i, j)) for j in range(n)] for i in range(n)]),
    )
    single = np.array([W[numbers(passage, attributes, i)].sum(0) for i in range(n)])
    double = np.zeros((n, n, R))
    for pair in passage.pairs:
        double[pair] = V[numbers(passage, attributes, *pair)].sum(0)
    entity_loss = (np.arange(E) != gold[0][:, None]).astype(float)
    relation_loss = np.where(gold[1] > 0, MISS, 1.0)[..., None] * (np.arange(R) != gold[1][..., None])
    relation_loss[np.arange(n), np.arange(n)] = 0
    best = relation_ids(single + entity_loss, double + relation_loss, rules)
    of_W, of_V = np.zeros(W.shape), np.zeros(V.shape)
    for sign, (entities, relations) in ((1, gold), (-1, (best.entities, best.relations))):
        for i in range(n):
            of_W[numbers(passage, attributes, i), entities[i]] += sign
        for pair in passage.pairs:
            of_V[numbers(passage, attributes, *pair), relations[pair]] += sign
    loss = sum(entity_loss[i, best.entities[i]] for i in range(n))
    return of_W, of_V, loss + sum(relation_loss[pair][best.relations[pair]] for pair in passage.pairs)


@pytest.mark.parametrize("rules", [rules_of(designed()), FREE, ODD], ids=["designed", "free", "odd"])
def test_the_worst_labelling_is_that_of_the_definition(rules):
    passages = PASSAGES[:6]
    problem = RelationProblem(encode_passages(passages), rules)
    attributes = Attributes.of(one.passage for one in passages)
    w = np.random.default_rng(0).normal(size=problem.dimension)
    for i, labelled in enumerate(passages):
        difference, loss = problem.worst(i, w)
        full = np.zeros(problem.dimension)
        full[problem.support(i)] = difference
        *expected, lost = worst_of_the_definition(labelled, attributes, *problem.split(w), rules)
        for part, counts in zip(problem.split(full), expected, strict=True):
            np.testing.assert_array_equal(part, counts)
        assert loss == pytest.approx(lost)


def test_passages_that_are_encoded_once_train_the_same_model():
    settings, once = SvmSettings(C=0.05, passes=2), encode_passages(PASSAGES)
    models = [train_relations(given, FREE, settings)[0] for given in (once, PASSAGES, once)]
    assert np.array_equal(models[0].V, models[1].V)
    assert np.array_equal(models[0].V, models[2].V)


def test_training_needs_passages():
    with pytest.raises(InvalidInput):
        encode_passages([])
