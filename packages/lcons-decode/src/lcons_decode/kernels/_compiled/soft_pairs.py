"""Exact decoding under soft constraints on pairs of labels, of which there are many: the dynamic program of
`soft`, where a state is one label.

Labels are tried roughly in the order of their bounds, each after all labels at once. A window is evaluated
only if its bound is at least the best score of its first label.
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import inlined, kernel
from lcons_decode.kernels._compiled.penalties import (
    ROUNDING,
    add_contexts,
    find_margins,
    most_cost,
    most_penalty,
    total_cost,
)

NEAR = 3.0  # the first threshold is this far below the upper bound, and falls by this much
BINS = 64  # of bounds


@inlined
def order_roughly(keys, items, count, old_keys, old_items, ends):
    """Puts the first keys, and their items with them, into bins of equal width, the largest first."""
    top, low = -np.inf, np.inf
    for k in range(count):
        old_keys[k], old_items[k] = keys[k], items[k]
        top, low = max(top, keys[k]), min(low, keys[k])
    if not 1e-99 < top - low < 1e99:
        return
    scale = (BINS - 1) / (top - low)
    ends[:] = 0
    for k in range(count):
        ends[int((top - old_keys[k]) * scale) + 1] += 1
    for bin in range(BINS):
        ends[bin + 1] += ends[bin]
    for k in range(count):
        bin = int((top - old_keys[k]) * scale)
        keys[ends[bin]], items[ends[bin]] = old_keys[k], old_items[k]
        ends[bin] += 1


@inlined
def list_hits(hits, eights, found):
    """found: where hits are 1, ascending; returns their number. eights: the same numbers, eight in one."""
    number = 0
    for eight in range(eights.shape[0]):
        if eights[eight] != 0:
            for b in range(8 * eight, 8 * eight + 8):  # without a branch that would often be guessed wrong
                found[number] = b
                number += hits[b]
    return number


@kernel
def best_pairs(emission, chain, step, left, least, floor, units, y, size):
    """Writes the best labelling of those that can reach `least` into y; returns its score. Where no label is
    left, `least` falls, at most to `floor`: then the labelling need not be the best one. Returns -inf if
    there is none. Bounds know the last label alone; size: of scores."""
    T, L = emission.shape
    V = L + 1
    wide, start, stop, table, tops, rows = (
        chain.wide,
        chain.start,
        chain.stop,
        units.table,
        units.tops,
        units.rows,
    )
    ends, owners, weights, hinges = units.ends, units.owners, units.weights, units.hinges
    U, C, P = table.shape[2], weights.shape[0], units.onward.shape[1]
    older, margins, present = np.empty(U), np.empty(C), np.empty(C, dtype=np.bool_)
    bases, ahead = np.empty((V, U)), np.empty(V)
    reach, labels = np.empty(V), np.empty(V, dtype=np.int64)
    keys, items, bins = np.empty(V), np.empty(V, dtype=np.int64), np.empty(BINS + 1, dtype=np.int64)
    best, pick = np.empty(P), np.empty(P, dtype=np.int64)
    hits, found = np.zeros(P, dtype=np.uint8), np.empty(P + 1, dtype=np.int64)
    eights = hits.view(np.uint64)
    suffix, choice = np.full((T + 1, V), -np.inf), np.zeros((T + 1, V), dtype=np.int64)
    t, drop = T, NEAR
    while t >= 0:
        add_contexts(rows, units.contexts, step + t, older, present)
        for b in range(V):
            for u in range(U):
                bases[b, u] = older[u] + table[0, b, u]
        places = 0
        for c in range(0 if t < T else L, L if t < T else V):
            ahead[c] = emission[t, c] + suffix[t + 1, c] if t < T else 0.0
            if ahead[c] > -np.inf:
                # Rounding must not exclude a label: sums of bounds are not in the order of those of scores.
                bound = ahead[c] + most_penalty(step + t, 0, c, rows, tops)
                labels[places], reach[places] = c, bound + ROUNDING * (size + abs(bound))
                places += 1
        order_roughly(reach, labels, places, keys, items, bins)
        best[:], pick[:], hits[:] = np.inf, V, 0
        for b in range(0 if t > 0 else L, L if t > 0 else V):
            best[b] = least - (left[t - 1, b] if t > 0 else 0.0)
        for place in range(places):
            c, most = labels[place], reach[place]
            some = np.uint8(1)
            if t == 0:
                hits[L] = start[c] + most >= best[L]
            elif t == T:
                for b in range(L):
                    hits[b] = stop[b] + most >= best[b]
            else:
                some = np.uint8(0)
                for b in range(wide.shape[1]):
                    hit = np.uint8(wide[c, b] + most >= best[b])
                    hits[b] = hit
                    some |= hit
            for k in range(list_hits(hits, eights, found) if some else 0):
                b = found[k]
                find_margins(bases[b], table, 1, c, present, ends, owners, margins)
                value = (start[c] if t == 0 else stop[b] if t == T else wide[c, b]) + ahead[c]
                if value + most_cost(margins, weights, hinges) < best[b]:
                    continue
                value += total_cost(margins, weights, hinges)
                if value > best[b] or (value == best[b] and c < pick[b]):
                    best[b], pick[b] = value, c
        left_over = False
        for b in range(V):
            if pick[b] < V:
                suffix[t, b], choice[t, b] = best[b], pick[b]
                left_over = True
        if left_over:
            t, drop = t - 1, NEAR
        elif least > floor:
            least, drop = max(least - drop, floor), 2.0 * drop
        else:
            return -np.inf
    before = L
    for t in range(T):
        y[t] = choice[t, before]
        before = y[t]
    return suffix[0, L]
