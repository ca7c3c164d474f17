"""What is said of a constraint learned from one's own data is true: figures, warnings, the choice of K."""

from collections import Counter
from itertools import pairwise

import pytest

from lcons_core import LconsError, Recipe, iob2, load, save
from lcons_core._instance import Instance
from lcons_core.learn._estimator import AUTO_HIDDEN
from lcons_core.learn._recipe import DOUBLINGS
from lcons_decode import ChainScores, Scored, Soft, decode_batch, forbidden_ngrams
from lcons_tasks import choose, diagnose
from lcons_tasks.own_data import Structures, learn
from lcons_tasks.stats import chunk_f1

SENTENCES = [
    Instance({"word": ("Ann", "Lee", "sings"), "pos": ("N", "N", "V")}, ("B", "I", "O")),
    Instance({"word": ("Oh", "Ann"), "pos": ("U", "N")}, ("O", "B")),
    Instance({"word": ("Ann", "Ann", "Lee", "Lee"), "pos": ("N",) * 4}, ("B", "B", "I", "I")),
    Instance({"word": ("Oh", "!"), "pos": ("U", "U")}, ("O", "O")),
    Instance({"word": ("Lee", "Ann"), "pos": ("N", "N")}, ("B", "B")),
]
STRANGE = Instance({"word": ("Oh", "Lee"), "pos": ("U", "N")}, ("O", "I"))
SCORES = ChainScores([[0.0, 1.0, 2.0]], labels=["B-X", "I-X", "O"])
SCHEME = iob2(SCORES.labels)
TRAPS = {
    "labels in a set": lambda: iob2({"B-X", "I-X", "O"}),
    "labels by number": lambda: forbidden_ngrams({"B-X": 0, "O": 1}, [("O", "B-X")]),
    "labels of scores in a dict": lambda: ChainScores([[0.0, 1.0]], labels={"O": 0, "B-X": 1}),
    "scores of text": lambda: ChainScores([["1", "2"]], labels="AB"),
    "a column of characters": lambda: Instance({"pos": "NN"}, ["A", "B"]),
    "words of characters": lambda: Structures.of([("ab", ["A", "B"])]),
    "a text to learn from": lambda: learn(["some text"]),
    "no instances": lambda: Structures((["a"], ["O"])),
    "a constraint outside a list": lambda: list(decode_batch([SCORES], SCHEME)),
    "a weight of text": lambda: Soft(SCHEME, "1"),
    "gold labels outside lists": lambda: choose([Scored(SCORES)] * 5, [SCHEME], ["O"] * 5),
    "scores without x": lambda: choose([SCORES] * 5, [SCHEME], [["O"]] * 5),
    "labels outside lists": lambda: chunk_f1(["O", "B-X"], ["O", "B-X"]),
    "too few predictions": lambda: diagnose(SCHEME, [["O"]] * 3, [["O"]] * 3, [["O"]]),
}


@pytest.mark.parametrize("name", TRAPS)
def test_what_python_would_read_in_another_way_is_refused(name):
    with pytest.raises(LconsError):
        TRAPS[name]()


RARE = Structures([*SENTENCES * 5, STRANGE])


def test_figures_of_rules_are_counted_on_all_training_data():
    found = learn(RARE, Recipe(hidden=3, min_support=2))
    counts = Counter(pair for one in RARE.instances for pair in pairwise(one.y))
    assert not found.constraint.satisfied(STRANGE)
    assert sum(rule.exceptions for rule in found.explanation.rules) == counts["O", "I"] == 1
    total = sum(counts.values())
    for rule in found.explanation.rules:
        inside = [
            [pair for pair in counts if all(pair[int(axis[-1]) - 1] in values for axis, values in box)]
            for box in (rule.antecedent.conditions, rule.box.conditions)
        ]
        assert [rule.support, rule.exceptions] == [sum(counts[pair] for pair in some) for some in inside]
        expected = total
        for axis, values in rule.box.conditions:
            i = int(axis[-1]) - 1
            expected *= sum(n for pair, n in counts.items() if pair[i] in values) / total  # type: ignore[assignment]
        assert rule.expected == pytest.approx(expected)


def test_the_size_of_a_typical_violation_is_recorded():
    found = learn(Structures(SENTENCES), Recipe(hidden=3))
    margins = found.constraint.margin(found.examples.negatives.psi)
    expected = -margins[margins < 0].mean()
    assert found.constraint.provenance["violation"] == pytest.approx(expected)
    assert Soft(found.constraint, 2.0, cost="standard").rate == pytest.approx(2 / expected)
    everything = learn(Structures(SENTENCES), Recipe(hidden=1, evidence=100.0))
    assert "violation" not in everything.constraint.provenance


def test_invalid_vectors_are_counted_alike_everywhere():
    settings = Recipe("pos", hidden=2, negatives="recast", many=2)
    found = learn(Structures(SENTENCES), settings)
    assert found.examples.negatives.weight.sum() > len(found.examples.negatives)
    assert found.explanation.coverage.total == len(found.examples.negatives)


OTHERS = [Instance({}, ("X", "O"))]


def test_held_out_data_of_other_labels_alone_are_refused_before_learning(monkeypatch):
    monkeypatch.setattr(Recipe, "learn_examples", None)
    with pytest.raises(LconsError):
        learn(Structures(SENTENCES), None, Structures(OTHERS * 3))
    tuples = [Structures([Instance({}, (pair,))], tuples=True) for pair in (("a", "b"), ("b", "a"))]
    with pytest.raises(LconsError):
        learn(tuples[0], None, tuples[1])


@pytest.mark.parametrize(("strange", "warned"), [(1, False), (2, True)])
def test_held_out_structures_of_other_labels_are_told_where_they_matter(strange, warned):
    held_out = Structures([*SENTENCES * 5, *OTHERS * strange])
    found = learn(Structures(SENTENCES), Recipe(hidden=3), held_out)
    assert found.held_out.outside == strange
    assert bool(found.warnings) == warned


def test_with_unseen_negatives_the_smallest_k_that_is_always_right_is_taken():
    labels = "ABCDEFG"
    data = Structures([Instance({}, (one, other)) for one in labels for other in labels if one != other] * 2)
    found = learn(data, Recipe(hidden="auto"))
    K = found.constraint.network.K
    assert [tried for tried, _ in found.tried] == list(DOUBLINGS[: DOUBLINGS.index(K) + 1])
    assert [right == 1 for _, right in found.tried] == [False] * (len(found.tried) - 1) + [True]
    assert found.training.forbidden_parts == 0
    assert found.scores == ()


def test_where_no_k_is_always_right_the_best_is_taken(monkeypatch):
    monkeypatch.setitem(Recipe.learn_examples.__globals__, "DOUBLINGS", (1, 2))
    labels = "ABCDEFG"
    data = Structures([Instance({}, (one, other)) for one in labels for other in labels if one != other])
    found = learn(data, Recipe(hidden="auto"))
    best = max(found.tried, key=lambda one: one[1])
    assert best[1] < 1
    assert best[0] == found.constraint.network.K


def test_with_other_negatives_auto_is_the_learners_own():
    data = Structures([*SENTENCES, *SENTENCES])
    settings = Recipe("pos", hidden="auto", negatives="relabel", many="all", folds=2)
    found = learn(data, settings)
    assert found.tried == ()
    assert len(found.scores) == len(AUTO_HIDDEN)


def test_a_constraint_keeps_what_its_rules_rest_on(tmp_path):
    found = learn(Structures(SENTENCES), Recipe(hidden=3))
    save(found.constraint, tmp_path / "c.json")
    kept = load(tmp_path / "c.json").provenance["evidence"]
    assert [one["rule"] for one in kept] == [rule.words for rule in found.explanation.rules]
    assert [(one["support"], one["seen"]) for one in kept] == [
        (rule.support, rule.exceptions) for rule in found.explanation.rules
    ]
    assert all(one["expected"] >= 0 for one in kept)
