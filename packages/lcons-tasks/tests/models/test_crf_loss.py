"""The CRF's loss and its gradients are those of enumeration, and it trains the scores that decoders add."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_decode import ChainScores, marginals
from lcons_tasks.models._crf_trainer import crf_loss


@st.composite
def chains(draw, largest=3.0, B=3, T=4, L=3):
    """(emission (B, T, L), transition, start, stop), y (B, T), in float64."""
    B, T, L = draw(st.integers(1, B)), draw(st.integers(1, T)), draw(st.integers(1, L))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = ((B, T, L), (L, L), (L,), (L,))
    parts = [torch.from_numpy(rng.uniform(-largest, largest, shape)) for shape in shapes]
    return parts, torch.from_numpy(rng.integers(0, L, (B, T)))


def enumerated_loss(emission, transition, start, stop, y):
    """log Z - score(y), summed over the batch, by all labellings; autograd sees every one."""
    T, L = emission.shape[1:]

    def score(own, labels):
        total = start[labels[0]] + stop[labels[-1]]
        for t, label in enumerate(labels):
            total = total + own[t, label]
        for before, after in pairwise(labels):
            total = total + transition[before, after]
        return total

    every = list(product(range(L), repeat=T))
    partitions = [
        torch.logsumexp(torch.stack([score(own, labels) for labels in every]), 0) for own in emission
    ]
    return sum(
        log_z - score(own, gold) for log_z, own, gold in zip(partitions, emission, y.tolist(), strict=True)
    )


def assert_as_enumerated(parts, y, upstream):
    for part in parts:
        part.requires_grad_()
    ours, right = crf_loss(*parts, y), enumerated_loss(*parts, y)  # type: ignore[call-arg]
    assert ours.dtype == torch.float64
    torch.testing.assert_close(ours, right, rtol=1e-10, atol=1e-8)
    slopes = torch.autograd.grad(ours * upstream, parts)
    # Enumeration of T = 1 does not use transitions: materialised, their gradients are zero.
    expected = torch.autograd.grad(right * upstream, parts, materialize_grads=True)
    for slope, one in zip(slopes, expected, strict=True):
        torch.testing.assert_close(slope, one, rtol=1e-8, atol=1e-8)


@given(st.sampled_from([3.0, 200.0]).flatmap(chains), st.floats(-2, 2))
@settings(max_examples=80)
def test_loss_and_gradients_are_those_of_enumeration_for_large_scores_too(chain, upstream):
    assert_as_enumerated(*chain, upstream)  # type: ignore[call-arg]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_long_sequences_of_extremes_are_those_of_the_decoders_sums(seed):
    rng = np.random.default_rng(seed)
    parts = [torch.from_numpy(rng.choice([-200.0, 200.0], shape)) for shape in ((1, 40, 4), (4, 4), 4, 4)]
    y = torch.from_numpy(rng.integers(0, 4, (1, 40)))
    emission = parts[0].requires_grad_()
    loss = crf_loss(*parts, y)  # type: ignore[call-arg]
    (slope,) = torch.autograd.grad(loss, emission)
    scores = ChainScores(emission[0], *parts[1:])
    right = marginals(scores)
    assert loss.item() == pytest.approx(right.log_partition - scores.score_ids(y[0].numpy()), abs=1e-7)
    np.testing.assert_allclose(slope[0], right.probability - np.eye(4)[y[0]], atol=1e-7)
