"""Chain scores from the logits of token classifiers of other libraries, which are not imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lcons_core import InvalidInput
from lcons_decode._scores import ChainScores, Floats, read_floats


def from_token_logits(
    logits: Any,
    labels: Sequence[str] | Mapping[int, str],
    mask: Any = None,
    word_ids: Sequence[Sequence[int | None]] | None = None,
) -> list[ChainScores]:
    """The scores of each sequence of a batch of token-classification logits (B, T, L), as Hugging Face models
    return them; transitions are zero.

    labels: the names of the L columns, or the model's `config.id2label`.
    mask: (B, T) `attention_mask`; tokens whose value is 0 are padding and are left out.
    word_ids: the word of each token; for sequence i, what `encoding.word_ids(i)` returns. None marks a
        special token, which is left out. A word has the scores of its first token, as is usual in training.
        Without `word_ids`, every token counts as a word, so mask special tokens yourself.

    Logits need no softmax: softmax subtracts the same number from all labels of a token, so the order of the
    labellings stays the same. In this example "New York" is three tokens and two words, with a special token
    before and after, and then padding. The best labels of the single words are not valid IOB2:

    >>> import numpy as np
    >>> from lcons_core import iob2
    >>> from lcons_decode import constrained_viterbi
    >>> id2label = {0: "O", 1: "B-LOC", 2: "I-LOC"}
    >>> logits = np.array([[[9, 0, 0], [2, 1, 0], [0, 0, 5], [0, 9, 0], [9, 0, 0], [0, 0, 9]]], float)
    >>> mask = np.array([[1, 1, 1, 1, 1, 0]])
    >>> word_ids = [[None, 0, 1, 1, None, None]]  # [encoding.word_ids(i) for i in range(len(logits))]
    >>> [scores] = from_token_logits(logits, id2label, mask, word_ids)
    >>> [scores.labels[best] for best in scores.emission.argmax(axis=1)]
    ['O', 'I-LOC']
    >>> constrained_viterbi(scores, [iob2(scores.labels)]).y
    ('B-LOC', 'I-LOC')
    """
    values, names = _array(logits, "logits", 3), label_names(labels)
    B, T, L = values.shape
    if len(names) != L:
        raise InvalidInput(
            f"expected logits of shape (sequences, tokens, {len(names)}), one score per label, found"
            f" {values.shape}; pass the labels of the model."
        )
    present = np.ones((B, T), dtype=bool) if mask is None else _array(mask, "the mask", 2) != 0
    if present.shape != (B, T):
        raise InvalidInput(
            f"expected a mask of shape {(B, T)}, one value per token, found {present.shape}; pass the"
            " attention_mask of the same batch."
        )
    lengths = None if word_ids is None else [len(ids) for ids in word_ids]
    if lengths not in (None, [T] * B):
        raise InvalidInput(
            f"expected word_ids for {B} sequences of {T} tokens, found them for {lengths!s:.60} tokens;"
            " pass [encoding.word_ids(i) for i in range(B)]."
        )
    scores = []
    for i in range(B):
        rows = np.flatnonzero(present[i])
        if word_ids is not None:
            rows = rows[_first_tokens([word_ids[i][t] for t in rows.tolist()], i)]
        scores.append(ChainScores(values[i, rows], labels=names))
    return scores


def _first_tokens(words: Sequence[int | None], sequence: int) -> list[int]:
    """The first token of each word. Words must be 0, 1, 2, ... without a gap; otherwise labels would move to
    other words."""
    firsts: list[int] = []
    before = None
    for t, word in enumerate(words):
        if word is not None and word != before:
            if word != len(firsts):
                raise InvalidInput(
                    f"expected word {len(firsts)} of sequence {sequence}, found word {word}; every word needs"
                    " a token, so leave out empty words, and pass each sequence whole and in order."
                )
            firsts.append(t)
        before = word
    return firsts


def _array(value: Any, what: str, ndim: int) -> Floats:
    array = read_floats(value, what)
    if array.ndim != ndim:
        raise InvalidInput(f"{what} must have {ndim} dimensions, got shape {array.shape}.")
    return array


def label_names(labels: Sequence[str] | Mapping[int, str]) -> tuple[str, ...]:
    """The labels in the order of their columns; ids may be strings, as JSON has them."""
    if not isinstance(labels, Mapping):
        return tuple(labels)
    by_id = {str(key): name for key, name in labels.items()}
    missing = [i for i in range(len(labels)) if str(i) not in by_id]
    if missing:
        raise InvalidInput(
            f"expected a label for each id from 0 to {len(labels) - 1}, found none for {missing[0]}; pass the"
            " model's config.id2label."
        )
    return tuple(by_id[str(i)] for i in range(len(labels)))
