"""Marginals sum to one and equal those by enumeration, also under constraints."""

from itertools import product
from math import exp, fsum, log

import numpy as np
import pytest
from chain_strategies import enumerated, global_uses, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput
from lcons_decode import ChainBatch, ChainScores, marginals
from lcons_decode.chains._marginals import marginals_batch, window_probabilities

quick = settings(max_examples=60, deadline=None)


any_problems = st.one_of(
    problems(max_T=4, max_L=3, max_n=3, max_uses=uses, min_uses=uses, kinds=kinds)
    for uses, kinds in ((0, ("hard",)), (2, ("hard",)), (2, ("hard", "soft")))
)


def weighed(scores, uses, x):
    """The labellings that satisfy hard constraints, with exp(score)."""
    return [(each.y, exp(each.score)) for each in enumerated(scores, uses, x) if not each.violations]


@settings(max_examples=180, deadline=None)
@given(any_problems)
def test_marginals_are_those_of_the_enumeration(problem):
    scores, uses, x = problem
    found, weights = marginals(scores, uses, x), weighed(scores, uses, x)
    assert found.probability.shape == (len(scores), scores.L)
    if not weights:
        assert found.log_partition == -np.inf
        assert not found.probability.any()
        return
    total = fsum(weight for _, weight in weights)
    assert found.log_partition == pytest.approx(log(total), abs=1e-9)
    assert np.allclose(found.probability.sum(1), 1.0, rtol=0, atol=1e-9)
    expected = np.zeros_like(found.probability)
    for y, weight in weights:
        expected[np.arange(len(scores)), scores.ids(y)] += weight / total
    assert np.allclose(found.probability, expected, rtol=0, atol=1e-9)
    if not uses:
        assert np.allclose(marginals_batch([scores]), expected, rtol=0, atol=1e-9)


@quick
@given(any_problems)
def test_probabilities_of_windows_are_those_of_the_enumeration(problem):
    scores, uses, x = problem
    weights = weighed(scores, uses, x)
    windows = [
        (first, y)
        for size in (1, 2, 3)
        for first in range(len(scores) - size + 1)
        for y in product(scores.labels, repeat=size)
    ]
    found = window_probabilities(scores, windows, uses, x)
    expected = [
        fsum(weight for y, weight in weights if y[first : first + len(part)] == part)
        for first, part in windows
    ]
    np.testing.assert_allclose(found, np.array(expected) / (fsum(w for _, w in weights) or 1.0), atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(global_uses(("a", "b")))
def test_global_constraints_and_windows_outside_the_sequence_are_refused(whole):
    scores = ChainScores(np.zeros((2, 2)), labels="ab")
    with pytest.raises(InvalidInput):
        marginals(scores, [whole])
    with pytest.raises(InvalidInput):
        window_probabilities(scores, [(1, "ab")])


def test_large_scores_do_not_overflow():
    found = marginals(ChainScores([[1000.0, 999.0]] * 3))
    assert np.allclose(found.probability[:, 0], 1 / (1 + exp(-1)))


@st.composite
def batches(draw):
    """Sequences of different lengths with the same transitions, some of them -inf; scores of any size."""
    rng, L = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.integers(1, 4))
    scale, forbidden = draw(st.sampled_from([1.0, 30.0, 3000.0])), draw(st.sampled_from([0.0, 0.1, 0.5]))

    def array(*shape):
        return np.where(rng.random(shape) < forbidden, -np.inf, rng.normal(0, scale, shape))

    transition, start, stop = array(L, L), array(L), array(L)
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=5))
    return [ChainScores(array(T, L), transition, start, stop) for T in lengths]


@quick
@given(batches())
def test_marginals_of_many_sequences_are_those_of_each(sequences):
    expected = np.concatenate([marginals(scores).probability for scores in sequences])
    assert np.allclose(marginals_batch(ChainBatch.of(sequences)), expected, rtol=0, atol=1e-8)
