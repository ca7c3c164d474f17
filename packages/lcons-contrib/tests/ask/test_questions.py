"""Questions settle every combination, by the answers and nothing else, and are few."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_contrib.ask.questions import ask
from lcons_core import LearnedConstraint, RectifierNetwork, Rules, TooLarge, compare
from lcons_core.features import NgramLabels, Tuples

PAIRS = Tuples(("source", "relation"), (("A", "B", "C", "D"), ("k", "l", "m", "n", "o")))
TRIPLES = Tuples(("x", "y", "z"), (("A", "B"), ("k", "l", "m"), ("1", "2")))


def all_points(space):
    return np.concatenate(list(space.points()))


def oracle(space, valid, wrong=()):
    """Answers by the truth; `wrong` are the numbers of answers that are not true."""
    points, number = all_points(space), iter(range(10**6))

    def answer(question):
        return bool((valid & question.box.contains(space, points)).any()) != (next(number) in wrong)

    return answer


@st.composite
def truths(draw):
    feature = draw(st.sampled_from([PAIRS, TRIPLES]))
    points = all_points(feature.space)
    valid = np.array(draw(st.lists(st.booleans(), min_size=len(points), max_size=len(points))))
    seen = valid & np.array(draw(st.lists(st.booleans(), min_size=len(points), max_size=len(points))))
    axes = feature.space.axes
    tuples = [tuple(a.values[v] for a, v in zip(axes, p, strict=True)) for p in points[seen].tolist()]
    return feature, valid, [[one] for one in tuples for _ in range(draw(st.integers(1, 3)))]


@settings(max_examples=12)
@given(truth=truths())
def test_the_constraint_is_the_truth_and_each_question_adds_something(truth):
    feature, valid, structures = truth
    found = ask(feature, structures, oracle(feature.space, valid))
    points = all_points(feature.space)
    assert np.array_equal(found.constraint.network.verdicts(feature.space, points), valid)
    assert not found.open
    assert found.shown + found.answered + found.implied == valid.sum()
    assert found.invalid == (~valid).sum()
    boxes = [question.box for question, _ in found.replies]
    assert len(set(boxes)) == len(boxes)
    assert all(question.open > 0 for question, _ in found.replies)


def test_one_answer_settles_a_box_and_what_is_left_of_a_clause_is_implied():
    shown = [[("A", "k"), ("B", "k"), ("C", "k"), ("D", "k"), ("A", "l"), ("A", "m"), ("A", "n")]] * 5
    truth = Rules(PAIRS.space).needs({"relation": ["l", "m", "n", "o"]}, {"source": "A"})
    valid = truth.contains(all_points(PAIRS.space))
    found = ask(PAIRS, shown, oracle(PAIRS.space, valid))
    assert compare(found.constraint, truth).equal
    assert len(found.replies) <= 4  # of 13 open combinations
    assert found.to_dict()["invalid"] == 12


@pytest.mark.parametrize("wrong", [{0}, {1}, {2}, {0, 5}])
def test_wrong_answers_are_outvoted(wrong):
    shown = [[("A", "k"), ("B", "k"), ("A", "l")]] * 3
    valid = Rules(PAIRS.space).needs({"relation": "l"}, {"source": "A"}).contains(all_points(PAIRS.space))
    found = ask(PAIRS, shown, oracle(PAIRS.space, valid, wrong), lead=3)
    assert np.array_equal(found.constraint.network.verdicts(PAIRS.space, all_points(PAIRS.space)), valid)


def test_unsure_answers_leave_combinations_open_as_they_were():
    nothing = LearnedConstraint(
        RectifierNetwork(np.zeros((1, PAIRS.space.d)), [2.0]), PAIRS.space, PAIRS, {"seed": 1}
    )
    found = ask(nothing, [[("A", "k")]], lambda question: None)
    assert len(found.open) == 19
    assert [found.constraint.satisfied([pair]) for pair in (("A", "k"), ("B", "k"))] == [True, False]
    assert found.constraint.provenance["seed"] == 1
    assert len(ask(PAIRS, [[("A", "k")]], lambda question: False, most=1).replies) == 1
    with pytest.raises(TooLarge):
        ask(NgramLabels([f"L{i}" for i in range(200)], n=2), [], lambda question: True)
