"""A linear chain that also reads vectors of words: of a pretrained encoder, or of a file of word vectors.

    emission'[t, c] = emission[t, c] + h_t . M[:, c] - shift[c],     h_t = vector of token t

`fit` learns weights of z_t = (h_t - mean) P, so M = P weights and shift = mean M. Its file has the name and
the hash of the source, not its vectors.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from lcons_core._instance import WORD
from lcons_core._types import Floats
from lcons_decode import ChainBatch
from lcons_tasks.models._encoder import SOURCES, Source, opened
from lcons_tasks.models._model_file import Arrays, checked_floats
from lcons_tasks.models._tagger import Columns, OverBase, Tagger, base_of


@dataclass(frozen=True, eq=False)
class EmbeddedChain(OverBase):
    """The `base` model, and what vectors add: `matrix` (H, L), `shift` (L,). The source is its `source`, a
    kind, a name and a hash; it is opened when the first sentence is scored."""

    base: Tagger
    source: tuple[str, str, str]
    matrix: Floats
    shift: Floats
    kind = "embedded-chain"

    @classmethod
    def of(cls, base: Tagger, source: Source, matrix: Floats, shift: Floats) -> Self:
        """The model with vectors of that source."""
        path = Path(source.name)
        name = str(path.resolve()) if path.exists() else source.name
        return cls(base, (source.kind, name, source.sha256), matrix, shift)

    @property
    def columns(self) -> tuple[str, ...]:
        """The context columns that the model reads beside words."""
        return self.base.columns

    def scores(self, xs: Sequence[Columns]) -> ChainBatch:
        """The scores of the inputs, in order."""
        batch = self.base.scores(xs)
        if not len(batch.emission):
            return batch
        vectors = opened(*self.source).vectors([x[WORD] for x in xs])
        return replace(batch, emission=batch.emission + vectors @ self.matrix - self.shift)

    @property
    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file."""
        header = {"kind": self.kind, "source": list(self.source)}
        return self.with_base(header, {"matrix": self.matrix, "shift": self.shift})

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The model that `save` wrote."""
        base = base_of(header, arrays)
        kind, name, sha256 = map(str, header["source"])
        if kind not in SOURCES:
            raise ValueError(f"its vectors are of {kind!r}")
        L = len(base.labels)
        shapes = {"matrix": (len(arrays["matrix"]), L), "shift": (L,)}
        return cls(base, (kind, name, sha256), *checked_floats(arrays, shapes))
