"""The problem that trains entities and relations is that of the definition."""

from itertools import product

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_decode import RelationRules
from lcons_decode._relations import relation_ids
from lcons_tasks.data._passage import ENTITIES, RELATIONS
from lcons_tasks.experiments.entity_relation._constraints import combination_counts, designed
from lcons_tasks.experiments.entity_relation._corpus import load_corpus
from lcons_tasks.models._relation_model import Attributes, rules_of
from lcons_tasks.models._relation_svm import MISS, RelationProblem, encode_passages, train_relations
from lcons_tasks.models._structured_svm import SvmSettings
from lcons_tasks.models.phi._candidates import candidate_attributes, pair_attributes

E, R = len(ENTITIES), len(RELATIONS)
PASSAGES = load_corpus("bundled").passages[:30]
FREE = RelationRules.none(ENTITIES, RELATIONS)
# Nothing is allowed, so that every answer breaks rules.
ODD = RelationRules(ENTITIES, RELATIONS, np.random.default_rng(0).integers(1, 3, (E, E, R, R)))


class Dense:
    """The definition: phi over all weights, counted one by one, and the worst labelling."""

    def __init__(self, passages, rules, parts):
        self.passages, self.rules, self.parts = passages, rules, parts
        self.attributes = Attributes.of(one.passage for one in passages)
        self.shapes = (len(self.attributes.candidates), E), (len(self.attributes.pairs), R), parts.shape[-1]

    def split(self, w):
        a, b = (m * n for m, n in self.shapes[:2])
        return w[:a].reshape(-1, E), w[a : a + b].reshape(-1, R), w[a + b :]

    def worst(self, i, w, miss):
        one = self.passages[i]
        n, (W, V, parts) = len(one.entities), self.split(w)
        gold_e = [ENTITIES.index(label) for label in one.entities]
        gold_r = np.zeros((n, n), dtype=np.int64)
        for pair, label in one.relations.items():
            gold_r[pair] = RELATIONS.index(label)
        entity_loss = (np.arange(E) != np.reshape(gold_e, (n, 1))).astype(float)
        relation_loss = np.where(gold_r > 0, miss, 1.0)[..., None] * (np.arange(R) != gold_r[..., None])
        relation_loss[np.arange(n), np.arange(n)] = 0
        single, double = np.zeros((n, E)), np.zeros((n, n, R))
        for a in range(n):
            single[a] = sum(W[k] for k in self.numbers(i, a))
            for b in set(range(n)) - {a}:
                double[a, b] = sum(V[k] for k in self.numbers(i, a, b))
        rules = RelationRules(ENTITIES, RELATIONS, self.rules.broken, -(self.parts @ parts))
        best = relation_ids(single + entity_loss, double + relation_loss, rules)
        loss = sum(entity_loss[a, y] for a, y in enumerate(best.entities))
        loss += sum(relation_loss[a, b, best.relations[a, b]] for a, b in one.passage.pairs)
        return self.phi(i, gold_e, gold_r) - self.phi(i, best.entities, best.relations), loss

    def numbers(self, i, *candidates):
        passage, names = self.passages[i].passage, self.attributes
        if len(candidates) == 1:
            return [names.candidates.index(name) for name in candidate_attributes(passage, *candidates)]
        return [names.pairs.index(name) for name in pair_attributes(passage, *candidates)]

    def phi(self, i, e, r):
        W, V, parts = (np.zeros(shape) for shape in self.shapes)
        for a in range(len(e)):
            W[self.numbers(i, a), e[a]] += 1
            for b in set(range(len(e))) - {a}:
                V[self.numbers(i, a, b), r[a, b]] += 1
                parts = parts + (a < b) * self.parts[e[a], e[b], r[a, b], r[b, a]]
        return np.concatenate([W.ravel(), V.ravel(), parts])


@pytest.mark.parametrize("rules", [rules_of(designed()), FREE, ODD], ids=["designed", "free", "odd"])
@pytest.mark.parametrize("parts", [None, combination_counts()], ids=["attributes", "parts"])
def test_the_worst_labelling_is_that_of_the_definition(rules, parts):
    passages = PASSAGES[:6]
    problem = RelationProblem(encode_passages(passages), rules, MISS, parts)
    dense = Dense(passages, rules, np.zeros((E, E, R, R, 0)) if parts is None else parts)
    w = np.random.default_rng(0).normal(size=problem.dimension)
    for i in range(problem.size):
        difference, loss = problem.worst(i, w)
        full = np.zeros(problem.dimension)
        full[problem.support(i)] = difference
        expected, lost = dense.worst(i, w, MISS)
        np.testing.assert_array_equal(full, expected)
        assert loss == pytest.approx(lost)


def test_combinations_of_labels_have_weights_only_where_they_are_counted():
    settings = SvmSettings(C=0.05, passes=3, tolerance=0)
    counts = combination_counts()
    model, trained = train_relations(PASSAGES[:10], FREE, settings, parts=counts)
    np.testing.assert_allclose(model.table, counts @ trained.weights[-counts.shape[-1] :])
    assert train_relations(PASSAGES[:10], FREE, settings)[0].table is None


def test_passages_that_are_encoded_once_train_the_same_model():
    settings = SvmSettings(C=0.05, passes=2)
    once = encode_passages(PASSAGES)
    first, again = (train_relations(given, FREE, settings)[0] for given in (once, PASSAGES))
    assert np.array_equal(first.V, again.V)
    assert np.array_equal(train_relations(once, FREE, settings)[0].V, first.V)


def test_training_needs_passages():
    with pytest.raises(InvalidInput):
        encode_passages([])


def test_every_pair_shows_six_combinations():
    counts = combination_counts()
    assert counts.shape == (E, E, R, R, 84)
    assert (counts.sum(-1) == 6).all()
    for a, b, r, s in product(range(E), range(E), range(R), range(R)):
        assert np.array_equal(counts[a, b, r, s], counts[b, a, s, r])
