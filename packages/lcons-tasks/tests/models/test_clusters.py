"""Words that stand in the same contexts are in one cluster, and the same text gives the same clusters."""

import itertools

import numpy as np
import pytest

from lcons_tasks.models._clusters import cluster_vectors, cluster_words
from lcons_tasks.models._word_vectors import WordVectors

NOUNS, VERBS, CITIES = ("dog", "cat", "cow", "bird"), ("eats", "runs", "sleeps"), ("oslo", "rome", "paris")
TEXT = [
    *(["the", noun, verb, "."] for noun, verb in itertools.product(NOUNS, VERBS)),
    *(
        ["we", "live", "in", city, ",", "not", "in", other]
        for city, other in itertools.permutations(CITIES, 2)
    ),
]


@pytest.fixture(scope="module")
def found():
    return cluster_words(TEXT, sizes=(4, 8))


def test_words_of_the_same_contexts_share_a_cluster_and_others_do_not(found):
    for column in found.columns:
        clusters = found.add({"word": [*NOUNS, *VERBS, *CITIES]})[column]
        nouns, verbs, cities = set(clusters[:4]), set(clusters[4:7]), set(clusters[7:])
        assert len(nouns) == len(verbs) == 1
        assert not nouns & verbs
        assert not nouns & cities


def test_a_text_without_repeated_words_has_no_clusters():
    assert cluster_words([["all", "words", "differ"]]) is None
    assert cluster_words([]) is None


def test_vectors_that_point_the_same_way_share_a_cluster():
    towns, verbs = ("oslo", "rome", "paris"), ("eats", "runs", "sleeps")
    rng = np.random.default_rng(0)
    vectors = np.array([[1.0, 0.0]] * 3 + [[0.0, 2.0]] * 3) + rng.normal(0, 0.05, (6, 2))
    found = cluster_vectors(WordVectors("toy", (*towns, *verbs), vectors), sizes=(2, 6))
    assert len({found.of(word)[0] for word in towns}) == len({found.of(word)[0] for word in verbs}) == 1
    assert found.of("oslo")[0] != found.of("eats")[0]
    assert found.of("yak") is None
    again = cluster_vectors(WordVectors("toy", (*towns, *verbs), vectors), sizes=(2, 6))
    assert np.array_equal(again.ids, found.ids)
