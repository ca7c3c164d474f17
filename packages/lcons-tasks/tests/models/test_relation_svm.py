"""The compiled training of entities and relations takes the steps of the plain one."""

from itertools import product

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_decode import RelationRules
from lcons_decode._relations import relation_ids
from lcons_tasks.data._passage import ENTITIES, RELATIONS
from lcons_tasks.experiments.entity_relation._constraints import combination_counts, designed
from lcons_tasks.experiments.entity_relation._corpus import load_corpus
from lcons_tasks.models import _relation_kernel as kernel
from lcons_tasks.models._relation_model import Attributes, rules_of
from lcons_tasks.models._relation_svm import _lists, encode_passages, train_relations
from lcons_tasks.models._structured_svm import SvmSettings, train_svm

E, R = len(ENTITIES), len(RELATIONS)
PASSAGES = load_corpus("bundled").passages[:30]
FREE = RelationRules.none(ENTITIES, RELATIONS)
# Nothing is allowed, so that every answer breaks rules.
ODD = RelationRules(ENTITIES, RELATIONS, np.random.default_rng(0).integers(1, 3, (E, E, R, R)))


class Plain:
    """The passages as a `Problem` of `_structured_svm`, with dense phi."""

    def __init__(self, passages, rules, miss=1.5, parts=None):
        self.passages, self.rules, self.miss = passages, rules, miss
        self.attributes = Attributes.of(one.passage for one in passages)
        self.encoded = [self.attributes.encode(one.passage) for one in passages]
        self.A, self.B = len(self.attributes.candidates), len(self.attributes.pairs)
        self.parts = np.zeros((E, E, R, R, 0)) if parts is None else parts
        self.size, self.dimension = len(passages), self.A * E + self.B * R + self.parts.shape[-1]

    def support(self, i):
        return np.arange(self.dimension)

    def split(self, w):
        a, b = self.A * E, self.A * E + self.B * R
        return w[:a].reshape(-1, E), w[a:b].reshape(-1, R), w[b:]

    def phi(self, i, e, r):
        W, V, parts = self.split(np.zeros(self.dimension))
        own = self.encoded[i]
        np.add.at(W, (own.candidates.ids, e[own.candidates.row]), 1)
        np.add.at(V, (own.pairs.ids, r[own.places][own.pairs.row]), 1)
        parts = sum(
            (self.parts[e[a], e[b], r[a, b], r[b, a]] for a in range(own.n) for b in range(a + 1, own.n)),
            parts,
        )
        return np.concatenate([W.ravel(), V.ravel(), parts])

    def worst(self, i, w):
        one, own = self.passages[i], self.encoded[i]
        W, V, parts = self.split(w)
        gold_e = np.array([ENTITIES.index(label) for label in one.entities], dtype=np.int64)
        gold_r = np.zeros((own.n, own.n), dtype=np.int64)
        for pair, label in one.relations.items():
            gold_r[pair] = RELATIONS.index(label)
        entity_loss = (np.arange(E) != gold_e[:, None]).astype(float)
        relation_loss = np.where(gold_r > 0, self.miss, 1.0)[..., None] * (np.arange(R) != gold_r[..., None])
        rules = RelationRules(ENTITIES, RELATIONS, self.rules.broken, -(self.parts @ parts))
        double = own.spread(own.pairs.sums(V)) + relation_loss
        found = relation_ids(own.candidates.sums(W) + entity_loss, double, rules)
        loss = np.take_along_axis(entity_loss, found.entities[:, None], 1).sum()
        each = np.take_along_axis(relation_loss, found.relations[..., None], 2)[..., 0]
        loss += each[~np.eye(own.n, dtype=bool)].sum()
        return self.phi(i, gold_e, gold_r) - self.phi(i, found.entities, found.relations), float(loss)


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("rules", [rules_of(designed()), FREE, ODD], ids=["designed", "free", "odd"])
@pytest.mark.parametrize("weighed", [False, True], ids=["attributes", "parts"])
def test_compiled_steps_are_those_of_the_plain_learner(rules, weighed, averaged):
    parts = combination_counts() if weighed else None
    settings = SvmSettings(C=0.05, passes=3, tolerance=0, averaged=averaged, seed=1)
    model, trained = train_relations(PASSAGES[:10], rules, settings, parts=parts)
    plain = train_svm(Plain(PASSAGES[:10], rules, parts=parts), settings)
    np.testing.assert_allclose(trained.weights, plain.weights, rtol=0, atol=1e-10)
    assert trained.history[-1].objective == pytest.approx(plain.history[-1].objective)
    assert trained.gap == pytest.approx(plain.gap)
    assert (model.table is None) == (not weighed)


def test_passages_that_are_encoded_once_train_the_same_model():
    settings = SvmSettings(C=0.05, passes=2)
    once = encode_passages(PASSAGES)
    first, again = (train_relations(given, FREE, settings)[0] for given in (once, PASSAGES))
    assert np.array_equal(first.V, again.V)
    assert np.array_equal(train_relations(once, FREE, settings)[0].V, first.V)


@pytest.mark.parametrize("limit", [kernel.LIMIT, 1])
def test_the_labels_of_a_graph_are_the_best_or_bounded(monkeypatch, limit):
    """Without a proof of the best labels there is a bound."""
    monkeypatch.setattr(kernel, "LIMIT", limit)
    rng = np.random.default_rng(3)
    single, double, relations = rng.normal(size=(4, E)), rng.normal(size=(4, 4, R)), np.zeros((4, 4), int)
    lists = kernel.Lists(*_lists(FREE))
    plain = kernel.best_labels.py_func
    y, bound = plain(4, single, double, np.zeros(E * E * R * R), lists, relations)
    found = relation_ids(single, double, FREE)
    if limit == 1:
        i, j = np.nonzero(~np.eye(4, dtype=bool))
        assert bound >= single.max(1).sum() + double[i, j, found.relations[i, j]].sum() - 1e-6
        assert np.isfinite(bound)
    else:
        assert bound == np.inf
        assert np.array_equal(y, found.entities)
        assert np.array_equal(relations, found.relations)


def test_training_needs_passages_and_a_c():
    with pytest.raises(InvalidInput):
        encode_passages([])
    with pytest.raises(InvalidInput):
        train_relations(PASSAGES[:2], FREE, SvmSettings(C=None))


def test_every_pair_shows_six_combinations():
    counts = combination_counts()
    assert counts.shape == (E, E, R, R, 84)
    assert (counts.sum(-1) == 6).all()
    for a, b, r, s in product(range(E), range(E), range(R), range(R)):
        assert np.array_equal(counts[a, b, r, s], counts[b, a, s, r])
