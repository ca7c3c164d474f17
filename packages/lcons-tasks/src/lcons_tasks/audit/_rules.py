"""Rules on words: which label a word has elsewhere in the data, alone and with its neighbour.

A key k of a token is its form (lower case), or its form with the word before or after it. Let n(k, y) be the
number of tokens with key k and label y in all *other* sentences, and n(k) their sum. The rule of k gives the
label y the probability

    p(y | k) = (n(k, y) + p0(y)) / (n(k) + 1)

with p0 the share of y in the data for a form, and the probability by the form for two words. A token without
its key elsewhere gets p0, so that a rule without evidence says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lcons_core._types import Floats, Ints

START, STOP = "", "\n"

Words = Sequence[str]
ALONE = "word"
KEYS: Mapping[str, Callable[[Words], list[tuple[str, ...]]]] = {
    ALONE: lambda words: [(word,) for word in words],
    "word and the one before it": lambda words: list(zip([START, *words[:-1]], words, strict=True)),
    "word and the one after it": lambda words: list(zip(words, [*words[1:], STOP], strict=True)),
}


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
        lengths = [len(sentence) for sentence in words]
        sentence = np.repeat(np.arange(len(words)), lengths)
        forms = [[word.lower() for word in own] for own in words]
        self.share = np.bincount(labels, minlength=L) / max(len(labels), 1)
        self.counts = {
            name: KeyCounts([key for own in forms for key in keys(own)], sentence, labels, L)
            for name, keys in KEYS.items()
        }

    def probabilities(self, tokens: slice) -> list[Floats]:
        """(tokens, L) the probability of each label by each rule of `KEYS`."""
        found: list[Floats] = []
        prior: Floats = self.share[None, :]
        for counts in self.counts.values():
            n = counts.elsewhere(tokens)
            found.append((n + prior) / (n.sum(axis=1, keepdims=True) + 1.0))
            prior = found[0]
        return found
