"""The labelling with the fewest broken windows and, among those, the best score, as pairs.

A window outside its list counts as one, whatever its oldest label is. So for constraints with the longest n,
the best continuation of a state is that of its newer labels, the default, unless a listed window improves it:

    default[u]   = best_d  (windows of longest n) + (shorter windows that u d breaks) + arc + value'[u d]
    value[a u]   = the better of default[u] and, over the labels d listed after a u, the same with their count
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import inlined, kernel
from lcons_decode.kernels._compiled.lists import broken


@inlined
def precedes(total, value, label, other_total, other_value, other_label):
    """Whether a pair with a finite score has fewer broken windows than another, or as many and a better
    score, or an equal score and an earlier label."""
    if value == -np.inf:
        return False
    if other_value == -np.inf or total != other_total:
        return other_value == -np.inf or total < other_total
    return value > other_value or (value == other_value and label < other_label)


@kernel
def short_counts(step, lists, counts):
    """counts[state]: how many constraints with n <= m the last labels of a state break at `step`; returns the
    numbers of constraints with a window there: those with n > m, and the others."""
    longest = shorter = 0
    groups = lists.groups
    for c in range(lists.sizes.shape[0]):
        row = lists.rows[c, step]
        if row >= 0 and lists.sizes[c] > lists.m:
            longest += 1
        elif row >= 0:
            if not shorter:
                counts[:] = 0
            shorter += 1
            counts += 1
            for g in range(groups.rows[row], groups.rows[row + 1]):
                for k in range(groups.firsts[g], groups.firsts[g + 1]):
                    code = groups.states[g] * lists.V + groups.labels[k]
                    for state in range(code, counts.shape[0], lists.moduli[c]):
                        counts[state] -= 1
    return longest, shorter


@inlined
def defaults(t, emission, start, arcs, V, m, longest, shorter, short, after, rest, count, suffix, choice):
    """The default of the states at step t, by their newer labels u, from `after` and `rest`, the counts and
    scores at the next step."""
    L = V - 1
    for u in range(V ** max(m - 1, 1)):
        fewest, best, label, before = 0, -np.inf, 0, u % V
        if (before == L) == (t == 0):  # before the first label, there is padding
            first = u * V if m > 1 else 0
            for d in range(L):
                value = (start[d] if t == 0 else arcs[before, d]) + (emission[t, d] + rest[first + d])
                total = longest + after[first + d] + (short[first + d] if shorter else 0)
                if precedes(total, value, d, fewest, best, label):
                    fewest, best, label = total, value, d
        count[u], suffix[u], choice[u] = fewest, best, label


@kernel
def fewest_broken(emission, chain, step, lists, y):
    """Writes the labelling with the fewest broken windows and, among those, the best score into y; returns
    (broken, score)."""
    T, L = emission.shape
    V, m = lists.V, lists.m
    S, U = V**m, V ** max(m - 1, 1)
    arcs, start, sizes, rows = chain.arcs, chain.start, lists.sizes, lists.rows
    heads, states, firsts, labels = (
        lists.groups.rows,
        lists.groups.states,
        lists.groups.firsts,
        lists.groups.labels,
    )
    count, suffix, short = np.zeros(S, np.int64), np.full(S, -np.inf), np.zeros(S, np.int64)
    after, rest, choice = np.zeros(S, np.int64), np.full(S, -np.inf), np.zeros((T, S), np.int16)
    for state in range(S):
        if state % V < L:
            suffix[state] = chain.stop[state % V]
            count[state] = broken(state * V + L, step + T, lists)
    for t in range(T - 1, -1, -1):
        count, after, suffix, rest = after, count, rest, suffix
        longest, shorter = short_counts(step + t, lists, short)
        pick = choice[t]
        defaults(t, emission, start, arcs, V, m, longest, shorter, short, after, rest, count, suffix, pick)
        for u in range(U, S, U):
            count[u : u + U], suffix[u : u + U], pick[u : u + U] = count[:U], suffix[:U], pick[:U]
        for c in range(rows.shape[0]):
            row = rows[c, step + t]
            for g in range(heads[row], heads[row + 1] if row >= 0 and sizes[c] > m else heads[row]):
                state = np.int64(states[g])
                before, newer = state % V, state % (S // V) * V
                if (before == L) != (t == 0):
                    continue
                for k in range(firsts[g], firsts[g + 1]):
                    d = np.int64(labels[k])
                    onward = newer + d
                    total = after[onward]
                    if longest > 1:
                        total += broken(state * V + d, step + t, lists)
                    elif shorter:
                        total += short[onward]
                    value = (start[d] if t == 0 else arcs[before, d]) + (emission[t, d] + rest[onward])
                    if precedes(total, value, d, count[state], suffix[state], pick[state]):
                        count[state], suffix[state], pick[state] = total, value, d
    state = S - 1
    for t in range(T):
        y[t] = choice[t, state]
        state = (state * V + y[t]) % S
    return count[S - 1], suffix[S - 1]
