"""Consistency over unlabelled text is the stated formula, whatever it is computed with."""

from math import log

import numpy as np
import pytest

from lcons_decode import ChainScores, marginals
from lcons_decode.chains._marginals import marginals_batch
from lcons_tasks.data import Sentence
from lcons_tasks.models import LinearSettings, consistent_over, train_linear
from lcons_tasks.models._clusters import cluster_words
from lcons_tasks.models._consistent_chain import (
    CLIP,
    CLUSTER,
    CONTEXT,
    FORM,
    KAPPA,
    CodedKeys,
    ConsistentChain,
    consistent,
    token_keys,
)

WORDS = ("aspirin", "codeine", "quinine", "water", "soup", "bread")
TRAIN = [Sentence(("give", w, "now"), ("O", "B-DRUG" if i < 3 else "O", "O")) for i, w in enumerate(WORDS)]
TEXT = [
    sentence.split()
    for w in ("heparin", "Insulin", "rice", "tea", "quinine")
    for sentence in (f"give {w} now", f"she took {w} at noon", f"no {w}", f"{w} helps")
]
OTHERS = [["heparin", "or", "coffee"], ["give", "INSULIN"], ["at", "noon"]]
KINDS, WEIGHTS = (FORM, CLUSTER, CONTEXT), (0.5, 0.3, 0.4)


@pytest.fixture(scope="module")
def clusters():
    return cluster_words(TEXT, sizes=(4, 8, 12))


@pytest.fixture(scope="module")
def base():
    return train_linear(TRAIN, LinearSettings(0.1, 0.1, iterations=15))


@pytest.fixture(scope="module")
def chain(base, clusters):
    batch = base.scores([{"word": words} for words in TEXT])
    keys = [CodedKeys.of(kind, TEXT, clusters) for kind in KINDS]
    tables, prior = consistent(batch, marginals_batch(batch), keys, WEIGHTS)
    return ConsistentChain(base, clusters, tables, prior, np.array([0.25, -0.5]))


def literal_scores(base, clusters, chain):
    """The adjusted scores of `OTHERS`, token by token, as the formula is written."""

    def probabilities(words, bonus):
        scores = base.scores([{"word": words}])
        own = ChainScores(scores.emission + bonus, scores.transition, scores.start, scores.stop)
        return marginals(own).probability

    def known(kind, key):
        return kind == FORM or key != "?"

    bonus = [np.zeros((len(words), 2)) for words in TEXT]
    for last in (False, True):
        p = [probabilities(words, own) for words, own in zip(TEXT, bonus, strict=True)]
        every = np.concatenate(p)
        prior = every.mean(0)
        sums, counts = {}, {}
        for kind in KINDS:
            for key, own in zip(token_keys(kind, TEXT, clusters), every, strict=True):
                sums[kind, key] = sums.get((kind, key), 0) + own
                counts[kind, key] = counts.get((kind, key), 0) + known(kind, key)
        if not last:
            for words, own in zip(TEXT, bonus, strict=True):
                for kind, weight in zip(KINDS, WEIGHTS, strict=True):
                    for t, key in enumerate(token_keys(kind, [words], clusters)):
                        n = counts[kind, key]
                        if n >= (2 if kind == CONTEXT else 1):
                            for y in (0, 1):
                                own[t, y] += weight * clipped(sums[kind, key][y], n, prior[y])
    result = []
    for words in OTHERS:
        scores = base.scores([{"word": words}]).emission + chain.bias
        p = probabilities(words, 0)
        for kind, weight in zip(KINDS, WEIGHTS, strict=True):
            for t, key in enumerate(token_keys(kind, [words], clusters)):
                n = counts.get((kind, key), 0)
                if n >= {FORM: 0, CLUSTER: 1, CONTEXT: 2}[kind]:
                    S = sums.get((kind, key), np.zeros(2))
                    for y in (0, 1):
                        scores[t, y] += weight * clipped(S[y] + p[t, y], n + 1, prior[y])
        result.append(scores)
    return np.concatenate(result)


def clipped(total, count, prior):
    """R of the module, for one key and label."""
    return min(CLIP, max(-CLIP, log((total + KAPPA * prior) / (count + KAPPA)) - log(prior)))


def test_the_scores_are_those_of_the_formula(base, clusters, chain):
    found = chain.scores([{"word": words} for words in OTHERS])
    assert np.allclose(found.emission, literal_scores(base, clusters, chain), rtol=0, atol=1e-9)
    alone = base.scores([{"word": words} for words in OTHERS])
    assert np.array_equal(found.transition, alone.transition)
    assert np.abs(found.emission - alone.emission).max() > 0.5


def test_a_word_that_is_a_drug_elsewhere_is_drawn_to_be_one_here(base):
    texts = [["give", "zork", "now"]] * 10 + [["zork"]]
    xs = [{"word": words} for words in texts]
    margins = [
        np.diff(model.scores(xs).emission[-1])[0] for model in (base, consistent_over(base, xs))
    ]  # O minus B-DRUG
    assert margins[1] < margins[0] - 0.2


def test_more_text_adds_to_the_tables(chain):
    xs = [{"word": words} for words in OTHERS]
    more = consistent_over(chain, xs)
    assert [table.kind for table in more.tables] == [table.kind for table in chain.tables]
    for table, old in zip(more.tables, chain.tables, strict=True):
        assert table.weight == old.weight
        new = CodedKeys.of(table.kind, OTHERS, chain.clusters)
        assert table.counts.sum() == old.counts.sum() + new.counts.sum()
        assert table.sums.sum() == pytest.approx(old.sums.sum() + sum(map(len, OTHERS)))
    assert (more.bias == chain.bias).all()
