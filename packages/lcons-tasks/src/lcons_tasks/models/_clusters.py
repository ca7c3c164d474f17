"""Distributional clusters: words that stand in the same contexts of unlabelled text.

    M[w, (k, c)] = max(0, log(#(w, c at offset k) * total / (#w * #c^0.75)))     positive information
    M ~ U S V',   vector(w) = (U S^1/2)[w] / norm,   cluster(w) = argmax_j vector(w) . centre_j

for offsets k = -2, -1, 1, 2; nearer neighbours count more (1 / |k|). Or pretrained vectors are given. k-means
on the unit sphere finds the centres, once for each size: coarse clusters have evidence in few sentences, fine
ones tell more. Words are lower-cased, and their digits are read as 0.

Not in the paper.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lcons_core._instance import WORD
from lcons_core._types import Floats, Ints
from lcons_tasks.models._model_file import read_names
from lcons_tasks.models._word_vectors import WordVectors

Columns = Mapping[str, Sequence[str]]

SIZES = (20, 80, 300)
UNKNOWN = "?"
# Words that occur less often have no cluster.
_LEAST = 2
# The most frequent words are contexts and, up to a larger number, have clusters.
_CONTEXTS, _WORDS = 1500, 50_000
_DIMENSIONS, _PASSES, _SMOOTHING = 50, 20, 0.75
_OFFSETS = (-2, -1, 1, 2)
_DIGIT = re.compile(r"\d")


@lru_cache(2**16)
def form(word: str) -> str:
    """The word as clusters and consistency read it.

    >>> form("May-2026")
    'may-0000'
    """
    return _DIGIT.sub("0", word.lower())


@dataclass(frozen=True, eq=False)
class Clusters:
    """`ids` (words, sizes): the cluster of each of the `words`, which are forms, for each size."""

    words: tuple[str, ...]
    ids: Ints

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that `add` adds, from coarse to fine."""
        return tuple(f"cluster{i + 1}" for i in range(self.ids.shape[1]))

    def of(self, word: str) -> tuple[str, ...] | None:
        """The clusters of a word, from coarse to fine; None for an unknown word."""
        return self._names.get(form(word))

    def rows(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        """The clusters of each word, from coarse to fine, `UNKNOWN` for an unknown word."""
        unknown = (UNKNOWN,) * self.ids.shape[1]
        return [self._names.get(form(word), unknown) for word in words]

    def add(self, x: Columns) -> dict[str, Sequence[str]]:
        """The columns of a sentence and the clusters of its words, `UNKNOWN` for an unknown word."""
        rows = self.rows(x[WORD])
        clusters = zip(*rows, strict=True) if rows else ([] for _ in self.columns)
        return {**x, **dict(zip(self.columns, map(tuple, clusters), strict=True))}

    @classmethod
    def from_contents(cls, words: Any, ids: NDArray[Any]) -> Self:
        """The clusters of a model file."""
        names = read_names(words, distinct=True)
        if ids.ndim != 2 or len(ids) != len(names) or ids.dtype != np.int64:
            raise ValueError(f"its clusters are {ids.dtype} of shape {ids.shape} for {len(names)} words")
        return cls(names, ids)

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        return {w: tuple(map(str, row)) for w, row in zip(self.words, self.ids.tolist(), strict=True)}


def cluster_words(
    sentences: Iterable[Sequence[str]], sizes: Sequence[int] = SIZES, seed: int = 0
) -> Clusters | None:
    """The clusters of the words of a text; None if it has too few words that occur twice.

    >>> nouns, verbs = ("dog", "cat", "cow", "bird"), ("eats", "runs", "sleeps")
    >>> clusters = cluster_words([["a", noun, verb] for noun in nouns for verb in verbs], sizes=(2, 4))
    >>> clusters.columns, len(clusters.words), clusters.add({"word": ["Yak"]})["cluster2"]
    (('cluster1', 'cluster2'), 8, ('?',))
    """
    text = [[form(word) for word in sentence] for sentence in sentences]
    counts = Counter(word for sentence in text for word in sentence)
    words = [word for word, count in counts.items() if count >= _LEAST]
    words = sorted(words, key=lambda word: (-counts[word], word))[:_WORDS]
    if len(words) < 2 * len(_OFFSETS):
        return None
    weights = np.sqrt([float(counts[word]) for word in words])
    return _clustered(words, _vectors(text, words), weights, sizes, seed)


def cluster_vectors(source: WordVectors, sizes: Sequence[int] = SIZES, seed: int = 0) -> Clusters:
    """The clusters of words that have vectors, of the first `_WORDS`: usually the most frequent ones."""
    rows = [i for i, word in enumerate(source.words) if word == form(word)][:_WORDS]
    vectors = source.vectors[rows].astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return _clustered([source.words[i] for i in rows], vectors, np.ones(len(rows)), sizes, seed)


def _clustered(
    words: Sequence[str], vectors: Floats, weights: Floats, sizes: Sequence[int], seed: int
) -> Clusters:
    rng = np.random.default_rng(seed)
    ids = [_assign(vectors, weights, min(size, len(words)), rng) for size in sizes]
    return Clusters(tuple(words), np.stack(ids, axis=1))


def _vectors(text: Sequence[Sequence[str]], words: Sequence[str]) -> Floats:
    """(words, dimensions) unit vectors."""
    import scipy.sparse as sparse

    index = {word: i for i, word in enumerate(words)}
    # Sentences are joined by as many boundaries as the widest offset, so that none reads the next sentence.
    boundary, none = len(words), len(words) + 1
    gap = [boundary] * max(_OFFSETS)
    ids = np.array([*gap, *(i for s in text for i in [*(index.get(w, none) for w in s), *gap])])
    contexts = min(_CONTEXTS, len(words))
    # The context number of a word: frequent words, then the boundary; -1 for other words.
    number = np.full(len(words) + 2, -1)
    number[:contexts] = np.arange(contexts)
    number[boundary] = contexts
    places = np.flatnonzero(ids < len(words))
    rows, columns, values = [], [], []
    for block, k in enumerate(_OFFSETS):
        context = number[ids[places + k]]
        there = context >= 0
        rows.append(ids[places[there]])
        columns.append(block * (contexts + 1) + context[there])
        values.append(np.full(int(there.sum()), 1.0 / abs(k)))
    shape = (len(words), len(_OFFSETS) * (contexts + 1))
    entries = (np.concatenate(rows), np.concatenate(columns))
    M = sparse.coo_matrix((np.concatenate(values), entries), shape=shape).tocsr().tocoo()
    by_word = np.bincount(M.row, M.data, shape[0])
    by_context = np.bincount(M.col, M.data, shape[1]) ** _SMOOTHING
    information = np.log(M.data * by_context.sum() / (by_word[M.row] * by_context[M.col]))
    positive = information > 0
    M = sparse.csr_matrix((information[positive], (M.row[positive], M.col[positive])), shape=shape)
    vectors = _directions(M, min(_DIMENSIONS, len(words) - 1))
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))


def _directions(M: Any, k: int) -> Floats:
    """U S^1/2 of the k largest singular values of M: M M' = U S^2 U'. The same every time: where M has few
    directions, the solver draws others, by `rng` or, before scipy 1.17, by numbers of its own."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    drawn = {"rng": np.random.default_rng(0)} if "rng" in inspect.signature(eigsh).parameters else {}
    product = LinearOperator((M.shape[0], M.shape[0]), matvec=lambda x: M @ (M.T @ x), dtype=M.dtype)
    start = np.random.default_rng(0).standard_normal(M.shape[0])
    squares, U = eigsh(product, k=k, v0=start, **drawn)
    return np.asarray(U * np.maximum(squares, 0) ** 0.25)


def _assign(vectors: Floats, weights: Floats, size: int, rng: np.random.Generator) -> Ints:
    """(words,) the cluster of each word, by k-means from random words, frequent ones more often."""
    centres = vectors[rng.choice(len(vectors), size, replace=False, p=weights / weights.sum())]
    weighted = vectors * weights[:, None]
    for _ in range(_PASSES):
        nearest = (vectors @ centres.T).argmax(1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, weighted)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(norms > 0, sums / np.maximum(norms, 1e-9), centres)
    return np.asarray((vectors @ centres.T).argmax(1), dtype=np.int64)
