"""The structured SVM finds what enumeration and an independent solver find, and its gap is P - D."""

import random
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from lcons_core import InvalidInput, LconsError
from lcons_decode.chains._viterbi import viterbi_batch
from lcons_tasks.data import Sentence
from lcons_tasks.models._chain_svm import ChainProblem, train_chain_svm
from lcons_tasks.models._structured_svm import EVERY, SvmSettings, train_svm
from lcons_tasks.models.phi._templates import TEMPLATES, attribute_rows

ROUNDING = 1e-9
WORDS = ["the", "a", "dog", "Saw", "saw", "runs", "1,000", "1998", "Étoile", ".", "("]
LABELS = ["D", "N", "V"]
EACH_TEMPLATE = pytest.mark.parametrize("template", TEMPLATES)


def corpus(count, seed, noise):
    """Sentences whose labels hang on the word and the label before; `noise`: how often on neither."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        words = [rng.choice(WORDS) for _ in range(rng.randint(1, 7))]
        labels = []
        for word in words:
            own = "V" if labels and labels[-1] == "N" and word != "dog" else LABELS[len(word) % 3]
            labels.append(rng.choice(LABELS) if rng.random() < noise else own)
        found.append(Sentence(words, labels, {"pos": [word[-1:] for word in words]}))  # type: ignore[dict-item]
    return found


CLEAN, NOISY, TEST = corpus(40, 0, 0.0), corpus(40, 1, 0.2), corpus(30, 2, 0.0)


# A problem by the definition, all labellings written out.


def phi(rows, y, A, L):
    """phi(x, y), counted one by one."""
    W, transition, start, stop = np.zeros((A, L)), np.zeros((L, L)), np.zeros(L), np.zeros(L)
    for row, label in zip(rows, y, strict=True):
        for a in row:
            W[a, label] += 1
    for before, after in pairwise(y):
        transition[before, after] += 1
    start[y[0]] += 1
    stop[y[-1]] += 1
    return np.concatenate([W.ravel(), transition.ravel(), start, stop])


def labellings(rows, gold, A, L):
    """Of every labelling: phi(x, y), phi(x, y_i) - phi(x, y) and the number of wrong labels."""
    ys = list(product(range(L), repeat=len(rows)))
    features = np.array([phi(rows, y, A, L) for y in ys])
    return SimpleNamespace(
        ys=ys,
        features=features,
        differences=phi(rows, gold, A, L) - features,
        losses=np.array([sum(map(int.__ne__, y, map(int, gold))) for y in ys], dtype=float),
    )


class Enumerated:
    """A drawn problem beside the same with all labellings; `objective` is P by enumeration."""

    def __init__(self, rows, gold, A, L):
        self.problem = ChainProblem(rows, [np.array(y) for y in gold], A, L)
        self.all = [labellings(own, y, A, L) for own, y in zip(rows, gold, strict=True)]
        self.n = len(rows)

    def hinge(self, w):
        """The mean H_i."""
        return sum((own.losses - own.differences @ w).max() for own in self.all) / self.n

    def objective(self, w, C):
        """P(w); without C the mean H_i."""
        return self.hinge(w) if C is None else w @ w / (2 * C * self.n) + self.hinge(w)

    def optimum(self, C):
        """The weights of least P, as a quadratic program with a slack an example, by scipy."""
        d, n = self.problem.dimension, self.n
        rows, least = [], []
        for i, own in enumerate(self.all):
            slack = np.zeros((len(own.ys), n))
            slack[:, i] = 1
            rows.append(np.hstack([own.differences, slack]))
            least.append(own.losses)
        G, h = np.vstack(rows), np.concatenate(least)
        found = minimize(
            lambda v: v[:d] @ v[:d] / (2 * C * n) + v[d:].mean(),
            np.concatenate([np.zeros(d), [own.losses.max() for own in self.all]]),
            jac=lambda v: np.concatenate([v[:d] / (C * n), np.full(n, 1 / n)]),
            constraints={"type": "ineq", "fun": lambda v: G @ v - h, "jac": lambda v: G},
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-14},
        )
        assert found.success, found.message
        return found.x[:d]


@st.composite
def problems(draw):
    """Up to 3 sequences, tokens, labels and attributes; a token may have an attribute twice."""
    A, L = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, A - 1), min_size=1, max_size=3)
    rows = draw(st.lists(st.lists(row, min_size=1, max_size=3), min_size=1, max_size=3))
    gold = [[draw(st.integers(0, L - 1)) for _ in own] for own in rows]
    return Enumerated(rows, gold, A, L)


def weights(dimension):
    """Weights that are far apart, or small numbers with many ties."""
    drawn = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).normal(size=dimension))
    return drawn | drawn.map(np.rint)


# Loss-augmented inference and the layout of weights.


@given(problems(), st.data())
def test_the_worst_labelling_is_that_of_enumeration(drawn, data):
    w = data.draw(weights(drawn.problem.dimension))
    for i, own in enumerate(drawn.all):
        difference, loss = drawn.problem.worst(i, w)
        full = np.zeros(drawn.problem.dimension)
        full[drawn.problem.support(i)] = difference
        # One labelling has this difference and this loss, and none has a larger augmented score.
        same = (own.differences == full).all(axis=1) & (own.losses == loss)
        augmented = own.losses + own.features @ w
        assert same.any()
        assert augmented[same].max() == pytest.approx(augmented.max(), abs=ROUNDING)


@EACH_TEMPLATE
@pytest.mark.parametrize("columns", [(), ("pos",)])
def test_scores_of_a_labelling_are_the_weights_times_its_features(template, columns):
    model, trained = train_chain_svm(NOISY, SvmSettings(passes=3), template=template, columns=columns)
    A, L = model.weights.shape
    number = {attribute: i for i, attribute in enumerate(model.attributes)}
    short = [own for own in NOISY if len(own) <= 3]
    assert len(short) > 5
    for own, scores in zip(short, model.scores([own.x for own in short]), strict=True):
        rows = [[number[a] for a in row] for row in attribute_rows(own.x, template, columns)]
        for y in product(range(L), repeat=len(own)):
            expected = trained.weights @ phi(rows, y, A, L)
            assert scores.score_ids(np.array(y)) == pytest.approx(expected, abs=ROUNDING)


# The algorithm.


@given(problems())
@settings(max_examples=40)
def test_without_regularisation_the_gap_is_the_mean_hinge(drawn):
    trained = train_svm(drawn.problem, SvmSettings(C=None, tolerance=0, passes=4))
    last = trained.history[-1]
    assert last.gap == last.objective == pytest.approx(drawn.hinge(trained.weights), abs=ROUNDING)


@pytest.mark.parametrize("C", [0.02, 0.5, 5.0])
def test_the_gap_bounds_the_distance_from_the_optimum_of_an_independent_solver(C):
    rows = [[[0], [1]], [[1], [0], [2]], [[2, 1], [0]], [[0], [0]]]
    drawn = Enumerated(rows, [[0, 1], [1, 1, 0], [0, 1], [1, 0]], 3, 2)
    best = drawn.optimum(C)
    least = drawn.objective(best, C)
    for passes in (3, 30, 1500):
        trained = train_svm(drawn.problem, SvmSettings(C=C, tolerance=0, passes=passes))
        assert trained.history[-1].objective == pytest.approx(drawn.objective(trained.weights, C), abs=1e-7)
        assert -1e-7 <= trained.history[-1].objective - least <= trained.gap + 1e-7
    assert trained.gap <= 0.005
    assert np.linalg.norm(trained.weights - best) <= 0.05 * np.linalg.norm(best)


# Training a chain.


def accuracy(model, sentences):
    found = viterbi_batch(model.scores([own.x for own in sentences]))
    pairs = [
        (a, b) for own, best in zip(sentences, found, strict=True) for a, b in zip(own.y, best.y, strict=True)
    ]
    return sum(a == b for a, b in pairs) / len(pairs)


def test_without_regularisation_separable_sentences_are_separated():
    model, trained = train_chain_svm(CLEAN, SvmSettings(C=None, tolerance=0, passes=500))
    assert trained.gap < 0.001
    assert accuracy(model, CLEAN) == accuracy(model, TEST) == 1.0


def test_training_stops_once_the_gap_is_within_the_tolerance():
    _, trained = train_chain_svm(NOISY, SvmSettings(tolerance=0.1, passes=1000))
    *before, last = trained.history
    assert all(check.gap > 0.1 for check in before)
    assert last.gap == trained.gap <= 0.1
    assert [check.passes for check in trained.history] == list(range(EVERY, last.passes + 1, EVERY))


# What is refused.


def test_training_without_words_is_refused():
    with pytest.raises(LconsError):
        train_chain_svm([Sentence((), ())] * 2)


@pytest.mark.parametrize(
    "values", [{"C": 0.0}, {"C": float("nan")}, {"passes": 0}, {"tolerance": -0.1}], ids=str
)
def test_settings_that_make_no_sense_are_refused(values):
    with pytest.raises(InvalidInput):
        SvmSettings(**values)
