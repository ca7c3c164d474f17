"""Examples made of toy structures, and the constraints learned from them, are the same."""

from typing import Any

import pytest
from golden_files import Golden, exact

from lcons_core import Recipe, learn_constraints
from lcons_core.features import Counts, Existence, NgramContext, NgramLabels, Tuples

LABELS = ("B-NP", "I-NP", "B-VP", "O")
SENTENCES = [
    ({"word": words.split(), "pos": pos.split()}, labels.split())
    for words, pos, labels in [
        ("the dog barked .", "DT NN VB .", "B-NP I-NP B-VP O"),
        ("a big cat saw Rome", "DT JJ NN VB NN", "B-NP I-NP I-NP B-VP B-NP"),
        ("in May , dogs bark", "IN NN , NN VB", "O B-NP O B-NP B-VP"),
        ("saw 3 birds !", "VB CD NN .", "B-VP B-NP I-NP O"),
        ("rain fell", "NN VB", "B-NP B-VP"),
    ]
]
TUPLES = [
    [("Person", "NoRel"), ("Location", "NoRel"), ("Person", "Kill")],
    [("Person", "LiveIn"), ("Location", "LocatedAt"), ("Location", "NoRel")],
]

# Enough for the cross-validation of K.
MORE_TUPLES = [
    [("Person", relation) for relation in "abcdef"] + [("Location", relation) for relation in "cghijk"]
]

NAMED = {"feature": "pairs", "names": ("source", "relation")}
QUICK = {"restarts": 2, "decay": 1e-4, "epochs": 50}
# What is learned from, and the arguments of `learn_constraints`.
CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "ngram": (SENTENCES, {"feature": "ngram", "n": 2, "hidden": 2}),
    "ngram-3-near": (SENTENCES, {"feature": "ngram", "n": 3, "hidden": 3}),
    "ngram-padded": (SENTENCES, {"feature": "ngram", "n": 2, "pad": True, "hidden": 3}),
    "ngram-unseen": (SENTENCES, {"feature": "ngram", "n": 2, "hidden": 2, "negatives": "unseen", "seed": 1}),
    "ngram-evidence": (SENTENCES * 8, {"feature": "ngram", "n": 2, "hidden": 2, "evidence": 3}),
    "ngram-support": (SENTENCES, {"feature": "ngram", "n": 2, "hidden": 2, "min_support": 2}),
    "ngram-frequency": (SENTENCES, {"feature": "ngram", "n": 2, "hidden": 2, "by_frequency": True}),
    "ngram-perturb": (SENTENCES, {"feature": "ngram", "n": 2, "hidden": 2, "negatives": "perturb"}),
    "pos-apart": (SENTENCES, {"feature": "pos", "n": 2, "hidden": 3}),
    "pos-relabel": (SENTENCES, {"feature": "pos", "n": 1, "hidden": 2, "negatives": "relabel"}),
    "pos-relabel-2": (SENTENCES, {"feature": "pos", "n": 2, "hidden": 2, "negatives": "relabel", "many": 2}),
    "pos-3": (SENTENCES, {"feature": "pos", "n": 3, "hidden": 2}),
    "pos-recast": (SENTENCES, {"feature": "pos", "n": 2, "hidden": 2, "negatives": "recast", "many": "all"}),
    "punctuation": (SENTENCES, {"feature": "punctuation", "n": 2, "hidden": 2}),
    "shape": (SENTENCES, {"feature": "shape", "n": 1, "hidden": 2}),
    "word": (SENTENCES, {"feature": "word", "n": 1, "least": 2, "hidden": 2}),
    "existence-flip": (SENTENCES, {"feature": "existence", "n": 1, "hidden": 2}),
    "existence-flip-all": (SENTENCES, {"feature": "existence", "n": 2, "hidden": 2, "many": "all"}),
    "counts-perturb": (SENTENCES, {"feature": "counts", "hidden": 2}),
    "counts-spans": (SENTENCES, {"feature": "counts", "spans": True, "hidden": 2, "many": 3}),
    "pairs": (TUPLES, NAMED | {"hidden": 2}),
    "pairs-auto": (MORE_TUPLES, NAMED | {"hidden": "auto"}),
    "pairs-learner": (TUPLES, NAMED | {"hidden": 2, "seed": 3, **QUICK, "class_weight": None}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_learned_constraint_is_the_same(name: str, golden: Golden):
    structures, options = CASES[name]
    found = learn_constraints(structures, **{"evidence": None, **options})
    golden.data(
        f"learned/{name}.json",
        {
            "columns": [f"{block.name}: {' '.join(block.values)}" for block in found.space.blocks],
            "examples": found.provenance["examples"],
            "data": found.provenance["data"],
            "training_accuracy": found.provenance["training_accuracy"],
            "W": [exact(part.W) for part in found.network.parts],
            "b": [exact(part.b) for part in found.network.parts],
        },
    )


FEATURES = {
    "ngram": NgramLabels(LABELS, n=3),
    "context": NgramContext(LABELS, ("DT", "NN", "VB", "JJ"), n=2),
    "existence": Existence(LABELS, n=1),
    "counts": Counts(LABELS),
    "tuples": Tuples(
        ("source", "relation"), (("Person", "Location"), ("NoRel", "Kill", "LiveIn", "LocatedAt"))
    ),
}
SOURCES = [
    ("ngram", "unseen", 1),
    ("ngram", "near", 1),
    ("ngram", "relabel", 2),
    ("ngram", "recast", "all"),
    ("ngram", "perturb", 1),
    ("context", "apart", 1),
    ("context", "relabel", 1),
    ("context", "recast", 1),
    ("existence", "flip", 1),
    ("existence", "flip", "all"),
    ("existence", "unseen", 1),
    ("counts", "perturb", 1),
    ("counts", "perturb", "all"),
    ("tuples", "unseen", 1),
]


@pytest.mark.parametrize(("feature", "source", "many"), SOURCES)
def test_the_examples_are_the_same(feature: str, source: str, many: Any, golden: Golden):
    """Each line is a vector of psi and how often it was seen."""
    structures = TUPLES if feature == "tuples" else SENTENCES
    found = Recipe(FEATURES[feature], negatives=source, many=many, seed=2).examples(structures)
    psi, y, weights = found.matrix(by_frequency=True)
    rows = zip(psi.dense().astype(int), y, weights, strict=True)
    lines = [
        f"{'valid' if label else 'invalid'} {''.join(map(str, row))} {weight:g}\n"
        for row, label, weight in rows
    ]
    golden.text(f"examples/{feature}-{source}-{many}.txt", "".join(lines))
