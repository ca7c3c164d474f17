"""The trainer by hand: its gradient, its weights, its batches, and what it keeps."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core._arithmetic import is_dyadic
from lcons_core._psi import PsiRows, SparsePsi
from lcons_core.learn._inputs import INVALID, VALID, accuracy
from lcons_core.learn._inputs import fold_labelled as fold
from lcons_core.learn._population import (
    LARGEST_TRAINED,
    DenseBatch,
    Member,
    Population,
    SparseBatch,
    WeightedBatch,
    make_batches,
)
from lcons_core.learn._schedule import Settings, train
from lcons_core.learn._search import Configuration, choose, cross_validate, weigh
from lcons_core.learn._settings import BASE_GRIDS, ER_HIDDEN, GRIDS


def random_psi(draw, rows, d, ones, values=False):
    columns = np.argsort(draw.random((rows, d)), axis=1)[:, :ones]
    psi = SparsePsi.from_columns(columns, d)
    if values:
        psi = SparsePsi(psi.indptr, psi.indices, draw.normal(size=psi.values.size), d)
    return psi


def labelled(seed=0, rows=60, d=12, ones=3):
    """Distinct psi of which a planted network accepts about half, folded."""
    draw = np.random.default_rng(seed)
    psi = random_psi(draw, rows, d, ones)
    load = np.maximum(psi.dot(draw.normal(size=(d, 3))), 0).sum(1)
    return fold(psi, load <= np.median(load), np.ones(rows))


SETTINGS = Settings(epochs=300, temperature=4.0, patience=10)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_products_by_bags_are_matrix_products(seed, values, big):
    draw = np.random.default_rng(seed)
    psi = random_psi(draw, 40 if big else 5, 500, 4, values)
    (batch,) = make_batches(psi, 1000)
    assert isinstance(batch, SparseBatch if big else DenseBatch)
    full = np.hstack((psi.dense(), np.ones((len(psi), 1))))
    theta, signal = draw.normal(size=(501, 6)), draw.normal(size=(len(psi), 6))
    forward = batch.activations(torch.from_numpy(theta).float())
    backward = batch.gradient(torch.from_numpy(signal).float())
    np.testing.assert_allclose(forward, full @ theta, atol=1e-4)
    np.testing.assert_allclose(backward, full.T @ signal, atol=1e-4)


def test_batches_partition_the_rows():
    psi = random_psi(np.random.default_rng(0), 1000, 100, 3)
    batches = make_batches(psi, 128, np.random.default_rng(1))
    assert len(batches) == 8
    assert sorted(np.concatenate([batch.rows for batch in batches])) == list(range(1000))


@pytest.mark.parametrize(
    ("temperature", "noise"), [(1.0, (0.0, 0.0)), (4.0, (0.0, 0.0)), (4.0, (0.1, 0.3)), (4.0, (0.0, 0.1))]
)
def test_the_gradient_by_hand_is_that_of_autograd(temperature, noise):
    examples = labelled()
    weights = weigh(examples, None)
    (batch,) = make_batches(examples.psi, 1000)
    data = WeightedBatch(
        batch, *(torch.from_numpy(weights.weight[:, label].copy()).float() for label in (VALID, INVALID))
    )
    members = [Member(0, K, 0.1, 0.0, noise=share) for K, share in zip((2, 3), noise, strict=True)]
    population = Population(members, 12, 0.5, temperature, torch.Generator().manual_seed(0))
    seen = []
    population._adam = seen.append  # type: ignore[assignment, method-assign]
    population.step(data, 1.0)

    theta = population.theta.clone().requires_grad_()
    margin = 1 - torch.relu(batch.activations(theta)).view(len(examples), 2, 3).sum(2)
    wrong = torch.tensor(noise)
    labelled_valid = wrong + (1 - 2 * wrong) * torch.sigmoid(temperature * margin)
    loss = -data.valid * labelled_valid.log() - data.invalid * (1 - labelled_valid).log()
    loss.sum().backward()
    torch.testing.assert_close(seen[0], theta.grad, atol=1e-6, rtol=1e-4)

    found = population.evaluate([data])
    np.testing.assert_allclose(found.loss, loss.sum(0).detach(), rtol=1e-5)


def test_steps_are_those_of_torch_adam_with_the_decay_of_keras():
    population = Population([Member(0, 2, 0.1, 0.5)], 3, 0.5, 1.0, torch.Generator().manual_seed(0))
    twin = population.theta.clone().requires_grad_()
    adam = torch.optim.Adam([twin], lr=0.1, betas=(0.9, 0.999), eps=1e-7)
    generator = torch.Generator().manual_seed(1)
    for step in range(1, 6):
        twin.grad = torch.randn(twin.shape, generator=generator)
        population._adam(twin.grad)
        adam.param_groups[0]["lr"] = 0.1 / (1 + 0.5 * step)
        adam.step()
        torch.testing.assert_close(population.theta, twin.detach())


def test_absent_units_stay_zero():
    members = [Member(0, 1, 0.1, 0.0), Member(1, 4, 0.1, 0.0)]
    found = train(weigh(labelled(), None), members, SETTINGS, 0)
    assert found[0].network.K == 1
    assert found[1].network.K == 4


def test_networks_are_dyadic_and_their_accuracy_is_that_after_rounding():
    examples = labelled(3, rows=200)
    weights = weigh(examples, None)
    trained = train(weights, [Member(0, 1, 0.05, 0.0)] * 4, SETTINGS, 0)[0]
    assert is_dyadic(trained.network.W)
    assert is_dyadic(trained.network.b)
    assert trained.accuracy == accuracy(weights.weight[:, :, 0], trained.network.accepts(examples.psi))
    assert trained.accuracy < 1.0


def test_weights_stay_within_2_to_the_9_at_any_learning_rate():
    trained = train(weigh(labelled(), None), [Member(0, 3, 1e4, 0.0)] * 2, SETTINGS, 0)[0]
    assert np.abs(trained.network.W).max() <= LARGEST_TRAINED


def test_a_dead_unit_starts_again_where_invalid_examples_are_accepted():
    examples = labelled()
    weights = weigh(examples, None)
    (batch,) = make_batches(examples.psi, 1000)
    data = [
        WeightedBatch(
            batch, *(torch.from_numpy(weights.weight[:, label].copy()).float() for label in (VALID, INVALID))
        )
    ]
    population = Population([Member(0, 2, 0.1, 0.0)] * 2, 12, 0.5, 4.0, torch.Generator().manual_seed(0))
    population.theta[:, 0] = -1.0
    found = population.evaluate(data)
    assert not found.active[0]
    before = population.theta.clone()
    population.revive(found, np.array([True, False]))
    changed = (population.theta != before).any(0)
    assert changed[0]
    assert not changed[2:].any()


def test_columns_with_large_counts_are_scaled_and_scaled_back():
    draw = np.random.default_rng(0)
    counts = draw.integers(0, 60, (80, 4)).astype(float)
    valid = counts[:, 0] + counts[:, 1] <= 50
    examples = fold(SparsePsi.from_dense(counts), valid, np.ones(80))
    network = train(weigh(examples, None), [Member(0, 2, 0.05, 0.0)] * 8, SETTINGS, 0)[0].network
    assert (network.accepts(counts) == valid).mean() > 0.95


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 3)), min_size=1), st.randoms())
def test_folding_turns_repeats_into_weights_in_any_order(examples, random):
    repeated = [(v, label) for v, label, times in examples for _ in range(times)]
    random.shuffle(repeated)
    rows, labels, weights = (np.array(part) for part in zip(*examples, strict=True))
    folded = fold(SparsePsi.from_columns(rows[:, None], 4), labels, weights.astype(float))
    again_rows = np.array([v for v, _ in repeated], dtype=np.int64)
    again_labels = np.array([label for _, label in repeated], dtype=bool)
    again = fold(SparsePsi.from_columns(again_rows[:, None], 4), again_labels, np.ones(len(repeated)))
    np.testing.assert_array_equal(folded.psi.dense(), again.psi.dense())
    np.testing.assert_array_equal(folded.weight, again.weight)


def test_a_vector_with_both_labels_keeps_both_weights():
    folded = fold(SparsePsi.from_indices([[0], [0], [1]], 2), np.array([True, False, True]), np.ones(3))
    assert sorted(folded.weight[:, [VALID, INVALID]].tolist()) == [[1.0, 0.0], [1.0, 1.0]]


def test_balanced_weights_give_both_labels_a_half():
    psi = SparsePsi.from_indices([[0], [1], []], 2)
    table = weigh(PsiRows.of(psi, weight=[[0.0, 1.0], [3.0, 0.0], [4.0, 0.0]]), None)
    assert table.weight.sum(axis=(0, 2)).tolist() == [0.5, 0.5]


def test_cross_validation_never_tests_on_a_vector_it_trained_on():
    # Every psi is its own column, so a held-out psi is seen through the bias alone: one label for all.
    psi = SparsePsi.from_columns(np.arange(20)[:, None], 20)
    examples = fold(psi, np.arange(20) % 2 == 0, np.ones(20))
    scores = cross_validate(examples, [Configuration(2, 0.1, 0.0)], 2, 5, None, SETTINGS, 0)
    assert scores.mean() < 0.8


def test_the_smallest_hidden_within_one_standard_error_is_chosen():
    grid = [Configuration(K, 0.1, 0.0) for K in (1, 2, 4)]
    scores = np.array([[0.5, 0.5], [0.9, 0.94], [0.91, 0.95]])
    assert choose(grid, scores, smallest=False) == 2
    assert choose(grid, scores, smallest=True) == 1


def test_the_grids_are_those_of_the_appendices():
    assert set(GRIDS) == {"synthetic", "er", "citation", "chunking"}
    for task in ("synthetic", "er", "citation"):
        assert GRIDS[task].learning_rate == (0.001, 0.01, 0.1)
        assert GRIDS[task].decay == (0.0, 1e-7, 1e-6)
    assert GRIDS["synthetic"].hidden == tuple(range(2, 11))
    assert GRIDS["chunking"].hidden == (5, 10)
    assert GRIDS["chunking"].seeds == (1, 2)
    assert {grid.epochs for grid in GRIDS.values()} == {1000}
    assert set(ER_HIDDEN.values()) == set(GRIDS["er"].hidden)
    assert BASE_GRIDS["chunking"].epochs == 300
    with pytest.raises(TypeError):
        GRIDS["er"] = GRIDS["citation"]
