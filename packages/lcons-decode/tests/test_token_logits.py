"""Logits of token-classification models become the scores of words, as computed by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import InvalidInput, iob2
from lcons_decode import constrained_viterbi, from_token_logits

LABELS = ["O", "B-LOC", "I-LOC"]

# Two sequences of six tokens: "[CLS] Berlin sle ##pt [SEP] [PAD]" and "[CLS] New Yo ##rk now [SEP]".
LOGITS = np.array(
    [
        [[9, 0, 0], [0, 3, 1], [4, 0, 1], [0, 0, 7], [9, 0, 0], [0, 8, 0]],
        [[9, 0, 0], [2, 1, 0], [0, 0, 5], [0, 9, 0], [1, 0, 2], [9, 0, 0]],
    ],
    dtype=np.float32,
)
MASK = np.array([[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]])
WORD_IDS = [[None, 0, 1, 1, None, None], [None, 0, 1, 1, 2, None]]


def test_words_have_the_scores_of_their_first_tokens():
    first, second = from_token_logits(LOGITS, LABELS, MASK, WORD_IDS)
    assert first.emission.tolist() == [[0, 3, 1], [4, 0, 1]]
    assert second.emission.tolist() == [[2, 1, 0], [0, 0, 5], [1, 0, 2]]
    assert first.labels == tuple(LABELS)
    assert not first.transition.any()


def test_without_word_ids_tokens_that_the_mask_keeps_are_units():
    first, second = from_token_logits(LOGITS, LABELS, MASK)
    assert first.emission.tolist() == LOGITS[0, :5].tolist()
    assert second.emission.tolist() == LOGITS[1].tolist()
    assert [len(scores) for scores in from_token_logits(LOGITS, LABELS)] == [6, 6]


def test_a_mask_may_leave_out_words_at_the_end_and_anything_without_a_word():
    (scores,) = from_token_logits(LOGITS[1:], LABELS, [[0, 1, 1, 1, 0, 0]], WORD_IDS[1:])
    assert scores.emission.tolist() == [[2, 1, 0], [0, 0, 5]]
    (none,) = from_token_logits(LOGITS[:1], LABELS, None, [[None] * 6])
    assert none.emission.shape == (0, 3)


@pytest.mark.parametrize("labels", [dict(enumerate(LABELS)), {"2": "I-LOC", "0": "O", "1": "B-LOC"}])
def test_labels_may_be_id2label(labels):
    assert from_token_logits(LOGITS, labels)[0].labels == tuple(LABELS)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_tensors_are_read(kind):
    logits = torch.tensor(LOGITS, dtype=kind, requires_grad=True)
    found = from_token_logits(logits, LABELS, torch.tensor(MASK), WORD_IDS)
    expected = from_token_logits(LOGITS, LABELS, MASK, WORD_IDS)
    assert [s.emission.tolist() for s in found] == [s.emission.tolist() for s in expected]


@given(st.integers(0, 10_000))
def test_softmax_changes_no_answer(seed):
    rng = np.random.default_rng(seed)
    logits = rng.integers(-8, 9, (2, 4, 3)).astype(float)
    logs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    for raw, log in zip(from_token_logits(logits, LABELS), from_token_logits(logs, LABELS), strict=True):
        best = constrained_viterbi(log, [iob2(LABELS)])
        assert raw.score(best.y) == constrained_viterbi(raw, [iob2(LABELS)]).score


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((LOGITS[0], LABELS), "logits must have 3 dimensions"),
        ((LOGITS, LABELS[:2]), r"shape \(sequences, tokens, 2\)"),
        ((LOGITS, {0: "O", 1: "B-LOC", 3: "I-LOC"}), "found none for 2"),
        ((LOGITS, LABELS, MASK[:, :5]), r"a mask of shape \(2, 6\)"),
        ((LOGITS, LABELS, MASK, WORD_IDS[:1]), "word_ids for 2 sequences of 6 tokens"),
        ((LOGITS, LABELS, MASK, [[None, 0, 2, 2, None, None], WORD_IDS[1]]), "expected word 1 of sequence 0"),
        ((LOGITS, LABELS, MASK, [WORD_IDS[0], [None, 1, 0, 0, 2, None]]), "expected word 0 of sequence 1"),
        ((LOGITS * np.nan, LABELS), "NaN"),
        (([["a"]], LABELS), "logits must be an array of numbers"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        from_token_logits(*arguments)
