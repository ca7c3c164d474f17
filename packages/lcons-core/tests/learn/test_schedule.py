"""The trainer by hand: its gradient, its steps, its batches, and what it keeps."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import SparsePsi
from lcons_core.learn._examples import fold_labelled
from lcons_core.learn._population import TAU, Batch, Member, Population, make_batches
from lcons_core.learn._search import Search, weigh

EPOCHS, PATIENCE = 300, 10


def random_psi(draw, rows, d, ones, values=False):
    psi = SparsePsi.from_columns(np.argsort(draw.random((rows, d)), axis=1)[:, :ones], d)
    return SparsePsi(psi.indptr, psi.indices, draw.normal(size=psi.values.size), d) if values else psi


def weighed(seed=0, rows=60, d=12):
    """Distinct psi of which a planted network accepts about half, both labels of the same weight."""
    draw = np.random.default_rng(seed)
    psi = random_psi(draw, rows, d, 3)
    load = np.maximum(psi.dot(draw.normal(size=(d, 3))), 0).sum(1)
    examples = fold_labelled(psi, load <= np.median(load), np.ones(rows))
    return weigh(examples, None, [np.ones(len(examples), dtype=bool)])


def one_batch(examples) -> Batch:
    (batch,) = make_batches(examples.psi, examples.weight, 1000)
    return batch


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_products_by_bags_are_matrix_products(seed, values, big):
    draw = np.random.default_rng(seed)
    psi = random_psi(draw, 40 if big else 5, 500, 4, values)
    (batch,) = make_batches(psi, np.ones((len(psi), 2, 1)), 1000)
    assert batch.dense != big
    full = np.hstack((psi.dense(), np.ones((len(psi), 1))))
    theta, signal = draw.normal(size=(501, 6)), draw.normal(size=(len(psi), 6))
    np.testing.assert_allclose(batch.activations(torch.from_numpy(theta).float()), full @ theta, atol=1e-4)
    np.testing.assert_allclose(batch.gradient(torch.from_numpy(signal).float()), full.T @ signal, atol=1e-4)


@pytest.mark.parametrize("noise", [(0.0, 0.0), (0.1, 0.3), (0.0, 0.1)])
def test_the_gradient_by_hand_is_that_of_autograd(noise):
    data = one_batch(weighed())
    members = [Member(K, 0.1, 0.0, noise=share) for K, share in zip((2, 3), noise, strict=True)]
    population = Population(members, 12, 0.5, torch.Generator().manual_seed(0))
    seen = []
    population._adam = seen.append  # type: ignore[assignment, method-assign]
    population.step(data, 1.0)

    theta = population.theta.clone().requires_grad_()
    margin = 1 - torch.relu(data.activations(theta)).view(len(data.psi), 2, 3).sum(2)
    wrong = torch.tensor(noise)
    labelled_valid = wrong + (1 - 2 * wrong) * torch.sigmoid(TAU * margin)
    loss = -data.valid * labelled_valid.log() - data.invalid * (1 - labelled_valid).log()
    loss.sum().backward()
    torch.testing.assert_close(seen[0], theta.grad, atol=1e-6, rtol=1e-4)
    np.testing.assert_allclose(population.evaluate([data]).loss, loss.sum(0).detach(), rtol=1e-5)


def test_steps_are_those_of_torch_adam_with_the_decay_of_keras():
    population = Population([Member(2, 0.1, 0.5)], 3, 0.5, torch.Generator().manual_seed(0))
    twin = population.theta.clone().requires_grad_()
    adam = torch.optim.Adam([twin], lr=0.1, betas=(0.9, 0.999), eps=1e-7)
    generator = torch.Generator().manual_seed(1)
    for step in range(1, 6):
        twin.grad = torch.randn(twin.shape, generator=generator)
        population._adam(twin.grad)
        adam.param_groups[0]["lr"] = 0.1 / (1 + 0.5 * step)
        adam.step()
        torch.testing.assert_close(population.theta, twin.detach())


def test_cross_validation_never_tests_on_a_vector_it_trained_on():
    # Every psi is its own column, so a held-out psi is seen through the bias alone: one label for all.
    psi = SparsePsi.from_columns(np.arange(20)[:, None], 20)
    examples = fold_labelled(psi, np.arange(20) % 2 == 0, np.ones(20))
    search = Search(examples, None, lambda K: 2, lambda K: 2, 5, EPOCHS, PATIENCE, 0)
    assert search.cross_validate([Member(2, 0.1, 0.0)]).mean() < 0.8
