"""Where no labelling satisfies all: the fewest broken windows first, then the score, compared as pairs."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.hard import hard_sequence, step_value
from lcons_decode.kernels._compiled.jit import kernel
from lcons_decode.kernels._compiled.lists import broken, count_broken
from lcons_decode.kernels._compiled.viterbi import read_off, suffixes

VERIFIED, SATISFIED, RELAXED, INFEASIBLE = 0, 1, 2, 3


@kernel
def better(broken_a, score_a, broken_b, score_b):
    """Whether (broken_a, score_a) is preferred: possible first, then fewer broken, then the higher score."""
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
    """The labelling with the fewest broken windows and, of those, the best score, into y: (broken, score).

    For n-grams outside all lists of the longest constraints the count is the same whatever the oldest
    label, so the best continuation is found once per shorter state; the listed n-grams then improve on it.
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
    """Sequences first .. last - 1 under hard constraints: Viterbi if that satisfies, else hard, else
    relaxed; how[i] says."""
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        step = a + i
        scores[i], how[i] = 0.0, VERIFIED
        if b == a:
            continue
        emission, own = chain.emission[a:b], y[a:b]
        scores[i] = read_off(suffixes(emission, chain), chain, own)
        if scores[i] == -np.inf:
            how[i] = INFEASIBLE
            continue
        if lists.sizes.shape[0] == 0 or count_broken(own, step, lists) == 0:
            continue
        how[i] = SATISFIED
        score = hard_sequence(emission, chain, step, lists, own)
        if score > -np.inf:
            scores[i] = score
            continue
        how[i] = RELAXED
        scores[i] = relaxed_sequence(emission, chain, step, lists, own)[1]
