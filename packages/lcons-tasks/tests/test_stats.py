"""Chunk F1 and the paired bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import InvalidInput
from lcons_tasks.stats import LabelTally, chunk_f1, chunks, paired_bootstrap

LABELS = ["B-A", "I-A", "B-B", "I-B", "O"]
sequences = st.lists(st.lists(st.sampled_from(LABELS), min_size=1, max_size=7), min_size=1, max_size=4)


def seqeval_chunks(labels):
    """The rules of seqeval 1.2.2 (default mode), which are conlleval's, as it states them."""
    found, begin, before, before_type = [], 0, "O", ""
    for i, label in enumerate([*labels, "O"]):
        tag, kind = label[0], label[1:].split("-", maxsplit=1)[-1] or "_"
        changed = before_type != kind
        pair = before + tag
        if before in "ES" or pair in ("BB", "BS", "BO", "IB", "IS", "IO") or (before != "O" and changed):
            found.append((before_type, begin, i))
        start = tag in "BS" or pair in ("EE", "EI", "SE", "SI", "OE", "OI") or (tag != "O" and changed)
        begin = i if start else begin
        before, before_type = tag, kind
    return found


BIOES = [*LABELS, "E-A", "S-A", "E-B", "S-B"]
AS_BILOU = {"E": "L", "S": "U"}


@given(st.lists(st.sampled_from(BIOES), max_size=10))
def test_chunks_of_bioes_and_bilou_are_those_of_seqeval(labels):
    assert list(chunks(labels)) == seqeval_chunks(labels)
    bilou = [AS_BILOU.get(label[0], label[0]) + label[1:] for label in labels]
    assert list(chunks(bilou)) == seqeval_chunks(labels)
    untyped = [label[0] for label in labels]
    assert list(chunks(untyped)) == seqeval_chunks(untyped)


@given(sequences, st.randoms(use_true_random=False))
def test_a_tally_gains_what_chunk_f1_and_accuracy_gain(gold, rng):
    before = [[rng.choice(LABELS) for _ in y] for y in gold]
    after = [
        [rng.choice([a, b]) for a, b in zip(y, z, strict=True)] for y, z in zip(gold, before, strict=True)
    ]
    tally = LabelTally()
    for sentence in zip(gold, before, after, strict=True):
        tally.add(*sentence)
    *spans, accuracy = tally.gains()
    assert bool(spans) == any(label != "O" for side in (gold, before) for y in side for label in y)
    for gain in spans:
        assert (gain.before, gain.after) == pytest.approx(
            [100 * chunk_f1(gold, found).f1 for found in (before, after)]
        )
    right = sum(a == b for y, z in zip(gold, after, strict=True) for a, b in zip(y, z, strict=True))
    assert accuracy.after == pytest.approx(100 * right / tally.labels)
    assert (accuracy.interval is None) == (len(gold) == 1)


# What seqeval 1.2.2 (default mode) gives for these labels.
SEQEVAL = [
    ([["B-A", "I-A", "O"], ["B-B", "O"]], [["O", "I-A", "O"], ["B-B", "B-A"]], 1 / 3, 0.5, 0.4),
    ([["I-A", "I-A", "I-B"]], [["B-A", "I-A", "B-B"]], 1.0, 1.0, 1.0),
    ([["B-A", "B-A", "I-B", "O"]], [["B-A", "I-A", "I-B", "O"]], 0.5, 1 / 3, 0.4),
    ([["O", "O"]], [["B-A", "O"]], 0.0, 0.0, 0.0),
]


@pytest.mark.parametrize(("gold", "found", "precision", "recall", "f1"), SEQEVAL)
def test_chunk_f1_is_that_of_seqeval(gold, found, precision, recall, f1):
    score = chunk_f1(gold, found)
    assert (score.precision, score.recall, score.f1) == pytest.approx((precision, recall, f1))


def test_a_sure_gain_has_an_interval_above_zero_and_no_gain_has_one_around_it():
    rng = np.random.default_rng(0)
    totals = np.full(300, 20)
    base = rng.binomial(20, 0.8, 300)
    better = base + rng.binomial(20 - base, 0.3)
    sure = paired_bootstrap([better], [base], totals)
    assert sure.low > 0
    assert sure.low < sure.mean < sure.high
    same = paired_bootstrap([base], [rng.permutation(base)], totals)
    assert same.low < 0 < same.high


FLAT = [["B-X", "O"], "O", [[1, 2]], [1, 2]]


@pytest.mark.parametrize(
    ("gold", "found"), [*zip(FLAT, FLAT, strict=True), ([["B-A", "O"]], [["B-A"]]), ([["O"], ["O"]], [["O"]])]
)
def test_chunk_f1_needs_a_label_for_each_label_of_each_sentence(gold, found):
    with pytest.raises(InvalidInput):
        chunk_f1(gold, found)
