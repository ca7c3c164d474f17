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


class KeyCounts:
    """n(k, y) for the key of each token, without the token's own sentence."""

    def __init__(self, keys: Sequence[tuple[str, ...]], sentence: Ints, labels: Ints, L: int) -> None:
        from scipy.sparse import csr_matrix

        number: dict[tuple[str, ...], int] = {}
        self.of_token = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)
        pairs = self.of_token * (int(sentence.max(initial=0)) + 1) + sentence
        _, self.own_of_token = np.unique(pairs, return_inverse=True)
        ones = np.ones(len(labels))

        def counted(rows: Ints) -> Any:
            shape = (int(rows.max(initial=-1)) + 1, L)
            return csr_matrix((ones, (rows, labels)), shape=shape)

        self.total, self.own = counted(self.of_token), counted(self.own_of_token)

    def elsewhere(self, tokens: slice) -> Floats:
        """(tokens, L) the counts of each label, in other sentences, of the keys of some tokens."""
        total = self.total[self.of_token[tokens]] - self.own[self.own_of_token[tokens]]
        return np.asarray(total.toarray())


class WordRules:
    """The rules of all tokens of a corpus of S sentences, with label indices `labels` of its tokens."""

    def __init__(self, words: Sequence[Words], labels: Ints, L: int) -> None:
        sentence_of = np.repeat(np.arange(len(words)), list(map(len, words)))
        forms = [[word.lower() for word in sentence] for sentence in words]
        self.share = np.bincount(labels, minlength=L) / max(len(labels), 1)
        self.counts = []
        for side, _, _ in RULES.values():
            keys = [key for form in forms for key in zip(form, neighbours(form, side), strict=True)]
            self.counts.append(KeyCounts(keys, sentence_of, labels, L))

    def probabilities(self, tokens: slice) -> list[Floats]:
        """(tokens, L) the probability of each label by each rule."""
        answers: list[Floats] = []
        prior: Floats = self.share[None, :]
        for counts in self.counts:
            n = counts.elsewhere(tokens)
            answers.append((n + prior) / (n.sum(axis=1, keepdims=True) + 1.0))
            prior = answers[0]
        return answers

    def evidence(self, token: int, words: Words, t: int) -> Iterator[tuple[str, Floats]]:
        """For each rule, the key of a token, word t of its sentence, in words, and (L,) its counts."""
        for (side, inner, edge), counts in zip(RULES.values(), self.counts, strict=True):
            neighbour = neighbours(words, side)[t]
            context = inner.format(neighbour) if neighbour else edge
            yield f"{words[t]!r}{context}", counts.elsewhere(slice(token, token + 1))[0]
