"""The BiLSTM-CRF learns, is the same run after run, leaves torch as it was, and knows training data only."""

import dataclasses

import numpy as np
import pytest

from lcons_core import InvalidInput, LconsError
from lcons_decode import viterbi
from lcons_tasks.data import Sentence
from lcons_tasks.models._bilstm_crf import BilstmCrf, Sizes
from lcons_tasks.models._crf_trainer import BilstmSettings, train_bilstm
from lcons_tasks.models._word_vectors import WordVectors

SIZES = Sizes(word=6, suffix=4, shape=3, context=3, hidden=8)
QUICK = BilstmSettings(epochs=2, sizes=SIZES)
# oneDNN sums in another order for another batch, so float32 scores may differ in their last digits.
BATCHING = {"rtol": 1e-5, "atol": 1e-5}


def sentence(words, labels, **columns):
    return Sentence(words.split(), labels.split(), {name: tags.split() for name, tags in columns.items()})


# The label of "saw" is that of the word before it: neither emissions nor transitions alone can tell.
TRAIN = [
    sentence("the saw cuts", "N N V", pos="DT NN VB"),
    sentence("I saw the saw", "V V N N", pos="PR VB DT NN"),
    sentence("The dog saw", "N N N", pos="DT NN NN"),
    sentence("we saw", "V V", pos="PR VB"),
    sentence("Dog", "N", pos="NN"),
    sentence("we saw the dog", "V V N N", pos="PR VB DT NN"),
    sentence("I saw", "V V", pos="PR VB"),
]
DEV = [sentence("the dog saw", "N N N", pos="DT NN NN"), sentence("we saw", "V V", pos="PR VB")]
VECTORS = WordVectors("toy", ("the", "dog", "cat"), np.random.default_rng(3).normal(size=(3, 5)))


def accuracy(model, sentences):
    pairs = [
        pair
        for scores, own in zip(model.scores([own.x for own in sentences]), sentences, strict=True)
        for pair in zip(viterbi(scores).y, own.labels, strict=True)
    ]
    return np.mean([a == b for a, b in pairs])


def same_bits(a, b):
    arrays = ("emission", "offsets", "transition", "start", "stop")
    return a.labels == b.labels and all(np.array_equal(getattr(a, n), getattr(b, n)) for n in arrays)


@pytest.fixture(scope="module")
def model():
    settings = dataclasses.replace(QUICK, columns=("pos",))
    return train_bilstm(TRAIN, DEV, settings, VECTORS)


# Training


def test_a_tiny_task_is_learned_by_heart():
    settings = BilstmSettings(learning_rate=0.02, epochs=60, patience=60, dropout=0.2, sizes=SIZES)
    assert accuracy(train_bilstm(TRAIN, TRAIN, settings), TRAIN) == 1.0


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    xs = [own.x for own in TRAIN]
    first, again, other = (train_bilstm(TRAIN, DEV, QUICK, seed=seed).scores(xs) for seed in (1, 1, 2))
    assert same_bits(first, again)
    assert not same_bits(first, other)


def test_labels_and_vocabularies_are_those_of_training():
    dev = [sentence("the zebra cuts", "N Z V", pos="DT ZZ VB")]
    model = train_bilstm(TRAIN, dev, dataclasses.replace(QUICK, columns=("pos",)))
    assert model.labels == ("N", "V")
    assert "zebra" not in model.token_ids.words
    assert "ZZ" not in model.token_ids.contexts["pos"]


# Labelled the other way round: what is learned from TRAIN is soon worse than what was drawn at first.
CONTRARY = [Sentence(own.words, [{"N": "V", "V": "N"}[label] for label in own.labels]) for own in TRAIN]
IMPATIENT = BilstmSettings(
    learning_rate=0.02, epochs=30, patience=6, patience_steps=0, dropout=0.2, sizes=SIZES
)


@pytest.fixture
def course(monkeypatch):
    """The accuracy on CONTRARY after each epoch of a training that has it as dev."""
    course, scores_of_ids = [], BilstmCrf.scores_of_ids
    gold = [label for own in CONTRARY for label in own.labels]

    def watched(model, ids):
        batch = scores_of_ids(model, ids)
        answers = [label for scores in batch for label in viterbi(scores).y]
        if len(answers) == len(gold):
            course.append(np.mean([a == b for a, b in zip(answers, gold, strict=True)]))
        return batch

    monkeypatch.setattr(BilstmCrf, "scores_of_ids", watched)
    return course


def test_the_model_is_that_of_the_best_epoch(course):
    model = train_bilstm(TRAIN, CONTRARY, IMPATIENT)
    best = int(np.argmax(course))
    assert course[-1] < course[best]
    # A run that ends with that epoch has the same weights.
    short = train_bilstm(TRAIN, CONTRARY, dataclasses.replace(IMPATIENT, epochs=best + 1))
    xs = [own.x for own in TRAIN]
    assert same_bits(model.scores(xs[:1]), short.scores(xs[:1]))


@pytest.mark.parametrize(("patience", "steps", "wait"), [(6, 0, 6), (2, 20, 5)])
def test_training_ends_when_epochs_and_batches_without_a_better_one_are_enough(patience, steps, wait, course):
    """TRAIN is four batches an epoch: sentences of one, two, three and four words."""
    settings = dataclasses.replace(IMPATIENT, patience=patience, patience_steps=steps)
    train_bilstm(TRAIN, CONTRARY, settings)
    assert len(course) == 1 + int(np.argmax(course)) + wait


def test_word_vectors_are_read_and_stay_as_they_are():
    model = train_bilstm(TRAIN, DEV, QUICK, VECTORS)
    assert np.array_equal(model.network.vectors.weight.numpy(), VECTORS.table)
    assert [part.numel() for part in model.network.parameters() if not part.requires_grad] == [
        VECTORS.table.size
    ]
    # "cat" is in no training sentence, but has a vector.
    cat, zebra = (model.scores([{"word": [word]}]).emission for word in ("cat", "dat"))
    assert not np.array_equal(cat, zebra)


@pytest.mark.parametrize(("train", "dev"), [([], DEV), (TRAIN, []), (TRAIN, [Sentence((), ())])])
def test_training_without_words_is_refused(train, dev):
    with pytest.raises(LconsError):
        train_bilstm(train, dev, QUICK)


def test_a_context_column_that_is_missing_is_named(model):
    with pytest.raises(InvalidInput):
        model.scores([{"word": ["the"]}])
    with pytest.raises(InvalidInput):
        train_bilstm(TRAIN, DEV, dataclasses.replace(QUICK, columns=("tag",)))


# Scores


def test_scores_of_a_batch_are_those_of_one_at_a_time_in_order(model):
    texts = ["the saw", "", "zebra", "The dog saw 1,000", "saw The"]
    xs = [{"word": text.split(), "pos": ["NN"] * len(text.split())} for text in texts]
    batch = model.scores(xs)
    assert np.array_equal(np.diff(batch.offsets), [len(x["word"]) for x in xs])
    assert batch.emission.dtype == np.float64
    for x, own in zip(xs, batch, strict=True):
        alone = next(iter(model.scores([x])))
        np.testing.assert_allclose(own.emission, alone.emission, **BATCHING)  # type: ignore[call-overload]
        assert np.array_equal(own.transition, alone.transition)
