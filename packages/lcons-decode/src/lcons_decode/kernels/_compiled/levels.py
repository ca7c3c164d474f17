"""The states from which a labelling can be completed without breaking a hard constraint.

For best-first search. Only n-grams in the lists are visited.
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import kernel
from lcons_decode.kernels._compiled.lists import broken


@kernel
def hard_levels(emission, chain, step, lists):
    """(heads, states, values): states from which a labelling might be completed without breaking anything,
    with the best score from each, -inf if there is none.

    The states of step t are at heads[T - t + 1]:heads[T - t + 2], ascending. If no constraint with the
    longest n has a window at STOP, the states before STOP are listed only if the last token has none either.
    """
    T, L = emission.shape
    V, m = lists.V, lists.m
    S = V**m
    older = S // V
    # Members of named tuples are read once: in the inner loop, each read would change reference counts.
    arcs, start, stop, driver = chain.arcs, chain.start, chain.stop, lists.driver
    groups = lists.groups
    rows, heads_of, firsts, labels = groups.rows, groups.states, groups.firsts, groups.labels
    driven = lists.sizes.shape[0] == 1 and lists.sizes[0] == m + 1
    listed = driver[step + T] >= 0
    implied = not listed and driver[step + T - 1] >= 0
    heads = np.zeros(T + 3, dtype=np.int64)
    space = 0 if listed or implied else L ** min(T, m)
    for t in range(T + 1):
        row = driver[step + t]
        if row >= 0:
            space += rows[row + 1] - rows[row]
    states, values = np.empty(space + 64, dtype=np.int64), np.empty(space + 64)
    # For each state of the next step: the emission of its last label plus the best suffix; reset after use.
    after, later = np.full(S, -np.inf), np.full(S, -np.inf)
    size = 0
    for t in range(T, -1, -1):
        row = driver[step + t]
        previous, end = heads[T - t], size
        top = -np.inf
        if row >= 0:
            ending = implied and t == T - 1
            if ending:
                for c in range(L):
                    later[c] = emission[t, c] + stop[c]
            for g in range(rows[row], rows[row + 1]):
                state = heads_of[g]
                before = state % V
                if (before == L) != (t == 0):
                    continue
                best = -np.inf
                base = 0 if ending else (state % older) * V
                if t == T:
                    best = stop[before]
                    if not driven and broken(state * V + L, step + T, lists) > 0:
                        best = -np.inf
                elif driven and t > 0:
                    for k in range(firsts[g], firsts[g + 1]):
                        best = max(best, arcs[before, labels[k]] + later[base + labels[k]])
                else:
                    for k in range(firsts[g], firsts[g + 1]):
                        own = labels[k]
                        value = (start[own] if t == 0 else arcs[before, own]) + later[base + own]
                        if value > best and (
                            driven or fits(np.int64(state) * V + own, step + t, ending, step + T, S, lists)
                        ):
                            best = value
                states[size], values[size] = state, best
                size += 1
                top = max(top, best)
                if t > 0:
                    after[state] = emission[t - 1, before] + best
            if ending:
                for c in range(L):
                    later[c] = -np.inf
        elif t == T:
            top = 0.0 if implied else -np.inf
            for k in range(0 if implied else L ** min(T, m)):
                state, rest, place = S - V ** min(T, m), k, 1
                for _ in range(min(T, m)):
                    state += rest % L * place
                    rest //= L
                    place *= V
                best = stop[state % V] if broken(state * V + L, step + T, lists) == 0 else -np.inf
                states[size], values[size] = state, best
                size += 1
                top = max(top, best)
                after[state] = emission[t - 1, state % V] + best
        else:
            # No constraint with the longest n: any label may precede the states of the next step.
            for first in range(L if t < m else 0, V if t < m else L):
                for j in range(previous, end):
                    label = states[j] % V
                    state = first * older + states[j] // V
                    arc = start[label] if t == 0 else arcs[state % V, label]
                    value = arc + later[states[j]]
                    if value == -np.inf or broken(state * V + label, step + t, lists) > 0:
                        continue
                    if size > end and states[size - 1] == state:
                        values[size - 1] = max(value, values[size - 1])
                    else:
                        if size == states.shape[0]:
                            states, values = doubled(states, values)
                        states[size], values[size] = state, value
                        size += 1
                    top = max(top, value)
                    if t > 0:
                        after[state] = emission[t - 1, state % V] + values[size - 1]
        for j in range(previous, end):
            later[states[j]] = -np.inf
        after, later = later, after
        heads[T - t + 1] = end
        heads[T - t + 2] = size
        if top == -np.inf:
            heads[T - t + 3 :] = size
            break
    return heads, states[:size], values[:size]


@kernel
def fits(gram, step, ending, last, S, lists):
    """Whether an n-gram breaks nothing at a step and, if it is `ending`, nothing at STOP, the step `last`."""
    if broken(gram, step, lists) > 0:
        return False
    return not ending or broken(gram % S * lists.V + lists.V - 1, last, lists) == 0


@kernel
def doubled(states, values):
    """The same arrays with as much free space again."""
    size = states.shape[0]
    more_states, more_values = np.empty(2 * size, dtype=states.dtype), np.empty(2 * size, dtype=values.dtype)
    more_states[:size], more_values[:size] = states, values
    return more_states, more_values
