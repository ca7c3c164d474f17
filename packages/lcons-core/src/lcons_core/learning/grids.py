"""The grids that the paper searches, one table.

Paper: Appendices B-E, the tables of hyper-parameters. Optimizer everywhere: Adam, beta_1 = 0.9,
beta_2 = 0.999, epsilon = 1e-7. `decay` is the inverse-time decay of Keras, the library whose epsilon that
is: the rate at step t is rate / (1 + decay * t).

    grid = GRIDS["citation"]
    ConstraintLearner(grid.hidden, learning_rate=grid.learning_rate, decay=grid.decay, epochs=grid.epochs)

Differs from the paper: the entity-relation and citation tables give no number of epochs; theirs is that of
the other two. No table gives the number of folds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Grid:
    """Values to choose from by cross-validation (`seeds`: runs to average over, where the paper does)."""

    hidden: tuple[int, ...]
    learning_rate: tuple[float, ...]
    decay: tuple[float, ...]
    epochs: int
    seeds: tuple[int, ...] = ()


_RATES, _DECAYS = (0.001, 0.01, 0.1), (0.0, 1e-7, 1e-6)

GRIDS: Mapping[str, Grid] = MappingProxyType(
    {
        "synthetic": Grid(tuple(range(2, 11)), _RATES, _DECAYS, 1000),
        "er": Grid((1, 2), _RATES, _DECAYS, 1000),
        "citation": Grid((10,), _RATES, _DECAYS, 1000),
        "chunking": Grid((5, 10), (0.001, 0.005, 0.01, 1e-4), (0.0,), 1000, seeds=(1, 2)),
    }
)

# The paper does not search K for entities and relations: it states one a feature.
ER_HIDDEN: Mapping[str, int] = MappingProxyType(
    {"source-relation": 2, "relation-target": 2, "relation-relation": 1}
)

# The chunker that the constraints are combined with, not a rectifier network: it has no hidden ReLUs.
BASE_GRIDS: Mapping[str, Grid] = MappingProxyType(
    {"chunking": Grid((), (0.01, 0.05, 0.001, 0.005), (1e-5, 1e-6), 300)}
)
