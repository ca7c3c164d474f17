"""Few examples for many columns are learned with a penalty, doubtful fits are reported, and wrong labels are
set aside."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from lcons_core import ConstraintLearner, FitWarning, Recipe
from lcons_core.learn._search import PENALTIES

QUICK = {"restarts": 2, "epochs": 100}


def wide(rows, d=60, seed=0):
    """Sparse 0/1 vectors, of which a planted network accepts about half."""
    draw = np.random.default_rng(seed)
    X = (draw.random((rows, d)) < 0.1).astype(float)
    load = np.maximum(X @ draw.normal(size=(d, 2)), 0).sum(1)
    return X, load <= np.median(load)


def test_with_few_examples_a_penalty_is_chosen_and_helps():
    X, y = wide(1600)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        learner = ConstraintLearner(5, **QUICK).fit(X[:400], y[:400])
    without = ConstraintLearner(5, penalty=0.0, **QUICK).fit(X[:400], y[:400])
    assert learner.configuration_["penalty"] in PENALTIES[1:]
    assert "penalty" not in without.configuration_
    assert learner.score(X[400:], y[400:]) > without.score(X[400:], y[400:]) + 0.01
    assert learner.held_out_accuracy_ == pytest.approx(learner.score(X[400:], y[400:]), abs=0.1)
    assert without.held_out_accuracy_ is None


def test_with_many_examples_nothing_changes():
    X, y = wide(700, d=5)
    X = np.unique(X, axis=0)
    y = X[:, 0] + X[:, 1] <= 1
    auto, none = (ConstraintLearner(2, penalty=one, **QUICK).fit(X, y) for one in ("auto", 0.0))
    assert auto.network_ == none.network_
    assert auto.held_out_accuracy_ is None


def test_a_larger_penalty_leads_to_smaller_weights_on_any_scale_of_psi():
    X, y = wide(200, d=10)
    for scale in (1.0, 64.0):
        learned = (ConstraintLearner(3, penalty=one, **QUICK).fit(scale * X, y) for one in (1e-4, 1e-2, 1e-1))
        sizes = [scale**2 * float((learner.network_.W**2).sum()) for learner in learned]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > 4 * sizes[-1]


@pytest.mark.parametrize("d", [3, 60])
def test_labels_that_are_random_cause_a_warning_with_both_figures(d):
    X, _ = wide(400, d)
    X[:, :3] = np.random.default_rng(1).normal(size=(400, 3))
    y = np.random.default_rng(2).random(400) < 0.5
    learner = ConstraintLearner(1, **QUICK)
    with pytest.warns(FitWarning) as heard:
        learner.fit(X, y)
    assert len(heard) == 1
    assert str(heard[0].message) == learner.fit_warning_
    assert f"{learner.held_out_accuracy_:.1%}" in learner.fit_warning_
    assert 0.3 < learner.held_out_accuracy_ < 0.7
    assert heard[0].filename == __file__


def test_good_fits_and_stated_penalties_cause_no_warning():
    X, y = wide(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ConstraintLearner(2, **QUICK).fit(X, y).fit_warning_ is None
        ConstraintLearner(1, penalty=0.0, **QUICK).fit(X, np.arange(60) % 2 == 0)


POINTS = (np.arange(2**10)[:, None] >> np.arange(10) & 1).astype(float)
# At most one of the first three, and not the last one without the fourth.
ALLOWED = (POINTS[:, :3].sum(1) <= 1) & (POINTS[:, 9] <= POINTS[:, 3])


def test_wrong_labels_are_set_aside():
    draw = np.random.default_rng(0)
    rows = draw.permutation(len(POINTS))[:600]
    noisy = ALLOWED[rows] ^ (draw.random(600) < 0.1)
    settings = {"penalty": 0.0, "class_weight": None, **QUICK}
    plain, robust = (
        ConstraintLearner(4, robust=one, **settings).fit(POINTS[rows], noisy) for one in (False, True)
    )
    assert robust.score(POINTS, ALLOWED) > 0.99
    assert robust.score(POINTS, ALLOWED) >= plain.score(POINTS, ALLOWED)
    wrong = int((noisy != ALLOWED[rows]).sum())
    assert wrong - 3 <= robust.set_aside_ <= wrong + 3
    assert plain.set_aside_ == 0


def test_without_noise_robust_learning_is_learning():
    rows = np.random.default_rng(0).permutation(len(POINTS))[:300]
    plain, robust = (
        ConstraintLearner(4, robust=one, penalty=0.0, **QUICK).fit(POINTS[rows], ALLOWED[rows])
        for one in (False, True)
    )
    assert robust.network_ == plain.network_
    assert robust.set_aside_ == 0


def test_made_negatives_are_learned_without_a_penalty_unless_it_is_stated():
    assert Recipe().learner().penalty == 0.0
    learner = Recipe("ngram", penalty=[1e-3, 0.0], robust=True).learner()
    assert learner.penalty == (1e-3, 0.0)
    assert learner.robust
