"""Viterbi's algorithm, from the right."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import inlined, kernel


@inlined
def step_back(wide, ahead, L, best):
    """best[b] = max_c wide[c, b] + ahead[c]; `ahead` is -inf beyond L."""
    best[:] = -np.inf
    # Inner loops run over the previous label, contiguous and without a remainder, four labels at a time: the
    # maxima stay in registers.
    for c in range(0, L, 4):
        v, w, x, z = ahead[c], ahead[c + 1], ahead[c + 2], ahead[c + 3]
        for b in range(wide.shape[1]):
            first = max(wide[c, b] + v, wide[c + 1, b] + w)
            second = max(wide[c + 2, b] + x, wide[c + 3, b] + z)
            either = max(first, second)
            best[b] = max(best[b], either)


@kernel
def suffixes(emission, chain):
    """right (T, L): the best score of token t with label c and all that follows."""
    T, L = emission.shape
    wide = chain.wide
    P = wide.shape[0]
    right = np.empty((T, L))
    best = np.empty(P)
    ahead = np.full(P, -np.inf)
    for c in range(L):
        right[T - 1, c] = emission[T - 1, c] + chain.stop[c]
    for t in range(T - 2, -1, -1):
        for c in range(L):
            ahead[c] = right[t + 1, c]
        step_back(wide, ahead, L, best)
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
    arcs = chain.arcs
    for t in range(1, T):
        best = -np.inf
        before = y[t - 1]
        for c in range(L):
            value = arcs[before, c] + right[t, c]
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
        total = chain.arcs[y[t - 1], y[t]] + (emission[t, y[t]] + total)
    return chain.start[y[0]] + (emission[0, y[0]] + total)


@kernel
def viterbi_many(chain, first, last, y, scores):
    """Sequences first .. last - 1: the best labelling of each, into packed y."""
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        scores[i] = 0.0
        if b > a:
            scores[i] = read_off(suffixes(chain.emission[a:b], chain), chain, y[a:b])
