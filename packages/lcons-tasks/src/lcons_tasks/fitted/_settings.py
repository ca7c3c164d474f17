"""The settings of `fit`: its parts, and the values that the jackknife may choose from.

The defaults were chosen on held-out parts of nine corpora, none by name. What the jackknife may change, and
how much better a change must be, in standard errors:

| setting | default | others | needs |
|---|---|---|---|
| vectors of an encoder or of words, if there are any | with | without | `Steps.stays` |
| their scale; layers; hand features | 1; all; with | 2, 0.5; the lower ones; without | 0 |
| clusters as features; consistency | with | without | `Steps.stays` |
| penalties (L1, L2) of the CRF | 0.1, 0.1 | 0.02, 0.02 | 0 |
| bias of O | 0 | -0.5, 0.5, 1, 1.5, 2 | 1 |
| hard label pairs with evidence | no | yes | 1 |

Folds share documents and formulas with each other, so that a difference between options is less sure than it
looks (`_jackknife.resemblance`).

Tried and left out: learned networks over the order and number of spans, used to choose among the 20 best
labellings, were worth +0.1 F1 on the mean of five corpora (+0.5 on references); retraining the base model on
the text that the whole had labelled, between 0 and +0.4; averaging the models of the folds, -1.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lcons_core import InvalidInput
from lcons_tasks.models._encoder import Encoder, Source, VectorFile

PARTS = SCHEME, VECTORS, CLUSTERS, CONSISTENCY, PAIRS, BIAS = (
    "scheme", "vectors", "clusters", "consistency", "pairs", "bias"
)  # fmt: skip


@dataclass(frozen=True)
class FitSettings:
    """What `fit` may use.

    parts: the names of parts that may be used, of `PARTS`.
    folds: the number of contiguous folds.
    penalties, scales, biases: the values of each setting, the default first.
    weights: of consistency, by form, cluster and context.
    encoder, vectors: a pretrained encoder (a folder, or the name of one that `transformers` has) or a file of
    word vectors, which the CRF reads, too.
    most_unlabelled: sentences of unlabelled text that are read; of more, evenly spaced ones.
    """

    parts: tuple[str, ...] = PARTS
    folds: int = 5
    penalties: tuple[tuple[float, float], ...] = ((0.1, 0.1), (0.02, 0.02))
    weights: tuple[float, float, float] = (0.5, 0.3, 0.4)
    encoder: str = ""
    vectors: str = ""
    scales: tuple[float, ...] = (1.0, 2.0, 0.5)
    biases: tuple[float, ...] = (0.0, -0.5, 0.5, 1.0, 1.5, 2.0)
    most_unlabelled: int = 10_000
    iterations: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown:
            raise InvalidInput(f"`parts` must be of {', '.join(PARTS)}: got {unknown[0]!r:.40}.")
        if self.encoder and self.vectors:
            raise InvalidInput("`encoder` and `vectors` cannot both be read; leave one out.")
        if self.folds < 2:
            raise InvalidInput(f"`folds` must be at least 2: got {self.folds}; 5 is usual.")

    @cached_property
    def source(self) -> Source | None:
        """Where vectors of words come from."""
        return Encoder(self.encoder) if self.encoder else VectorFile(self.vectors) if self.vectors else None

    @classmethod
    def plain(cls, seed: int = 0) -> FitSettings:
        """The base model alone: no clusters, no choice of settings, no constraints."""
        return cls(parts=(), penalties=((0.1, 0.1),), seed=seed)
