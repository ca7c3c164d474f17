"""The best labelling that breaks nothing: only what the lists allow is ever touched."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import kernel
from lcons_decode.kernels._compiled.lists import broken, find


@kernel
def step_value(t, before, label, suffix, emission, chain):
    """The score of labelling token t after `before`, and of what follows."""
    arc = chain.start[label] if t == 0 else chain.transition[label, before]
    return arc + (emission[t, label] + suffix)


@kernel
def hard_levels(emission, chain, step, lists):
    """(heads, states, values): the states from which a labelling that breaks nothing can go on, with its
    best score.

    Those of step t are at heads[T - t + 1]:heads[T - t + 2], ascending.
    """
    T = emission.shape[0]
    V = lists.V
    S = V**lists.m
    # Members of named tuples are read once: in the inner loop each reading would count references.
    transition, start, stop = chain.transition, chain.start, chain.stop
    indptr, codes, driver = lists.indptr, lists.codes, lists.driver
    befores, labels, tails, ahead = lists.lasts, lists.labels, lists.tails, lists.states
    driven = lists.sizes.shape[0] == 1 and lists.sizes[0] == lists.m + 1
    heads = np.zeros(T + 3, dtype=np.int64)
    states = np.empty(256, dtype=np.int64)
    values = np.empty(256)
    # Of each state of the next step: its last label's emission and the best suffix; reset where it was set.
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
    """The best labelling that breaks nothing, into y; its score, -inf where there is none."""
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
