"""The best labelling among those that can reach a threshold, by dynamic programming over states.

    bound(prefix, label) = score of the prefix + arc + bound on the penalty + right[t, label]

From the left, a prefix is continued by a label only if the bound reaches `least`, so each labelling whose
score reaches it is kept. Then the scores of the kept states are added up from the right, as everywhere. numba
compiles this once for hard constraints (units None), once for soft ones (lists None) and once for both.
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import WORD
from lcons_decode.kernels._compiled.jit import inlined, kernel, lowest
from lcons_decode.kernels._compiled.lists import broken, find
from lcons_decode.kernels._compiled.penalties import add_contexts, find_margins, most_penalty, total_cost

ONE = np.uint64(1)


@inlined
def better(broken_a, score_a, broken_b, score_b):
    """Whether (broken_a, score_a) is preferred: a finite score first, then fewer broken, then more score."""
    if score_a == -np.inf:
        return False
    if score_b == -np.inf:
        return True
    return broken_a < broken_b or (broken_a == broken_b and score_a > score_b)


@inlined
def pair_followers(bits, before, V, labels):
    """labels: those that may follow a label, as bits; `bits` are the pairs of a step."""
    for w in range(labels.shape[0]):
        first = before * V + WORD * w
        at, shift = first // WORD, np.uint64(first % WORD)
        labels[w] = bits[at] >> shift
        if shift > 0 and at + 1 < bits.shape[0]:
            labels[w] |= bits[at + 1] << (np.uint64(WORD) - shift)
        more = V - WORD * w
        if more < WORD:
            labels[w] &= (ONE << np.uint64(more)) - ONE


@inlined
def any_followers(first, last, labels):
    """labels: first .. last - 1, as bits."""
    labels[:] = 0
    for label in range(first, last):
        labels[label // WORD] |= ONE << np.uint64(label % WORD)


@inlined
def drop_forbidden(state, step, lists, some, labels):
    """Takes away the labels that a constraint on more than two labels forbids after a state."""
    groups = lists.groups
    for c in range(lists.rows.shape[0]):
        row = lists.rows[c, step]
        if row >= 0 and lists.sizes[c] > 2:
            wanted, last = state % (lists.moduli[c] // lists.V), groups.rows[row + 1]
            at = find(groups.states, groups.rows[row], last, wanted)
            some[:] = 0
            if at < last and groups.states[at] == wanted:
                for k in range(groups.firsts[at], groups.firsts[at + 1]):
                    label = groups.labels[k]
                    some[label // WORD] |= ONE << np.uint64(label % WORD)
            for w in range(labels.shape[0]):
                labels[w] &= some[w]


@inlined
def add_labels(state, newer, table, V, base):
    """base (U,): `newer`, and what the labels of a state add to each unit."""
    for u in range(base.shape[0]):
        base[u] = newer[u]
    for place in range(table.shape[0] - 2, -1, -1):
        for u in range(base.shape[0]):
            base[u] += table[place, state % V, u]
        state //= V


@kernel
def longer(array, room):
    """The same array with at least so much more space, and at least twice as much as before."""
    more = np.empty(array.shape[0] + max(array.shape[0], room), dtype=array.dtype)
    more[: array.shape[0]] = array
    return more


@kernel
def kept_edges(emission, chain, step, lists, units, steps, right, least, most, m, slot):
    """(states, heads, edges, sources, targets, costs, breaks): states[heads[t]:heads[t + 1]] are those before
    step t, and the edges of step t are edges[t] .. edges[t + 1] - 1, each with its penalty and the number of
    windows that it breaks; the arrays of edges are empty if no labelling reaches `least`."""
    T, L = emission.shape
    V, words = L + 1, (L + WORD) // WORD
    S = V**m
    arcs, start, stop = chain.arcs, chain.start, chain.stop
    labels, some = np.empty(words, dtype=np.uint64), np.empty(words, dtype=np.uint64)
    states, prefix = np.empty(16 * T + 256, dtype=np.int64), np.empty(16 * T + 256)
    totals, breaks = np.zeros(16 * T + 256, dtype=np.int64), np.zeros(16 * T + 256, dtype=np.int64)
    sources, targets = np.empty(16 * T + 256, dtype=np.int32), np.empty(16 * T + 256, dtype=np.int32)
    costs = np.zeros(16 * T + 256)
    heads, edges = np.zeros(T + 3, dtype=np.int64), np.zeros(T + 2, dtype=np.int64)
    states[0], prefix[0], size, count = S - 1, 0.0, 1, 0
    heads[1] = 1
    if units is not None:
        table, ends, owners, weights = units.table, units.ends, units.owners, units.weights
        unit_rows, contexts, tops, hinges = units.rows, units.contexts, units.tops, units.hinges
        base, newer, margins = np.empty(table.shape[2]), np.empty(table.shape[2]), np.empty(weights.shape[0])
        present = np.empty(weights.shape[0], dtype=np.bool_)
    for t in range(T + 1):
        # Arrays are made longer once per step, because each assignment of an array counts references.
        room = (heads[t + 1] - heads[t]) * L
        if size + room > states.shape[0]:
            states, prefix, totals = longer(states, room), longer(prefix, room), longer(totals, room)
        if count + room > sources.shape[0]:
            sources, targets = longer(sources, room), longer(targets, room)
            costs, breaks = longer(costs, room), longer(breaks, room)
        if units is not None:
            add_contexts(unit_rows, contexts, step + t, newer, present)
        for i in range(heads[t], heads[t + 1]):
            state = states[i]
            before = state % V
            any_followers(0 if t < T else L, L if t < T else V, labels)
            if lists is not None and most == 0:
                pair_followers(steps[t], before, V, labels)
                drop_forbidden(state, step + t, lists, some, labels)
            if units is not None:
                add_labels(state, newer, table, V, base)
            for w in range(words):
                bits = labels[w]
                while bits != 0:
                    label = WORD * w + lowest(bits)
                    bits &= bits - ONE
                    arc = stop[before] if t == T else start[label] if t == 0 else arcs[before, label]
                    bound, cost, total = prefix[i] + (arc + right[t, label]), 0.0, totals[i]
                    if not bound >= least:
                        continue
                    if units is not None:
                        if not bound + most_penalty(step + t, before, label, unit_rows, tops) >= least:
                            continue
                        find_margins(base, table, m, label, present, ends, owners, margins)
                        cost = total_cost(margins, weights, hinges)
                        if lists is not None and most > 0:
                            total += broken(state * V + label, step + t, lists)
                        if not bound + cost >= least or total > most:
                            continue
                    following = (state * V + label) % S
                    value = prefix[i] + (arc + (emission[t, label] if t < T else 0.0)) + cost
                    at = slot[following]
                    if at < heads[t + 1] or at >= size or states[at] != following:
                        at = size
                        slot[following] = size
                        states[size], prefix[size], totals[size] = following, value, total
                        size += 1
                    elif better(total, value, totals[at], prefix[at]):
                        prefix[at], totals[at] = value, total
                    sources[count], targets[count] = i, at
                    costs[count], breaks[count] = cost, total - totals[i]
                    count += 1
        heads[t + 2], edges[t + 1] = size, count
        if size == heads[t + 1]:
            return states, heads, edges, sources[:0], targets, costs, breaks
    return states, heads, edges, sources, targets, costs, breaks


@kernel
def best_path(emission, chain, step, lists, units, steps, right, least, most, m, slot, y):
    """Writes the best labelling, by (broken, score), of those that can reach `least` and break at most `most`
    windows into y; returns its score, -inf if there is none."""
    T, L = emission.shape
    V = L + 1
    arcs, start, stop = chain.arcs, chain.start, chain.stop
    states, heads, edges, sources, targets, costs, breaks = kept_edges(
        emission, chain, step, lists, units, steps, right, least, most, m, slot
    )
    if not len(sources):
        return -np.inf
    suffix, fewest = np.full(heads[T + 2], -np.inf), np.zeros(heads[T + 2], dtype=np.int64)
    choice = np.zeros(heads[T + 2], dtype=np.int64)
    suffix[heads[T + 1] :] = 0.0
    for t in range(T, -1, -1):
        for e in range(edges[t], edges[t + 1]):
            i, at = sources[e], targets[e]
            label = states[at] % V
            before = states[i] % V
            arc = stop[before] if t == T else start[label] if t == 0 else arcs[before, label]
            value = arc + ((emission[t, label] if t < T else 0.0) + suffix[at]) + costs[e]
            if better(fewest[at] + breaks[e], value, fewest[i], suffix[i]):
                suffix[i], fewest[i], choice[i] = value, fewest[at] + breaks[e], at
    at = 0
    for t in range(T if suffix[0] > -np.inf else 0):
        at = choice[at]
        y[t] = states[at] % V
    return suffix[0]
