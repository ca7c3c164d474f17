"""Each source of negatives is what the appendices say, seeded, and states its size first."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core._blocks import binary
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._psi import SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core.features import START, STOP, Counts, Existence, NgramContext, NgramLabels, Tuples
from lcons_core.learn import _negatives as negatives
from lcons_core.learn._examples import positives_of

LABELS = ("A", "B", "C")
sentences = st.lists(st.lists(st.sampled_from(LABELS), min_size=1, max_size=6), min_size=1, max_size=5)
TAGS = ("x", "y")


@st.composite
def tagged(draw):
    found = []
    for labels in draw(sentences):
        tags = draw(st.lists(st.sampled_from(TAGS), min_size=len(labels), max_size=len(labels)))
        found.append(({"pos": tags}, labels))
    return found


def rows(psi):
    return {tuple(row) for row in psi.dense()}


def grams(space, psi):
    return {tuple(space.describe(row).values()) for row in psi.dense()}


@given(sentences)
def test_unseen_is_the_complement_of_the_positives(data):
    feature = NgramLabels(LABELS, n=2)
    positives = positives_of(feature, data)
    source = negatives.unseen(feature.space, positives.psi)
    if source.size == 9:
        return
    found = grams(feature.space, source.collect().psi) if source.size else set()
    assert len(found) == source.size
    assert found | grams(feature.space, positives.psi) == set(product(LABELS, repeat=2))
    assert not found & grams(feature.space, positives.psi)


@given(sentences, st.integers(2, 4), st.booleans())
def test_near_ngrams_are_unseen_and_contain_a_seen_shorter_gram(data, n, pad):
    feature = NgramLabels(LABELS, n=n, pad=pad)
    positives = positives_of(feature, data)
    if not len(positives):
        return
    seen = grams(feature.space, positives.psi)
    heads, tails = {g[:-1] for g in seen}, {g[1:] for g in seen}
    everything = {
        tuple(feature.space.describe(psi).values())
        for chunk in feature.space.points()
        for psi in feature.space.vectors(chunk)
    }
    expected = {g for g in everything - seen if g[:-1] in heads or g[1:] in tails}
    source = negatives.near_ngrams(feature, positives.psi)
    assert source.size == len(expected)
    if expected:
        assert grams(feature.space, source.collect().psi) == expected


@given(tagged(), st.booleans())
def test_windows_seen_apart_pair_seen_contexts_with_seen_labels(data, pad):
    feature = NgramContext(LABELS, TAGS, n=2, pad=pad)
    positives = positives_of(feature, data)
    if not len(positives):
        return
    seen = grams(feature.space, positives.psi)
    contexts, labels = {g[:2] for g in seen}, {g[2:] for g in seen}
    expected = {c + v for c in contexts for v in labels} - seen
    source = negatives.windows_seen_apart(feature, positives.psi)
    found = grams(feature.space, source.collect().psi)
    # With padding some pairs cannot occur: a START beside a real tag.
    assert found == {
        g
        for g in expected
        if all((v in (START, STOP)) <= (c == "(other)") for c, v in zip(g[:2], g[2:], strict=True))
        and (g[3] != STOP or g[2] != START)
    }
    assert len(found) <= source.size


@given(tagged(), st.booleans())
def test_all_relabellings_change_exactly_one_label(data, pad):
    feature = NgramContext(LABELS, TAGS, n=2, pad=pad)
    positives = positives_of(feature, data)
    if not len(positives):
        return
    seen = grams(feature.space, positives.psi)
    expected = {
        (*g[:i], label, *g[i + 1 :])
        for g in seen
        for i in (2, 3)
        for label in LABELS
        if g[i] in LABELS and label != g[i]
    }
    source = negatives.relabelled(feature, positives.psi, many="all")
    assert source.size == 4 * len(seen)
    assert grams(feature.space, source.collect().psi) == expected
    one = negatives.relabelled(feature, positives.psi, many=1, seed=3)
    assert one.size == len(seen)
    assert grams(feature.space, one.collect().psi) <= expected


@given(tagged(), st.booleans())
def test_recast_windows_have_one_label_and_keep_contexts_and_padding(data, pad):
    feature = NgramContext(LABELS, TAGS, n=2, pad=pad)
    positives = positives_of(feature, data)
    if not len(positives):
        return
    seen = grams(feature.space, positives.psi)
    expected = {(*g[:2], *(label if v in LABELS else v for v in g[2:])) for g in seen for label in LABELS}
    source = negatives.recast(feature, positives.psi)
    assert source.size == len(LABELS) * len(seen)
    assert grams(feature.space, source.collect().psi) == expected
    both = negatives.joined(negatives.relabelled(feature, positives.psi, many="all"), source)
    single = grams(feature.space, negatives.relabelled(feature, positives.psi, many="all").collect().psi)
    assert grams(feature.space, both.collect().psi) == expected | single


@given(sentences)
def test_all_flips_change_exactly_one_bit(data):
    feature = Existence(LABELS, n=1)
    positives = positives_of(feature, data)
    expected = set()
    for row in rows(positives.psi):
        for bit in range(3):
            expected.add((*row[:bit], 1.0 - row[bit], *row[bit + 1 :]))
    source = negatives.flipped(feature.space, positives.psi, many="all")
    assert source.size == 3 * len(positives)
    assert rows(source.collect().psi) == expected
    assert rows(negatives.flipped(feature.space, positives.psi).collect().psi) <= expected


@given(sentences)
def test_perturbed_structures_move_one_count(data):
    feature = Counts(LABELS, high=12)
    source = negatives.perturbed_structures(feature, data, LABELS, many="all")
    assert source.size == 2 * sum(map(len, data))
    originals = positives_of(feature, data).psi.dense()
    for row in source.collect().psi.dense():
        assert any(np.abs(row - original).sum() == 2 for original in originals)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=4), st.data())
def test_cheaper_flips_cost_less(costs, data):
    solutions = [data.draw(st.lists(st.integers(0, 1), min_size=4, max_size=4)) for _ in costs]
    source = negatives.cheaper_flips(costs, solutions)
    expected = set()
    for c, z in zip(costs, solutions, strict=True):
        for i in range(4):
            flip = [*z[:i], 1 - z[i], *z[i + 1 :]]
            if np.dot(c, flip) < np.dot(c, z):
                expected.add(tuple(map(float, flip)))
    assert source.size >= len(expected)
    assert (rows(source.collect().psi) if source.size else set()) == expected


def test_cheaper_solutions_keeps_only_strictly_cheaper_ones():
    costs, optima = [[1, 2], [1, 2], [3, -1]], [[1, 0], [0, 1], [0, 0]]
    found = [[1, 0], [1, 0], [0, 1]]
    source = negatives.cheaper_solutions(costs, optima, found)
    assert source.size == 2
    assert rows(source.collect().psi) == {(1.0, 0.0), (0.0, 1.0)}
    with pytest.raises(InvalidInput, match="integers"):
        negatives.cheaper_solutions([[0.5, 1.0]], [[1, 0]], [[0, 0]])


def test_predictions_are_the_psi_of_the_proposed_structures():
    feature = NgramLabels(LABELS, n=2)
    source = negatives.predictions(feature, [["A", "B"], ["C", "C", "C"]])
    assert grams(feature.space, source.collect().psi) == {("A", "B"), ("C", "C")}


@pytest.mark.parametrize("many", [1, 2, "all"])
def test_a_source_gives_the_same_chunks_each_time(many):
    feature = NgramLabels(LABELS, n=3)
    positives = positives_of(feature, [list("ABCABCCBA")])
    source = negatives.relabelled(feature, positives.psi, many, seed=5)
    once, again = source.collect(), source.collect()
    assert np.array_equal(once.psi.dense(), again.psi.dense())
    other = negatives.relabelled(feature, positives.psi, many, seed=6).collect()
    assert many == "all" or not np.array_equal(once.psi.dense(), other.psi.dense())


def test_sizes_are_refused_before_anything_is_made():
    space = FeatureSpace([binary("bit", map(str, range(40)))])
    positives = SparsePsi.from_indices([[0]], d=40)
    with pytest.raises(TooLarge, match=r"1,099,511,627,775 negatives by .*, above the limit"):
        negatives.unseen(space, positives).collect()


def test_unfit_sources_are_refused_by_name():
    pairs = Tuples(("a", "b"), (LABELS, LABELS))
    positives = positives_of(pairs, [[("A", "B")]])
    with pytest.raises(Unsupported, match="binary blocks"):
        negatives.flipped(pairs.space, positives.psi)
    ngrams = NgramLabels(LABELS, n=2)
    with pytest.raises(Unsupported, match="no context"):
        negatives.windows_seen_apart(ngrams, positives_of(ngrams, [["A", "B"]]).psi)
    with pytest.raises(InvalidInput, match='positive integer or "all"'):
        negatives.relabelled(ngrams, positives_of(ngrams, [["A", "B"]]).psi, many=0)
