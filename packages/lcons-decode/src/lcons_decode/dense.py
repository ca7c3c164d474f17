"""Views of a layout for code that is not a kernel: what a step breaks and costs, for arrays of n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np

from lcons_decode.chain import Layout
from lcons_decode.kernels import plain
from lcons_decode.scores import Ints


def broken(grams: Ints, step: int, layout: Layout) -> Ints:
    """How many hard constraints do not allow each n-gram at a step."""
    return plain.broken(grams, step, layout.lists)


def penalties(grams: Ints, step: int, layout: Layout) -> Any:
    """The soft penalties of each n-gram at a step."""
    return plain.penalties(grams, step, layout.units, layout.lists.V)


def labelling_penalty(ids: Ints, layout: Layout) -> float:
    """The soft penalties of all windows of a labelling (T,), the first sequence of a layout."""
    units, padding = layout.units, layout.lists.V - 1
    if not len(units.weights):
        return 0.0
    steps = len(ids) + 1
    padded = np.concatenate([np.full(layout.m, padding), ids, [padding]])
    activations = units.given[:steps].copy()
    for i, table in enumerate(units.table):
        activations += table[padded[i : i + steps]]
    margins = plain.margins(activations, units.ends)
    total = 0.0
    for c, weight in enumerate(units.weights):
        own = margins[:, units.owners == c].min(-1)[units.present[:steps, c]]
        total -= float(weight) * float(np.logaddexp(0.0, -own).sum())
    return total
