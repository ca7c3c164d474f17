"""A recipe is data: it is written, read, compared, and gives the same constraint again."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import (
    InvalidInput,
    Recipe,
    Unsupported,
    compare,
    learn_constraints,
    load,
    save,
)
from lcons_core.features import Counts, NgramLabels, Tuples
from lcons_core.learn._examples import NEGATIVES
from lcons_core.learn._recipe import FEATURES

SENTENCES = [
    ({"word": words.split(), "pos": pos.split()}, labels.split())
    for words, pos, labels in [
        ("the dog barked .", "DT NN VB .", "B-NP I-NP B-VP O"),
        ("a big cat saw Rome", "DT JJ NN VB NN", "B-NP I-NP I-NP B-VP B-NP"),
        ("in May , dogs bark", "IN NN , NN VB", "O B-NP O B-NP B-VP"),
        ("rain fell", "NN VB", "B-NP B-VP"),
    ]
]
PAIRS = [[("Person", "NoRel"), ("Location", "NoRel"), ("Person", "Kill")]]
SOURCE_RELATION = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))

RECIPES = {
    "ngram": Recipe("ngram", 2, hidden=2, evidence=0.5, seed=3),
    "pos": Recipe("pos", 2, hidden=2, negatives="relabel", many="all", caution=3.0, epochs=50),
    "shape": Recipe("shape", 2, hidden=2, by_frequency=True, min_support=1),
    "counts": Recipe("counts", spans=True, hidden=2, restarts=2, name="spans"),
    "weights": Recipe("existence", hidden=2, class_weight=(1.0, 4.0)),
    "doubled": Recipe("ngram", 2, hidden="doubled"),
    "searched": Recipe("ngram", 2, hidden=[1, 2], folds=2, epochs=20),
}


@pytest.mark.parametrize("name", RECIPES)
def test_the_recipe_of_a_file_gives_the_same_constraint_again(name, tmp_path):
    learned = RECIPES[name].learn(SENTENCES)
    save(learned, tmp_path / "c.json")
    read = load(tmp_path / "c.json")
    assert read == learned
    recipe = Recipe.from_dict(read.provenance["recipe"])
    again = recipe.learn(SENTENCES)
    assert again.network == learned.network
    assert again.provenance == learned.provenance
    assert replace(recipe, feature=RECIPES[name].feature, negatives=RECIPES[name].negatives) == RECIPES[name]


@given(
    st.builds(
        Recipe,
        st.none() | st.sampled_from(sorted(FEATURES)) | st.sampled_from([SOURCE_RELATION, Counts(("A",), 3)]),
        st.none() | st.integers(1, 5),
        negatives=st.none() | st.sampled_from(sorted(NEGATIVES)),
        many=st.just("all") | st.integers(1, 9),
        hidden=st.integers(1, 9) | st.lists(st.integers(1, 9), min_size=1) | st.just("doubled"),
        learning_rate=st.floats(0.001, 1) | st.tuples(st.floats(0.001, 1), st.just(0.5)),
        caution=st.floats(0.01, 100),
        names=st.just(()) | st.just(("source", "relation")),
        seed=st.integers(0, 2**32),
    )
)
def test_a_recipe_is_plain_data_and_is_read_back(recipe):
    text = json.dumps(recipe.to_dict())
    assert Recipe.from_dict(json.loads(text)) == recipe
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert hash(Recipe.from_dict(json.loads(text))) == hash(recipe)


def test_a_field_that_a_file_does_not_have_is_as_it_is_by_default():
    assert Recipe.from_dict({"feature": "pos", "hidden": [2, 5]}) == Recipe("pos", hidden=(2, 5))
    with pytest.raises(InvalidInput):
        Recipe.from_dict({"cv": False})


@pytest.mark.parametrize(
    "options",
    [
        {"n": 2, "hidden": 2},
        {"feature": "pos", "n": 1, "hidden": 2, "negatives": "relabel", "many": 2, "seed": 4},
        {"feature": "existence", "hidden": 2, "many": "all", "caution": 4.0, "epochs": 30},
    ],
)
def test_learn_constraints_is_the_recipe_of_its_arguments(options):
    learned = learn_constraints(SENTENCES, **options)
    by_recipe = Recipe(**{"feature": "ngram", "evidence": "auto", **options}).learn(SENTENCES)
    assert learned == by_recipe
    assert learned.provenance == by_recipe.provenance


def test_min_support_turns_a_rare_pair_into_a_forbidden_one():
    pairs = Tuples(("upper", "lower"), (("A", "B"), ("x", "y")))
    noisy = [*[[("A", "x"), ("B", "y")]] * 2, [("A", "y")]]
    all_pairs = learn_constraints(noisy, feature=pairs, hidden=2)
    frequent = learn_constraints(noisy, feature=pairs, hidden=2, min_support=2)
    assert all_pairs.satisfied([("A", "y")])
    assert not frequent.satisfied([("A", "y")])
    assert compare(all_pairs, frequent).equal is False


def test_the_feature_of_structures_is_that_of_their_labels():
    assert Recipe(hidden=1).learn(PAIRS).feature.kind == "tuples"
    assert Recipe(hidden=1).learn([["A", "B"], ["B"]]).feature == NgramLabels(("A", "B"))


def test_doubling_ends_with_the_smallest_network_that_is_right():
    labels = "ABCDEFG"
    data = [[first, second] for first in labels for second in labels if first != second]
    fitted = Recipe(hidden="doubled").learn_examples(Recipe("ngram", 2).examples(data))
    assert [K for K, _ in fitted.tried] == [2**i for i in range(len(fitted.tried))]
    assert [right == 1 for _, right in fitted.tried] == [False] * (len(fitted.tried) - 1) + [True]
    assert fitted.tried[-1][0] == fitted.constraint.network.K
    assert fitted.constraint.provenance["recipe"]["hidden"] == "doubled"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"feature": "trigram"}, InvalidInput),
        ({"negatives": "all"}, InvalidInput),
        ({"negatives": "flip"}, Unsupported),
        ({"feature": NgramLabels(("A",)), "n": 3}, InvalidInput),
        ({"feature": "pos"}, InvalidInput),
        ({"caution": 0.0}, InvalidInput),
        ({"caution": 2.0, "class_weight": None}, InvalidInput),
        ({"min_support": -1}, InvalidInput),
        ({"spans": True}, InvalidInput),
        *(({"evidence": number}, InvalidInput) for number in (0, -1, float("nan"), float("inf"), "much")),
        ({"feature": "existence", "evidence": 2}, InvalidInput),
    ],
)
def test_recipes_that_cannot_be_are_refused(arguments, error):
    with pytest.raises(error):
        learn_constraints([({}, labels) for _, labels in SENTENCES], **arguments)
    with pytest.raises(InvalidInput):
        Recipe("ngram", caution=2.0).learner()


@pytest.mark.parametrize("structures", [[], ["a sentence"], [3], [["A", 3]], [[1, 2]]])
def test_structures_that_are_none_are_refused(structures):
    with pytest.raises(InvalidInput):
        learn_constraints(structures)


def test_invalid_structures_are_negatives_where_no_valid_one_has_their_parts():
    invalid = [["O", "I"], ["B", "I", "X"]]
    learned = learn_constraints([["B", "I", "O"], ["O", "B"]], negatives=invalid, hidden=2)
    verdicts = [learned.satisfied(pair) for pair in (["O", "I"], ["I", "X"], ["B", "I"], ["O", "B"])]
    assert verdicts == [False, False, True, True]
    assert "recipe" not in learned.provenance
