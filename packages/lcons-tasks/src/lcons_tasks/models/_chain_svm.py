"""A first-order chain as a structured SVM: a weight per attribute and label, transitions, start and stop.

    w . phi(x, y) = start[y_1] + sum_t sum_{a in x_t} W[a, y_t] + sum_t transition[y_t, y_{t+1}] + stop[y_T]

The loss is the number of wrong labels, so loss-augmented inference is Viterbi with 1 added to the score of
every wrong label.

Paper: Sec. 5, the base model of the citation task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lcons_core import InvalidInput
from lcons_decode.kernels._arrays import Chain, Floats, Ints
from lcons_tasks.data._sentence import Sentence
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models._structured_svm import SvmSettings, TrainedSvm, train_svm
from lcons_tasks.models.phi._templates import attribute_rows
from lcons_tasks.models.phi._tokens import Rows


class ChainWeights(NamedTuple):
    """W (A, L), transition (L, L) [from, to], start (L,), stop (L,)."""

    W: Floats
    transition: Floats
    start: Floats
    stop: Floats


class _Example(NamedTuple):
    """A sequence of tokens as arrays.

    tokens: the attributes of the tokens.
    places: for each of these attributes, its place among the `known` distinct ones.
    gold: the gold labels.
    support: the weights that the sequence reads.
    """

    tokens: Rows
    places: Ints
    known: int
    gold: Ints
    support: Ints


class ChainProblem:
    """Sequences of tokens with gold labels, as a `Problem` of `_structured_svm`.

    A token is a row of attribute indices below A, and a label is an index below L. The weights are those of
    `ChainWeights`, flat and one after another.
    """

    def __init__(self, rows: Sequence[Sequence[Sequence[int]]], gold: Sequence[Ints], A: int, L: int) -> None:
        self.A, self.L, self.dimension = A, L, (A + L + 2) * L
        self.examples = [self._example(r, y) for r, y in zip(rows, gold, strict=True) if len(y)]
        self.features = [self._features(example, example.gold) for example in self.examples]
        self.size = len(self.examples)

    def support(self, i: int) -> Ints:
        """The weights of the attributes of sequence i, and all of transition, start and stop."""
        return self.examples[i].support

    def worst(self, i: int, w: Floats) -> tuple[Floats, float]:
        """phi of the gold labelling minus phi of the worst one, and the number of its wrong labels."""
        from lcons_decode.kernels._compiled import viterbi_many

        example = self.examples[i]
        W, transition, start, stop = self.split(w)
        T = len(example.gold)
        emission = example.tokens.sums(W) + 1.0
        emission[np.arange(T), example.gold] -= 1.0
        y, score = np.zeros(T, dtype=np.int64), np.zeros(1)
        chain = Chain.of(emission, np.array([0, T]), transition, start, stop)
        viterbi_many(chain, 0, 1, y, score)
        return self.features[i] - self._features(example, y), float((y != example.gold).sum())

    def split(self, w: Floats) -> ChainWeights:
        """The flat weights as `ChainWeights`; views, not copies."""
        A, L = self.A, self.L
        rest = w[A * L :]
        edges = rest[: L * L].reshape(L, L)
        return ChainWeights(w[: A * L].reshape(A, L), edges, rest[L * L : L * L + L], rest[L * L + L :])

    def _example(self, rows: Sequence[Sequence[int]], gold: Ints) -> _Example:
        tokens, L = Rows.of(rows), self.L
        known, places = np.unique(tokens.ids, return_inverse=True)
        of_attributes = (known[:, None] * L + np.arange(L)).ravel()
        support = np.concatenate([of_attributes, np.arange(self.A * L, self.dimension)])
        return _Example(tokens, places, len(known), gold, support)

    def _features(self, example: _Example, y: Ints) -> Floats:
        """phi of a labelling, over the example's support."""
        L, first_edge = self.L, example.known * self.L
        where = [
            example.places * L + np.repeat(y, example.tokens.sizes),
            first_edge + y[:-1] * L + y[1:],
            np.array([first_edge + L * L + y[0], first_edge + L * L + L + y[-1]]),
        ]
        return np.bincount(np.concatenate(where), minlength=len(example.support)).astype(np.float64)


def train_chain_svm(
    train: Sequence[Sentence],
    settings: SvmSettings | None = None,
    *,
    template: str = "words",
    columns: Sequence[str] = (),
) -> tuple[LinearChain, TrainedSvm]:
    """The chain that the sentences train, and the course of the training."""
    if not any(map(len, train)):
        raise InvalidInput(
            f"training needs words: got none in {len(train)} sentences; pass a sentence with words."
        )
    labels = tuple(sorted({label for sentence in train for label in sentence.labels}))
    label_ids = {label: i for i, label in enumerate(labels)}
    number: dict[str, int] = {}
    rows = [
        [[number.setdefault(a, len(number)) for a in row] for row in attribute_rows(s.x, template, columns)]
        for s in train
    ]
    gold = [np.array([label_ids[label] for label in s.labels], dtype=np.int64) for s in train]
    problem = ChainProblem(rows, gold, len(number), len(labels))
    trained = train_svm(problem, settings)
    # Copies: a view would keep the array of all weights in memory.
    parts = (part.copy() for part in problem.split(trained.weights))
    return LinearChain(labels, tuple(columns), template, tuple(number), *parts), trained
