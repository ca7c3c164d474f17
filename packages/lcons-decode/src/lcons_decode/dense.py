"""Views of a layout for code that is not a kernel: what a step breaks, costs and leads to, for arrays of
n-grams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lcons_decode.chain import Layout
from lcons_decode.kernels import backend, plain
from lcons_decode.scores import ChainScores, Floats, Ints


def broken(grams: Ints, step: int, layout: Layout) -> Ints:
    """How many hard constraints do not allow each n-gram at a step."""
    return plain.broken(grams, step, layout.lists)


def penalties(grams: Ints, step: int, layout: Layout) -> Any:
    """The soft penalties of each n-gram at a step."""
    return plain.penalties(grams, step, layout.units, layout.lists.V)


def continuations(scores: ChainScores, layout: Layout) -> Callable[[int, int], float]:
    """A function of (t, state): the best score from step t on that breaks nothing, soft penalties left
    out."""
    if not len(layout.lists.sizes):
        return _free(scores)
    heads, states, values = backend().hard_levels(scores.emission, layout.chain, 0, layout.lists)
    T = len(scores)
    levels: list[dict[int, float]] = []
    for t in range(T + 1):
        own = slice(heads[T - t + 1], heads[T - t + 2])
        levels.append(dict(zip(states[own].tolist(), values[own].tolist(), strict=True)))
    return lambda t, state: levels[t].get(state, -np.inf)


def _free(scores: ChainScores) -> Callable[[int, int], float]:
    T, V = len(scores), scores.L + 1
    after: Floats = np.empty((T + 1, V))
    after[T] = np.append(scores.stop, -np.inf)
    for t in range(T - 1, -1, -1):
        onward = scores.emission[t] + after[t + 1, :-1]
        after[t, :-1] = (scores.transition + onward).max(1)
        after[t, -1] = (scores.start + onward).max()
    return lambda t, state: float(after[t, state % V])
