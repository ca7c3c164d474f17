"""A second-order CRF that reads what constraints read, and nothing else: a baseline of soft constraints.

    s_t(a, b, c) = sum over contexts x in the windows around t of E[x, c] + T[(a, b), (b, c)]

The contexts x are those of the constraints' windows, by their distance from t: a label is in windows with the
contexts up to n - 1 before it and after it. States are the pairs of labels that training shows, and T has a
weight for every two of them that fit together. The weights maximise

    sum over sentences of log p(y | x) - l2 / 2 * (sum of squares)

by L-BFGS. The score is added, with a weight, to that of the base model, as the penalty of a soft constraint
is; a pair of labels that training does not show scores `UNSEEN`.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lcons_core import Instance, Recipe
from lcons_core.features import NgramContext
from lcons_decode.kernels._arrays import Floats, Ints
from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.experiments.engine._window_decoder import Columns, ScoresAt, Triples
from lcons_tasks.experiments.engine._window_tables import feature_of, triples_of

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._kept import Stages

L2, ITERATIONS = 0.1, 50
# Smaller probabilities are 0: they would be denormal numbers, with which arithmetic is slow.
TINY = 1e-30
UNSEEN = -4.0


@dataclass(frozen=True, eq=False)
class WindowCrf:
    """E (A, L) of contexts, whose numbers are places in the concatenated vocabularies of `features`; `pairs`
    (P, 2) the states, where L stands for no label; T (P, P)."""

    features: tuple[NgramContext, ...]
    E: Floats
    pairs: Ints
    T: Floats

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the training sentences."""
        return self.features[0].labels

    @property
    def parameters(self) -> int:
        """The number of its weights that are not zero."""
        return int(np.count_nonzero(self.E) + np.count_nonzero(self.T))

    def prepare(self, xs: Sequence[Columns], labels: tuple[str, ...]) -> ScoresAt:
        """As `WindowScores.prepare`."""
        own = {label: i for i, label in enumerate(self.labels)}
        order = np.array([own.get(label, -1) for label in labels])
        unknown = order < 0
        contexts = [contexts_of(self.features, x) for x in xs]
        scores = (
            _summed(np.concatenate(contexts), self.E)[:, order] if contexts else np.zeros((0, len(labels)))
        )
        none, steps = len(self.labels), self._steps()
        firsts = steps[none, none][order]
        twos = steps[none][np.ix_(order, order)]
        threes = steps[np.ix_(order, order, order)]
        scores[:, unknown] = 0.0
        firsts[unknown], twos[unknown], twos[:, unknown] = 0.0, 0.0, 0.0
        threes[unknown], threes[:, unknown], threes[:, :, unknown] = 0.0, 0.0, 0.0
        own = threes.reshape(len(labels), -1).T
        pairs = np.flatnonzero((own != UNSEEN).any(1))
        later = triples_of(
            np.zeros(len(scores), dtype=np.int64),
            np.array([UNSEEN]),
            np.array([0, len(pairs)]),
            pairs,
            own[pairs],
        )

        def at(tokens: Ints, t: int) -> Iterator[Floats | Triples]:
            yield scores[tokens] + firsts if t == 0 else scores[tokens]
            if t == 1:
                yield twos[None]
            yield from later(tokens, t)

        return at

    def _steps(self) -> Floats:
        """(L + 1, L + 1, L) the scores of label trigrams, where L stands for no label."""
        L = len(self.labels)
        steps = np.full((L + 1, L + 1, L), UNSEEN)
        number = {(int(a), int(b)): k for k, (a, b) in enumerate(self.pairs)}
        for (a, b), k in number.items():
            if a == L:
                steps[L, L, b] = 0.0
            for c in range(L):
                if (b, c) in number:
                    steps[a, b, c] = self.T[k, number[b, c]]
        return steps


def contexts_of(features: Sequence[NgramContext], x: Columns) -> Ints:
    """(T, windows) the numbers of the contexts around each token; -1 outside of the input."""
    length = len(next(iter(x.values())))
    columns = []
    first = 0
    for feature in features:
        ids = feature.context_ids(Instance(x, [""] * length))
        for away in range(1 - feature.n, feature.n):
            column = np.full(length, -1, dtype=np.int64)
            column[max(0, -away) : max(0, length - away)] = first + ids[max(0, away) : max(0, length + away)]
            columns.append(column)
            first += len(feature.contexts) + 1
    return np.stack(columns, axis=1)


def _size(features: Sequence[NgramContext]) -> int:
    return sum((2 * feature.n - 1) * (len(feature.contexts) + 1) for feature in features)


def _summed(contexts: Ints, E: Floats) -> Floats:
    """(tokens, L) the sums of E over the contexts of each token."""
    total = np.zeros((len(contexts), E.shape[1]))
    for column in contexts.T:
        total[column >= 0] += E[column[column >= 0]]
    return total


class _Likelihood:
    """The penalised log likelihood of sentences and its gradient, negated."""

    def __init__(self, features: Sequence[NgramContext], train: Sequence[Sentence], l2: float) -> None:
        from scipy.sparse import csr_matrix

        self.l2, self.L = l2, len(features[0].labels)
        train = sorted((s for s in train if len(s)), key=len, reverse=True)
        rows = np.concatenate([contexts_of(features, s.x) for s in train])
        inside = rows >= 0
        ends = np.concatenate([[0], np.cumsum(inside.sum(1))])
        ones, shape = np.ones(ends[-1]), (len(rows), _size(features))
        self.X: Any = csr_matrix((ones, rows[inside], ends), shape=shape)
        gold = [features[0].label_ids(s.labels) for s in train]
        self.lengths = np.array([*map(len, gold)])
        self.firsts = np.cumsum(self.lengths) - self.lengths
        before = np.concatenate([np.concatenate([[self.L], y[:-1]]) for y in gold])
        self.y = np.concatenate(gold)
        self.pairs = np.unique(np.stack([before, self.y], axis=1), axis=0)
        number = {(int(a), int(b)): k for k, (a, b) in enumerate(self.pairs)}
        self.states = np.array([number[a, b] for a, b in zip(before.tolist(), self.y.tolist(), strict=True)])
        self.fits = self.pairs[:, None, 1] == self.pairs[None, :, 0]
        self.last = self.pairs[:, 1]
        self.starts = self.pairs[:, 0] == self.L
        self.onto = (self.last[:, None] == np.arange(self.L)).astype(np.float64)
        self.inner = np.setdiff1d(np.arange(len(self.y)), self.firsts)
        self.gold_steps = np.zeros(self.fits.shape)
        np.add.at(self.gold_steps, (self.states[self.inner - 1], self.states[self.inner]), 1.0)
        self.gold_E = self.X.T @ np.eye(self.L)[self.y]

    @property
    def size(self) -> int:
        return int(self.X.shape[1] * self.L + self.fits.sum())

    def split(self, w: Floats) -> tuple[Floats, Floats]:
        """E and T of flat weights."""
        cut = self.X.shape[1] * self.L
        T = np.zeros(self.fits.shape)
        T[self.fits] = w[cut:]
        return w[:cut].reshape(-1, self.L), T

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        E, T = self.split(w)
        U = np.asarray(self.X @ E)
        tops = U.max(1)
        u = np.exp(U - tops[:, None])[:, self.last]  # (N, P)
        M = np.where(self.fits, np.exp(T), 0.0)
        forward, scale = np.zeros_like(u), np.ones(len(u))
        for t, at in self._positions():
            here = u[at] * (self.starts if t == 0 else forward[at - 1] @ M)
            scale[at] = here.sum(1)
            here /= scale[at, None]
            here[here < TINY] = 0.0
            forward[at] = here
        backward = np.zeros_like(u)
        backward[self.firsts + self.lengths - 1] = 1.0
        for t, at in reversed(list(self._positions())):
            if t:
                here = ((backward[at] * u[at]) @ M.T) / scale[at, None]
                here[here < TINY] = 0.0
                backward[at - 1] = here
        gold = U[np.arange(len(U)), self.y].sum() + (self.gold_steps * T).sum()
        value = gold - np.log(scale).sum() - tops.sum() - self.l2 / 2 * (w @ w)
        expected = (forward * backward) @ self.onto
        into = backward[self.inner] * u[self.inner] / scale[self.inner, None]
        steps = (forward[self.inner - 1].T @ into) * M
        slope = np.concatenate(
            [(self.gold_E - self.X.T @ expected).ravel(), (self.gold_steps - steps)[self.fits]]
        )
        return -float(value), self.l2 * w - slope

    def _positions(self) -> Iterator[tuple[int, Ints]]:
        """Each position, and the tokens of all sentences at it."""
        for t in range(int(self.lengths[0])):
            yield t, self.firsts[self.lengths > t] + t


def window_crf(
    recipes: Sequence[Recipe], train: Sequence[Sentence], kept: Stages, l2: float = L2
) -> WindowCrf:
    """The CRF on the windows of recipes, trained now or read from its stage. Of several windows on the same
    contexts, it reads the longest."""
    longest: dict[tuple[str, ...], NgramContext] = {}
    for feature in (feature_of(recipe, train) for recipe in recipes):
        key = (feature.column, feature.word_class or "", *feature.contexts)
        if key not in longest or longest[key].n < feature.n:
            longest[key] = feature
    features = tuple(longest.values())
    windows = [[f.column, f.word_class, f.n, len(f.contexts)] for f in features]
    inputs = {"train": hash_sentences(train), "windows": windows, "l2": l2}

    def make() -> WindowCrf:
        from scipy.optimize import minimize

        problem = _Likelihood(features, train, l2)
        options = {"maxiter": ITERATIONS}
        best = minimize(problem, np.zeros(problem.size), jac=True, method="L-BFGS-B", options=options)
        E, T = problem.split(best.x)
        return WindowCrf(features, E, problem.pairs, T)

    return kept.keep("window-crf", inputs, make)
