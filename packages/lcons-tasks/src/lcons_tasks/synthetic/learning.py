"""Learning the constraints of programs from their optima.

Positives are the optima of the training programs. Negatives are the optima with one bit flipped so that the
cost falls (`lcons_core.negatives.cheaper_flips`), and in rounds what `rounds` adds. Learning rate and decay are
chosen from the paper's grid by cross-validation, at most 1000 epochs.

Paper: Appendix B. Differs from the paper: positives and negatives weigh the same in total (there are some
fifty negatives a positive), and networks are started several times side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lcons_core.learning import ConstraintLearner
from lcons_core.learning.grids import GRIDS
from lcons_core.negatives import cheaper_flips
from lcons_core.rectifier import RectifierNetwork
from lcons_decode.scores import Ints

BATCH, PATIENCE, FOLDS = 128, 20, 3
# With more units than the paper's the rate is not searched: each training takes longer, and gains nothing.
MOST_SEARCHED = 10
RATE = 0.01


@dataclass(frozen=True, eq=False)
class Examples:
    """Distinct assignments that are feasible, and distinct ones that are proved not to be."""

    positives: Ints
    negatives: Ints

    @classmethod
    def of(cls, costs: Ints, optima: Ints) -> Examples:
        """The optima, and their cheaper flips."""
        flips = cheaper_flips(costs, optima).collect().psi.dense().astype(np.int64)
        return cls(np.unique(optima, axis=0), np.unique(flips, axis=0))

    def with_negatives(self, more: Ints) -> Examples:
        """The examples with more negatives."""
        return Examples(self.positives, np.unique(np.concatenate([self.negatives, more]), axis=0))

    def matrix(self) -> tuple[Ints, Ints]:
        """(N, d) and (N,): 1 for feasible."""
        y = np.repeat([1, 0], [len(self.positives), len(self.negatives)])
        return np.concatenate([self.positives, self.negatives]), y

    def accuracy(self, network: RectifierNetwork) -> float:
        """How many examples a network tells right, in percent."""
        X, y = self.matrix()
        return float(100 * (np.asarray(network.accepts(X.astype(np.float64))) == y).mean())


@dataclass(frozen=True, eq=False)
class Learned:
    """A network, and the rate and decay that were chosen for it."""

    network: RectifierNetwork
    settings: dict[str, float] = field(default_factory=dict)


def learn(
    examples: Examples, hidden: int, seed: int = 0, settings: dict[str, float] | None = None
) -> Learned:
    """The network with so many hidden units that fits the examples; `settings`: a rate and decay that were
    chosen before."""
    grid = GRIDS["synthetic"]
    rates: object = grid.learning_rate if hidden <= MOST_SEARCHED else RATE
    decays: object = grid.decay if hidden <= MOST_SEARCHED else 0.0
    if settings is not None:
        rates, decays = settings["learning_rate"], settings["decay"]
    learner = ConstraintLearner(
        hidden,
        seed=seed,
        learning_rate=rates,  # type: ignore[arg-type]
        decay=decays,  # type: ignore[arg-type]
        epochs=grid.epochs,
        cv=FOLDS,
        batch_size=BATCH,
        patience=PATIENCE,
    )
    X, y = examples.matrix()
    learner.fit(X.astype(np.float64), y)
    chosen = {name: float(learner.configuration_[name]) for name in ("learning_rate", "decay")}
    return Learned(learner.network_, chosen)
