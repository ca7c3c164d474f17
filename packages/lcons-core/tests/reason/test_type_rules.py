"""Rules over label types say exactly what is forbidden for every type, and come first."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import Recipe, explain, iob2, learn_constraints
from lcons_core.features import NgramLabels
from lcons_core.features._ngrams import type_of
from lcons_core.learn._examples import positives_of
from lcons_core.reason._explain import explain_rejected
from lcons_core.reason._words import type_rules

LABELS = ("B-X", "B-Y", "B-Z", "I-X", "I-Y", "I-Z", "O")


def test_what_rejects_gold_is_said_for_single_types():
    gold = positives_of(NgramLabels(LABELS, 2, pad=True), [["O", "I-X"], ["B-X", "I-X"]])
    found = explain_rejected(iob2(LABELS), gold)
    assert found.types == ()
    assert str(found).startswith("- I-X only after B-X or I-X  [")


@given(st.lists(st.booleans(), min_size=49, max_size=49))
def test_a_rule_over_types_is_forbidden_for_every_pair_that_it_is_about(bits):
    space = NgramLabels(LABELS, 2).space
    rejected = np.array(bits).reshape(7, 7)
    # Whole cells are forbidden often enough to be said.
    rejected[-1, 3:6] = rejected[-1, 3]
    possible = np.ones((7, 7), dtype=np.bool_)
    rules, covered = type_rules(space, rejected, possible, None)
    assert not (covered & ~rejected).any()
    for a, b in product(range(7), repeat=2):
        cell = [
            (i, j)
            for i, j in product(range(7), repeat=2)
            if _head(i) == _head(a) and _head(j) == _head(b) and _same(i, j) == _same(a, b)
        ]
        assert len({bool(covered[pair]) for pair in cell}) == 1
    if rules:
        assert sum(rule.size for rule in rules) >= covered.sum()


def _head(i):
    return type_of(LABELS[i])[0] or LABELS[i]


def _same(i, j):
    kinds = type_of(LABELS[i])[1], type_of(LABELS[j])[1]
    return all(kinds) and kinds[0] == kinds[1]


def test_figures_of_a_rule_over_types_are_sums_over_types():
    sentences = [["B-X", "I-X", "O"], ["O", "B-Y", "I-Y"], ["B-Y", "I-Y", "I-Y"]] * 20
    found = learn_constraints(sentences)
    said = explain(found, Recipe("ngram", evidence=3).examples(sentences))
    (rule,) = (rule for rule in said.types if rule.words.startswith("I-X only after"))
    assert (rule.support, rule.exceptions) == (80, 0)
    pairs = [pair for y in sentences for pair in pairwise(y)]
    before, after = ([pair[i] for pair in pairs] for i in (0, 1))
    chance = sum(
        before.count(a) * after.count(b) / len(pairs)
        for a in set(before)
        for b in ("I-X", "I-Y")
        if type_of(a)[1] != type_of(b)[1]
    )
    assert rule.expected == pytest.approx(chance)
