"""What the settings of a learner may be, checked when `fit` is called; needs no torch.

"auto" restarts: 32 where the distinct psi times K are few, halved as they grow, at least 2. Measured: a
single start at K = 2 recovers the source-relation pairs in 4 of 5 cases; all of 32 fail practically never.
Cross-validation uses a quarter of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core.errors import InvalidInput

AUTO_HIDDEN = (1, 2, 3, 5, 8, 10)
MOST_HIDDEN = 4096
MOST_WEIGHTS = 2**27
MOST_RESTARTS = 32
AUTO_WORK = 2**21


def hidden_values(hidden: Any, d: int) -> list[int]:
    """The distinct K to choose from, ascending."""
    if isinstance(hidden, str):
        if hidden != "auto":
            raise InvalidInput(f'hidden must be a number, several, or "auto", found {hidden!r}; pass K.')
        return list(AUTO_HIDDEN)
    values = list(hidden) if isinstance(hidden, (Sequence, np.ndarray)) else [hidden]
    if not values:
        raise InvalidInput("hidden must name at least one K, found none; pass K.")
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


def class_weights_of(given: Any, classes: NDArray[Any]) -> tuple[float, float] | None:
    """(invalid, valid) weights, or None for balanced."""
    if given is None:
        return (1.0, 1.0)
    if isinstance(given, str) and given == "balanced":
        return None
    if not isinstance(given, Mapping):
        raise InvalidInput(f'class_weight must be "balanced", None or a mapping of labels, found {given!r}.')
    low, high = (float(given.get(label, 1.0)) for label in classes.tolist())
    if not (0 < low < math.inf and 0 < high < math.inf):
        raise InvalidInput(
            f"class weights must be positive and finite, found {low} and {high}; pass two such weights."
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
            f"{name} must be a whole number of at least {least}, found {value!r}; pass such a number."
        )
    return int(value)
