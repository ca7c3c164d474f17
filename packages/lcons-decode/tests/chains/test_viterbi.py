"""viterbi finds the best labelling, and the first one if there are several."""

import numpy as np
import pytest
from chain_strategies import best_of, chains, enumerated
from hypothesis import given, settings

from lcons_core import TooLarge
from lcons_decode import ChainScores, Status, brute, viterbi
from lcons_decode.chains._brute import labellings


@settings(max_examples=80, deadline=None)
@given(chains())
def test_viterbi_is_the_first_best_of_the_enumeration_and_of_brute(scores):
    answer, oracle, found = viterbi(scores), brute(scores), enumerated(scores)
    assert (answer.status, answer.y, answer.score) == (oracle.status, oracle.y, oracle.score)
    finite = [(each.y, each.score) for each in labellings(scores) if each.score > -np.inf]
    assert finite == [(each.y, each.base) for each in found]
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


def test_empty_sequences_one_token_and_one_label():
    assert viterbi(ChainScores(np.zeros((0, 3)))).y == ()
    assert viterbi(ChainScores(np.zeros((0, 3)), start=[-np.inf] * 3)).status is Status.OPTIMAL
    one = viterbi(ChainScores([[1.0, 2.0]], start=[4.0, 0.0], stop=[0.0, 1.0], labels="ab"))
    assert (one.y, one.score) == (("a",), 5.0)
    assert viterbi(ChainScores(np.ones((4, 1)), [[-2.0]])).score == 4 - 6


@pytest.mark.parametrize("name", ["emission", "transition", "start", "stop"])
def test_where_everything_is_forbidden_nothing_is_found(name):
    shapes = {"emission": (2, 2), "transition": (2, 2), "start": (2,), "stop": (2,)}
    arrays = {key: np.zeros(shape) for key, shape in shapes.items()} | {name: np.full(shapes[name], -np.inf)}
    answer = viterbi(ChainScores(**arrays))
    assert (answer.y, answer.score, answer.status) == ((), -np.inf, Status.INFEASIBLE)


def test_the_oracle_says_where_it_ends():
    with pytest.raises(TooLarge):
        brute(ChainScores(np.zeros((10, 4))))
