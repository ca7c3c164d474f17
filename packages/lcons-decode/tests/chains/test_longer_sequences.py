"""Sequences too long to enumerate: pruned and dense programs agree, and no beam beats exact decoding."""

import numpy as np
import pytest

from lcons_core._constraint import LearnedConstraint
from lcons_core._network import RectifierNetwork
from lcons_core.features import NgramContext, NgramLabels
from lcons_decode import ChainScores, Hard, Soft, beam_search, constrained_viterbi

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
def test_pruning_loses_nothing_and_no_beam_is_better(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    for _ in range(PROBLEMS):
        scores, uses, x = drawn_problem(rng)
        monkeypatch.setenv("LCONS_DECODE_BACKEND", "numba")
        pruned = constrained_viterbi(scores, uses, x)
        beam = beam_search(scores, uses, x, width=5)
        monkeypatch.setenv("LCONS_DECODE_BACKEND", "numpy")
        dense = constrained_viterbi(scores, uses, x)
        assert (pruned.status, len(pruned.violations)) == (dense.status, len(dense.violations))
        assert abs(pruned.score - dense.score) <= 1e-9
        fewer = len(pruned.violations) < len(beam.violations)
        assert fewer or (len(pruned.violations) == len(beam.violations) and pruned.score >= beam.score - 1e-9)
