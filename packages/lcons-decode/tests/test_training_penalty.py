"""The torch chain of lcons-core and the decoders have the same distribution and the same penalty."""

from __future__ import annotations

import numpy as np
import torch

from lcons_core import iob2
from lcons_core.torch import LabelChain, expected_penalty
from lcons_decode import ChainConstraints, ChainScores, Soft, marginals

LABELS = ("B-NP", "B-VP", "I-NP", "I-VP", "O")


def drawn(seed: int, T: int = 6) -> ChainScores:
    rng = np.random.default_rng(seed)
    shapes = ((T, 5), (5, 5), (5,), (5,))
    emission, transition, start, stop = (rng.normal(0, 3, shape) for shape in shapes)
    return ChainScores(emission, transition, start, stop, labels=LABELS)


def chain_of(scores: ChainScores) -> LabelChain:
    parts = (scores.emission, scores.transition, scores.start, scores.stop)
    return LabelChain.of_scores(*(torch.tensor(part) for part in parts))


def test_the_chain_has_the_marginals_of_forward_backward():
    for seed in range(10):
        scores = drawn(seed)
        np.testing.assert_allclose(chain_of(scores).unary[0], marginals(scores).probability, atol=1e-12)


def test_of_a_certain_labelling_the_penalty_is_what_soft_takes_off():
    y = ("B-NP", "I-VP", "O", "I-NP")
    sure = torch.tensor([[float(label == other) for other in LABELS] for label in y], dtype=torch.float64)
    found = expected_penalty(iob2(LABELS), sure, LABELS, penalty="log_sigmoid")
    soft = ChainConstraints.of([Soft(iob2(LABELS), 1.0)], LABELS)
    np.testing.assert_allclose(float(found), -soft.penalty(y))
