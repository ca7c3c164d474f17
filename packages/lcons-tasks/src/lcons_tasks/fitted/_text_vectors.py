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
        progress: Callable[[int, int], None] | None = None,
    ) -> list[TextVectors]:
        """The vectors of the texts, by each choice of layers; the usual choice first."""
        H = source.vectors([*labelled, *unlabelled], progress)
        n = sum(map(len, labelled))
        found = []
        for columns in source.choices(H.shape[1]):
            part = H[:, columns].astype(np.float64)
            some = part[:: len(part) // MOST_WORDS + 1]
            mean = some.mean(0)
            squares, U = np.linalg.eigh((some - mean).T @ (some - mean) / len(some))
            P = U[:, ::-1][:, :DIMENSIONS] / np.sqrt(max(float(squares[-1]), 1e-12))
            z = ((part - mean) @ P).astype(np.float32)
            whole = np.zeros((H.shape[1], P.shape[1])), np.zeros(H.shape[1])
            whole[0][columns], whole[1][columns] = P, mean
            found.append(cls(source, z[:n], z[n:], whole[1], whole[0]))
        return found

    def scaled(self, scale: float) -> TextVectors:
        """The vectors times `scale`."""
        return replace(
            self,
            labelled=self.labelled * np.float32(scale),
            unlabelled=self.unlabelled * np.float32(scale),
            directions=self.directions * scale,
            scale=self.scale * scale,
        )

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
