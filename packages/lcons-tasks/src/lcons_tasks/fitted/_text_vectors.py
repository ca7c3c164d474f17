"""Vectors of all words that `fit` was given, reduced to a few numbers that a CRF reads beside its attributes.

    z_t = scale * (h_t - mean) P

h_t is the vector of a word in its sentence (`models._encoder`), and P the first directions of a PCA of all
labelled and unlabelled words, divided by the standard deviation along the first: so a scale means the same
for every encoder. Vectors are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core._types import Floats
from lcons_tasks.models._coded_text import VECTOR
from lcons_tasks.models._embedded_chain import EmbeddedChain
from lcons_tasks.models._encoder import Source, Vectors
from lcons_tasks.models._linear_chain import LinearChain

DIMENSIONS = 100
# Words that decide on the directions.
MOST_WORDS = 50_000


@dataclass(frozen=True, eq=False)
class TextVectors:
    """`labelled` and `unlabelled` (tokens, D) z; `mean` (H,) and `directions` (H, D), scale included; `hand`:
    the hand features stay beside them."""

    source: Source
    labelled: Vectors
    unlabelled: Vectors
    mean: Floats
    directions: Floats
    scale: float = 1.0
    hand: bool = True

    @classmethod
    def each(
        cls,
        source: Source,
        labelled: Sequence[Sequence[str]],
        unlabelled: Sequence[Sequence[str]],
        scales: Sequence[float],
        progress: Callable[[int, int], None] | None = None,
    ) -> list[TextVectors]:
        """The vectors of the texts by each scale, other choice of layers, and without hand features."""
        H = source.vectors([*labelled, *unlabelled], progress)
        n = sum(map(len, labelled))

        def reduced(columns: slice, scale: float, hand: bool = True) -> TextVectors:
            part = H[:, columns]
            some = part[:: len(part) // MOST_WORDS + 1].astype(np.float64)
            squares, U = np.linalg.eigh(np.cov(some.T, ddof=0))
            P, mean = np.zeros((H.shape[1], min(DIMENSIONS, len(U)))), np.zeros(H.shape[1])
            P[columns] = U[:, ::-1][:, :DIMENSIONS] * (scale / np.sqrt(max(float(squares[-1]), 1e-12)))
            mean[columns] = some.mean(0)
            z = part @ P[columns].astype(np.float32) - (mean @ P).astype(np.float32)
            return cls(source, z[:n], z[n:], mean, P, scale, hand)

        usual, *others = source.choices(H.shape[1])
        options = [(usual, scale, True) for scale in scales]
        options += [(other, scales[0], True) for other in others]
        return [reduced(*option) for option in (*options, (usual, scales[0], False))]

    def read(self, labelled: Sequence[Sequence[str]]) -> TextVectors:
        """The vectors of other labelled sentences."""
        z = (self.source.vectors(labelled) - self.mean) @ self.directions
        return replace(self, labelled=z.astype(np.float32))

    @property
    def facts(self) -> dict[str, Any]:
        """What was chosen, for reports."""
        columns = np.flatnonzero(self.directions.any(1))
        names = {"name": self.source.name, "sha256": self.source.sha256[:12], "numbers": len(columns)}
        return {self.source.kind: names, "scale": self.scale, "hand features": self.hand}

    def chain(self, model: LinearChain) -> EmbeddedChain:
        """The model of attributes and z as one that reads words."""
        real = np.array([a.startswith(VECTOR) for a in model.attributes], dtype=bool)
        numbers = [int(a.removeprefix(VECTOR)) for a in model.attributes if a.startswith(VECTOR)]
        weights = np.zeros((self.directions.shape[1], len(model.labels)))
        weights[numbers] = model.weights[real]
        attributes = tuple(a for a in model.attributes if not a.startswith(VECTOR))
        base = replace(model, attributes=attributes, weights=model.weights[~real])
        matrix = self.directions @ weights
        return EmbeddedChain.of(base, self.source, matrix, self.mean @ matrix)
