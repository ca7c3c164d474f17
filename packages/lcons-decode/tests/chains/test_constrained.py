"""constrained_viterbi is exact for any number of hard and soft constraints of any n."""

import numpy as np
import pytest
from chain_strategies import (
    TOLERANCE,
    agree,
    best_of,
    enumerated,
    global_uses,
    hard_problems,
    is_soft,
    problems,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork
from lcons_core.features import NgramLabels
from lcons_decode import (
    ChainConstraints,
    ChainScores,
    Hard,
    Soft,
    Status,
    brute,
    constrained_viterbi,
    forbidden_ngrams,
)

quick = settings(max_examples=70, deadline=None)


def with_a_new_label(scores, more):
    """The same scores with one more label, `new`, at the end."""
    T = len(scores)
    rng = np.random.default_rng(more)
    pad = {"emission": ((0, 0), (0, 1)), "transition": ((0, 1), (0, 1)), "start": (0, 1), "stop": (0, 1)}
    arrays = {name: np.pad(getattr(scores, name), width) for name, width in pad.items()}
    arrays["emission"][:, -1] = rng.integers(-3, 4, T)
    return ChainScores(**arrays, labels=(*scores.labels, "new"))


@quick
@given(problems(max_T=4, max_L=3, max_n=3), st.integers(0, 99))
def test_windows_with_an_unknown_label_are_allowed_at_the_least_cost(problem, more):
    scores, uses, x = problem
    wider = with_a_new_label(scores, more)
    answer, oracle = constrained_viterbi(wider, uses, x), brute(wider, uses, x)
    assert answer.status == oracle.status
    assert answer.score == pytest.approx(oracle.score, abs=TOLERANCE)
    assert len(answer.violations) == len(oracle.violations)
    compiled = ChainConstraints.of(uses, wider.labels)
    y = ["new"] * len(wider)
    assert compiled.violations(y, x) == ()
    least = {"sigmoid": np.log1p(np.exp(-1.0)), "hinge": 0.0, "standard": 0.0}
    most = [-use.weight * least[use.cost] for use in uses if isinstance(use, Soft)]
    windows = [local.feature.window_count(len(y)) for local in compiled.soft]
    assert compiled.penalty(y, x) == pytest.approx(sum(a * b for a, b in zip(most, windows, strict=True)))


@settings(max_examples=200, deadline=None)
@given(st.one_of(hard_problems, problems(min_uses=0), problems(kinds=("soft",))))
def test_it_is_the_best_of_the_enumeration_and_of_brute(problem):
    scores, uses, x = problem
    answer, oracle, found = constrained_viterbi(*problem), brute(*problem), enumerated(*problem)
    assert answer.status is oracle.status
    if not found:
        assert (answer.status, answer.y, answer.score) == (Status.INFEASIBLE, (), -np.inf)
        assert answer.violations == ()
        return
    best, unique = best_of(found)
    own = next(each for each in found if each.y == answer.y)
    assert answer.status is (Status.RELAXED if best.violations else Status.OPTIMAL)
    assert set(answer.violations) == set(own.violations)
    assert len(answer.violations) == len(own.violations) == len(best.violations)
    assert agree(answer.score, best.score, uses)
    assert agree(answer.score, own.score, uses)
    assert agree(answer.score, oracle.score, uses)
    penalty = ChainConstraints.of(uses, scores.labels).penalty(answer.y, x)
    assert abs(scores.score(answer.y) + penalty - answer.score) <= TOLERANCE
    if not is_soft(uses):
        assert (answer.y, answer.violations) == (oracle.y, oracle.violations)
    if unique or not is_soft(uses):
        assert answer.y == best.y


def test_a_constraint_longer_than_the_sequence_says_nothing_unless_it_pads():
    scores = ChainScores([[1.0, 0.0], [1.0, 0.0]], labels="ab")
    assert constrained_viterbi(scores, [forbidden_ngrams("ab", ["aaaa"])]).y == ("a", "a")
    start = ("(start)",) * 3
    padded = forbidden_ngrams("ab", [(*start, "a")], pad=True)
    assert constrained_viterbi(scores, [padded]).y == ("b", "a")
    soft = Soft(forbidden_ngrams("ab", ["aaaa"]), 5.0)
    assert constrained_viterbi(scores, [soft]).score == 2.0


def test_a_constraint_is_broken_before_a_forbidden_score_is_used():
    scores = ChainScores([[0.0, -np.inf]], labels="ab")
    answer = constrained_viterbi(scores, [Hard(forbidden_ngrams("ab", ["a"]), "no a")])
    assert (answer.y, answer.status) == (("a",), Status.RELAXED)


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_global_constraints_are_refused_with_the_way_out(data):
    use = data.draw(global_uses(("a", "b")))
    with pytest.raises(InvalidInput, match=r"accepts only local constraints; use decode_global or the ILP"):
        constrained_viterbi(ChainScores([[0.0, 1.0]], labels="ab"), [use])


def test_a_tie_with_the_best_labelling_without_costs_goes_to_the_first_in_declared_order():
    """The search under soft constraints starts at b, whose cost makes it as good as a."""
    feature = NgramLabels(("a", "b"), 1)
    costs_one = Soft(
        LearnedConstraint(RectifierNetwork([[0.0, 2.0]], [0.0]), feature.space, feature), 1.0, "c", "hinge"
    )
    assert constrained_viterbi(ChainScores([[0.0, 1.0]], labels=["a", "b"]), [costs_one]).y == ("a",)
