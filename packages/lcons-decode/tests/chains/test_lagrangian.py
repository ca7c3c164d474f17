"""The Lagrangian bound is never below the optimum, and the status is OPTIMAL only at the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from chain_strategies import chains
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork, Unsupported
from lcons_core.features import Counts, Existence, NgramLabels
from lcons_decode import ChainScores, Hard, Soft, Status, brute, decode_lagrangian, viterbi


def sixteenths(draw, *shape):
    size = int(np.prod(shape))
    return np.array(draw(st.lists(st.integers(-16, 16), min_size=size, max_size=size))).reshape(shape) / 16


@st.composite
def problems(draw):
    scores = draw(chains(max_T=4, max_L=3, forbids=False))
    labels, L = scores.labels, scores.L
    counts = Counts(labels, high=8)
    network = RectifierNetwork(2 * sixteenths(draw, 2, L), 2 * sixteenths(draw, 2))
    constraints = [Hard(LearnedConstraint(network, counts.space, counts), "counts")]
    if draw(st.booleans()):
        pairs = NgramLabels(labels, n=2)
        network = RectifierNetwork(2 * sixteenths(draw, 1, pairs.space.d), sixteenths(draw, 1))
        constraints.append(Hard(LearnedConstraint(network, pairs.space, pairs), "pairs"))
    return scores, constraints


@settings(max_examples=30)
@given(problems())
def test_the_bound_is_never_below_the_optimum_and_optimal_is_brute_force(problem):
    scores, constraints = problem
    best, found = brute(scores, constraints), decode_lagrangian(scores, constraints)
    if best.status is Status.OPTIMAL:
        assert found.stats["bound"] >= best.score
        if found.status is Status.OPTIMAL:
            assert found.score == best.score
            assert not found.violations
    else:
        assert found.status is Status.RELAXED
        assert found.violations


def at_most(labels, label, number):
    """The constraint that a label occurs at most `number` times: 2 count - 2 number <= 1."""
    counts = Counts(labels, high=20)
    network = RectifierNetwork([[2.0 * (name == label) for name in labels]], [1.0 - 2.0 * number])
    return LearnedConstraint(network, counts.space, counts)


def test_a_constraint_that_viterbi_satisfies_costs_one_round():
    scores = ChainScores([[1.0, 0.0]] * 4, labels=["a", "b"])
    found = decode_lagrangian(scores, [at_most(scores.labels, "a", 4)])
    assert (found.y, found.status, found.stats["rounds"]) == (viterbi(scores).y, Status.OPTIMAL, 1)


def test_multipliers_find_the_cheapest_tokens_to_change():
    scores = ChainScores([[4.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 0.0]], labels=["a", "b"])
    found = decode_lagrangian(scores, [at_most(scores.labels, "a", 2)])
    assert found.y == ("a", "b", "a", "b")
    assert found.status is Status.OPTIMAL
    assert found.stats["bound"] >= found.score == 7.0


def test_what_is_not_linear_is_refused_by_name():
    scores = ChainScores([[1.0, 0.0]], labels=["a", "b"])
    exists = Existence(("a", "b"))
    constraint = LearnedConstraint(RectifierNetwork([[1.0, 1.0]], [0.0]), exists.space, exists)
    with pytest.raises(Unsupported):
        decode_lagrangian(scores, [Hard(constraint, "bits")])
    with pytest.raises(Unsupported):
        decode_lagrangian(scores, [Soft(at_most(scores.labels, "a", 1), 1.0)])
    with pytest.raises(InvalidInput):
        decode_lagrangian(scores, [at_most(scores.labels, "a", 1)], rounds=0)
