"""Positives are folded; each source of negatives is what the appendices say, seeded, with a known size."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import FeatureSpace, InvalidInput, LabelledExamples, Recipe, TooLarge, Unsupported, binary
from lcons_core.features import Counts, Existence, NgramContext, NgramLabels, Tuples
from lcons_core.features._ngrams import START, STOP
from lcons_core.learn._examples import (
    negative_source,
    perturbed_structures,
    positives_of,
    usual_negatives,
)

LABELS, TAGS = ("A", "B", "C"), ("x", "y")
BITS = FeatureSpace([binary("bit", "abcd")])
bit_rows = st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=1, max_size=8)
sentences = st.lists(st.lists(st.sampled_from(LABELS), min_size=1, max_size=6), min_size=1, max_size=5)


@st.composite
def tagged(draw):
    """Sentences with a column of tags, and a feature of their windows."""
    tags = st.sampled_from(TAGS)
    data = [
        ({"pos": draw(st.lists(tags, min_size=len(labels), max_size=len(labels)))}, labels)
        for labels in [*draw(sentences), list("AB")]
    ]
    return NgramContext(LABELS, TAGS, n=2, pad=draw(st.booleans())), data


def grams(space, psi):
    return {tuple(space.describe(row).values()) for row in psi.dense()}


def rows(psi):
    return {tuple(row) for row in psi.dense()}


def made(name, feature, data, many=1, seed=0):
    """The seen windows, the size of a source, and its windows."""
    positives = positives_of(feature, data)
    source = negative_source(name, feature, data, positives, many, seed)
    psi = source.collect().psi if source.size else positives.psi.take(np.zeros(0, dtype=np.int64))
    return grams(feature.space, positives.psi), source.size, grams(feature.space, psi)


@given(bit_rows, bit_rows)
def test_positives_and_negatives_are_disjoint_and_distinct(good, bad):
    if {tuple(row) for row in bad} <= {tuple(row) for row in good}:
        with pytest.raises(InvalidInput):
            LabelledExamples.of(BITS, good, bad)
        return
    examples = LabelledExamples.of(BITS, good, bad)
    positives, negatives = rows(examples.positives.psi), rows(examples.negatives.psi)
    assert not positives & negatives
    assert positives == {tuple(map(float, row)) for row in good}
    assert positives | negatives == {tuple(map(float, row)) for row in good + bad}
    assert (len(positives), len(negatives)) == (len(examples.positives), len(examples.negatives))


def test_matrix_weighs_sets_evenly_and_frequencies_on_request():
    examples = LabelledExamples.of(BITS, [[1, 0, 0, 0]] * 3, [[0, 0, 0, 1]])
    psi, y, weights = examples.matrix()
    assert (len(psi), y.tolist(), weights.tolist()) == (2, [True, False], [1.0, 1.0])
    assert examples.matrix(by_frequency=True)[2].tolist() == [3.0, 1.0]


@pytest.mark.parametrize("good", [[[1, 0, 0]], [[1, 0, 0, 2]], [[1, 0, 0, np.nan]], [list("abcd")]])
def test_bad_vectors_are_refused(good):
    with pytest.raises(InvalidInput):
        LabelledExamples.of(BITS, good, [[0, 0, 0, 1]])


@given(sentences)
def test_unseen_is_the_complement_of_the_positives(data):
    seen, size, found = made("unseen", NgramLabels(LABELS, n=2), [*data, list("AA")])
    assert len(found) == size
    assert found | seen == set(product(LABELS, repeat=2))
    assert not found & seen


@given(sentences, st.integers(2, 4), st.booleans())
def test_near_ngrams_are_unseen_and_contain_a_seen_shorter_gram(data, n, pad):
    feature = NgramLabels(LABELS, n=n, pad=pad)
    seen, size, found = made("near", feature, [*data, list("ABCA")])
    heads, tails = {g[:-1] for g in seen}, {g[1:] for g in seen}
    points = (feature.space.vectors(chunk) for chunk in feature.space.points())
    everything = {tuple(feature.space.describe(psi).values()) for chunk in points for psi in chunk}
    assert found == {g for g in everything - seen if g[:-1] in heads or g[1:] in tails}
    assert size == len(found)


@given(tagged())
def test_windows_seen_apart_pair_seen_contexts_with_seen_labels(drawn):
    seen, size, found = made("apart", *drawn)
    pairs = {c + v for c in {g[:2] for g in seen} for v in {g[2:] for g in seen}} - seen
    # With padding some pairs cannot occur: a START beside a real tag.
    assert found == {
        g
        for g in pairs
        if all((v in (START, STOP)) <= (c == "(other)") for c, v in zip(g[:2], g[2:], strict=True))
        and (g[3] != STOP or g[2] != START)
    }
    assert len(found) <= size


@given(tagged(), st.integers(0, 9))
def test_relabellings_change_one_label_and_recast_windows_have_one(drawn, seed):
    seen, size, found = made("relabel", *drawn, many="all")
    changed = {
        (*g[:i], label, *g[i + 1 :])
        for g in seen
        for i in (2, 3)
        for label in LABELS
        if g[i] in LABELS and label != g[i]
    }
    assert found == changed
    assert size == 4 * len(seen)
    _, size, some = made("relabel", *drawn, many=1, seed=seed)
    assert some <= changed
    assert size == len(seen)
    assert made("relabel", *drawn, many=1, seed=seed)[2] == some
    single = {(*g[:2], *(label if v in LABELS else v for v in g[2:])) for g in seen for label in LABELS}
    assert made("recast", *drawn, many="all")[1:] == (7 * len(seen), changed | single)


@given(sentences)
def test_all_flips_change_exactly_one_bit(data):
    feature = Existence(LABELS, n=1)
    positives = positives_of(feature, data)
    source = negative_source("flip", feature, data, positives, "all")
    assert source.size == 3 * len(positives)
    flips = {(*row[:bit], 1.0 - row[bit], *row[bit + 1 :]) for row in rows(positives.psi) for bit in range(3)}
    assert rows(source.collect().psi) == flips
    assert rows(negative_source("flip", feature, data, positives).collect().psi) <= flips


@given(sentences)
def test_perturbed_structures_move_one_count(data):
    feature = Counts(LABELS, high=12)
    source = perturbed_structures(feature, data, LABELS, many="all")
    assert source.size == 2 * sum(map(len, data))
    originals = positives_of(feature, data).psi.dense()
    for row in source.collect().psi.dense():
        assert any(np.abs(row - original).sum() == 2 for original in originals)


def test_the_usual_negatives_are_the_papers():
    cases = {
        NgramLabels(LABELS, 2): "unseen",
        NgramLabels(LABELS, 3): "near",
        NgramContext(LABELS, ("x",), 2): "apart",
        NgramContext(LABELS, ("x",), 3): "relabel",
        Existence(LABELS): "flip",
        Counts(LABELS): "perturb",
        Tuples(("a", "b"), (LABELS, LABELS)): "unseen",
    }
    assert {feature: usual_negatives(feature) for feature in cases} == cases


@pytest.mark.parametrize(
    ("recipe", "error"),
    [
        (Recipe(Existence(tuple(f"L{i}" for i in range(40))), negatives="unseen"), TooLarge),
        (Recipe(Existence(tuple(f"L{i}" for i in range(99))), negatives="unseen"), TooLarge),
        (Recipe(NgramLabels(tuple(f"L{i}" for i in range(999)), 3), negatives="near"), TooLarge),
        (Recipe("ngram", negatives="flip"), Unsupported),
        (Recipe("ngram", 1, negatives="near"), Unsupported),
        (Recipe("ngram", negatives="apart"), InvalidInput),
        (Recipe("ngram", negatives="relabel", many=0), InvalidInput),
        (Recipe("counts", negatives="relabel"), InvalidInput),
    ],
)
def test_unfit_and_endless_sources_are_refused(recipe, error):
    with pytest.raises(error):
        recipe.examples([["L0", "L1", "L2"]])
