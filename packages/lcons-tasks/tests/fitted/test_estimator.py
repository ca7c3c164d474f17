"""`ConstrainedTaggerCV` is an estimator for scikit-learn's tools, and the same tagger as `fit`."""

import pytest
from made_up_drugs import corpus, text
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.utils.validation import check_is_fitted

from lcons_core import InvalidInput
from lcons_tasks import ConstrainedTaggerCV, FitSettings, fit

TRAIN, TEXT = corpus(24), text(60)
X, Y = [list(s.words) for s in TRAIN], [list(s.labels) for s in TRAIN]


@pytest.fixture(scope="module")
def fitted():
    return ConstrainedTaggerCV(unlabelled=TEXT, folds=2).fit(X, Y)


def test_it_is_the_tagger_of_fit(fitted):
    expected = fit(TRAIN, TEXT, FitSettings(folds=2))
    words = [list(s.words) for s in corpus(20, seed=5)]
    assert fitted.predict(words) == [list(answer.y) for answer in expected.tag(words)]
    assert fitted.fitted_.to_dict() == expected.to_dict()
    assert fitted.classes_ == ("B-DRUG", "I-DRUG", "O")


def test_the_score_is_span_f1_or_accuracy_from_0_to_1(fitted):
    assert 0.5 < fitted.score(X, Y) <= 1
    assert fitted.score(X, fitted.predict(X)) == 1
    assert fitted.score(X, [["B-OTHER"] * len(y) for y in Y]) == 0
    plain = [["X" if label == "O" else "Y" for label in y] for y in Y]
    tagger = ConstrainedTaggerCV(parts=(), folds=2).fit(X, plain)
    assert 0.8 < tagger.score(X, plain) <= 1


def test_scikit_learn_can_cross_validate_and_search():
    tagger = ConstrainedTaggerCV(parts=("scheme",), folds=2)
    scores = cross_val_score(tagger, X, Y, cv=KFold(2))
    assert scores.shape == (2,)
    assert all(0 <= score <= 1 for score in scores)
    search = GridSearchCV(tagger, {"base": ["crf", "token"]}, cv=KFold(2), refit=False).fit(X, Y)
    assert search.best_params_["base"] in ("crf", "token")


def test_a_clone_has_the_settings_and_is_not_fitted(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert copy.set_params(folds=3).folds == 3
    check_is_fitted(fitted)
    with pytest.raises(InvalidInput):
        copy.predict(X)


def test_wrong_input_is_an_error_that_says_what_to_do():
    tagger = ConstrainedTaggerCV(folds=2)
    with pytest.raises(InvalidInput):
        tagger.set_params(magic=1)
    with pytest.raises(InvalidInput):
        tagger.fit(X, Y[:1])
    with pytest.raises(InvalidInput):
        tagger.fit(["a text", "another"], [["O"], ["O"]])
