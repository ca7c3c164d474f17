"""decode_global is exact under local and global constraints, within its budget."""

import numpy as np
import pytest
from chain_strategies import agree, best_of, enumerated, global_uses, is_soft, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork
from lcons_core.features import Counts
from lcons_decode import (
    ChainScores,
    Status,
    Violation,
    decode_global,
)

small = {"max_T": 4, "max_L": 3, "max_n": 3, "min_uses": 0, "max_uses": 2}


@st.composite
def global_problems(draw, kinds=("hard", "soft")):
    scores, uses, x = draw(problems(kinds=kinds, **small))
    return scores, [*uses, draw(global_uses(scores.labels, kinds))], x


@settings(max_examples=140, deadline=None)
@given(st.one_of(global_problems(kinds=("hard",)), global_problems()))
def test_global_decoding_is_the_best_of_the_enumeration(problem):
    scores, uses, x = problem
    answer, found = decode_global(scores, uses, x), enumerated(scores, uses, x)
    assert answer.stats["tried"] <= answer.stats["budget"]
    if not found:
        assert (answer.status, answer.y, answer.score) == (Status.INFEASIBLE, (), -np.inf)
        return
    own = next(each for each in found if each.y == answer.y)
    assert set(answer.violations) == set(own.violations)
    assert agree(answer.score, own.score, uses)
    satisfying = [each for each in found if not each.violations]
    if not satisfying:
        assert answer.status is Status.RELAXED
        return
    best, unique = best_of(satisfying)
    assert answer.status is Status.OPTIMAL
    assert agree(answer.score, best.score, uses)
    if unique or not is_soft(uses):
        assert answer.y == best.y


@settings(max_examples=60, deadline=None)
@given(global_problems(kinds=("hard",)), st.integers(1, 8))
def test_a_budget_bounds_what_is_tried_and_is_owned_up_to(problem, budget):
    scores, uses, x = problem
    answer = decode_global(scores, uses, x, budget=budget)
    local = [use for use in uses if use.name != "whole"]
    order = sorted(
        (each for each in enumerated(scores, local, x) if not each.violations), key=lambda each: -each.base
    )
    assert answer.stats["tried"] <= budget
    if not order:
        assert answer.status in (Status.RELAXED, Status.INFEASIBLE)
        return
    (whole,) = (use.constraint for use in uses if use.name == "whole")
    accepted = [i for i, each in enumerate(order) if whole.satisfied(list(each.y))]
    if accepted and accepted[0] < budget:
        assert (answer.status, answer.score) == (Status.OPTIMAL, order[accepted[0]].base)
    elif len(order) <= budget:
        assert (answer.status, answer.y) == (Status.RELAXED, order[0].y)
    else:
        assert (answer.status, answer.y) == (Status.OUT_OF_BUDGET, order[0].y)
        assert answer.violations == (Violation("whole", None),)


def at_most_one(label, labels):
    """The constraint that a label occurs at most once."""
    feature = Counts(tuple(labels), high=8)
    W = np.zeros((1, feature.space.d))
    W[0, labels.index(label)] = 1.0
    return LearnedConstraint(RectifierNetwork(W, [0.0]), feature.space, feature)


def test_progress_is_told_of_every_labelling_tried():
    scores = ChainScores([[2.0, 1.0], [3.0, 0.0], [1.0, 0.0]], labels="ab")
    told = []
    answer = decode_global(scores, [at_most_one("a", "ab")], progress=told.append)
    assert told == list(range(1, answer.stats["tried"] + 1))
    assert len(told) > 1


def test_a_budget_below_one_is_refused():
    with pytest.raises(InvalidInput):
        decode_global(ChainScores([[0.0]]), [], budget=0)
