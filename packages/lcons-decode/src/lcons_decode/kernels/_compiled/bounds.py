"""Bounds on soft penalties, whatever the labels are that a bound does not know."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import LANES
from lcons_decode.kernels._compiled.jit import kernel
from lcons_decode.kernels._compiled.lists import part_totals


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
    found = np.empty((last - first, V if pairs else 1, V))
    newer, base, none = np.empty(U), np.empty(U), np.zeros(U)
    worst, totals, best = np.empty(P), np.empty(P), np.empty(P)
    for w in range(first, last):
        for b in range(found.shape[1]):
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
            found[w - first, b] = best[:V]
    return found
