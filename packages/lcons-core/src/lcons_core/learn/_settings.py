"""The settings of a learner: their checks, the grids of the paper, and the report on progress.

This module needs no torch. The settings are checked when `fit` is called. With restarts "auto" there are 32
restarts if the number of distinct psi times K is small, fewer (halved repeatedly, at least 2) if it is large.
Measured: a single start with K = 2 recovers the source-relation pairs in 4 of 5 cases; that all of 32 fail
practically never happens. Cross-validation uses a quarter of the restarts.

Paper: Appendices B, C.3, D.2 and E.2: the hyper-parameters of Table 6 (synthetic), Table 8 (entities and
relations), Table 12 (citation) and Table 13 (chunking). The optimizer is always Adam, beta_1 = 0.9,
beta_2 = 0.999, epsilon = 1e-7. `decay` is the inverse-time decay of Keras, which also has this epsilon: the
rate at step t is rate / (1 + decay * t).

    grid = GRIDS["citation"]
    ConstraintLearner(grid.hidden, learning_rate=grid.learning_rate, decay=grid.decay, epochs=grid.epochs)

Differs from the paper: the tables of entity-relation and citation have no number of epochs; the grids use
that of the other two. No table has the number of folds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from lcons_core._errors import InvalidInput


@dataclass(frozen=True)
class Progress:
    """Loss and accuracy of the best member so far on the weighted examples; the number still in training."""

    epoch: int
    epochs: int
    loss: float
    accuracy: float
    members: int


AUTO_HIDDEN = (1, 2, 3, 5, 8, 10)
# In units of the mean squared length of psi as it is trained on.
PENALTIES = (0.0, 1e-4, 3e-4, 1e-3, 3e-3)
# With penalty "auto", fewer distinct psi per weight than this are few. With fewer distinct psi than the least
# number, a part that is held out tells nothing.
FEW_PER_WEIGHT = 10
LEAST_HELD_OUT = 100
# Fits with a lower training accuracy are poor; with a larger difference to the held-out one, too good.
POOR, TOO_GOOD = 0.9, 0.1
MOST_HIDDEN = 4096
MOST_WEIGHTS = 2**27
MOST_RESTARTS = 32
AUTO_WORK = 2**21


def hidden_values(hidden: Any, d: int) -> list[int]:
    """The distinct K to choose from, ascending."""
    if isinstance(hidden, str):
        if hidden != "auto":
            raise InvalidInput(f'hidden must be one or several numbers, or "auto", found {hidden!r}; pass K.')
        return list(AUTO_HIDDEN)
    values = list(hidden) if isinstance(hidden, (Sequence, np.ndarray)) else [hidden]
    if not values:
        raise InvalidInput("hidden must contain at least one K, found none; pass K.")
    for K in values:
        whole("hidden", K, 1)
        if K > MOST_HIDDEN or K * (d + 1) > MOST_WEIGHTS:
            raise InvalidInput(
                f"hidden must be at most {MOST_HIDDEN} and K * d at most 2^27, found K = {K} with d = {d};"
                " use fewer units."
            )
    return sorted({int(K) for K in values})


def restarts_for(restarts: Any, distinct: int) -> Callable[[int], int]:
    """The number of restarts for K hidden units."""
    if isinstance(restarts, str):
        if restarts != "auto":
            raise InvalidInput(f'restarts must be a number or "auto", found {restarts!r}.')
        return lambda K: min(MOST_RESTARTS, max(2, 2 ** int(math.log2(AUTO_WORK / (distinct * K) + 1))))
    number = whole("restarts", restarts, 1)
    return lambda _: number


def penalties_of(penalty: Any) -> list[float] | None:
    """The penalties to choose from, or None for "auto"."""
    if isinstance(penalty, str):
        if penalty != "auto":
            raise InvalidInput(f'penalty must be one or several numbers, or "auto", found {penalty!r}.')
        return None
    return numbers("penalty", penalty, positive=False)


def few(distinct: int, weights: int) -> bool:
    """Whether so many distinct psi are few for a network with so many weights."""
    return distinct < FEW_PER_WEIGHT * weights


def warning_of(training: float, held_out: float | None) -> str | None:
    """One sentence with both accuracies if a fit is poor or too good.

    >>> warning_of(0.99, 0.95) is None
    True
    """
    beside = "" if held_out is None else f" and {held_out:.1%} of held-out ones"
    if training < POOR:
        return (
            f"the network is right on only {training:.1%} of the training examples{beside}; increase the"
            " argument `hidden`, use other columns, or pass `robust=True` if some labels are wrong."
        )
    if held_out is not None and training - held_out > TOO_GOOD:
        return (
            f"the network is right on {training:.1%} of the training examples, but on only {held_out:.1%} of"
            " held-out ones; use more examples or fewer columns, or reduce the argument `hidden`."
        )
    return None


def class_weights_of(given: Any, labels: Sequence[Any]) -> tuple[float, float] | None:
    """(invalid, valid) weights of these two labels, or None for balanced."""
    if given is None:
        return (1.0, 1.0)
    if isinstance(given, str) and given == "balanced":
        return None
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f'class_weight must be "balanced", None or a mapping from labels to weights, found {given!r}.'
        )
    low, high = (float(given.get(label, 1.0)) for label in labels)
    if not (0 < low < math.inf and 0 < high < math.inf):
        raise InvalidInput(
            f"class weights must be positive and finite, found {low} and {high}; pass two valid weights."
        )
    return low, high


def numbers(name: str, value: Any, positive: bool) -> list[float]:
    """One or several finite numbers, above 0 or at least 0, as a list."""
    values = list(value) if isinstance(value, (Sequence, np.ndarray)) else [value]
    least = "above 0" if positive else "at least 0"
    for number in values:
        real = isinstance(number, (int, float, np.integer, np.floating))
        if not real or not math.isfinite(number) or number < 0 or (positive and number == 0):
            raise InvalidInput(f"{name} must be finite and {least}, found {number!r}.")
    if not values:
        raise InvalidInput(f"{name} must have at least one value, found none.")
    return [float(number) for number in values]


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise InvalidInput(
            f"{name} must be a whole number of at least {least}, found {value!r}; pass a valid number."
        )
    return int(value)


@dataclass(frozen=True)
class Grid:
    """Values from which cross-validation chooses; `seeds`: the runs that the paper averages, if any."""

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

# The paper does not search K for entities and relations: it states one K per feature.
ER_HIDDEN: Mapping[str, int] = MappingProxyType(
    {"source-relation": 2, "relation-target": 2, "relation-relation": 1}
)

# The chunker that is combined with the constraints. It is not a rectifier network and has no hidden ReLUs.
BASE_GRIDS: Mapping[str, Grid] = MappingProxyType(
    {"chunking": Grid((), (0.01, 0.05, 0.001, 0.005), (1e-5, 1e-6), 300)}
)
