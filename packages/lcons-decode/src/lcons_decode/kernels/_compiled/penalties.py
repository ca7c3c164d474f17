"""The penalties of soft constraints on windows, whose activations are sums of contributions.

a = contexts + sum_i table[i, v_i]        margin = min over parts of 1 - sum of max(a, 0)
penalty = sum over constraints of weight * cost(margin)
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import LANES
from lcons_decode.kernels._compiled.jit import inlined, kernel
from lcons_decode.kernels._compiled.lists import part_totals


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
        total = 0.0
        for u in range(begin, ends[p], 4):
            a = max(base[u] + table[place, label, u], 0.0)
            b = max(base[u + 1] + table[place, label, u + 1], 0.0)
            c = max(base[u + 2] + table[place, label, u + 2], 0.0)
            d = max(base[u + 3] + table[place, label, u + 3], 0.0)
            total += (a + b) + (c + d)
        begin = ends[p]
        if present[owners[p]]:
            margins[owners[p]] = min(margins[owners[p]], 1.0 - total)


@inlined
def total_cost(margins, weights, hinges):
    """Sum over soft constraints of weight * cost of the margin."""
    total = 0.0
    for i in range(margins.shape[0]):
        if margins[i] < np.inf:
            total += weights[i] * cost(margins[i], hinges[i])
    return total


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


@kernel
def least_totals(activations, pads, table, ends, pairs, first, last):
    """(last - first, V or 1, V): for windows first .. last - 1, the last label but one (if `pairs`) and the
    last label, at most what the largest part adds up to, whatever the older labels are.

    The label before these two, or before the last one, is tried in turn; of even older labels, each unit has
    the least that one adds. Sums are in the order of `find_margins`, so rounding cannot make them larger.
    """
    n, V, U = table.shape
    L = V - 1
    P = (V + LANES - 1) // LANES * LANES
    columns = np.zeros((U, P))
    for v in range(V):
        for u in range(U):
            columns[u, v] = table[n - 1, v, u]
    lows = np.empty((n, U))
    for i in range(n):
        for u in range(U):
            lows[i, u] = table[i, :L, u].min() if L else table[i, L, u]
    tried = n - 2 - pairs  # the place whose labels are tried
    least = np.empty((last - first, V if pairs else 1, V))
    newer, base, none = np.empty(U), np.empty(U), np.zeros(U)
    worst, totals, best = np.empty(P), np.empty(P), np.empty(P)
    for w in range(first, last):
        for b in range(least.shape[1]):
            newer[:] = activations[w]
            if pairs and n > 1:
                newer += table[n - 2, b]
            best[:] = np.inf
            low, high = (L, V) if tried < pads[w, 0] else (0, L)
            for a in range(low if tried >= 0 else 0, high if tried >= 0 else 1):
                base[:] = newer
                if tried >= 0:
                    base += table[tried, a]
                for i in range(tried - 1, -1, -1):
                    base += table[i, L] if i < pads[w, 0] else lows[i]
                part_totals(base, none, columns, ends, totals, worst)
                for c in range(P):
                    best[c] = min(best[c], worst[c])
            least[w - first, b] = best[:V]
    return least
