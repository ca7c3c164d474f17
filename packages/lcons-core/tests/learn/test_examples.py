"""Labelled examples are folded, supported and disjoint."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core._blocks import binary
from lcons_core._errors import InvalidInput
from lcons_core._space import FeatureSpace
from lcons_core.features import NgramLabels
from lcons_core.learn._examples import LabelledExamples, fold, positives_of

BITS = FeatureSpace([binary("bit", "abcd")])
bit_rows = st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=1, max_size=30)


@given(bit_rows, bit_rows)
def test_positives_and_negatives_are_disjoint_and_distinct(good, bad):
    if {tuple(row) for row in bad} <= {tuple(row) for row in good}:
        with pytest.raises(InvalidInput, match="no negatives"):
            LabelledExamples.of(BITS, good, bad)
        return
    examples = LabelledExamples.of(BITS, good, bad)
    positives = {tuple(row) for row in examples.positives.psi.dense()}
    negatives = {tuple(row) for row in examples.negatives.psi.dense()}
    assert not positives & negatives
    assert positives == {tuple(map(float, row)) for row in good}
    assert positives | negatives == {tuple(map(float, row)) for row in good + bad}
    assert len(positives) == len(examples.positives)
    assert len(negatives) == len(examples.negatives)


@given(bit_rows)
def test_folding_keeps_the_total_weight(rows):
    folded = fold(rows, d=4)
    assert folded.weight.sum() == len(rows)
    for psi, weight in zip(folded.psi.dense(), folded.weight, strict=True):
        assert weight == sum(tuple(psi) == tuple(row) for row in rows)


def test_rare_positives_are_dropped_and_become_negatives():
    good = [[1, 0, 0, 0]] * 3 + [[0, 1, 0, 0]]
    examples = LabelledExamples.of(BITS, good, [[0, 1, 0, 0]], min_support=2)
    assert examples.positives.weight.tolist() == [3.0]
    assert examples.negatives.psi.dense().tolist() == [[0, 1, 0, 0]]


def test_windows_of_many_sentences_equal_those_of_each():
    feature = NgramLabels(("A", "B"), n=2, pad=True)
    sentences = [["A", "B"], [], ["B"], ["A", "A", "B"]]
    together = positives_of(feature, sentences)
    each = np.concatenate([feature.psi(sentence).dense() for sentence in sentences])
    assert together.weight.sum() == len(each)
    assert {tuple(row) for row in together.psi.dense()} == {tuple(row) for row in each}


def test_matrix_weighs_sets_evenly_and_frequencies_on_request():
    examples = LabelledExamples.of(BITS, [[1, 0, 0, 0]] * 3, [[0, 0, 0, 1]])
    psi, y, weights = examples.matrix()
    assert (len(psi), y.tolist(), weights.tolist()) == (2, [True, False], [1.0, 1.0])
    assert examples.matrix(by_frequency=True)[2].tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ([[1, 0, 0]], [[0, 0, 0, 1]], "4 columns, found 3"),
        ([[1, 0, 0, 2]], [[0, 0, 0, 1]], "not a vector of this space"),
        ([[1, 0, 0, np.nan]], [[0, 0, 0, 1]], "finite"),
        ([["a", "b", "c", "d"]], [[0, 0, 0, 1]], "array of numbers"),
    ],
)
def test_bad_vectors_are_refused_with_a_reason(good, bad, message):
    with pytest.raises(InvalidInput, match=message):
        LabelledExamples.of(BITS, good, bad)
