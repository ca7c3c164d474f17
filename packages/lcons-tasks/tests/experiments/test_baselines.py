"""Baselines of soft constraints: their decoder against enumeration, and their tables."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput
from lcons_decode import ChainBatch, viterbi
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._rows import COUNTS, TABLE, WindowTable, decode_windows, once

LABELS = ("A", "B", "C")


def sentence(tags, labels):
    return Sentence(tuple("w" * len(tags)), tuple(labels), {"pos": tuple(tags)})


TRAIN = [sentence("XYX", "ABA"), sentence("XXYY", "AABC"), sentence("YX", "CA")]


def batch_of(rng, lengths):
    offsets, L = np.cumsum([0, *lengths]), len(LABELS)
    emission = rng.integers(-8, 9, (offsets[-1], L)) / 4
    transition, start, stop = (rng.integers(-4, 5, shape) / 4 for shape in ((L, L), (L,), (L,)))
    return ChainBatch(emission, offsets, transition, start, stop, LABELS)


def total(batch, i, y, used, x):
    """The score of a labelling, window by window."""
    score = list(batch)[i].score_ids(np.array(y))
    for table, weight in used:
        rows = table.rows([x])
        for t in range(table.feature.n - 1, len(y)):
            windows = table.scores(rows[[t]])[0]
            labels = zip(([0, 0, *y])[t : t + 3], windows.shape, strict=True)
            score += weight * windows[tuple(label if size > 1 else 0 for label, size in labels)]
    return score


@given(
    st.integers(0, 2**31),
    st.lists(st.text("XYZ", min_size=1, max_size=5), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from([TABLE, COUNTS])), max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_the_decoder_finds_the_best_labelling_under_any_tables(seed, texts, kinds):
    rng = np.random.default_rng(seed)
    used = [(WindowTable.of(how, once("pos", n), TRAIN), float(rng.integers(0, 3))) for n, how in kinds]
    batch = batch_of(rng, [*map(len, texts)])
    xs = [{"word": tuple(text), "pos": tuple(text)} for text in texts]
    windows = [(table, table.rows(xs)) for table, _ in used]
    labels = decode_windows(batch, windows, [weight for _, weight in used])
    for i, x in enumerate(xs):
        answer = labels[batch.offsets[i] : batch.offsets[i + 1]].tolist()
        best = max(total(batch, i, list(y), used, x) for y in product(range(3), repeat=len(answer)))
        assert total(batch, i, answer, used, x) == pytest.approx(best, abs=1e-9)


def test_without_tables_the_decoder_is_viterbi():
    batch = batch_of(np.random.default_rng(0), [5, 1, 40, 0, 3])
    found = [LABELS[i] for i in decode_windows(batch, [], [])]
    assert found == [label for scores in batch for label in viterbi(scores).y]


def scores(how, tag, **recipe):
    """The scores of A, B and C after a tag."""
    table = WindowTable.of(how, once("pos", 1, **recipe), TRAIN)
    return table.scores(table.rows([{"pos": (tag,)}])).ravel().tolist()


def test_a_table_charges_what_was_not_seen_as_often_as_support_asks():
    assert [scores(TABLE, tag) for tag in "XYZ"] == [[0, -1, -1], [-1, 0, 0], [-1, -1, -1]]
    assert [scores(TABLE, tag, min_support=3) for tag in "XY"] == [[0, -1, -1], [-1, -1, -1]]


def test_counts_are_smoothed_probabilities():
    """After Y: B twice and C twice of four, with 0.1 added to each of three; after Z nothing is known."""
    assert np.exp(scores(COUNTS, "Y")) == pytest.approx([0.1 / 4.3, 2.1 / 4.3, 2.1 / 4.3])
    assert np.exp(scores(COUNTS, "Z")) == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("recipe", [once("pos", 4), once("ngram", 2)])
def test_windows_that_the_decoder_does_not_have_are_refused(recipe):
    with pytest.raises(InvalidInput):
        WindowTable.of(TABLE, recipe, TRAIN)
