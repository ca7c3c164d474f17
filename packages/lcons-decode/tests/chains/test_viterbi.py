"""viterbi finds the best labelling, and the first one if there are several."""

import numpy as np
import pytest
from chain_strategies import best_of, chains, enumerated
from hypothesis import given, settings

from lcons_core import TooLarge
from lcons_decode import ChainScores, Status, brute, viterbi


@settings(max_examples=80, deadline=None)
@given(chains())
def test_viterbi_is_the_first_best_of_the_enumeration_and_of_brute(scores):
    answer, oracle, found = viterbi(scores), brute(scores), enumerated(scores)
    assert (answer.status, answer.y, answer.score) == (oracle.status, oracle.y, oracle.score)
    assert answer.violations == ()
    if not found:
        assert (answer.status, answer.y, answer.score) == (Status.INFEASIBLE, (), -np.inf)
        return
    best, _ = best_of(found)
    assert (answer.status, answer.y, answer.score) == (Status.OPTIMAL, best.y, best.base)


def test_ties_go_to_the_first_labelling_in_declared_order():
    assert viterbi(ChainScores(np.zeros((3, 2)), labels="ba")).y == ("b", "b", "b")
    crossed = ChainScores(np.zeros((2, 2)), [[-1, 0], [0, -1]], labels="ab")
    assert viterbi(crossed).y == ("a", "b")


def test_the_oracle_says_where_it_ends():
    with pytest.raises(TooLarge):
        brute(ChainScores(np.zeros((10, 4))))
