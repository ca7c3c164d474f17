"""`ConstrainedCRF` over sklearn-crfsuite: the CRF itself without constraints, enumeration under them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn_crfsuite import CRF

from lcons_contrib.crf_libraries import CrfsuiteScores
from lcons_contrib.crf_libraries.sklearn import ConstrainedCRF
from lcons_core import InvalidInput, iob2, learn_constraints
from lcons_decode import brute, forbidden_ngrams
from lcons_decode.chains._brute import labellings

pytestmark = pytest.mark.integrations

LABELS = ("B-X", "I-X", "O")


def sentences(count: int, seed: int = 0):
    """Items with few attributes and labels that follow them loosely, so that a CRF is often wrong."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        labels, words = [], []
        for _ in range(int(rng.integers(1, 7))):
            before = labels[-1] if labels else "O"
            label = str(rng.choice(LABELS if before != "O" else ("B-X", "O")))
            labels.append(label)
            shown = label[0] if rng.random() < 0.7 else rng.choice(["B", "I", "O"])
            words.append({"word": f"{shown}{rng.integers(3)}", "bias": 1.0})
        X.append(words)
        y.append(labels)
    return X, y


# The second one is wrong of the data, so that it changes answers of the CRF.
UNDER = [iob2(LABELS), forbidden_ngrams(LABELS, [("O", "O"), ("B-X", "I-X")])]
X, Y = sentences(60)
NEW, GOLD = sentences(40, seed=1)


def crf(**settings):
    return CRF(algorithm="lbfgs", c2=0.5, max_iterations=20, **settings)


def learned(y):
    """Function of training labels, for cross-validation."""
    return [iob2(sorted({label for labels in y for label in labels}))]


@pytest.fixture(scope="module")
def fitted():
    return ConstrainedCRF(crf(), UNDER).fit(X, Y)


def test_without_constraints_it_is_the_crf():
    plain = ConstrainedCRF(crf()).fit(X, Y)
    alone = crf().fit(X, Y)
    assert plain.predict(NEW).tolist() == alone.predict(NEW).tolist()
    for own, theirs in zip(plain.predict_marginals(NEW), alone.predict_marginals(NEW), strict=True):
        for a, b in zip(own, theirs, strict=True):
            assert a == pytest.approx(b, abs=1e-5)


def test_under_constraints_it_is_enumeration(fitted):
    reader = CrfsuiteScores(fitted.crf_.tagger_)
    changed = 0
    for xseq, found in zip(NEW, fitted.predict(NEW), strict=True):
        best = brute(reader.scores(xseq), UNDER)
        assert tuple(found) == best.y
        assert all(constraint.satisfied(found) for constraint in UNDER)
        changed += list(best.y) != fitted.crf_.predict_single(xseq)
    assert changed > 3


def test_marginals_under_constraints_are_those_of_enumeration(fitted):
    reader = CrfsuiteScores(fitted.crf_.tagger_)
    for xseq, found in zip(NEW[:15], fitted.predict_marginals(NEW[:15]), strict=True):
        scores = reader.scores(xseq)
        total = {label: np.zeros(len(xseq)) for label in LABELS}
        for one in labellings(scores, UNDER):
            if not one.violations:
                for t, label in enumerate(one.y):
                    total[label][t] += np.exp(one.score)
        Z = sum(column for column in total.values())
        for t, row in enumerate(found):
            assert row == pytest.approx({label: total[label][t] / Z[t] for label in LABELS}, abs=1e-9)


def test_it_clones_and_is_cross_validated_with_constraints_of_each_training_part():
    own = ConstrainedCRF(crf(), learned)
    assert clone(own).get_params(deep=False)["constraints"] is learned
    scores = cross_val_score(own, X, Y, cv=KFold(3))
    by_hand = [
        ConstrainedCRF(crf(), learned)
        .fit([X[i] for i in train], [Y[i] for i in train])
        .score([X[i] for i in test], [Y[i] for i in test])
        for train, test in KFold(3).split(X)
    ]
    assert scores.tolist() == by_hand


def test_learned_constraints_and_columns_of_items():
    words = [({"word": [item["word"] for item in x]}, y) for x, y in zip(X, Y, strict=True)]
    by_word = learn_constraints(words, "word", n=1)
    with pytest.raises(InvalidInput):
        ConstrainedCRF(crf(), [by_word]).fit(X, Y).predict(NEW)
    under = ConstrainedCRF(crf(), [by_word], columns={"word": "word"}).fit(X, Y)
    assert len(under.predict(NEW)) == len(NEW)
    assert len(under.predict_marginals(NEW[:1])[0]) == len(NEW[0])
