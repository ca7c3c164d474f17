"""The linear CRF decodes what CRFsuite decodes, whatever the words are, and is the same run after run."""

import random

import numpy as np
import pycrfsuite
import pytest

from lcons_core import InvalidInput, LconsError
from lcons_decode import marginals
from lcons_tasks.data import Sentence
from lcons_tasks.models._linear_crf import LinearSettings, train_linear
from lcons_tasks.models.phi._templates import attribute_rows

WORDS = ["the", "a", "dog", "Saw", "saw", "cuts", "runs", "1,000", "Étoile", "-->", "{", "x:1"]
TAGS = ["DT", "NN", "VB"]
LABELS = ["B-NP", "I-NP", "B-VP", "O"]
# CRFsuite prints six decimals of a weight, and ours are read from that.
TAGGED = LinearSettings(columns=("pos",), iterations=50)


def corpus(count, seed):
    """Sentences whose labels hang on words, tags and the label before, with some noise."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        words = [rng.choice(WORDS) for _ in range(rng.randint(1, 7))]
        tags = [TAGS[len(word) % 3] for word in words]
        labels = []
        for word, tag in zip(words, tags, strict=True):
            inside = bool(labels) and labels[-1].endswith("NP") and tag != "VB"
            own = "B-VP" if tag == "VB" else "I-NP" if inside else "O" if word == "1,000" else "B-NP"
            labels.append(rng.choice(LABELS) if rng.random() < 0.15 else own)
        found.append(Sentence(words, labels, {"pos": tags}))  # type: ignore[dict-item]
    return found


TRAIN, TEST = corpus(60, 0), corpus(80, 1)


def crfsuite(train, settings, path):
    """CRFsuite's own tagger, trained on the same attributes by name."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for own in train:
        trainer.append(attribute_rows(own.x, "tokens", settings.columns), list(own.labels))
    penalties = {"c1": settings.c1, "c2": settings.c2, "max_iterations": settings.iterations}
    trainer.set_params({**penalties, "feature.possible_transitions": True})
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def test_probabilities_are_crfsuites(tmp_path):
    """Not the best labelling alone: the whole distribution is CRFsuite's."""
    model, tagger = train_linear(TRAIN, TAGGED), crfsuite(TRAIN, TAGGED, tmp_path / "model")
    for own in TEST[:30]:
        (scores,) = model.scores([own.x])
        tagger.set(attribute_rows(own.x, "tokens", TAGGED.columns))
        found = marginals(scores)
        theirs = [[tagger.marginal(label, t) for label in scores.labels] for t in range(len(own))]
        np.testing.assert_allclose(found.probability, theirs, atol=1e-4)
        assert np.exp(scores.score(own.labels) - found.log_partition) == pytest.approx(
            tagger.probability(own.labels), abs=1e-4
        )


@pytest.mark.parametrize("train", [[], [Sentence((), ())]])
def test_training_without_words_is_refused_in_a_sentence(train):
    with pytest.raises(LconsError):
        train_linear(train)


def test_a_context_column_that_is_missing_is_named():
    with pytest.raises(InvalidInput):
        train_linear(TRAIN, TAGGED).scores([{"word": ["the"]}])
