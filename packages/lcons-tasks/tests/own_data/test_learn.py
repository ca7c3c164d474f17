"""What is said of a constraint learned from one's own data is true: figures, warnings, the choice of K."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import LconsError, Recipe, iob2
from lcons_core._instance import Instance
from lcons_core.learn._recipe import DOUBLINGS, FEATURES
from lcons_decode import ChainScores, Scored, Soft, decode_batch, forbidden_ngrams
from lcons_tasks import choose, diagnose
from lcons_tasks.own_data import (
    PsiTable,
    Structures,
    contiguous_folds,
    learn,
    split,
    summary_dict,
)
from lcons_tasks.stats import chunk_f1

SENTENCES = [
    Instance({"word": ("Ann", "Lee", "sings"), "pos": ("N", "N", "V")}, ("B", "I", "O")),
    Instance({"word": ("Oh", "Ann"), "pos": ("U", "N")}, ("O", "B")),
    Instance({"word": ("Ann", "Ann", "Lee", "Lee"), "pos": ("N",) * 4}, ("B", "B", "I", "I")),
    Instance({"word": ("Oh", "!"), "pos": ("U", "U")}, ("O", "O")),
    Instance({"word": ("Lee", "Ann"), "pos": ("N", "N")}, ("B", "B")),
]
STRANGE = Instance({"word": ("Oh", "Lee"), "pos": ("U", "N")}, ("O", "I"))
TYPED = [
    Instance({}, labels.split())
    for labels in ("B-X I-X O O", "O O B-Y", "B-Y I-Y I-Y O", "O B-X I-X B-Y O", "O O", "B-X O B-Y I-Y")
]
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
    margins = found.constraint.margin(found.task.examples.negatives.psi)
    expected = -margins[margins < 0].mean()
    assert found.constraint.provenance["violation"] == pytest.approx(expected)
    assert Soft(found.constraint, 2.0, cost="standard").rate == pytest.approx(2 / expected)
    everything = learn(Structures(SENTENCES), Recipe(hidden=1, evidence=100.0))
    assert "violation" not in everything.constraint.provenance


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
    assert found.held_out.outside_example == f"structure {len(SENTENCES) * 5 + 1}: unknown label 'X'"
    assert bool(found.warnings) == warned


@pytest.mark.parametrize("sizes", [DOUBLINGS, (1, 2)])
def test_with_unseen_negatives_the_smallest_k_that_is_always_right_or_the_best_is_taken(monkeypatch, sizes):
    monkeypatch.setitem(Recipe.learn_examples.__globals__, "DOUBLINGS", sizes)
    labels = "ABCDEFG"
    data = Structures([Instance({}, (one, other)) for one in labels for other in labels if one != other] * 2)
    learned = learn(data, Recipe(hidden="auto"))
    K = learned.constraint.network.K
    right = dict(learned.tried)
    assert list(right) == list(sizes[: sizes.index(K) + 1] if right[K] == 1 else sizes)
    assert right[K] == max(right.values())
    assert (right[K] == 1) == (sizes is DOUBLINGS) == (learned.training.forbidden_parts == 0)
    assert learned.learner.cv_results_ is None


@pytest.mark.parametrize("feature", [name for name in FEATURES if name not in ("pairs", "tuples")])
def test_each_feature_is_learned_from_structures(feature):
    found = learn(Structures(SENTENCES * 5), Recipe(feature, hidden=3), Structures(SENTENCES))
    assert found.constraint.feature is not None
    assert found.held_out.structures == 5
    assert found.held_out.new_parts == 0
    assert found.constraint.provenance["recipe"]["negatives"] == found.task.negatives


def test_held_out_structures_that_are_forbidden_are_counted_and_shown():
    strange = Instance({"word": ("Oh", "Lee")}, ("O", "I"))
    held_out = Structures((SENTENCES[0], strange, strange), rows=np.array([10, 11, 12]))
    found = learn(Structures(SENTENCES), Recipe(hidden=3), held_out)
    judged = found.held_out
    assert (judged.structures, judged.forbidden_structures) == (3, 2)
    assert (judged.parts, judged.forbidden_parts, judged.new_parts, judged.new_allowed) == (4, 2, 2, 0)
    (shown,) = judged.examples
    assert (shown.count, shown.structure, shown.text) == (2, 11, "Oh/O Lee/I")
    assert shown.words == "label 1 O, label 2 I"
    assert len(found.warnings) == 1


def table(rows=3):
    grid = np.array([[a, 1 - a, b, 1 - b] for a in (0, 1) for b in (0, 1)] * rows, dtype=float)
    return PsiTable(("k=a", "k=b", "m=c", "m=d"), grid, (grid[:, 0] == 0) | (grid[:, 2] == 0))


def test_a_table_is_learned_and_judged():
    found = learn(table(), Recipe(hidden=1), table())
    assert found.constraint.feature is None
    assert found.constraint.accepts(table().X).tolist() == table().valid.tolist()
    assert (found.held_out.invalid, found.held_out.invalid_forbidden) == (3, 3)
    assert str(found.explanation).startswith("- k a needs m d")


def test_valid_rows_alone_need_a_source_of_negatives():
    data = table().take(table().valid)
    with pytest.raises(LconsError):
        learn(data)
    found = learn(data, Recipe(hidden=1, negatives="unseen"), data)
    assert found.constraint.accepts(table().X).tolist() == table().valid.tolist()


def test_vectors_given_as_both_count_as_valid_and_are_told():
    X, valid = (
        np.concatenate([old, new]) for old, new in ((table().X, table().X[:1]), (table().valid, [False]))
    )
    data = PsiTable(table().names, X, valid)
    found = learn(data, Recipe(hidden=1))
    assert found.task.contradictions == 1
    assert found.constraint.accepts(table().X[:1]).all()


@given(st.integers(1, 40), st.integers(1, 40))
def test_a_split_keeps_every_row_once_and_its_number(valid, invalid):
    y = np.arange(valid + invalid) < valid
    table = PsiTable(("a",), np.arange(valid + invalid)[:, None].astype(float), y)
    train, held_out = split(table)
    pieces = [train] if held_out is None else [train, held_out]
    assert sorted(np.concatenate([p.numbers() for p in pieces])) == list(range(1, valid + invalid + 1))
    assert all(np.array_equal(p.X[:, 0] + 1, p.numbers()) for p in pieces)
    assert train.valid.any()
    assert not train.valid.all()


@given(st.lists(st.booleans(), min_size=2, max_size=20), st.integers(2, 5))
def test_folds_of_a_table_have_rows_of_both_kinds(valid, folds):
    table = PsiTable(("a",), np.arange(len(valid), dtype=float)[:, None], np.array(valid))
    pairs = contiguous_folds(table, folds)
    held = sorted(row for _, fold in pairs for row in fold.numbers().tolist())
    assert held == ([] if not pairs else list(range(1, len(valid) + 1)))
    for rest, fold in pairs:
        if len(set(valid)) == 2:
            assert len(set(fold.valid)) == 2
        assert not set(rest.numbers()) & set(fold.numbers())


def test_folds_judge_the_networks_that_were_learned_without_them():
    data, recipe = Structures([*TYPED * 4, Instance({}, ("O", "I-X"))]), Recipe(hidden=3)
    found = learn(data, recipe, folds=3)
    alone = [learn(rest, recipe, fold).held_out for rest, fold in contiguous_folds(data, 3)]
    for name in ("structures", "parts", "forbidden_parts", "forbidden_structures", "new_parts", "outside"):
        assert getattr(found.held_out, name) == sum(getattr(one, name) for one in alone)
    assert found.held_out.forbidden_parts == 1
    assert found.held_out.examples[0].words == "label 1 O, label 2 I-X"
    assert found.constraint.satisfied(["O", "I-X"])


def test_bounds_are_in_the_summary_and_what_is_undecided_is_not_forbidden():
    learned = learn(Structures(TYPED * 8), folds=4)
    assert summary_dict(learned, "", "")["bound"] == learned.held_out.bound.to_dict()
    assert (learned.recommendation.use, learned.warnings) == ("hard", ())
    assert learned.undecided.count
    assert not learned.undecided.rejected
