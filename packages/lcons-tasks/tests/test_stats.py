"""Chunk F1 and the paired bootstrap."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_tasks.stats import chunk_f1, chunks, paired_bootstrap

LABELS = ["B-A", "I-A", "B-B", "I-B", "O"]
sequences = st.lists(st.lists(st.sampled_from(LABELS), min_size=1, max_size=7), min_size=1, max_size=4)


def independent_chunks(labels):
    """The definition, token by token: where a chunk starts, and how long it goes on."""
    before = ["O", *labels]
    starts = [
        t
        for t, (last, label) in enumerate(pairwise(before))
        if label != "O" and (label[0] == "B" or last == "O" or last[2:] != label[2:])
    ]
    found = set()
    for first in starts:
        last = first + 1
        while last < len(labels) and labels[last] == f"I-{labels[first][2:]}":
            last += 1
        found.add((labels[first][2:], first, last))
    return found


@given(st.lists(st.sampled_from(LABELS), max_size=12))
def test_chunks_are_those_of_the_definition(labels):
    assert set(chunks(labels)) == independent_chunks(labels)


# What seqeval 1.2.2 (default mode) gives for these labels.
SEQEVAL = [
    ([["B-A", "I-A", "O", "B-B"]], [["B-A", "I-A", "O", "B-B"]], 1.0, 1.0, 1.0),
    ([["B-A", "I-A", "O", "B-B"]], [["B-A", "O", "O", "B-B"]], 0.5, 0.5, 0.5),
    ([["B-A", "I-A", "O"], ["B-B", "O"]], [["O", "I-A", "O"], ["B-B", "B-A"]], 1 / 3, 0.5, 0.4),
    ([["I-A", "I-A", "I-B"]], [["B-A", "I-A", "B-B"]], 1.0, 1.0, 1.0),
    ([["B-A", "B-A", "I-B", "O"]], [["B-A", "I-A", "I-B", "O"]], 0.5, 1 / 3, 0.4),
    ([["O", "O"]], [["B-A", "O"]], 0.0, 0.0, 0.0),
]


@pytest.mark.parametrize(("gold", "found", "precision", "recall", "f1"), SEQEVAL)
def test_chunk_f1_is_that_of_seqeval(gold, found, precision, recall, f1):
    score = chunk_f1(gold, found)
    assert (score.precision, score.recall, score.f1) == pytest.approx((precision, recall, f1))


@given(sequences)
def test_gold_against_itself_is_perfect_where_it_has_chunks(gold):
    score = chunk_f1(gold, gold)
    assert score.f1 == (1.0 if score.gold else 0.0)


def test_bare_labels_make_chunks_without_a_type():
    assert list(chunks(["B", "I", "O", "I"])) == [("_", 0, 2), ("_", 3, 4)]


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


def test_the_mean_is_over_runs_and_a_rerun_gives_the_same_interval():
    totals = [10, 10]
    one = paired_bootstrap([[8, 8], [9, 9]], [[7, 7], [7, 7]], totals)
    assert one.mean == pytest.approx(15.0)
    assert one == paired_bootstrap([[8, 8], [9, 9]], [[7, 7], [7, 7]], totals)
