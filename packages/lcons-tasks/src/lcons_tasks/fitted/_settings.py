"""The settings of `fit`: its parts, and the values that the jackknife may choose from.

The defaults were chosen on held-out parts of nine corpora, none by name. What the jackknife may change, and
how much better a change must be, in standard errors:

| setting | default | others | needs |
|---|---|---|---|
| penalties (L1, L2) of the CRF | 0.1, 0.1 | 0.02, 0.02 | 0 |
| clusters as features | yes | no | 1.5 |
| weights of consistency (form, cluster, context) | 0.5, 0.3, 0.4 | four others, among them none | 1.5 |
| bias of O | 0 | -0.5, 0.5, 1, 1.5, 2 | 1 |
| hard label pairs with evidence | no; yes for single tokens | yes; no | 1 |

Folds share documents and formulas with each other, so that a difference between options is less sure than it
looks (`_jackknife.resemblance`); the defaults of the first rows have helped on every corpus.

Tried and left out: learned networks over the order and number of spans, used to choose among the 20 best
labellings, were worth +0.1 F1 on the mean of five corpora (+0.5 on references); retraining the base model on
the text that the whole had labelled, between 0 and +0.4; averaging the models of the folds, -1.5.
"""

from __future__ import annotations

from dataclasses import dataclass

from lcons_core import InvalidInput

PARTS = SCHEME, PAIRS, CLUSTERS, CONSISTENCY, BIAS = ("scheme", "pairs", "clusters", "consistency", "bias")
CRF, BILSTM, TOKEN = "crf", "bilstm", "token"
BASES = (CRF, BILSTM, TOKEN)


@dataclass(frozen=True)
class FitSettings:
    """What `fit` may use.

    base: "crf" (a linear CRF), "bilstm" (a BiLSTM-CRF, needs torch) or "token" (a linear model of single
    tokens).
    parts: the names of parts that may be used, of `PARTS`.
    folds: the number of contiguous folds.
    penalties, weights, biases: the values of each setting, the default first.
    most_unlabelled: sentences of unlabelled text that are read; of more, evenly spaced ones.
    """

    base: str = CRF
    parts: tuple[str, ...] = PARTS
    folds: int = 5
    penalties: tuple[tuple[float, float], ...] = ((0.1, 0.1), (0.02, 0.02))
    weights: tuple[tuple[float, float, float], ...] = (
        (0.5, 0.3, 0.4),
        (0.4, 0.2, 0.0),
        (0.7, 0.0, 0.0),
        (0.0, 0.5, 0.0),
    )
    biases: tuple[float, ...] = (0.0, -0.5, 0.5, 1.0, 1.5, 2.0)
    most_unlabelled: int = 10_000
    iterations: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise InvalidInput(f"`base` must be one of {', '.join(BASES)}: got {self.base!r:.40}.")
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown:
            raise InvalidInput(f"`parts` must be of {', '.join(PARTS)}: got {unknown[0]!r:.40}.")
        if self.folds < 2:
            raise InvalidInput(f"`folds` must be at least 2: got {self.folds}; 5 is usual.")

    @classmethod
    def plain(cls, base: str = CRF, seed: int = 0) -> FitSettings:
        """The base model alone: no clusters, no choice of settings, no constraints."""
        return cls(base, parts=(), penalties=((0.1, 0.1),), seed=seed)
