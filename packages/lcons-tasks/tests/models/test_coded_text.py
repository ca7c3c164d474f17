"""Sentences as numbers: the same models and the same scores as from strings."""

import itertools

import numpy as np
import pytest

from lcons_tasks.data import Sentence
from lcons_tasks.models import LinearSettings, train_linear
from lcons_tasks.models._coded_text import CodedText

SENTENCES = [
    Sentence(("the", noun, verb, other), ("B-NP", "I-NP", "B-VP", "B-NP"), {"kind": ("a", "b", "c", other)})
    for noun, verb, other in itertools.product(("dog", "Cat"), ("saw", "met"), ("Oslo", "us"))
]
XS = [sentence.x for sentence in SENTENCES]
LABELS = [sentence.labels for sentence in SENTENCES]
OTHERS = [{"word": ("a", "Yak", "saw"), "kind": ("a", "z", "c")}, {"word": ("Oslo",), "kind": ("b",)}]
SETTINGS = LinearSettings(0.1, 0.1, iterations=20)


@pytest.fixture(scope="module", params=[(), ("kind",)], ids=["words", "columns"])
def coded(request):
    text = CodedText.of(XS, columns=request.param)
    return text, text.train(range(len(XS)), LABELS, SETTINGS)


def same(a, b):
    """Whether two batches are equal."""
    parts = ("emission", "offsets", "transition", "start", "stop")
    return a.labels == b.labels and all(
        np.allclose(getattr(a, part), getattr(b, part), rtol=0, atol=1e-9) for part in parts
    )


def test_the_model_is_that_of_train_linear(coded):
    text, model = coded
    settings = LinearSettings(0.1, 0.1, iterations=20, columns=text.columns)
    expected = train_linear(SENTENCES, settings)
    assert same(model.scores(XS), expected.scores(XS))


def test_coded_scores_are_the_models_own(coded):
    text, model = coded
    assert same(text.scores(model, 0, len(XS)), model.scores(XS))
    assert same(text.scores(model, 2, 5), model.scores(XS[2:5]))
    assert same(text.other(OTHERS).scores(model, 0, 2), model.scores(OTHERS))


def test_a_label_without_examples_is_never_chosen(coded):
    text, _ = coded
    model = text.train(range(4), LABELS[:4], SETTINGS, known=("B-NP", "B-VP", "I-NP", "X"))
    assert model.labels == ("B-NP", "B-VP", "I-NP", "X")
    batch = model.scores(OTHERS)
    assert batch.start[3] < -10
    assert (batch.transition[:, 3] < -10).all()
