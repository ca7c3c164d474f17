"""The labelling with the fewest broken windows and, among those, the best score, as pairs.

A window outside its list counts as one, whatever its oldest label is. So the best continuation of a state is
the default of its newer labels, unless a listed window improves it. With one constraint of n = m + 1 and

    better(a, b) = the pair with fewer broken windows, then with more score, then with the earlier label

the default of labels u = (u_1 .. u_{m-1}) at step t, and the states s that are exceptions from it, are

    backoff[w]   = best_d  1 + arc(w, d) + default'[w d]                     w = u without u_1
    default[u]   = better(backoff[w], best over exceptions u d of the next step)
    exception[s] = better(default[s_2 .. s_m], best over listed d of 0 + arc + value'[s_2 .. s_m d])

An exception is never worse than its default, so the maxima over both are those over all states. Nothing of
the size of all states is computed per step, only copied for m = 2 and looked up otherwise.
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import inlined, kernel
from lcons_decode.kernels._compiled.lists import broken, find
from lcons_decode.kernels._compiled.paths import better


@inlined
def precedes(total, value, label, other_total, other_value, other_label):
    """Whether a finite pair is better than another, or equal with an earlier label."""
    if value == -np.inf:
        return False
    if other_value == -np.inf or total != other_total:
        return other_value == -np.inf or total < other_total
    return value > other_value or (value == other_value and label < other_label)


@kernel
def relaxed_sequence(emission, chain, step, lists, y):
    """Writes the labelling with the fewest broken windows and, among those, the best score into y; returns
    (broken, score)."""
    if lists.sizes.shape[0] == 1 and lists.sizes[0] == lists.m + 1:
        return driven_sequence(emission, chain, step, lists, y)
    return dense_sequence(emission, chain, step, lists, y)


@inlined
def find_defaults(t, emission, chain, longest, m, counts, values, later, count, suffix, pick):
    """count, suffix and pick (U,): the defaults of a step, from the `counts` and `values` (U,) of the next
    one and from its exceptions, `later`: states, their counts and their values."""
    L, U = emission.shape[1], count.shape[0]
    V = L + 1
    W, states = V ** max(m - 2, 1), later[0]
    arcs, start = chain.arcs, chain.start
    # At step 0, the last label before is padding; at others, it is not.
    for w in range(W):
        before = w % V
        best, top, label = 0, -np.inf, 0
        if (before == L) == (t == 0):
            first = w * V if m > 1 and U > V else 0
            for d in range(L):
                arc = start[d] if t == 0 else arcs[before, d]
                value = arc + (emission[t, d] + values[first + d])
                if better(counts[first + d] + longest, value, best, top):
                    best, top, label = counts[first + d] + longest, value, d
        for u in range(w, U, W):
            count[u], suffix[u], pick[u] = best, top, label
    for j in range(states.shape[0] if m > 1 else 0):
        u, d = states[j] // V, states[j] % V
        before = u % V
        if (before == L) == (t == 0):
            value = (start[d] if t == 0 else arcs[before, d]) + (emission[t, d] + later[2][j])
            total = later[1][j] + longest
            if precedes(total, value, d, count[u], suffix[u], pick[u]):
                count[u], suffix[u], pick[u] = total, value, d


@kernel
def driven_sequence(emission, chain, step, lists, y):
    """The same for one constraint, as above."""
    T, L = emission.shape
    V, m = lists.V, lists.m
    S, U = V**m, V ** max(m - 1, 1)
    older = S // V
    arcs, start, stop, driver = chain.arcs, chain.start, chain.stop, lists.rows[0]
    rows, heads_of = lists.groups.rows, lists.groups.states
    firsts, labels = lists.groups.firsts, lists.groups.labels
    count, suffix = np.zeros(U, dtype=np.int64), np.full(U, -np.inf)
    next_count, next_suffix = np.zeros(U, dtype=np.int64), np.full(U, -np.inf)
    choice = np.zeros((T, U), dtype=np.int16)
    heads = np.zeros(T + 2, dtype=np.int64)
    space = 256
    for t in range(T + 1):
        if driver[step + t] >= 0:
            space += rows[driver[step + t] + 1] - rows[driver[step + t]]
    states, picks = np.empty(space, dtype=np.int64), np.empty(space, dtype=np.int16)
    counts, values = np.empty(space, dtype=np.int64), np.empty(space)
    slot = np.full(S, -1, dtype=np.int32)
    size = 0
    for t in range(T, -1, -1):
        row = driver[step + t]
        longest = 1 if row >= 0 else 0
        previous, end = heads[max(T - t - 1, 0)], size
        if t == T:
            for u in range(U):
                count[u], suffix[u] = longest, (stop[u % V] if u % V < L else -np.inf)
        else:
            later = (states[previous:end], counts[previous:end], values[previous:end])
            find_defaults(
                t, emission, chain, longest, m, next_count, next_suffix, later, count, suffix, choice[t]
            )
        if row >= 0:
            for g in range(rows[row], rows[row + 1]):
                state = int(heads_of[g])
                before = state % V
                if (before == L) != (t == 0):
                    continue
                u = state % U
                best, top, pick = count[u], suffix[u], L
                if t == T:
                    best, top = 0, stop[before]
                else:
                    pick = choice[t, u]
                    base = state % older * V
                    for k in range(firsts[g], firsts[g + 1]):
                        d = int(labels[k])
                        at = slot[base + d]
                        onward = values[at] if at >= 0 else next_suffix[(base + d) % U]
                        total = counts[at] if at >= 0 else next_count[(base + d) % U]
                        value = (start[d] if t == 0 else arcs[before, d]) + (emission[t, d] + onward)
                        if precedes(total, value, d, best, top, pick):
                            best, top, pick = total, value, d
                if top == -np.inf:
                    continue
                if m == 1:
                    count[u], suffix[u] = best, top
                    if t < T:
                        choice[t, u] = pick
                    continue
                states[size], counts[size], values[size], picks[size] = state, best, top, pick
                size += 1
        for j in range(previous, end):
            slot[states[j]] = -1
        for j in range(end, size):
            slot[states[j]] = j
        heads[T - t + 1] = size
        count, next_count = next_count, count
        suffix, next_suffix = next_suffix, suffix
    state = S - 1
    total, score = next_count[state % U], next_suffix[state % U]
    if size > heads[T] and states[heads[T]] == state:
        total, score = counts[heads[T]], values[heads[T]]
    if score == -np.inf:
        return total, score
    for t in range(T):
        at = find(states, heads[T - t], heads[T - t + 1], state)
        y[t] = picks[at] if at < heads[T - t + 1] and states[at] == state else choice[t, state % U]
        state = (state * V + y[t]) % S
    return total, score


@kernel
def short_counts(step, lists, counts):
    """counts[state]: how many constraints with n <= m the last labels of a state break at `step`."""
    counts[:] = 0
    groups = lists.groups
    for c in range(lists.sizes.shape[0]):
        row = lists.rows[c, step]
        if row < 0 or lists.sizes[c] > lists.m:
            continue
        counts += 1
        for g in range(groups.rows[row], groups.rows[row + 1]):
            for k in range(groups.firsts[g], groups.firsts[g + 1]):
                code = groups.states[g] * lists.V + groups.labels[k]
                for state in range(code, counts.shape[0], lists.moduli[c]):
                    counts[state] -= 1


@kernel
def dense_sequence(emission, chain, step, lists, y):
    """The same as `relaxed_sequence`, for constraints of several lengths.

    For n-grams outside all lists of the constraints with the longest n, the count does not depend on the
    oldest label. So the best continuation is found once per shorter state; the listed n-grams then improve
    it.
    """
    T, L = emission.shape
    V, m = lists.V, lists.m
    S = V**m
    U = V ** max(m - 1, 1)
    count = np.zeros((T + 1, S), dtype=np.int64)
    suffix = np.empty((T + 1, S))
    short = np.zeros(S, dtype=np.int64)
    default_count, default_suffix = np.empty(U, dtype=np.int64), np.empty(U)
    arcs, start = chain.arcs, chain.start
    rows, sizes, groups = lists.rows, lists.sizes, lists.groups
    for state in range(S):
        b = state % V
        suffix[T, state] = chain.stop[b] if b < L else -np.inf
        count[T, state] = broken(state * V + L, step + T, lists)
    for t in range(T - 1, -1, -1):
        longest = 0
        shorter = False
        for c in range(lists.sizes.shape[0]):
            if lists.rows[c, step + t] >= 0:
                longest += lists.sizes[c] == m + 1
                shorter |= lists.sizes[c] <= m
        if shorter:
            short_counts(step + t, lists, short)
        for u in range(U):
            best_count, best_suffix = 0, -np.inf
            before = u % V
            if (before == L) == (t == 0):
                first = u * V if m > 1 else 0
                for label in range(L):
                    after = first + label
                    arc = start[label] if t == 0 else arcs[before, label]
                    value = arc + (emission[t, label] + suffix[t + 1, after])
                    total = longest + count[t + 1, after] + (short[after] if shorter else 0)
                    if better(total, value, best_count, best_suffix):
                        best_count, best_suffix = total, value
            default_count[u], default_suffix[u] = best_count, best_suffix
        for first in range(0, S, U):
            count[t, first : first + U] = default_count
            suffix[t, first : first + U] = default_suffix
        for c in range(sizes.shape[0]):
            row = rows[c, step + t]
            if row < 0 or sizes[c] <= m:
                continue
            for g in range(groups.rows[row], groups.rows[row + 1]):
                state = groups.states[g]
                before = state % V
                if (before == L) != (t == 0):
                    continue
                for k in range(groups.firsts[g], groups.firsts[g + 1]):
                    label = groups.labels[k]
                    after = (state * V + label) % S
                    total = count[t + 1, after]
                    if longest > 1:
                        total += broken(state * V + label, step + t, lists)
                    elif shorter:
                        total += short[after]
                    arc = start[label] if t == 0 else arcs[before, label]
                    value = arc + (emission[t, label] + suffix[t + 1, after])
                    if better(total, value, count[t, state], suffix[t, state]):
                        count[t, state], suffix[t, state] = total, value
    state = S - 1
    score, total = suffix[0, state], count[0, state]
    if score == -np.inf:
        return total, score
    for t in range(T):
        for label in range(L):
            gram = state * V + label
            after = gram % S
            arc = start[label] if t == 0 else arcs[state % V, label]
            value = arc + (emission[t, label] + suffix[t + 1, after])
            if value == suffix[t, state] and (
                count[t + 1, after] + broken(gram, step + t, lists) == count[t, state]
            ):
                y[t] = label
                state = after
                break
    return total, score
