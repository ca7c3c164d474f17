"""Rules on words: which label a word has elsewhere in the data, alone and with its neighbour.

A key k of a token is its form (lower case), or its form with the word before or after it. Let n(k, y) be the
number of tokens with key k and label y in all *other* sentences, and n(k) their sum. The rule of k gives the
label y the probability

    p(y | k) = (n(k, y) + p0(y)) / (n(k) + 1)

with p0 the share of y in the data for a form, and the probability by the form for two words. A token without
its key elsewhere gets p0, so that a rule without evidence says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lcons_core._types import Floats, Ints

Words = Sequence[str]
# Of each rule: the place of the neighbour, and it in words; at an end of a sentence, there is none.
RULES: Mapping[str, tuple[int, str, str]] = {
    "word": (0, "", ""),
    "word and the one before it": (-1, " after {!r}", " at the start of a sentence"),
    "word and the one after it": (1, " before {!r}", " at the end of a sentence"),
}


def neighbours(words: Words, side: int) -> Words:
    """The neighbour of each word on a side, "" where there is none; the word itself for 0.

    >>> neighbours(["a", "b"], -1), neighbours(["a", "b"], 1)
    (['', 'a'], ['b', ''])
    """
    return ["", *words, ""][1 + side : 1 + side + len(words)]


def counted_elsewhere(keys: Sequence[tuple[str, ...]], sentence: Ints, labels: Ints, L: int) -> Any:
    """(tokens, L), sparse: n(k, y) for the key of each token, without the token's own sentence."""
    from scipy.sparse import csr_matrix

    number: dict[tuple[str, ...], int] = {}
    of_key = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)
    _, of_key_in_sentence = np.unique(of_key * (sentence[-1] + 1) + sentence, return_inverse=True)

    def counted(rows: Ints) -> Any:
        return csr_matrix((np.ones(len(rows)), (rows, labels)), shape=(len(rows), L))[rows]

    return counted(of_key) - counted(of_key_in_sentence)


class WordRules:
    """The rules of all tokens of a corpus of S sentences, with label indices `labels` of its tokens."""

    def __init__(self, words: Sequence[Words], labels: Ints, L: int) -> None:
        sentence_of = np.repeat(np.arange(len(words)), list(map(len, words)))
        forms = [[word.lower() for word in sentence] for sentence in words]
        self.share = np.bincount(labels, minlength=L) / len(labels)
        self.counts = []
        for side, _, _ in RULES.values():
            keys = [key for form in forms for key in zip(form, neighbours(form, side), strict=True)]
            self.counts.append(counted_elsewhere(keys, sentence_of, labels, L))

    def probabilities(self, tokens: slice) -> list[Floats]:
        """(tokens, L) the probability of each label by each rule."""
        answers: list[Floats] = []
        prior: Floats = self.share[None, :]
        for counts in self.counts:
            n = counts[tokens].toarray()
            answers.append((n + prior) / (n.sum(axis=1, keepdims=True) + 1.0))
            prior = answers[0]
        return answers

    def evidence(self, token: int, words: Words, t: int) -> Iterator[tuple[str, Floats]]:
        """For each rule, the key of a token, word t of its sentence, in words, and (L,) its counts."""
        for (side, inner, edge), counts in zip(RULES.values(), self.counts, strict=True):
            neighbour = neighbours(words, side)[t]
            context = inner.format(neighbour) if neighbour else edge
            yield f"{words[t]!r}{context}", counts[token].toarray()[0]
