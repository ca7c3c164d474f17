"""Rows of known solutions in programs, and questions to an oracle, against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lcons_contrib.oracle import (
    TrustRegion,
    equality_hull,
    optimise_with_oracle,
    outer_polytope,
    with_region,
    with_rows,
)
from lcons_contrib.oracle._search import allowance_at, allowing
from lcons_core import FeatureSpace, InvalidInput, LearnedConstraint, RectifierNetwork, binary
from lcons_core.testing import conjunctions, networks
from lcons_decode import Status
from lcons_decode.ilp import Program, Variable, solve

Array = np.ndarray[Any, np.dtype[np.float64]]
D = 4
CUBE = np.array(list(product((0.0, 1.0), repeat=D)))
ANYTHING = RectifierNetwork(np.zeros((1, D)), [0.0])
NOTHING = RectifierNetwork(np.zeros((1, D)), [2.0])

objectives = arrays(np.float64, D, elements=st.integers(-9, 9).map(float))
some_points = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.just(D)), elements=st.sampled_from([0.0, 1.0])
)


def program(c: Array) -> Program:
    """Any 0/1 point, maximising c."""
    return Program({j: Variable(j, float(c[j])) for j in range(D)})


@settings(max_examples=25)
@given(some_points, st.integers(0, 2), objectives)
def test_a_region_in_a_program_has_the_optimum_of_enumeration(points: Array, radius: int, c: Array) -> None:
    region = TrustRegion(points, radius)
    found = solve(with_region(program(c), region, range(D)))
    assert region.accepts([found.values[j] for j in range(D)])
    assert found.score == (CUBE[region.accepts(CUBE)] @ c).max()


@settings(max_examples=25)
@given(some_points, objectives, objectives)
def test_rows_and_equations_in_a_program_have_the_optimum_of_enumeration(
    points: Array, c: Array, other: Array
) -> None:
    outer = outer_polytope([other], points[(points @ other).argmax()][None])
    hull = equality_hull(points)
    found = solve(with_rows(with_rows(program(c), outer, range(D)), hull, range(D), "hull"))
    inside = outer.holds(CUBE) & hull.holds(CUBE)
    assert found.score == (CUBE[inside] @ c).max()


@given(st.one_of(networks(max_K=3, d=D), conjunctions(2, 2, d=D)), st.integers(-48, 48))
def test_a_network_accepts_exactly_what_the_allowance_allows(network: Any, level: int) -> None:
    allowance = allowance_at(level)
    wider = allowing(network, allowance)
    for psi in CUBE:
        assert wider.accepts(psi) == (1 - network.rational_margin(psi) <= Fraction(allowance))


@settings(max_examples=25)
@given(networks(max_K=2, d=D), objectives, st.integers(0, 2**16 - 1), st.booleans())
def test_with_enough_questions_the_true_optimum_is_found_whatever_was_learned(
    network: RectifierNetwork, c: Array, mask: int, maximise: bool
) -> None:
    feasible = np.array([bool(mask >> i & 1) for i in range(len(CUBE))])
    answers = {point.tobytes(): bool(y) for point, y in zip(CUBE, feasible, strict=True)}
    asked: list[bytes] = []

    def oracle(point: Array) -> bool:
        asked.append(point.tobytes())
        return answers[point.tobytes()]

    found = optimise_with_oracle(c, network, oracle, maximise=maximise)
    assert found.status is Status.OPTIMAL
    assert len(set(asked)) == len(asked) == len(found.questions)
    if not feasible.any():
        assert found.point is None
        return
    values = CUBE[feasible] @ c
    assert found.value == (values.max() if maximise else values.min()) == found.point @ c
    assert [answers[question.point.tobytes()] for question in found.questions] == [
        question.feasible for question in found.questions
    ]


def test_rejections_make_the_search_cautious_and_nothing_left_makes_it_bold() -> None:
    network = RectifierNetwork([[1.0, 1.0, 1.0, 1.0]], [-2.0])  # the sum is the number of ones above two
    strict = optimise_with_oracle([4, 3, 2, 1], network, lambda point: point.sum() <= 2, questions=2)
    # One step below 1, only two ones are left: the optimum at once.
    assert [(one.allowance, one.feasible) for one in strict.questions] == [
        (1.0, False),
        (allowance_at(-1), True),
    ]
    assert strict.value == 7.0
    lenient = optimise_with_oracle([4, 3, 2, 1], network, lambda point: True, questions=2)
    assert [(one.allowance, one.feasible) for one in lenient.questions] == [(1.0, True), (2.0, True)]
    assert lenient.value == 10.0
    assert lenient.status is Status.OPTIMAL


def test_known_points_are_never_asked_and_the_best_one_is_improved_on() -> None:
    X = np.array([[1.0, 1, 1, 1], [1, 1, 0, 0]])
    asked: list[list[float]] = []

    def oracle(point: Array) -> bool:
        asked.append(point.tolist())
        return bool(point.sum() <= 2)

    found = optimise_with_oracle([4, 3, 2, 1], ANYTHING, oracle, X=X, y=[False, True])
    assert found.value == 7.0
    assert found.status is Status.OPTIMAL
    assert [1.0, 1.0, 1.0, 1.0] not in asked
    assert all(np.dot(point, [4, 3, 2, 1]) > 7 for point in asked)
    assert optimise_with_oracle([4, 3, 2, 1], NOTHING, oracle, X=X, y=[False, True], questions=0).value == 7.0


def test_the_search_stays_within_the_given_sets() -> None:
    region = TrustRegion([[0, 0, 0, 0], [1, 1, 1, 1]], 1)
    hull = equality_hull([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]])
    outer = outer_polytope([[1, 1, 1, 1]], [[1, 0, 0, 0]])
    X, y = CUBE, np.ones(len(CUBE), dtype=bool)
    found = optimise_with_oracle([-1, 3, 2, 1], ANYTHING, lambda point: True, within=[region, hull, outer])
    assert found.point is not None
    assert found.point.tolist() == [1.0, 0.0, 0.0, 0.0]
    known = optimise_with_oracle([-1, 3, 2, 1], ANYTHING, bool, X=X, y=y, within=[region, hull, outer])
    assert known.point is not None
    assert (known.point.tolist(), list(known.questions)) == ([1.0, 0.0, 0.0, 0.0], [])


def test_fractions_in_the_objective_are_improved_on_by_a_step() -> None:
    network = RectifierNetwork([[1.0, 1.0, 1.0, 1.0]], [-1.0])
    found = optimise_with_oracle([0.1, 0.2, 0.3, 0.4], network, lambda point: point.sum() <= 2)
    assert found.point is not None
    assert found.point.tolist() == [0.0, 0.0, 1.0, 1.0]
    asked = optimise_with_oracle([0.1, 0.2, 0.3, 0.4], network, lambda point: point.sum() <= 2, step=0.5)
    assert len(asked.questions) < len(found.questions)


def test_a_constraint_is_as_good_as_its_network() -> None:
    constraint = LearnedConstraint(ANYTHING, FeatureSpace([binary("z", list("abcd"))]))
    found = optimise_with_oracle(np.ones(D), constraint, lambda point: True)
    assert found.value == 4.0
    for objective, options in (([1.0, 2.0], {}), (np.ones(D), {"X": CUBE}), (np.ones(D), {"step": 0.0})):
        with pytest.raises(InvalidInput):
            optimise_with_oracle(objective, constraint, lambda point: True, **options)


def test_answers_are_learned_from() -> None:
    seen: list[tuple[int, int]] = []

    def learn(points: Array, answers: Any) -> RectifierNetwork:
        seen.append((len(points), int(answers.sum())))
        return RectifierNetwork([[1.0, 1.0, 1.0, 1.0]], [-1.0])  # at most two ones, as the oracle

    options: dict[str, Any] = {"learn": learn, "every": 2, "questions": 3}
    found = optimise_with_oracle([4, 3, 2, 1], ANYTHING, lambda point: point.sum() <= 2, **options)
    assert seen == [(2, 0)]
    assert found.settled
    assert found.network.b.tolist() == [-1.0]


def test_a_time_limit_ends_the_search_with_the_best_known_point() -> None:
    X, y = CUBE[:1], np.array([True])
    found = optimise_with_oracle(np.ones(D), ANYTHING, lambda point: False, X=X, y=y, time_limit=0.0)
    assert found.status is Status.TIME_LIMIT
    assert found.value == 0.0
