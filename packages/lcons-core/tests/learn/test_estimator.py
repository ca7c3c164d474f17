"""`ConstraintLearner` as an estimator: scikit-learn's contract, exactness, reruns, and its errors."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from lcons_core import ConstraintLearner, InvalidInput, MissingExtra, NotFitted, SparsePsi
from lcons_core._arithmetic import is_dyadic

CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
NOT_BOTH = np.array([1, 1, 1, 0])


def ngrams(seed=0, rows=80, size=5):
    """Bigrams of labels in which some successors are forbidden."""
    draw = np.random.default_rng(seed)
    forbidden = draw.random((size, size)) < 0.3
    left, right = draw.integers(0, size, (2, rows))
    psi = np.hstack((np.eye(size)[left], np.eye(size)[right]))
    return psi, ~forbidden[left, right]


# Checks of the words or the type of an error, which is `InvalidInput` here.
WORDS = {
    "check_classifier_not_supporting_multiclass",
    "check_classifiers_regression_target",
    "check_complex_data",
    "check_dtype_object",
    "check_estimators_empty_data_messages",
    "check_estimators_unfitted",
    "check_fit2d_predict1d",
    "check_n_features_in_after_fitting",
    "check_requires_y_none",
    "check_supervised_y_2d",
}


def test_scikit_learn_accepts_it_as_an_estimator():
    with warnings.catch_warnings():
        # It warns that we do not inherit from its BaseEstimator, which is so on purpose.
        warnings.simplefilter("ignore")
        learner = ConstraintLearner(valid=max, restarts=4, epochs=200)
        checks = check_estimator(learner, on_fail=None, on_skip=None)
    failed = {check["check_name"]: check["exception"] for check in checks if check["status"] == "failed"}
    assert set(failed) <= WORDS, failed


# (invalid, valid): in some pairs the valid label is the larger one, in some the smaller one.
PAIRS = [("infeasible", "feasible"), ("bad", "ok"), ("0", "1"), (7, 3)]


@pytest.mark.parametrize("pair", [*PAIRS, (1, 0), (0, 1), (-1, 1), (False, True)])
@pytest.mark.parametrize("in_fit", [True, False])
def test_the_network_accepts_the_label_that_is_stated_to_be_valid(pair, in_fit):
    y = np.array(pair)[NOT_BOTH]
    given = {"valid": pair[1]}
    learner = ConstraintLearner(1, **({} if in_fit else given)).fit(CORNERS, y, **(given if in_fit else {}))
    assert learner.network_.accepts(CORNERS).tolist() == [True, True, True, False]
    assert learner.network_ == ConstraintLearner(1).fit(CORNERS, NOT_BOTH).network_
    assert learner.valid_ == pair[1]
    assert learner.classes_.tolist() == sorted(pair)
    assert learner.predict(CORNERS).tolist() == y.tolist()
    assert ((learner.decision_function(CORNERS) > 0) == (y == max(pair))).all()
    assert learner.score(CORNERS, y) == 1.0


@pytest.mark.parametrize("pair", [*PAIRS, (1, 2)])
def test_other_labels_without_valid_are_refused(pair):
    with pytest.raises(InvalidInput):
        ConstraintLearner(1).fit(CORNERS, np.array(pair)[NOT_BOTH])


@pytest.mark.parametrize("pair", [(-1, 1), (0, 1), (0.0, 1.0), (False, True)])
def test_of_bool_0_1_and_signs_the_larger_means_valid(pair):
    assert ConstraintLearner(1).fit(CORNERS, np.array(pair)[NOT_BOTH]).valid_ == pair[1]


def test_valid_may_be_a_function_of_both_labels():
    assert ConstraintLearner(1).fit(CORNERS, 1 - NOT_BOTH, valid=min).valid_ == 0
    assert ConstraintLearner(1).fit(CORNERS, np.array(["bad", "ok"])[NOT_BOTH], valid=max).valid_ == "ok"


def test_class_weights_belong_to_labels_whichever_is_valid():
    X, y = np.array([[1.0], [1.0], [0.0]]), np.array(["unsafe", "safe", "safe"])
    for weight, verdict in ((3.0, "unsafe"), (0.3, "safe")):
        learner = ConstraintLearner(1, valid="safe", class_weight={"unsafe": weight, "safe": 1.0})
        assert learner.fit(X, y).predict([[1.0]]).tolist() == [verdict]


def test_the_rounded_network_is_the_one_that_predicts():
    X, y = ngrams()
    learner = ConstraintLearner(2).fit(X, y)
    assert is_dyadic(learner.network_.W)
    assert is_dyadic(learner.network_.b)
    np.testing.assert_array_equal(learner.decision_function(X), learner.network_.margin(X))
    np.testing.assert_array_equal(learner.predict(X), learner.network_.accepts(X))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 4))
def test_reruns_are_bit_identical(seed, K):
    X, y = ngrams(seed % 5)
    first, second = (ConstraintLearner(K, seed=seed, epochs=60).fit(X, y) for _ in range(2))
    assert first.network_ == second.network_


def test_dense_sparse_and_index_lists_give_one_result():
    X, y = ngrams(rows=300)
    dense = ConstraintLearner(2, epochs=100).fit(X, y)
    forms = [SparsePsi.from_dense(X), X.tolist(), X.astype(np.float32), X.astype(int)]
    forms += [scipy.sparse.csr_matrix(X), scipy.sparse.coo_array(X), scipy.sparse.lil_matrix(X)]
    for form in forms:
        assert ConstraintLearner(2, epochs=100).fit(form, y).network_ == dense.network_
        np.testing.assert_array_equal(dense.predict(form), dense.predict(X))


def test_order_repeats_and_weights_are_equivalent_exactly():
    X, y = ngrams(1)
    times = np.random.default_rng(0).integers(0, 4, len(X))
    order = np.random.default_rng(1).permutation(int(times.sum()))
    weighted = ConstraintLearner(2, epochs=100).fit(X, y, sample_weight=times)
    repeated = ConstraintLearner(2, epochs=100).fit(X.repeat(times, 0)[order], y.repeat(times)[order])
    assert weighted.network_ == repeated.network_


def test_the_grid_is_searched_and_the_winner_refitted_deterministically():
    X, y = ngrams(2, rows=200, size=8)
    learner = ConstraintLearner([1, 4], learning_rate=[0.001, 0.1], decay=[0.0, 1e-6], cv=3, epochs=100)
    first, second = (clone(learner).fit(X, y) for _ in range(2))
    assert first.network_ == second.network_
    assert first.configuration_ == second.configuration_
    results = first.cv_results_
    assert len(results["params"]) == 8
    assert results["split_test_score"].shape == (8, 3)
    np.testing.assert_array_equal(results["split_test_score"], second.cv_results_["split_test_score"])
    assert results["params"][int(np.argmax(results["mean_test_score"]))] == first.configuration_
    assert first.configuration_["hidden"] == first.network_.K


def test_auto_hidden_stays_small_where_one_unit_is_enough():
    draw = np.random.default_rng(0)
    X = (draw.random((120, 6)) < 0.5).astype(float)
    learner = ConstraintLearner("auto", cv=3, epochs=200, restarts=2).fit(X, X[:, 0] + X[:, 1] <= 1)
    assert learner.network_.K == 1


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0, np.nan], [1, 0], [0, 1], [1, 1]], NOT_BOTH),
        ([0, 1, 0, 1], NOT_BOTH),
        (np.zeros((4, 0)), NOT_BOTH),
        (np.zeros((0, 2)), NOT_BOTH),
        (CORNERS * 1j, NOT_BOTH),
        ([["a", "b"]] * 4, NOT_BOTH),
        ([[0, 1], [1], [0, 1], [1, 1]], NOT_BOTH),
        (CORNERS, None),
        (CORNERS, [1, 1, 1, 1]),
        (CORNERS, [0, 1, 2, 0]),
        (CORNERS, [0, 1, 0]),
        (CORNERS, [0.0, 1.0, np.nan, 0.0]),
        (CORNERS, np.array([0, "a", None, 1], dtype=object)),
    ],
)
def test_bad_examples_are_refused(X, y):
    with pytest.raises(InvalidInput):
        ConstraintLearner(1).fit(X, y)


@pytest.mark.parametrize("weights", [[1, 1], [1, 1, 1, -1], [1, 1, 1, np.nan], [1, 1, 1, 0], ["a"] * 4])
def test_bad_weights_are_refused(weights):
    with pytest.raises(InvalidInput):
        ConstraintLearner(1).fit(CORNERS, NOT_BOTH, sample_weight=weights)


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "hidden": [0, -1, 1.5, True, 10**9, [], "some", [2, 0]],
        "seed": [-1, None],
        "restarts": [0, "many"],
        "learning_rate": [0.0, np.nan, []],
        "decay": [-1e-7],
        "penalty": ["some", -1.0, np.nan, []],
        "epochs": [0],
        "patience": [0],
        "class_weight": ["heavy", {0: -1.0}],
        "cv": [1, 3],
        "valid": ["ok", 2],
    }.items(),
)
def test_bad_settings_are_refused_and_nothing_is_fitted(name, values):
    for value in values:
        learner = ConstraintLearner(**{"hidden": [1, 2], name: value})
        with pytest.raises(InvalidInput):
            learner.fit(CORNERS, NOT_BOTH)
        assert not hasattr(learner, "network_")
    with pytest.raises(InvalidInput):
        ConstraintLearner().set_params(width=1)


def test_another_width_and_use_before_fit_are_refused():
    with pytest.raises(NotFitted):
        ConstraintLearner().predict(CORNERS)
    with pytest.raises(InvalidInput):
        ConstraintLearner(1).fit(CORNERS, NOT_BOTH).predict(np.zeros((1, 3)))


def test_without_torch_one_sentence_names_it(monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("lcons_core.learn", "lcons_core.torch"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="pip install torch"):
        ConstraintLearner().fit(CORNERS, NOT_BOTH)
    with pytest.raises(MissingExtra, match="pip install torch"):
        import lcons_core.torch  # noqa: F401


def test_importing_the_learner_loads_neither_torch_nor_scikit_learn():
    code = "import sys, lcons_core.learn._estimator; print({'torch', 'sklearn', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_progress_is_called_at_checks_with_what_the_best_network_reaches():
    seen = []
    X, y = ngrams()
    ConstraintLearner(hidden=4, restarts=4, epochs=200, progress=seen.append).fit(X, y)
    assert [call.epoch for call in seen] == sorted({call.epoch for call in seen})
    assert all(0 <= call.accuracy <= 1 and call.loss > 0 for call in seen)
    assert seen[-1].accuracy >= seen[0].accuracy
