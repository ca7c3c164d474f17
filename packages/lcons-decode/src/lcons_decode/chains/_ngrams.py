"""What the constraints of a batch say of n-grams at a step, for many codes at once, in numpy.

The cost of one part for a soft constraint of weight 1, given its margin m:

    sigmoid   log sigmoid(m)     also orders the parts that are allowed: m = 1 costs 0.31, m = 0 costs 0.69
    hinge     min(0, m)          0 for all that is allowed

Both are at most 0 and do not decrease in m: a bound on the margin is a bound on the penalty, and exact search
may leave out what is already too low without them.

Not in the paper: soft constraints, which are those of Chang, Ratinov and Roth (2007, 2012); Anzaroot et al.
(2014) learn their penalties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lcons_decode.kernels._arrays import Floats, Ints, Lists, Units


def costs(margins: Any, hinge: bool) -> Any:
    """The penalties of parts with these margins, all at most 0.

    >>> costs(np.array([-2.0, 0.5]), True).tolist()
    [-2.0, 0.0]
    """
    return np.minimum(margins, 0.0) if hinge else -np.logaddexp(0.0, -margins)


def broken(grams: Ints, step: int, lists: Lists) -> Ints:
    """How many hard constraints have a window at `step` that does not allow each n-gram."""
    total = np.zeros(grams.shape, dtype=np.int64)
    for size, row in zip(lists.sizes, lists.rows[:, step], strict=True):
        if row >= 0:
            total += ~np.isin(grams % lists.V**size, lists.groups.codes(row, lists.V))
    return total


def penalties(grams: Ints, step: int, units: Units, V: int) -> Floats:
    """Sum over soft constraints of weight * cost of the margin for each n-gram at `step`."""
    if not len(units.weights):
        return np.zeros(grams.shape)
    rows = units.rows[:, step]
    contexts = units.contexts[rows[rows >= 0]].sum(0)
    activations = np.broadcast_to(contexts, (*grams.shape, len(contexts))).copy()
    rest = grams
    for i in range(units.table.shape[0] - 1, -1, -1):
        activations += units.table[i, rest % V]
        rest = rest // V
    firsts = np.concatenate([[0], units.ends[:-1]])
    rectified = np.maximum(activations, 0.0)
    totals = [rectified[..., a:b].sum(-1) for a, b in zip(firsts, units.ends, strict=True)]
    total = np.zeros(grams.shape)
    for c in np.flatnonzero(rows >= 0):
        margins = 1.0 - np.max([totals[p] for p in np.flatnonzero(units.owners == c)], axis=0)
        total += units.weights[c] * costs(margins, units.hinges[c])
    return total
