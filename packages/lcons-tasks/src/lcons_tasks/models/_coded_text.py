"""Sentences as numbers of attributes: coded once, then read by many linear chains.

`LinearChain.scores` reads strings. Choosing settings trains dozens of models on the same sentences and scores
the same unlabelled text with each of them; here each is one product of a sparse matrix with the weights.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from lcons_decode import ChainBatch
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models._linear_crf import LinearSettings, train_rows
from lcons_tasks.models.phi._templates import attribute_rows

Columns = Mapping[str, Sequence[str]]
Model = TypeVar("Model")
# What the names of real-valued attributes begin with; no attribute of a template does.
VECTOR = "vector="
# Attributes that are no hand features.
_ALWAYS = ("bias", "first", "last")


@dataclass(frozen=True, eq=False)
class CodedText:
    """`matrix` (tokens, attributes) of 0 and 1, `offsets` (sentences + 1,), and the number of each attribute;
    the last attributes may be vectors, with any numbers.

    `template` and `columns` are those of the models that read it.
    """

    matrix: Any
    offsets: Any
    numbers: Mapping[str, int]
    template: str
    columns: tuple[str, ...]

    @classmethod
    def of(
        cls,
        xs: Iterable[Columns],
        template: str = "tokens",
        columns: Sequence[str] = (),
        known: Mapping[str, int] | None = None,
    ) -> CodedText:
        """The attributes of the sentences. With `known` numbers, attributes without one are left out: they
        have no weight."""
        from scipy.sparse import csr_matrix

        new: dict[str, int] = {}
        number = known.get if known is not None else lambda a: new.setdefault(a, len(new))
        indices: list[int] = []
        ends, offsets = [0], [0]
        for x in xs:
            for row in attribute_rows(x, template, columns):
                indices.extend(i for i in map(number, row) if i is not None)
                ends.append(len(indices))
            offsets.append(len(ends) - 1)
        numbers = new if known is None else known
        matrix = csr_matrix((np.ones(len(indices)), indices, ends), (len(ends) - 1, len(numbers)))
        return cls(matrix, np.array(offsets), numbers, template, tuple(columns))

    def other(self, xs: Iterable[Columns]) -> CodedText:
        """Other sentences with the same numbers."""
        return CodedText.of(xs, self.template, self.columns, self.numbers)

    def with_vectors(self, vectors: Any, hand: bool = True) -> CodedText:
        """The sentences with `vectors` (tokens, D) as more attributes, or instead of the `hand` features."""
        from scipy.sparse import csr_matrix, diags, hstack

        matrix, A = self.matrix, len(self.numbers)
        if not hand:
            matrix = matrix @ diags([float(name in _ALWAYS) for name in self.numbers])
            matrix.eliminate_zeros()
        numbers = {**self.numbers, **{f"{VECTOR}{i}": A + i for i in range(vectors.shape[1])}}
        wide = csr_matrix((matrix.data, matrix.indices, matrix.indptr), (matrix.shape[0], A))
        return replace(self, matrix=hstack([wide, csr_matrix(vectors)], format="csr"), numbers=numbers)

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
    ) -> LinearChain:
        """The model trained on the `chosen` sentences with their labels; `known` labels without an example
        get scores, too."""
        names = list(self.numbers)
        rows = [self._rows(i) for i in chosen]
        return train_rows(rows, labels, names, settings, self.template, self.columns, known)

    def _rows(self, sentence: int) -> list[Any]:
        """The numbers of each token's attributes as text; with vectors, their values by number."""
        tokens = self.tokens(sentence, sentence + 1)
        ends = self.matrix.indptr[tokens.start : tokens.stop + 1].tolist()
        numbers = [str(i) for i in self.matrix.indices[ends[0] : ends[-1]].tolist()] if len(ends) > 1 else []
        rows = [numbers[a - ends[0] : b - ends[0]] for a, b in pairwise(ends)]
        if f"{VECTOR}0" not in self.numbers:
            return rows
        values = [self.matrix.data[a:b].tolist() for a, b in pairwise(ends)]
        return [dict(zip(*pair, strict=True)) for pair in zip(rows, values, strict=True)]


def on_each_core(train: Callable[[Sequence[int]], Model], chosen: Iterable[Sequence[int]]) -> Iterator[Model]:
    """The models of each choice of sentences; CRFsuite trains without Python's lock, one on each core."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(train, chosen)
