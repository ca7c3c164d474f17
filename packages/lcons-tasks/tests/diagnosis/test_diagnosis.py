"""The diagnosis, on made-up languages whose constraints are known."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lcons_core import Instance, LearnedConstraint, RectifierNetwork, iob2, learn_constraints
from lcons_core._errors import InvalidInput, Unsupported
from lcons_core.features import Counts, NgramLabels, Tuples
from lcons_tasks.data import Sentence
from lcons_tasks.diagnosis import diagnose, predict
from lcons_tasks.models._linear_crf import train_linear
from lcons_tasks.own_data import PsiTable, Structures

TAGS = "stuvw"
LABELS = "ABCDE"


def language(seed, size, obeys):
    """Sentences of five tags; obeying ones give tag i label i, or the next label after a B."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(size):
        tags = rng.integers(0, 5, rng.integers(3, 12))
        if obeys:
            y = []
            for tag in tags:
                y.append((tag + (bool(y) and y[-1] == 1)) % 5)
        else:
            y = rng.choice(5, len(tags), p=[0.4, 0.3, 0.15, 0.1, 0.05])  # type: ignore[assignment]
        columns = {"pos": tuple(TAGS[tag] for tag in tags)}
        made.append(Sentence(columns["pos"], tuple(LABELS[label] for label in y), columns))
    return made


def noisy(sentences, share, seed=0):
    rng = np.random.default_rng(seed)
    return [
        tuple(LABELS[rng.integers(5)] if rng.random() < share else label for label in s.labels)
        for s in sentences
    ]


@cache
def learned(obeys, feature="pos", n=2, hidden=10):
    train = [sentence.instance for sentence in language(1, 150, obeys)]
    options = {"hidden": hidden, "restarts": 1, "epochs": 60}
    return learn_constraints(train, feature, n=n, negatives=NEGATIVES[feature], **options)


NEGATIVES = {"pos": "relabel", "existence": "flip", "ngram": "unseen"}
TRAIN, HELD_OUT = language(1, 150, True), language(2, 150, True)


@cache
def diagnosed(noise, hidden=10):
    predictions = None if noise is None else noisy(HELD_OUT, noise)
    return diagnose(learned(True, hidden=hidden), TRAIN, HELD_OUT, predictions)


@pytest.mark.parametrize(("feature", "n"), [("pos", 2), ("existence", 2), ("ngram", 2)])
@pytest.mark.parametrize("seed", [0, 1])
def test_labels_drawn_independently_obey_no_constraint(feature, n, seed):
    train, held_out = language(10 + seed, 20, False), language(20 + seed, 100, False)
    options = {"hidden": 4, "restarts": 1, "epochs": 20}
    instances = [sentence.instance for sentence in train]
    constraint = learn_constraints(instances, feature, n=n, negatives=NEGATIVES[feature], **options)
    found = diagnose(constraint, train, held_out, noisy(held_out, 0.3), seed=seed)
    assert found.verdicts == ("no such constraint",)


def test_where_every_window_occurs_there_is_no_such_constraint():
    train, held_out = language(3, 400, False), language(4, 50, False)
    feature = NgramLabels(tuple(LABELS), n=1)
    everything = LearnedConstraint(RectifierNetwork(np.zeros((1, 5)), [0.0]), feature.space, feature)
    found = diagnose(everything, train, held_out)
    assert found.verdicts == ("no such constraint",)
    assert found.constraint is None


@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_a_constant_network_has_not_found_what_exists(bias):
    feature = learned(True).feature
    constant = LearnedConstraint(
        RectifierNetwork(np.zeros((1, feature.space.d)), [bias]), feature.space, feature
    )
    found = diagnose(constant, TRAIN, HELD_OUT, noisy(HELD_OUT, 0.2))
    assert found.verdicts == (
        "exists",
        "not found by the learner",
        "not obeyed, nor found",
    )
    assert found.constraint.balanced_accuracy.value == 50


def test_a_model_that_predicts_gold_already_obeys():
    found = diagnosed(0.0)
    assert found.verdicts == (
        "exists",
        "found by the learner",
        "already obeyed",
    )
    assert found.obedience.excess.value == found.obedience.headroom.value == 0
    assert found.use == "nothing"


def test_a_constraint_that_a_noisy_model_breaks_should_help():
    found = diagnosed(0.2)
    assert found.verdicts == (
        "exists",
        "found by the learner",
        "should help",
    )
    judged = found.obedience
    assert judged.violations.low > judged.gold_violations.high
    assert judged.error_if_violated > judged.error_otherwise
    assert 0 < judged.headroom.value <= 100 - judged.accuracy + 1e-9


def test_the_scheme_of_labels_is_found_to_exist_and_obeyed_by_a_crf():
    rng = np.random.default_rng(0)

    def chunked(size):
        made = []
        for _ in range(size):
            y = [
                label
                for _ in range(4)
                for label in (["B-X", *["I-X"] * rng.integers(3)], ["O"])[rng.integers(2)]
            ]
            made.append(Sentence(tuple(label[0].lower() for label in y), tuple(y)))
        return made

    train, held_out = chunked(100), chunked(100)
    predictions = predict(train_linear(train), held_out)
    found = diagnose(iob2(["B-X", "I-X", "O"]), train, held_out, predictions)
    assert found.negatives == "unseen"
    assert "exists" in found.verdicts
    assert "already obeyed" in found.verdicts


def test_sentences_with_unknown_labels_are_left_out_and_counted():
    strange = Sentence("ww", ("A", "Z"), {"pos": "st"})  # type: ignore[dict-item]
    predictions = [("Z",) * len(HELD_OUT[0]), *noisy(HELD_OUT, 0.0)[1:], ("A", "B")]
    found = diagnose(learned(True), [*TRAIN, strange], [*HELD_OUT, strange], predictions)
    assert (found.train_size, found.held_out_size) == (len(TRAIN), len(HELD_OUT) - 1)
    assert [" ".join(text.split()[:5]) for text in found.warnings[:2]] == [
        f"left out: 2 of {len(HELD_OUT) + 1}",
        f"left out: 1 of {len(TRAIN) + 1}",
    ]


def test_counts_outside_the_range_of_training_are_unlike_it_and_beyond_the_bound_left_out():
    feature = Counts(("A", "B"), high=4)
    everything = LearnedConstraint(RectifierNetwork(np.zeros((1, 2)), [0.0]), feature.space, feature)
    train = [Sentence("ww", "AB"), Sentence("www", "AAB")]
    held_out = [Sentence("w" * len(y), y) for y in ("AB", "AAB", "AAAB", "B", "AABB", "AAAAAB")]
    found = diagnose(everything, train, held_out, [s.labels for s in held_out])
    # Training has one or two A and one B: AAAB, B (no A) and AABB leave that.
    assert found.coverage["unseen_psi"] == found.coverage["unseen_predicted"] == pytest.approx(100 * 3 / 5)
    assert found.held_out_size == 5


def test_the_same_seed_gives_the_same_diagnosis_and_it_is_plain_data():
    first = diagnosed(0.2)
    again = diagnose(learned(True), TRAIN, HELD_OUT, noisy(HELD_OUT, 0.2))
    assert again == first
    assert json.loads(json.dumps(first.to_dict(), allow_nan=False))["verdicts"][0] == "exists"


def test_data_of_another_kind_than_the_feature_reads_are_refused():
    pairs = Tuples(("source", "relation"), (("P", "L"), ("N", "K")))
    constraint = LearnedConstraint(RectifierNetwork(np.zeros((1, 4)), [0.0]), pairs.space, pairs)
    table = PsiTable(("a",), np.ones((4, 1)), np.ones(4, dtype=bool))
    tuples = Structures((Instance({}, (("P", "K"),)),), tuples=True)
    for data in (TRAIN, tuples, table):
        with pytest.raises((InvalidInput, Unsupported)):
            diagnose(constraint, data, data)
    with pytest.raises(Unsupported):
        diagnose(replace(constraint, feature=None), TRAIN, HELD_OUT)
