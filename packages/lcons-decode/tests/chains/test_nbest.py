"""nbest is the sorted enumeration."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from chain_strategies import (
    TOLERANCE,
    enumerated,
    generators,
    global_uses,
    is_soft,
    problems,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_decode import (
    ChainConstraints,
    ChainScores,
    Soft,
    Status,
    Violation,
    constrained_viterbi,
    forbidden_ngrams,
    nbest,
)

quick = settings(max_examples=60, deadline=None)
small = {"max_T": 4, "max_L": 3, "max_n": 3, "min_uses": 0, "max_uses": 2}


def satisfying(scores, uses, x):
    return [each for each in enumerated(scores, uses, x) if not each.violations]


@settings(max_examples=120, deadline=None)
@given(st.one_of(problems(kinds=("hard",), **small), problems(**small)))
def test_nbest_is_the_sorted_enumeration(problem):
    """With ties in declared order where nothing is rounded."""
    scores, uses, x = problem
    expected = sorted(satisfying(scores, uses, x), key=lambda each: -each.score)
    found = nbest(scores, 1000, uses, x)
    assert [f.stats["rank"] for f in found] == list(range(1, len(found) + 1))
    assert all(f.status is Status.OPTIMAL and not f.violations for f in found)
    if not is_soft(uses):
        assert [(f.y, f.score) for f in found] == [(each.y, each.base) for each in expected]
        return
    own = {each.y: each.score for each in expected}
    assert sorted(f.y for f in found) == sorted(own)
    assert all(abs(own[f.y] - f.score) <= TOLERANCE for f in found)
    assert all(a.score >= b.score - TOLERANCE for a, b in pairwise(found))


@quick
@given(problems(kinds=("hard",), **small), st.integers(1, 6))
def test_fewer_are_the_first_of_more(problem, count):
    scores, uses, x = problem
    assert nbest(scores, count, uses, x) == nbest(scores, 1000, uses, x)[:count]


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_global_constraints_do_not_change_the_order_but_are_named(data):
    scores, uses, x = data.draw(problems(kinds=("hard",), **small))
    whole = data.draw(global_uses(scores.labels, kinds=("hard",)))
    plain, named = nbest(scores, 20, uses, x), nbest(scores, 20, [*uses, whole], x)
    assert [f.y for f in plain] == [f.y for f in named]
    compiled = ChainConstraints.of([whole], scores.labels)
    assert [f.violations for f in named] == [compiled.violations(f.y, x) for f in named]
    assert all(v == Violation("whole", None) for f in named for v in f.violations)


def first_of_all(scores, count):
    """The first labellings by score, then by label order, from the best prefixes that end in each label."""
    ends = {c: [(-(scores.start[c] + scores.emission[0, c]), (c,))] for c in range(scores.L)}
    for t in range(1, len(scores)):
        grown = {}
        for c in range(scores.L):
            longer = [
                (cost - scores.transition[b, c] - scores.emission[t, c], (*y, c))
                for b, prefixes in ends.items()
                for cost, y in prefixes
            ]
            grown[c] = sorted(longer)[:count]
        ends = grown  # type: ignore[assignment]
    whole = [(cost - scores.stop[c], y) for c, prefixes in ends.items() for cost, y in prefixes]
    return [(scores.names(y), -cost) for cost, y in sorted(whole)[:count]]


@settings(max_examples=25, deadline=None)
@given(generators, st.sampled_from([0, 1, 16]), st.integers(1, 4), st.integers(10, 40), st.integers(1, 80))
def test_long_sequences_have_their_ties_in_declared_order_too(rng, scale, L, T, count):
    shapes = ((T, L), (L, L), (L,), (L,))
    scores = ChainScores(*(rng.integers(-scale, scale + 1, shape) / 16 for shape in shapes))
    assert [(f.y, f.score) for f in nbest(scores, count)] == first_of_all(scores, count)


@pytest.mark.parametrize("scale", [1.0, 0.0], ids=["drawn", "all equal"])
def test_the_memory_of_a_search_does_not_grow_with_the_square_of_the_length(scale):
    T, L = 300, 7
    rng = np.random.default_rng(0)
    scores = ChainScores(scale * rng.normal(size=(T, L)), scale * rng.normal(size=(L, L)))
    tracemalloc.start()
    try:
        found = nbest(scores, 300)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()
    assert len({f.y for f in found}) == 300


def test_soft_constraints_on_a_long_sequence_are_in_the_bound():
    T, labels = 200, "abc"
    rng = np.random.default_rng(0)
    scores = ChainScores(rng.normal(size=(T, 3)), labels=labels)
    uses = [Soft(forbidden_ngrams(labels, ["ab", "bc"]), 0.5, "soft")]
    found = nbest(scores, 50, uses)
    assert found[0].score == pytest.approx(constrained_viterbi(scores, uses).score)
    assert len({f.y for f in found}) == 50
    assert all(a.score >= b.score - TOLERANCE for a, b in pairwise(found))
