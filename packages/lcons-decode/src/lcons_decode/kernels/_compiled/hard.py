"""The best labelling that breaks no hard constraint.

    pair     labels b, c at positions t - 1 and t such that each window that contains both positions allows
             an n-gram with b and c there
    top      the best score of a labelling whose neighbours are pairs: an upper bound

If the labelling of this score breaks nothing, it is the answer. Otherwise a prefix is continued only if its
score and the best suffix of pairs reach `top - near`; what they find bounds the next try, if one is needed.
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import WORD
from lcons_decode.kernels._compiled.jit import kernel, lowest
from lcons_decode.kernels._compiled.lists import count_broken
from lcons_decode.kernels._compiled.paths import best_path, pair_followers

ONE = np.uint64(1)
NEAR = 3.0  # labellings this far below the upper bound are tried first
WIDER = 4.0  # factor if there is none
FAR = 100.0  # then all
SLACK = 1e-9  # relative: a different order of sums must not exclude a labelling


@kernel
def pair_tables(chain, V):
    """(sources, arcs, patterns) of the pairs b V + c: their labels b and transitions, and the pairs of step
    0, of later steps and of STOP, as bits."""
    L = V - 1
    sources, arcs = np.zeros(V * V, dtype=np.int64), np.full(V * V, -np.inf)
    patterns = np.zeros((3, (V * V + WORD - 1) // WORD), dtype=np.uint64)
    for b in range(V):
        for c in range(V):
            code = b * V + c
            sources[code] = b
            if b < L and c < L:
                arcs[code] = chain.arcs[b, c]
            kind = 2 if c == L else 0 if b == L else 1
            if b < L or c < L:
                patterns[kind, code // WORD] |= ONE << np.uint64(code % WORD)
    return sources, arcs, patterns


@kernel
def pair_steps(step, T, lists, most, patterns):
    """(T + 1, words): the pairs of labels that may end at each step, as bits: every window that contains both
    has them in one of its n-grams, unless windows may be broken (`most` > 0). None without constraints."""
    if lists is None:
        return None
    pairs, rows, sizes = lists.pairs, lists.rows, lists.sizes
    words = patterns.shape[1]
    steps = np.empty((T + 1, words), dtype=np.uint64)
    for t in range(T + 1):
        steps[t] = patterns[0 if t == 0 else 1 if t < T else 2]
    for c in range(rows.shape[0] if most == 0 else 0):
        places = max(sizes[c] - 1, 1)
        for t in range(T + 1):
            row = rows[c, step + t]
            if row >= 0:
                for d in range(min(places, t + 1)):
                    for w in range(words):
                        steps[t - d, w] &= pairs[row, d, w]
    return steps


@kernel
def pair_suffixes(emission, chain, steps, sources, arcs, V):
    """right (T + 1, V): the best score of token t with label c and all that follows, where neighbours are
    pairs: an upper bound on the scores of labellings that break nothing; 0 after the last token."""
    T, L = emission.shape
    right, best = np.zeros((T + 1, V)), np.empty(V)
    for t in range(T - 1, -1, -1):
        best[:] = -np.inf
        for w in range(steps.shape[1]):
            bits = steps[t + 1, w]
            while bits != 0:
                code = WORD * w + lowest(bits)
                bits &= bits - ONE
                b = sources[code]
                value = chain.stop[b] if t == T - 1 else arcs[code] + right[t + 1, code - b * V]
                best[b] = max(best[b], value)
        for b in range(L):
            right[t, b] = emission[t, b] + best[b]
    return right


@kernel
def read_pairs(right, chain, steps, V, y):
    """Writes the first best labelling of pairs into y; returns its score, -inf if there is none."""
    T, before, score = y.shape[0], V - 1, 0.0
    own = np.empty((V + WORD - 1) // WORD, dtype=np.uint64)
    for t in range(T):
        best = -np.inf
        pair_followers(steps[t], before, V, own)
        for w in range(own.shape[0]):
            bits = own[w]
            while bits != 0:
                c = WORD * w + lowest(bits)
                bits &= bits - ONE
                value = (chain.start[c] if t == 0 else chain.arcs[before, c]) + right[t, c]
                if value > best:
                    best = value
                    y[t] = c
        if t == 0:
            score = best
            if score == -np.inf:
                return score
        before = y[t]
    return score


@kernel
def hard_sequence(emission, chain, step, lists, tables, m, slot, y):
    """Writes the best labelling that breaks nothing into y; returns its score, -inf if there is none."""
    V = lists.V
    sources, arcs, patterns = tables
    steps = pair_steps(step, emission.shape[0], lists, 0, patterns)
    right = pair_suffixes(emission, chain, steps, sources, arcs, V)
    top = read_pairs(right, chain, steps, V, y)
    if top == -np.inf or lists.sizes.max() <= 2 or count_broken(y, step, lists, 1) == 0:
        return top
    slack = SLACK * (1.0 + abs(top))
    near = NEAR
    while True:
        least = top - near - slack
        score = best_path(emission, chain, step, lists, None, steps, right, least, 0, m, slot, y)
        if top - score <= near or near == np.inf:
            return score
        near = top - score if score > -np.inf else (near * WIDER if near < FAR else np.inf)
