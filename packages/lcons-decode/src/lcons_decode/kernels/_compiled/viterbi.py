"""Viterbi's algorithm, from the right."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import kernel


@kernel
def suffixes(emission, chain):
    """right (T, L): the best score of token t with label c and all that follows."""
    T, L = emission.shape
    right = np.empty((T, L))
    for c in range(L):
        right[T - 1, c] = emission[T - 1, c] + chain.stop[c]
    best = np.empty(L)
    transition = chain.transition
    for t in range(T - 2, -1, -1):
        best[:] = -np.inf
        for c in range(L):
            after = right[t + 1, c]
            # Inner loops run over the previous label: contiguous, and one maximum per place.
            for b in range(L):
                value = transition[c, b] + after
                best[b] = value if value > best[b] else best[b]
        for b in range(L):
            right[t, b] = emission[t, b] + best[b]
    return right


@kernel
def read_off(right, chain, y):
    """Writes the first best labelling into y; returns its score."""
    T, L = right.shape
    score = -np.inf
    for c in range(L):
        if chain.start[c] + right[0, c] > score:
            score = chain.start[c] + right[0, c]
            y[0] = c
    if score == -np.inf:
        return score
    for t in range(1, T):
        best = -np.inf
        for c in range(L):
            value = chain.transition[c, y[t - 1]] + right[t, c]
            if value > best:
                best = value
                y[t] = c
    return score


@kernel
def chain_score(y, emission, chain):
    """The model's score of a labelling, added up from the right."""
    T = y.shape[0]
    total = chain.stop[y[T - 1]]
    for t in range(T - 1, 0, -1):
        total = chain.transition[y[t], y[t - 1]] + (emission[t, y[t]] + total)
    return chain.start[y[0]] + (emission[0, y[0]] + total)


@kernel
def viterbi_many(chain, first, last, y, scores):
    """Sequences first .. last - 1: the best labelling of each, into packed y."""
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        scores[i] = 0.0
        if b > a:
            scores[i] = read_off(suffixes(chain.emission[a:b], chain), chain, y[a:b])
