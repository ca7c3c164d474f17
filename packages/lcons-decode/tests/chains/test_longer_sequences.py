"""Sequences too long, or of too many labels, to enumerate: pruned and dense programs agree, and no beam beats
exact decoding."""

import numpy as np
import pytest
from chain_strategies import dense_best

from lcons_core import LearnedConstraint, RectifierNetwork
from lcons_core.features import NgramContext, NgramLabels
from lcons_decode import ChainScores, Hard, Soft, Status, beam_search, constrained_viterbi, viterbi
from lcons_decode.chains._contributions import MOST_BOUNDS

PROBLEMS = 25


def sixteenths(rng, *shape):
    return rng.integers(-64, 65, shape) / 16


def drawn_problem(rng):
    """3 to 6 labels, 5 to 15 tokens, one to three constraints of n = 1 to 3, hard or soft."""
    L, T = int(rng.integers(3, 7)), int(rng.integers(5, 16))
    labels = tuple("abcdef"[:L])
    transition, start, stop = (sixteenths(rng, *shape) / 4 for shape in ((L, L), (L,), (L,)))
    scores = ChainScores(sixteenths(rng, T, L), transition, start, stop, labels=labels)
    uses = []
    for i in range(int(rng.integers(1, 4))):
        n = int(rng.integers(1, 4))
        pad = bool(rng.random() < 0.5) and n > 1
        feature = NgramLabels(labels, n, pad)
        if rng.random() < 0.6:
            feature = NgramContext(labels, ("x", "y"), n, pad=pad)  # type: ignore[assignment]
        K = int(rng.integers(1, 5))
        bias = sixteenths(rng, K) / 4 - rng.integers(0, 3)
        network = RectifierNetwork(sixteenths(rng, K, feature.space.d) / 2, bias)
        constraint = LearnedConstraint(network, feature.space, feature)
        weight = float(rng.integers(0, 12)) / 4
        uses.append(Soft(constraint, weight, f"c{i}") if rng.random() < 0.6 else Hard(constraint, f"c{i}"))
    return scores, uses, {"pos": [str(tag) for tag in rng.choice(["x", "y", "z"], T)]}


@pytest.mark.parametrize("seed", range(4))
def test_pruning_loses_nothing_and_no_beam_is_better(seed):
    rng = np.random.default_rng(seed)
    for _ in range(PROBLEMS):
        scores, uses, x = drawn_problem(rng)
        pruned = constrained_viterbi(scores, uses, x)
        beam = beam_search(scores, uses, x, width=5)
        broken, score, _ = dense_best(scores, uses, x)
        assert pruned.status is (Status.RELAXED if broken else Status.OPTIMAL)
        assert len(pruned.violations) == broken
        assert abs(pruned.score - score) <= 1e-9
        fewer = len(pruned.violations) < len(beam.violations)
        assert fewer or (len(pruned.violations) == len(beam.violations) and pruned.score >= beam.score - 1e-9)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("L", [63, 64, 130])
def test_label_sets_of_several_words(L, n):
    """A set of labels is kept as bits, 64 to a word."""
    rng = np.random.default_rng(n * L)
    labels = [f"l{i}" for i in range(L)]
    rule = drawn_rule(rng, labels, n, 4, 3, 2)
    for _ in range(3):
        scores = ChainScores(
            rng.normal(size=(5, L)), rng.normal(size=(L, L)), rng.normal(size=L), labels=labels
        )
        pruned = constrained_viterbi(scores, [rule])
        assert (len(pruned.violations), pruned.score, pruned.y) == dense_best(scores, [rule])
        assert pruned.status is Status.OPTIMAL
        assert pruned.y != viterbi(scores).y


@pytest.mark.parametrize("most", [MOST_BOUNDS, 0])
@pytest.mark.parametrize("weight", [0.5, 2.0, 8.0])
def test_soft_pairs_of_many_labels(monkeypatch, weight, most):
    """With bounds of pairs of labels, and with those of the last label alone."""
    monkeypatch.setattr("lcons_decode.chains._contributions.MOST_BOUNDS", most)
    rng = np.random.default_rng(int(8 * weight))
    labels = [f"l{i}" for i in range(30)]
    rule = Soft(drawn_rule(rng, labels, 2, 6, 8, 4), weight)
    for _ in range(10):
        scores = ChainScores(
            rng.normal(size=(6, 30)), rng.normal(size=(30, 30)), rng.normal(size=30), labels=labels
        )
        assert_soft_best(scores, rule)


@pytest.mark.parametrize("most", [MOST_BOUNDS, 0])
@pytest.mark.parametrize("T", [1, 2, 3, 8])
def test_soft_windows_of_four_labels(monkeypatch, T, most):
    """Windows begin before the sentence: the bound of a prefix has the score of its first label."""
    monkeypatch.setattr("lcons_decode.chains._contributions.MOST_BOUNDS", most)
    rng = np.random.default_rng(T)
    rule = Soft(drawn_rule(rng, "abc", 4, 6, 8, 4), 2.0)
    for _ in range(20):
        scores = ChainScores(
            rng.normal(size=(T, 3)), rng.normal(size=(3, 3)), 5 + rng.normal(size=3), labels="abc"
        )
        assert_soft_best(scores, rule)


def drawn_rule(rng, labels, n, K, most, of):
    """A network of K units on n labels; its weights are at most `most`, in units of 1 / `of`."""
    feature = NgramLabels(tuple(labels), n)
    W = rng.integers(-most, most + 1, (K, feature.space.d)) / of
    return LearnedConstraint(RectifierNetwork(W, np.zeros(K)), feature.space, feature)


def assert_soft_best(scores, rule):
    pruned, (_, score, y) = constrained_viterbi(scores, [rule]), dense_best(scores, [rule])
    assert pruned.y == y
    assert abs(pruned.score - score) <= 1e-9
