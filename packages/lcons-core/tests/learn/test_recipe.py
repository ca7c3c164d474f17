"""A recipe is data: it is written, read, compared, and gives the same constraint again."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import ConstraintLearner, Recipe, learn_constraints, load, make_examples, save
from lcons_core._errors import InvalidInput
from lcons_core.features import Counts, NgramLabels, Tuples
from lcons_core.learn import FEATURES, NEGATIVES, unseen

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
OWN = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))

RECIPES = {
    "ngram": Recipe("ngram", 2, hidden=2),
    "unnamed": Recipe(hidden=2, seed=3),
    "pos": Recipe("pos", 2, hidden=2, negatives="relabel", many="all", caution=3.0, epochs=50),
    "shape": Recipe("shape", 2, hidden=2, by_frequency=True, min_support=1),
    "counts": Recipe("counts", spans=True, hidden=2, restarts=2, name="spans"),
    "weights": Recipe("existence", hidden=2, class_weight=(1.0, 4.0)),
    "doubled": Recipe("ngram", 2, hidden="doubled"),
    "searched": Recipe("ngram", 2, hidden=[1, 2], folds=2, epochs=20),
    "evidence": Recipe("ngram", 2, hidden=2, evidence=0.5),
}


@pytest.mark.parametrize("name", RECIPES)
def test_the_recipe_of_a_file_gives_the_same_constraint_again(name, tmp_path):
    learned = RECIPES[name].learn(SENTENCES)
    save(learned, tmp_path / "c.json")
    read = load(tmp_path / "c.json")
    assert read == learned
    recipe = Recipe.from_dict(read.provenance["recipe"])
    again = recipe.learn(SENTENCES)
    assert np.array_equal(again.network.W, learned.network.W)
    assert np.array_equal(again.network.b, learned.network.b)
    assert again.provenance == learned.provenance
    assert replace(recipe, feature=RECIPES[name].feature, negatives=RECIPES[name].negatives) == RECIPES[name]


@given(
    st.builds(
        Recipe,
        st.none() | st.sampled_from(sorted(FEATURES)) | st.just(OWN) | st.just(Counts(("A", "B"), 3)),
        st.none() | st.integers(1, 5),
        negatives=st.none() | st.sampled_from(sorted(NEGATIVES)),
        many=st.just("all") | st.integers(1, 9),
        hidden=st.integers(1, 9)
        | st.lists(st.integers(1, 9), min_size=1)
        | st.sampled_from(["auto", "doubled"]),
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
    with pytest.raises(InvalidInput, match=r"expected a recipe of .*, found 'cv'"):
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


def test_the_settings_of_a_learner_of_ones_own_are_recorded():
    learner = ConstraintLearner(3, epochs=20, cv=2, restarts=1, class_weight={True: 4.0})
    recorded = Recipe.from_dict(learn_constraints(PAIRS, OWN, learner=learner).provenance["recipe"])
    expected = Recipe(OWN, hidden=3, epochs=20, folds=2, restarts=1, class_weight=(1.0, 4.0))
    assert recorded == replace(expected, negatives="unseen")


def test_negatives_of_ones_own_are_not_recorded_as_those_of_a_name():
    source = unseen(OWN.space, make_examples(PAIRS, OWN).positives.psi)
    learned = learn_constraints(PAIRS, OWN, negatives=source, hidden=2)
    assert learned.network == learn_constraints(PAIRS, OWN, hidden=2).network
    assert learned.provenance["recipe"]["negatives"] is None


def test_the_feature_of_structures_is_told_from_them():
    assert Recipe(hidden=1).learn(PAIRS).feature.kind == "tuples"
    assert Recipe(hidden=1).learn([["A", "B"], ["B"]]).feature == NgramLabels(("A", "B"))


def test_doubling_ends_with_the_smallest_network_that_is_right():
    labels = "ABCDEFG"
    data = [[one, other] for one in labels for other in labels if one != other]
    examples = Recipe("ngram", 2).examples(data)
    found = Recipe(hidden="doubled").learn_examples(examples)
    assert [K for K, _ in found.tried] == [2**i for i in range(len(found.tried))]
    assert [right == 1 for _, right in found.tried] == [False] * (len(found.tried) - 1) + [True]
    assert found.tried[-1][0] == found.constraint.network.K
    assert found.constraint.provenance["recipe"]["hidden"] == "doubled"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"feature": "trigram"}, "unknown feature 'trigram'"),
        ({"negatives": "all"}, "unknown negatives 'all'"),
        ({"caution": 0.0}, "expected a caution above 0"),
        ({"caution": 2.0, "class_weight": None}, "found both"),
        ({"min_support": -1}, "expected a min_support of 0 or more"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(wrong, message):
    with pytest.raises(InvalidInput, match=message):
        Recipe(**wrong)


def test_an_option_that_a_feature_does_not_have_is_refused():
    with pytest.raises(InvalidInput, match="expected no 'spans' with the feature 'ngram', found True"):
        learn_constraints(SENTENCES, "ngram", spans=True)
    with pytest.raises(InvalidInput, match="found 'relabel'; the usual ones are 'unseen'"):
        Recipe(OWN, negatives="relabel").examples(PAIRS)


def test_recipes_know_whether_they_are_about_whole_structures():
    names = {name for name in FEATURES if Recipe(name).is_global}
    assert names == {"existence", "counts"}
    assert [Recipe(one).is_global for one in (OWN, Counts(("A",), 3), None)] == [False, True, False]


def test_every_field_of_a_recipe_is_described():
    for field in fields(Recipe):
        assert field.name in Recipe.__doc__
