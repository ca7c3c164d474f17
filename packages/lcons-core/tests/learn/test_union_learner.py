"""The learner of unions: what one network cannot learn, M chosen on held-out data, and its inputs."""

from __future__ import annotations

import numpy as np
import pytest

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LabelledExamples,
    LearnedConstraint,
    NotFitted,
    RectifierNetwork,
    Union,
    UnionLearner,
    count,
    learn_from_examples,
    lift_union,
    verify,
)
from lcons_core.learn import _union as module

GRID = np.array([[x, y] for x in range(9) for y in range(9)], dtype=float)


def none_or_four(psi):
    return ((psi[:, 0] == 0) | (psi[:, 0] >= 4)) & (psi.sum(1) <= 12)


def two_boxes(psi):
    return ((psi >= 1) & (psi <= 3)).all(1) | ((psi >= 5) & (psi <= 7)).all(1)


@pytest.mark.parametrize("valid", [none_or_four, two_boxes])
def test_a_union_learns_what_one_network_cannot(valid):
    learner = UnionLearner(members=2, hidden=6, restarts=8).fit(GRID, valid(GRID))
    assert isinstance(learner.network_, Union)
    assert learner.score(GRID, valid(GRID)) == 1.0
    assert learner.configuration_["members"] == 2
    alone = UnionLearner(members=1, hidden=12, restarts=8).fit(GRID, valid(GRID))
    assert isinstance(alone.network_, RectifierNetwork)
    assert alone.score(GRID, valid(GRID)) < 0.95


def test_the_learned_forms_are_exact_and_the_same_seed_gives_the_same_bits():
    space = FeatureSpace([count("order", ["x", "y"], high=8)])
    first, again = (UnionLearner(members=2, hidden=3, restarts=4, seed=5) for _ in range(2))
    y = none_or_four(GRID)
    assert first.fit(GRID, y).network_ == again.fit(GRID[::-1], y[::-1]).network_
    found = verify(first, space)
    assert found.ok
    assert found.members == 2
    assert not found.rounding_differences
    assert lift_union(first, space).M == 2
    assert np.array_equal(first.predict(GRID), first.network_.accepts(GRID))
    assert np.array_equal(first.decision_function(GRID) >= 0, first.predict(GRID))


def test_the_valid_label_is_stated_by_name():
    y = np.where(none_or_four(GRID), "feasible", "infeasible")
    with pytest.raises(InvalidInput, match="the argument `valid`"):
        UnionLearner(members=2, hidden=3, restarts=4).fit(GRID, y)
    learner = UnionLearner(members=2, hidden=3, restarts=4).fit(GRID, y, valid="feasible")
    assert learner.valid_ == "feasible"
    assert np.array_equal(learner.network_.accepts(GRID), none_or_four(GRID))
    assert learner.score(GRID, y) == learner.training_accuracy_ == 1.0


def test_the_number_of_members_is_chosen_on_held_out_points():
    learner = UnionLearner(members=[1, 2], hidden=3, restarts=4, cv=3, epochs=800).fit(
        GRID, none_or_four(GRID)
    )
    assert learner.configuration_["members"] == 2
    means = learner.cv_results_["mean_test_score"]
    assert means[0] < 0.95 < means[1]
    assert [point["members"] for point in learner.cv_results_["params"]] == [1, 2]


def test_one_network_is_preferred_and_ends_the_search_where_it_is_enough():
    y = GRID[:, 0] >= 3
    learner = UnionLearner(hidden=2, restarts=4, cv=3).fit(GRID, y)
    assert learner.configuration_["members"] == 1
    assert isinstance(learner.network_, RectifierNetwork)
    assert len(learner.cv_results_["params"]) == 1


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ([[0.9, 0.9], [0.9, 0.9]], 0),
        ([[0.90, 0.90], [0.95, 0.99]], 1),  # the best is 0.97 with an error of 0.02
        ([[0.94, 0.96], [0.95, 0.99], [0.9, 0.9]], 0),
        ([[0.5, 0.5], [1.0, 1.0], [1.0, 1.0]], 1),
    ],
)
def test_the_smallest_number_within_one_standard_error(scores, chosen):
    assert module._smallest_within_one_error(np.array(scores)) == chosen


def test_columns_are_centred_by_whole_numbers_and_scaled_by_powers_of_two():
    psi = module.checked_psi([[0.0, 100.0, 5.0], [1.0, 108.0, 5.0], [1.0, 92.0, 5.0]])  # type: ignore[attr-defined]
    scale, centre = module._standard(psi)
    assert scale.tolist() == [1.0, 8.0, 1.0]
    assert centre.tolist() == [0.0, 12.0, 5.0]
    assert module._scaled(psi, scale, centre).dense().tolist() == [[0, 0.5, 0], [1, 1.5, 0], [1, -0.5, 0]]


def test_offsets_and_scales_do_not_matter():
    psi = GRID * np.array([2.0**-12, 512.0]) + np.array([0.0, 2.0**17])
    learner = UnionLearner(members=2, hidden=3, restarts=4).fit(psi, none_or_four(GRID))
    assert learner.score(psi, none_or_four(GRID)) == 1.0


def test_a_union_is_learned_from_labelled_examples():
    space = FeatureSpace([count("order", ["x", "y"], high=8)])
    valid = none_or_four(GRID)
    examples = LabelledExamples.of(space, GRID[valid], GRID[~valid])
    constraint = learn_from_examples(examples, UnionLearner(members=2, hidden=3, restarts=4))
    assert isinstance(constraint, LearnedConstraint)
    assert np.array_equal(constraint.accepts(GRID), valid)
    assert constraint.provenance["config"]["members"] == 2


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"members": "some"}, '"auto"'),
        ({"members": []}, "at least one M"),
        ({"members": 0}, "at least 1"),
        ({"members": 65}, "at most 64"),
        ({"hidden": [2, 3]}, "one hidden"),
        ({"learning_rate": [0.1, 0.2]}, "one learning_rate"),
    ],
)
def test_settings_are_checked(settings, match):
    with pytest.raises(InvalidInput, match=match):
        UnionLearner(**settings).fit(GRID, none_or_four(GRID))


def test_the_interface_is_that_of_an_estimator():
    learner = UnionLearner(members=3, seed=2)
    assert learner.get_params()["members"] == 3
    assert repr(learner.set_params(hidden=4)) == "UnionLearner(members=3, hidden=4, seed=2)"
    with pytest.raises(NotFitted):
        learner.predict(GRID)
    with pytest.raises(InvalidInput, match="positive weight"):
        learner.fit(GRID, none_or_four(GRID), sample_weight=none_or_four(GRID).astype(float))
