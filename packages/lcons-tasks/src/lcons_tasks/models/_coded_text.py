"""Sentences as numbers of attributes: coded once, then read by many linear chains.

`LinearChain.scores` reads strings. Choosing settings trains dozens of models on the same sentences and scores
the same unlabelled text with each of them; here each is one product of a sparse matrix with the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np

from lcons_decode import ChainBatch
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models._linear_crf import LinearSettings, train_rows
from lcons_tasks.models.phi._templates import attribute_rows

Columns = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class CodedText:
    """`matrix` (tokens, attributes) of 0 and 1, `offsets` (sentences + 1,), and the number of each attribute.

    `template` and `columns` are those of the models that read it.
    """

    matrix: Any
    offsets: Any
    numbers: Mapping[str, int]
    template: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, xs: Iterable[Columns], template: str = "text", columns: Sequence[str] = ()) -> CodedText:
        """The attributes of the sentences."""
        numbers: dict[str, int] = {}
        rows = (attribute_rows(x, template, columns) for x in xs)
        coded = (
            [[numbers.setdefault(a, len(numbers)) for a in row] for row in sentence] for sentence in rows
        )
        return cls(*_matrix(coded, numbers), numbers, template, tuple(columns))

    def other(self, xs: Iterable[Columns]) -> CodedText:
        """Other sentences with the same numbers; attributes without one have no weight, and are left out."""
        get = self.numbers.get
        rows = (attribute_rows(x, self.template, self.columns) for x in xs)
        coded = ([[i for i in map(get, row) if i is not None] for row in sentence] for sentence in rows)
        return CodedText(*_matrix(coded, self.numbers), self.numbers, self.template, self.columns)

    def tokens(self, first: int, stop: int) -> slice:
        """The tokens of the sentences first .. stop - 1."""
        return slice(int(self.offsets[first]), int(self.offsets[stop]))

    def scores(self, model: LinearChain, first: int, stop: int) -> ChainBatch:
        """The scores of the sentences first .. stop - 1 by a model that was trained with `train`."""
        weights = np.zeros((self.matrix.shape[1], len(model.labels)))
        weights[[self.numbers[attribute] for attribute in model.attributes]] = model.weights
        emission = np.asarray(self.matrix[self.tokens(first, stop)] @ weights)
        offsets = self.offsets[first : stop + 1] - self.offsets[first]
        return ChainBatch(emission, offsets, model.transition, model.start, model.stop, model.labels)

    def train(
        self,
        chosen: Sequence[int],
        labels: Sequence[Sequence[str]],
        settings: LinearSettings,
        known: Sequence[str] = (),
        copies: Sequence[int] | None = None,
        single: bool = False,
    ) -> LinearChain:
        """The model trained on the `chosen` sentences with their labels; `known` labels without an example
        get scores, too. `copies`: how many times each sentence counts. `single`: each token is trained alone,
        and transitions are 0."""
        names = list(self.numbers)
        rows = [self._rows(i) for i in chosen]
        if single:
            rows = [[row] for sentence in rows for row in sentence]
            labels = [[label] for sentence in labels for label in sentence]
        return train_rows(rows, labels, names, settings, self.template, self.columns, known, copies)

    def _rows(self, sentence: int) -> list[list[str]]:
        tokens = self.tokens(sentence, sentence + 1)
        ends = self.matrix.indptr[tokens.start : tokens.stop + 1].tolist()
        numbers = [str(i) for i in self.matrix.indices[ends[0] : ends[-1]].tolist()] if len(ends) > 1 else []
        return [numbers[a - ends[0] : b - ends[0]] for a, b in pairwise(ends)]


def _matrix(sentences: Iterable[list[list[int]]], numbers: Mapping[str, int]) -> tuple[Any, Any]:
    """(matrix, offsets) of sentences of tokens of numbers; `numbers` may grow while they are read."""
    from scipy.sparse import csr_matrix

    indices: list[int] = []
    lengths: list[int] = []
    sizes = [0]
    for rows in sentences:
        sizes.append(len(rows))
        lengths.extend(map(len, rows))
        indices.extend(chain.from_iterable(rows))
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    matrix = csr_matrix((np.ones(len(indices)), indices, ends), shape=(len(lengths), len(numbers)))
    return matrix, np.cumsum(sizes)
