"""Marginals sum to one and equal those by enumeration, also under constraints."""

from math import exp, fsum, log

import numpy as np
import pytest
from chain_strategies import chains, enumerated, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_decode import ChainBatch, ChainScores, forbidden_ngrams, marginals
from lcons_decode.chains._marginals import marginals_batch

quick = settings(max_examples=60, deadline=None)
small = {"max_T": 4, "max_L": 3, "max_n": 3}


def assert_marginals_match(scores, uses, x):
    found = marginals(scores, uses, x)
    satisfying = [each for each in enumerated(scores, uses, x) if not each.violations]
    assert found.probability.shape == (len(scores), scores.L)
    if not satisfying:
        assert found.log_partition == -np.inf
        assert not found.probability.any()
        return
    weights = [exp(each.score) for each in satisfying]
    total = fsum(weights)
    assert found.log_partition == pytest.approx(log(total), abs=1e-9)
    assert np.allclose(found.probability.sum(1), 1.0, rtol=0, atol=1e-9)
    expected = np.zeros_like(found.probability)
    for each, weight in zip(satisfying, weights, strict=True):
        expected[np.arange(len(scores)), scores.ids(each.y)] += weight / total
    assert np.allclose(found.probability, expected, rtol=0, atol=1e-9)


@quick
@given(chains(max_T=4))
def test_marginals_are_those_of_the_enumeration(scores):
    assert_marginals_match(scores, [], None)


@quick
@given(problems(kinds=("hard",), **small))
def test_marginals_under_hard_constraints_are_those_of_the_enumeration(problem):
    assert_marginals_match(*problem)


@quick
@given(problems(**small))
def test_marginals_under_mixed_constraints_are_those_of_the_enumeration(problem):
    assert_marginals_match(*problem)


def test_large_scores_do_not_overflow():
    found = marginals(ChainScores([[1000.0, 999.0]] * 3))
    assert np.allclose(found.probability[:, 0], 1 / (1 + exp(-1)))


def test_a_constraint_that_nothing_satisfies_leaves_no_probability():
    found = marginals(ChainScores(np.zeros((2, 2)), labels="ab"), [forbidden_ngrams("ab", ["a", "b"])])
    assert (found.log_partition, found.probability.sum()) == (-np.inf, 0.0)


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


@quick
@given(chains(max_T=4))
def test_marginals_of_one_in_a_batch_are_those_of_the_enumeration(scores):
    found = marginals_batch([scores])
    satisfying = [each for each in enumerated(scores, [], None) if each.score > -np.inf]
    expected = np.zeros_like(found)
    for each in satisfying:
        expected[np.arange(len(scores)), scores.ids(each.y)] += exp(each.score)
    total = fsum(exp(each.score) for each in satisfying)
    assert np.allclose(found, expected / total if total else expected, rtol=0, atol=1e-9)
