"""From structures to a constraint in one call."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lcons_core import compare, explain, learn_constraints, load, make_examples, save, verify
from lcons_core._errors import InvalidInput, Unsupported
from lcons_core.features import Counts, Existence, NgramContext, NgramLabels, Tuples
from lcons_core.learn import NEGATIVES, ConstraintLearner, usual_negatives

SENTENCES = [
    (["the", "dog", "barks", "."], ["B-NP", "I-NP", "B-VP", "O"]),
    (["dogs", "bark", "loudly", "."], ["B-NP", "B-VP", "B-ADVP", "O"]),
    (["she", "saw", "the", "old", "dog"], ["B-NP", "B-VP", "B-NP", "I-NP", "I-NP"]),
    (["barking", ",", "it", "ran", "off"], ["B-VP", "O", "B-NP", "B-VP", "B-ADVP"]),
]
LABELS = tuple(sorted({label for _, labels in SENTENCES for label in labels}))
TAGGED = [({"pos": [word[-1] for word in words]}, labels) for words, labels in SENTENCES]


@pytest.mark.parametrize("n", [2, 3])
def test_every_training_sentence_satisfies_what_it_taught(n):
    constraint = learn_constraints(SENTENCES, feature="ngram", n=n, hidden=10, evidence=None)
    assert all(constraint.satisfied(sentence) for sentence in SENTENCES)
    if n == 3:
        assert not constraint.satisfied(["I-NP", "I-NP", "O"])


@pytest.mark.parametrize(
    ("feature", "data", "options"),
    [
        ("pos", TAGGED, {"n": 2}),
        ("pos", TAGGED, {"n": 3}),
        ("punctuation", SENTENCES, {"n": 2}),
        ("shape", SENTENCES, {"n": 2}),
        ("word", SENTENCES, {"n": 1, "least": 1}),
        ("existence", SENTENCES, {}),
        ("existence", SENTENCES, {"n": 2}),
        ("counts", SENTENCES, {}),
        ("pairs", [[("Person", "Kill"), ("Person", "NoRel"), ("Location", "NoRel")]], {}),
    ],
)
def test_every_feature_learns_by_name_and_survives_a_file(feature, data, options, tmp_path):
    constraint = learn_constraints(data, feature=feature, hidden=4, seed=1, **options)
    assert sum(constraint.satisfied(structure) for structure in data) >= len(data) - 1
    save(constraint, tmp_path / "constraint.json")
    again = load(tmp_path / "constraint.json")
    assert again == constraint
    assert verify(again, samples=50).ok


def test_the_same_seed_gives_the_same_file(tmp_path):
    files = []
    for name in ("a", "b"):
        save(learn_constraints(SENTENCES, n=2, hidden=3, seed=7), tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_class_weights_of_a_learner_are_recorded_by_name(tmp_path):
    learner = ConstraintLearner(hidden=2, class_weight={False: 1.0, True: 4.0})
    constraint = learn_constraints(SENTENCES, n=2, learner=learner)
    assert constraint.provenance["config"]["class_weight"] == {"False": 1.0, "True": 4.0}
    save(constraint, tmp_path / "constraint.json")
    assert load(tmp_path / "constraint.json") == constraint


def test_a_learner_of_ones_own_is_used():
    learner = ConstraintLearner(hidden=(1, 3), cv=2, seed=0)
    constraint = learn_constraints(SENTENCES, n=2, learner=learner)
    assert constraint.network is learner.network_
    assert constraint.provenance["config"]["hidden"] == [1, 3]


def test_min_support_turns_a_rare_pair_into_a_forbidden_one():
    common = [[("A", "x"), ("B", "y")]] * 2
    pairs = Tuples(("upper", "lower"), (("A", "B"), ("x", "y")))
    noisy = [*common, [("A", "y")]]
    kept = learn_constraints(noisy, feature=pairs, hidden=2)
    dropped = learn_constraints(noisy, feature=pairs, hidden=2, min_support=2)
    assert kept.satisfied([("A", "y")])
    assert not dropped.satisfied([("A", "y")])
    assert compare(kept, dropped).equal is False


def test_the_usual_negatives_are_the_papers():
    cases = {
        NgramLabels(LABELS, 1): "unseen",
        NgramLabels(LABELS, 2): "unseen",
        NgramLabels(LABELS, 3): "near",
        NgramContext(LABELS, ("x",), 2): "apart",
        NgramContext(LABELS, ("x",), 3): "relabel",
        Existence(LABELS): "flip",
        Counts(LABELS): "perturb",
        Tuples(("a", "b"), (LABELS, LABELS)): "unseen",
    }
    assert {feature: usual_negatives(feature) for feature in cases} == cases


@pytest.mark.parametrize("name", sorted(NEGATIVES))
def test_every_source_serves_the_feature_it_is_for(name):
    features = {
        "unseen": NgramLabels(LABELS, 2),
        "near": NgramLabels(LABELS, 3),
        "apart": NgramContext.from_instances(TAGGED, n=2),
        "relabel": NgramContext.from_instances(TAGGED, n=2),
        "recast": NgramContext.from_instances(TAGGED, n=2),
        "flip": Existence(LABELS),
        "perturb": Counts(LABELS, high=10),
    }
    examples = make_examples(TAGGED, features[name], negatives=name)
    assert len(examples.negatives)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"feature": "trigram"}, InvalidInput, "unknown feature 'trigram'"),
        ({"negatives": "all"}, InvalidInput, "unknown negatives 'all'"),
        ({"negatives": "flip"}, Unsupported, "binary blocks"),
        ({"feature": NgramLabels(LABELS), "n": 3}, InvalidInput, "options n need a feature given by name"),
        ({"feature": "pos"}, InvalidInput, "no column 'pos'"),
        ({"hidden": 0}, InvalidInput, "hidden"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, error, message):
    data = [({}, labels) for _, labels in SENTENCES]
    with pytest.raises(error, match=message):
        learn_constraints(data, **arguments)


@pytest.mark.parametrize("structures", [[], ["a sentence"], [3], [["A", 3]], [[1, 2]]])
def test_structures_that_are_none_are_refused(structures):
    with pytest.raises(InvalidInput):
        learn_constraints(structures)


def test_explanations_count_the_positives_behind_a_rule():
    sources = ("Person", "Location", "Organization")
    pairs = Tuples(("source", "relation"), (sources, ("NoRel", "Kill")))
    data = [[("Person", "Kill")] * 3 + [(source, "NoRel") for source in sources]]
    examples = make_examples(data, pairs)
    explanation = explain(learn_constraints(data, pairs, hidden=2), examples)
    (rule,) = explanation.rules
    assert rule.words == "relation Kill needs source Person"
    assert (rule.support, rule.exceptions) == (3, 0)


@pytest.mark.skipif("LCONS_DATA_DIR" not in os.environ, reason="real corpora are found by LCONS_DATA_DIR")
def test_label_bigrams_of_conll_2000_are_learned():
    text = (Path(os.environ["LCONS_DATA_DIR"]) / "conll2000/train.txt").read_text()
    sentences = [
        [line.split()[2] for line in block.splitlines()] for block in text.strip().split("\n\n")[:2000]
    ]
    constraint = learn_constraints(sentences, n=2, hidden=10)
    kept = np.mean([constraint.satisfied(sentence) for sentence in sentences])
    assert kept >= 0.95
    assert not constraint.satisfied(["O", "I-NP"])
