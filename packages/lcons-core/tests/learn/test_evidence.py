"""Windows without evidence stay allowed; windows that chance would have shown are forbidden."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import Recipe, learn_constraints
from lcons_core.features import NgramContext, NgramLabels, Tuples
from lcons_core.learn._evidence import EVIDENCE, WindowCounts, refuted_by_folds, sort_negatives

LABELS = ("B-X", "B-Y", "I-X", "I-Y", "O")


def labellings(
    draw: np.random.Generator, number: int, types: tuple[str, ...] = ("X", "Y")
) -> list[list[str]]:
    """Random IOB2 sentences."""
    sentences = []
    for _ in range(number):
        labels: list[str] = []
        while len(labels) < 8:
            kind = types[draw.integers(len(types))]
            labels += [["O"], [f"B-{kind}"], [f"B-{kind}", f"I-{kind}"], ["O", "O"]][draw.integers(4)]
        sentences.append(labels)
    return sentences


def counted(feature, structures) -> WindowCounts:
    windows = np.concatenate([feature.label_windows(structure) for structure in structures])
    return WindowCounts(feature, windows, np.ones(len(windows)))


@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from(LABELS), min_size=3, max_size=6), min_size=1, max_size=5))
def test_the_evidence_of_parts_is_its_definition(sentences):
    feature = NgramLabels(LABELS, n=3)
    counts = counted(feature, sentences)
    windows = np.array(list(product(range(5), repeat=3)))
    parts, classes = counts.evidence(windows)

    def seen(window, axes):
        return int((counts.windows[:, list(axes)] == window[list(axes)]).all(1).sum())

    for window, found in zip(windows, parts, strict=True):
        best = 0.0
        for size in (1, 2, 3):
            for S in combinations(range(3), size):
                if seen(window, S):
                    continue
                if size == 1:
                    places = [int((counts.windows[:, i] == window[S[0]]).sum()) for i in range(3)]
                    best = max(best, sum(places) / 3)
                    continue
                chances = []
                for i, j in combinations(S, 2):
                    rest = (
                        seen(window, [a for a in S if a not in (i, j)]) if size == 3 else len(counts.windows)
                    )
                    less = [seen(window, [a for a in S if a != out]) for out in (i, j)]
                    chances.append(less[0] * less[1] / rest if rest else 0.0)
                best = max(best, min(chances))
        assert found == pytest.approx(best)
    assert (classes >= 0).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.sampled_from([0.5, 1.0, 3.0, 10.0]))
def test_the_negatives_are_sorted_into_two_parts(seed, number, least):
    sentences = [*labellings(np.random.default_rng(seed), number), ["B-Z"]]
    everything = Recipe("ngram").examples(sentences)
    feature = NgramLabels(everything.space.blocks[0].values, 2)
    windows = [feature.label_windows(sentence) for sentence in sentences]
    kept, needed = sort_negatives(feature, windows, everything, least)
    both = sorted(kept.negatives.psi.row_keys() + kept.undecided.psi.row_keys())
    assert both == sorted(everything.negatives.psi.row_keys())
    assert kept.positives is everything.positives
    assert needed.least == least
    fewer, _ = sort_negatives(feature, windows, everything, 2 * least)
    assert set(fewer.negatives.psi.row_keys()) <= set(kept.negatives.psi.row_keys())


def test_a_type_that_occurs_once_has_the_rules_of_all_types():
    sentences = [*labellings(np.random.default_rng(0), 60), ["O", "B-Z", "I-Z", "O"]]
    constraint = learn_constraints(sentences)
    rare = Recipe("ngram", evidence=3).examples(sentences).undecided
    for bad in (["O", "I-Z"], ["B-X", "I-Z"], ["B-Z", "I-X"], ["I-Z", "I-Y"]):
        assert not constraint.satisfied(bad)
    # Nothing is known about other neighbours of the rare type.
    assert constraint.satisfied(["I-Z", "B-Z"])
    assert len(rare)


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1))
def test_no_undecided_window_is_rejected_and_every_negative_is(seed):
    sentences = labellings(np.random.default_rng(seed), 40, ("X", "Y", "Z"))
    recipe = Recipe("ngram", evidence=3, hidden=5)
    examples, constraint = recipe.examples(sentences), recipe.learn(sentences)
    for side in (examples.positives, examples.undecided):
        assert not len(side) or constraint.network.accepts(side.psi).all()
    assert not constraint.network.accepts(examples.negatives.psi).any()
    assert not any(constraint.satisfied(["O", f"I-{kind}"]) for kind in "XYZ")


def test_labels_that_follow_each_other_freely_are_refuted_by_folds():
    draw = np.random.default_rng(3)
    free = [draw.choice(list("ABCDEFGHIJKLM"), 9).tolist() for _ in range(60)]
    feature = NgramLabels(tuple("ABCDEFGHIJKLM"), 2)
    needed = refuted_by_folds(feature, [feature.label_windows(y) for y in free], EVIDENCE)
    assert needed.refuted_parts > 2
    assert needed.refuted_classes == 0
    unseen = Recipe("ngram").examples(free).negatives
    assert len(unseen)
    assert not len(Recipe("ngram", evidence=0.5).examples(free).negatives)


def test_a_context_that_excludes_a_label_is_evidence():
    tagged = [({"pos": ["D", "N", "V"]}, ["B", "I", "O"]), ({"pos": ["N", "V", "V"]}, ["B", "O", "O"])] * 12
    feature = NgramContext(("B", "I", "O"), ("D", "N", "V"), 2)
    constraint = learn_constraints(tagged, feature)
    assert constraint.satisfied(({"pos": ["D", "N"]}, ["B", "I"]))
    assert not constraint.satisfied(({"pos": ["D", "N"]}, ["O", "I"]))


def test_too_few_sentences_forbid_nothing(tmp_path):
    constraint = learn_constraints([["B-X", "I-X", "O"], ["O", "B-X"]])
    assert constraint.network.K == 1
    assert not constraint.network.W.any()
    assert constraint.provenance["recipe"]["evidence"] == 3
    assert constraint.provenance["examples"] == {"positives": 3, "negatives": 0, "undecided": 6}
    assert constraint.satisfied(["O", "I-X"])


def test_listed_combinations_need_no_evidence():
    pairs = [[("Person", "NoRel"), ("Location", "NoRel"), ("Person", "Kill")]]
    learned = learn_constraints(
        pairs, Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))
    )
    assert not learned.satisfied([("Location", "Kill")])
    assert learned.provenance["recipe"]["evidence"] is None
    assert not learn_constraints([["A", "B"], ["B", "A"]], evidence=None).satisfied(["A", "A"])


def test_one_label_error_does_not_end_a_rule():
    sentences = labellings(np.random.default_rng(1), 150, ("X", "Y", "Z"))
    clean = learn_constraints(sentences)
    noisy = learn_constraints([*sentences[:70], ["O", "O", "I-X"], *sentences[70:]])
    for bad in (["O", "I-Y"], ["O", "I-Z"], ["B-X", "I-Y"], ["I-Z", "I-X"]):
        assert not clean.satisfied(bad)
        assert not noisy.satisfied(bad)
    assert noisy.satisfied(["O", "I-X"])
