"""The best labelling that breaks no hard constraint; only n-grams in the lists are visited.

If no labelling satisfies all constraints, labellings are compared by (broken windows, score), as pairs.
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import How
from lcons_decode.kernels._compiled.jit import kernel
from lcons_decode.kernels._compiled.lists import broken, count_broken, find
from lcons_decode.kernels._compiled.viterbi import read_off, suffixes


@kernel
def step_value(t, before, label, suffix, emission, chain):
    """The score of token t with `label` after `before`, and of all that follows."""
    arc = chain.start[label] if t == 0 else chain.transition[label, before]
    return arc + (emission[t, label] + suffix)


@kernel
def hard_levels(emission, chain, step, lists):
    """(heads, states, values): the states from which a labelling can be completed without breaking anything,
    with the best score from each.

    The states of step t are at heads[T - t + 1]:heads[T - t + 2], ascending.
    """
    T = emission.shape[0]
    V = lists.V
    S = V**lists.m
    # Members of named tuples are read once: in the inner loop, each read would change reference counts.
    transition, start, stop = chain.transition, chain.start, chain.stop
    indptr, codes, driver = lists.indptr, lists.codes, lists.driver
    befores, labels, tails, ahead = lists.lasts, lists.labels, lists.tails, lists.states
    driven = lists.sizes.shape[0] == 1 and lists.sizes[0] == lists.m + 1
    heads = np.zeros(T + 3, dtype=np.int64)
    states = np.empty(256, dtype=np.int64)
    values = np.empty(256)
    # For each state of the next step: the emission of its last label plus the best suffix; reset after use.
    after = np.full(S, -np.inf)
    size = 0
    for t in range(T, -1, -1):
        row = driver[step + t]
        previous, end = heads[T - t], size
        for k in range(indptr[row], indptr[row + 1]):
            if t == T:
                value = stop[befores[k]]
            else:
                onward = after[tails[k]]
                if onward == -np.inf:
                    continue
                value = (start[labels[k]] if t == 0 else transition[labels[k], befores[k]]) + onward
            if value == -np.inf or (not driven and broken(codes[k], step + t, lists) > 0):
                continue
            state = ahead[k]
            if size > end and states[size - 1] == state:
                if value > values[size - 1]:
                    values[size - 1] = value
                continue
            if size == states.shape[0]:
                more_states, more_values = np.empty(2 * size, dtype=np.int64), np.empty(2 * size)
                more_states[:size], more_values[:size] = states, values
                states, values = more_states, more_values
            states[size], values[size] = state, value
            size += 1
        for j in range(previous, end):
            after[states[j]] = -np.inf
        if t > 0:
            for j in range(end, size):
                after[states[j]] = emission[t - 1, states[j] % V] + values[j]
        heads[T - t + 1] = end
        heads[T - t + 2] = size
        if size == end:
            heads[T - t + 3 :] = size
            break
    return heads, states[:size], values[:size]


@kernel
def hard_sequence(emission, chain, step, lists, y):
    """Writes the best labelling that breaks nothing into y; returns its score, -inf if there is none."""
    T = emission.shape[0]
    V = lists.V
    S = V**lists.m
    heads, states, values = hard_levels(emission, chain, step, lists)
    if heads[T + 1] == heads[T + 2]:
        return -np.inf
    state = S - 1
    for t in range(T):
        row = lists.driver[step + t]
        low, high = heads[T - t], heads[T - t + 1]
        own = values[find(states, high, heads[T - t + 2], state)]
        first = find(lists.codes, lists.indptr[row], lists.indptr[row + 1], state * V)
        for k in range(first, lists.indptr[row + 1]):
            at = find(states, low, high, lists.tails[k])
            if at == high or states[at] != lists.tails[k] or broken(lists.codes[k], step + t, lists) > 0:
                continue
            if step_value(t, lists.lasts[k], lists.labels[k], values[at], emission, chain) == own:
                y[t] = lists.labels[k]
                break
        state = (state * V + y[t]) % S
    return values[heads[T + 1]]


@kernel
def better(broken_a, score_a, broken_b, score_b):
    """Whether (broken_a, score_a) is preferred: a finite score first, then fewer broken, then more score."""
    if score_a == -np.inf:
        return False
    if score_b == -np.inf:
        return True
    return broken_a < broken_b or (broken_a == broken_b and score_a > score_b)


@kernel
def short_counts(step, lists, counts):
    """counts[state]: how many constraints with n <= m the last labels of a state break at `step`."""
    counts[:] = 0
    for c in range(lists.sizes.shape[0]):
        row = lists.rows[c, step]
        if row < 0 or lists.sizes[c] > lists.m:
            continue
        counts += 1
        for k in range(lists.indptr[row], lists.indptr[row + 1]):
            for state in range(lists.codes[k], counts.shape[0], lists.moduli[c]):
                counts[state] -= 1


@kernel
def relaxed_sequence(emission, chain, step, lists, y):
    """Writes the labelling with the fewest broken windows and, among those, the best score into y; returns
    (broken, score).

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
    transition, start = chain.transition, chain.start
    indptr, rows, sizes = lists.indptr, lists.rows, lists.sizes
    befores, labels, tails, ahead = lists.lasts, lists.labels, lists.tails, lists.states
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
                    arc = start[label] if t == 0 else transition[label, before]
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
            for k in range(indptr[row], indptr[row + 1]):
                state, before, after = ahead[k], befores[k], tails[k]
                if (before == L) != (t == 0):
                    continue
                total = count[t + 1, after]
                if longest > 1:
                    total += broken(lists.codes[k], step + t, lists)
                elif shorter:
                    total += short[after]
                label = labels[k]
                arc = start[label] if t == 0 else transition[label, before]
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
            value = step_value(t, state % V, label, suffix[t + 1, after], emission, chain)
            if value == suffix[t, state] and (
                count[t + 1, after] + broken(gram, step + t, lists) == count[t, state]
            ):
                y[t] = label
                state = after
                break
    return total, score


@kernel
def constrained_many(chain, lists, first, last, y, scores, how):
    """Sequences first .. last - 1 under hard constraints: Viterbi if it satisfies them, else hard, else
    relaxed; how[i] is the `How` code."""
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        step = a + i
        scores[i], how[i] = 0.0, How.VERIFIED
        if b == a:
            continue
        emission, own = chain.emission[a:b], y[a:b]
        scores[i] = read_off(suffixes(emission, chain), chain, own)
        if scores[i] == -np.inf:
            how[i] = How.INFEASIBLE
            continue
        if lists.sizes.shape[0] == 0 or count_broken(own, step, lists) == 0:
            continue
        how[i] = How.SATISFIED
        score = hard_sequence(emission, chain, step, lists, own)
        if score > -np.inf:
            scores[i] = score
            continue
        how[i] = How.RELAXED
        scores[i] = relaxed_sequence(emission, chain, step, lists, own)[1]
