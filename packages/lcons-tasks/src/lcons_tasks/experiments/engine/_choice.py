"""A choice on dev: the default, unless another setting is clearly better.

With few dev sentences, the best of many settings is mostly luck. So the default is replaced only if the best
setting beats it by more than one standard error of the paired difference over dev sentences. The weights of
several constraints are chosen in the same way: first one factor for all of them, then one factor per weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

Weights = tuple[float, ...]

FACTORS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)


def choose(right: Sequence[ArrayLike], default: int) -> int:
    """The index of the chosen setting; `right` has one array per setting: correct labels per dev sentence.

    >>> choose([[3, 4], [3, 3]], default=1), choose([[5, 5, 4], [3, 3, 3]], default=1)
    (1, 0)
    """
    counts = [np.asarray(one, dtype=np.float64) for one in right]
    totals = [one.sum() for one in counts]
    best = int(np.argmax(totals))
    gain = counts[best] - counts[default]
    error = np.sqrt(len(gain)) * gain.std(ddof=1) if len(gain) > 1 else np.inf
    return best if gain.sum() > error else default


def choose_weights(
    right: Callable[[Weights], ArrayLike], default: Weights, factors: Sequence[float] = FACTORS
) -> Weights:
    """The default weights times chosen factors: first one factor for all weights, then one per weight;
    `right(weights)` returns the number of correct labels per dev sentence.

    >>> choose_weights(lambda weights: [10 - abs(weights[0] - 2)] * 3, (1.0, 1.0))
    (2.0, 2.0)
    """
    seen: dict[Weights, ArrayLike] = {}

    def better(current: Weights, others: Sequence[Weights]) -> Weights:
        settings = list(dict.fromkeys((current, *others)))
        for weights in settings:
            if weights not in seen:
                seen[weights] = right(weights)
        return settings[choose([seen[weights] for weights in settings], 0)]

    chosen = better(default, [tuple(factor * w for w in default) for factor in factors])
    for i in range(len(default) if len(default) > 1 else 0):
        moves = [(*chosen[:i], factor * default[i], *chosen[i + 1 :]) for factor in factors]
        chosen = better(chosen, moves)
    return chosen
