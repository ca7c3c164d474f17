"""The penalties of soft constraints on windows, whose activations are sums of contributions.

a = contexts + sum_i table[i, v_i]        margin = min over parts of 1 - sum of max(a, 0)
penalty = sum over constraints of weight * cost(margin)
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import inlined, kernel

ROUNDING = 1e-12  # relative, of bounds

# Where tangents of log sigmoid touch it: margins are at most 1.
KNOTS = np.array([-1.5, 0.0, 0.75])
SLOPES = 1.0 / (1.0 + np.exp(KNOTS))
HEIGHTS = -np.logaddexp(0.0, -KNOTS) - SLOPES * KNOTS  # at 0


@inlined
def log_sigmoid(x):
    """log(1 / (1 + exp(-x))), for x of any size."""
    return -np.log1p(np.exp(-x)) if x > 0 else x - np.log1p(np.exp(x))


@inlined
def cost(margin, hinge):
    """The penalty of a part of this margin, at most 0 and not decreasing in it (`chains._ngrams.costs`)."""
    return min(margin, 0.0) if hinge else log_sigmoid(margin)


@inlined
def add_contexts(rows, contexts, step, base, present):
    """base (U,): what the contexts of a step add to each unit; present (C,): which constraints have a
    window."""
    base[:] = 0.0
    for c in range(rows.shape[0]):
        row = rows[c, step]
        present[c] = row >= 0
        if row >= 0:
            for u in range(base.shape[0]):
                base[u] += contexts[row, u]


@inlined
def find_margins(base, table, place, label, present, ends, owners, margins):
    """margins (C,): the least margin of the parts of each constraint, for activations base + table[place,
    label]; inf for a constraint without a window."""
    margins[:] = np.inf
    begin = 0
    for p in range(ends.shape[0]):
        # Four units at a time, in the order of `part_total`; parts are filled up to a multiple of four.
        own = 0.0
        for u in range(begin, ends[p], 4):
            a = max(base[u] + table[place, label, u], 0.0)
            b = max(base[u + 1] + table[place, label, u + 1], 0.0)
            c = max(base[u + 2] + table[place, label, u + 2], 0.0)
            d = max(base[u + 3] + table[place, label, u + 3], 0.0)
            own += (a + b) + (c + d)
        begin = ends[p]
        if present[owners[p]]:
            margins[owners[p]] = min(margins[owners[p]], 1.0 - own)


@inlined
def total_cost(margins, weights, hinges):
    """Sum over soft constraints of weight * cost of the margin."""
    total = 0.0
    for i in range(margins.shape[0]):
        if margins[i] < np.inf:
            total += weights[i] * cost(margins[i], hinges[i])
    return total


@inlined
def most_cost(margins, weights, hinges):
    """An upper bound on `total_cost` without logarithms: log sigmoid is concave, so below its tangents."""
    total = 0.0
    for i in range(margins.shape[0]):
        if margins[i] < np.inf:
            most = min(margins[i], 0.0)
            if not hinges[i]:
                for k in range(KNOTS.shape[0]):
                    most = min(most, HEIGHTS[k] + SLOPES[k] * margins[i])
            total += weights[i] * most
    return total + ROUNDING * (1.0 - total)


@inlined
def most_penalty(step, before, label, rows, tops):
    """An upper bound on the penalty at a step, given the last two labels."""
    total = 0.0
    for c in range(rows.shape[0]):
        if rows[c, step] >= 0:
            total += tops[rows[c, step], before if tops.shape[1] > 1 else 0, label]
    return total


@kernel
def total_penalty(y, step, units):
    """The soft penalties of a labelling."""
    table, ends, owners, weights = units.table, units.ends, units.owners, units.weights
    places, V, U = table.shape
    T, C = y.shape[0], weights.shape[0]
    base, margins, present = np.empty(U), np.empty(C), np.empty(C, dtype=np.bool_)
    total = 0.0
    for t in range(T + 1):
        add_contexts(units.rows, units.contexts, step + t, base, present)
        for i in range(places - 1):
            at = t - (places - 1) + i
            label = V - 1 if at < 0 or at >= T else y[at]
            for u in range(U):
                base[u] += table[i, label, u]
        label = y[t] if t < T else V - 1
        find_margins(base, table, places - 1, label, present, ends, owners, margins)
        total += total_cost(margins, weights, units.hinges)
    return total
