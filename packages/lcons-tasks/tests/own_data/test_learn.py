"""What is said of a constraint learned from one's own data is true: figures, warnings, the choice of K."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from lcons_core import Instance, LconsError, Recipe, load, save
from lcons_core.learn._estimator import AUTO_HIDDEN
from lcons_core.learn._recipe import DOUBLINGS, OFTEN
from lcons_decode import Soft
from lcons_tasks.own_data import PsiTable, Structures, learn, summarise

SENTENCES = [
    Instance({"word": ("Ann", "Lee", "sings"), "pos": ("N", "N", "V")}, ("B", "I", "O")),
    Instance({"word": ("Oh", "Ann"), "pos": ("U", "N")}, ("O", "B")),
    Instance({"word": ("Ann", "Ann", "Lee", "Lee"), "pos": ("N",) * 4}, ("B", "B", "I", "I")),
    Instance({"word": ("Oh", "!"), "pos": ("U", "U")}, ("O", "O")),
    Instance({"word": ("Lee", "Ann"), "pos": ("N", "N")}, ("B", "B")),
]
STRANGE = Instance({"word": ("Oh", "Lee"), "pos": ("U", "N")}, ("O", "I"))
RARE = Structures([*SENTENCES * 5, STRANGE])


def text_of(found):
    return summarise(found, "all", "held-out data")


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


@pytest.mark.parametrize("caution", [1, 100])
def test_what_min_support_forbids_is_put_down_to_it(caution):
    found = learn(RARE, Recipe(hidden=3, min_support=2, caution=caution), Structures([STRANGE]))
    assert (found.training.forbidden_parts, found.training.forbidden_rare) == (1, 1)
    assert (found.held_out.forbidden_parts, found.held_out.forbidden_rare) == (1, 1)
    for text in found.warnings:
        assert (
            "was seen in training, but fewer than 2 times, so lower the argument `min_support`; or use"
            in text
        )
        assert "--caution" not in text
    assert not learn(RARE, Recipe(hidden=3, min_support=1, caution=caution)).warnings


def test_what_too_small_a_network_forbids_calls_for_more_caution_than_now():
    labels = ["A", "B", "C", "D"]
    data = Structures([Instance({}, (one, one)) for one in labels for _ in range(3)])
    bold = learn(data, Recipe(hidden=1, caution=0.25))
    assert bold.training.forbidden_parts > 0
    (text,) = bold.warnings
    assert "never invalid in training, so learn with more caution (`caution=1`)" in text
    careful = learn(data, Recipe(hidden=1, caution=16))
    assert careful.training.forbidden_parts < bold.training.forbidden_parts


def words(counts):
    """A sentence of two tokens for each word, as often as counted."""
    return [Instance({"word": (w, ".")}, ("B", "O")) for w, n in counts.items() for _ in range(n)]


def test_rare_words_are_told_from_words_that_training_has_not():
    train = Structures(words({"often": OFTEN, "rare": OFTEN - 1}))
    held_out = Structures(words({"often": 2, "rare": 3, "new": 4}))
    found = learn(train, Recipe("word", n=1, hidden=2), held_out)
    assert (found.held_out.unknown.tokens, found.held_out.unknown.never) == (7, 4)
    line = (
        f"no name in the constraint (seen fewer than {OFTEN} times in training, or never): 7, 4 of them never"
    )
    assert line in text_of(found)


def test_pos_tags_that_training_has_not_are_counted():
    held_out = Structures((Instance({"pos": ("N", "X", "Y")}, ("B", "I", "O")),))
    found = learn(Structures(SENTENCES), Recipe("pos", hidden=2), held_out)
    assert "tokens whose pos is not in training, read as (other): 2" in text_of(found)


def test_what_unseen_makes_of_held_out_data_is_no_result():
    found = learn(Structures(SENTENCES * 10), Recipe(hidden=3), Structures(SENTENCES * 10))
    assert found.held_out.invalid is None
    line = "invalid vectors: not judged, because with `unseen`, training already has all of them"
    assert line in text_of(found)


def test_only_invalid_vectors_that_training_had_not_are_judged():
    settings = Recipe("pos", hidden=2, negatives="relabel", many="all")
    held_out = Structures([*SENTENCES, Instance({"pos": ("V", "V")}, ("O", "O"))])
    found = learn(Structures(SENTENCES), settings, held_out)
    assert found.held_out.invalid == found.held_out.invalid_new > 0


OTHERS = [Instance({}, ("X", "O"))]


def test_held_out_data_of_other_labels_alone_are_refused_before_learning(monkeypatch):
    monkeypatch.setattr(Recipe, "learn_examples", None)
    monkeypatch.setattr("lcons_tasks.own_data._learn.of_structures", None)
    with pytest.raises(
        LconsError, match=r"labels of training \(B, I, O\), found others in each \('X', first"
    ):
        learn(Structures(SENTENCES), None, Structures(OTHERS * 3))
    tuples = [Structures([Instance({}, (pair,))], tuples=True) for pair in (("a", "b"), ("b", "a"))]
    with pytest.raises(LconsError, match="found others in each"):
        learn(tuples[0], None, tuples[1])


@pytest.mark.parametrize(("strange", "warned"), [(1, False), (2, True)])
def test_held_out_structures_of_other_labels_are_told_where_they_matter(strange, warned):
    held_out = Structures([*SENTENCES * 5, *OTHERS * strange])
    found = learn(Structures(SENTENCES), Recipe(hidden=3), held_out)
    assert found.held_out.outside == strange
    assert (found.labels_warning in found.warnings) == warned
    if warned:
        said = f"{strange} of {25 + strange} held-out structures are not judged, because they have labels"
        assert found.labels_warning.startswith(said)
        assert "('X', first in structure 26)" in found.labels_warning


def test_with_unseen_negatives_the_smallest_k_that_is_always_right_is_taken():
    labels = "ABCDEFG"
    data = Structures([Instance({}, (one, other)) for one in labels for other in labels if one != other] * 2)
    found = learn(data, Recipe(hidden="auto"))
    K = found.constraint.network.K
    assert [tried for tried, _ in found.tried] == list(DOUBLINGS[: DOUBLINGS.index(K) + 1])
    assert [right == 1 for _, right in found.tried] == [False] * (len(found.tried) - 1) + [True]
    assert found.training.forbidden_parts == 0
    assert f"chosen K = {K}, the smallest of" in text_of(found)
    assert found.scores == ()


def test_where_no_k_is_always_right_the_best_is_taken(monkeypatch):
    monkeypatch.setitem(Recipe.learn_examples.__globals__, "DOUBLINGS", (1, 2))
    labels = "ABCDEFG"
    data = Structures([Instance({}, (one, other)) for one in labels for other in labels if one != other])
    found = learn(data, Recipe(hidden="auto"))
    best = max(found.tried, key=lambda one: one[1])
    assert best[1] < 1
    assert best[0] == found.constraint.network.K
    assert "which classifies the most of them correctly; none of 1, 2 classifies all" in text_of(found)


def test_with_other_negatives_auto_is_the_learners_own():
    data = Structures([*SENTENCES, *SENTENCES])
    settings = Recipe("pos", hidden="auto", negatives="relabel", many="all", folds=2)
    found = learn(data, settings)
    assert found.tried == ()
    assert len(found.scores) == len(AUTO_HIDDEN)


def test_a_table_without_frequent_rows_is_refused():
    table = PsiTable(("a", "b"), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([True, False]))
    with pytest.raises(LconsError, match="expected valid vectors seen 9 times or more, found none"):
        learn(table, Recipe(min_support=9))


def test_a_constraint_keeps_what_its_rules_rest_on(tmp_path):
    found = learn(Structures(SENTENCES), Recipe(hidden=3))
    save(found.constraint, tmp_path / "c.json")
    kept = load(tmp_path / "c.json").provenance["evidence"]
    assert [one["rule"] for one in kept] == [rule.words for rule in found.explanation.rules]
    assert [(one["support"], one["seen"]) for one in kept] == [
        (rule.support, rule.exceptions) for rule in found.explanation.rules
    ]
    assert all(one["expected"] >= 0 for one in kept)
