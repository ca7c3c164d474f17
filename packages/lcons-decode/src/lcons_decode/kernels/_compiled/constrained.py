"""The best labelling under hard constraints, with soft penalties, or both.

    pair          labels b, c at positions t - 1 and t such that each window that contains both positions
                  allows an n-gram with b and c there
    right[t, c]   at most the score of token t with label c and all that follows: by pairs of labels, and by
                  bounds on the penalties (`Units.tops`)
    top           an upper bound on the score of a labelling

The labelling that follows these bounds is tried first. If it breaks nothing and has no penalties, it is the
answer. Otherwise a prefix is continued only if its score and the bound on what follows reach `top - near`;
what they find bounds the next try, if one is needed (`paths`).
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import WORD, How
from lcons_decode.kernels._compiled.jit import kernel, lowest
from lcons_decode.kernels._compiled.lists import count_broken
from lcons_decode.kernels._compiled.paths import best_path, pair_followers
from lcons_decode.kernels._compiled.penalties import most_penalty, total_penalty
from lcons_decode.kernels._compiled.relaxed import relaxed_sequence
from lcons_decode.kernels._compiled.viterbi import chain_score

ONE = np.uint64(1)
NEAR = 3.0  # labellings this far below the upper bound are tried first
WIDER = 4.0  # factor if there is none
FAR = 100.0  # then all
SLACK = 1e-9  # relative: a different order of sums must not exclude a labelling
ROUNDING = 1e-12  # relative, of sums whose terms cancel


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
    followers = np.empty((V + WORD - 1) // WORD, dtype=np.uint64)
    for t in range(T):
        best = -np.inf
        pair_followers(steps[t], before, V, followers)
        for w in range(followers.shape[0]):
            bits = followers[w]
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


@kernel
def bounded_suffixes(emission, step, units, steps):
    """right (T + 1, P), as above, for pairs of labels that `steps` allow; -inf beyond L, and 0 for STOP."""
    T, L = emission.shape
    rows, tops, onward = units.rows, units.tops, units.onward
    P, pairs = onward.shape[1], tops.shape[1] > 1
    right, sums = np.full((T + 1, P), -np.inf), np.empty(P)
    right[T, L] = 0.0
    for t in range(T - 1, -1, -1):
        for b in range(L):
            for v in range(P):
                sums[v] = onward[b, v] + right[t + 1, v]
            for c in range(rows.shape[0]):
                row = rows[c, step + t + 1]
                if row >= 0:
                    for v in range(P):
                        sums[v] += tops[row, b if pairs else 0, v]
            if steps is not None:
                for v in range(L + 1):
                    code = b * (L + 1) + v
                    if not steps[t + 1, code // WORD] >> np.uint64(code % WORD) & ONE:
                        sums[v] = -np.inf
            best = -np.inf
            for v in range(P):
                best = max(best, sums[v])
            right[t, b] = emission[t, b] + best
    return right


@kernel
def read_bounds(right, step, units, y):
    """Writes the labelling of the largest bounds into y; returns the bound on the scores of labellings."""
    L = units.table.shape[1] - 1
    before, top = L, -np.inf
    for t in range(y.shape[0]):
        best = -np.inf
        for c in range(L):
            value = units.onward[before, c] + right[t, c]
            if value > best:  # penalties are at most 0
                value += most_penalty(step + t, before, c, units.rows, units.tops)
                if value > best:
                    best = value
                    y[t] = c
        before = y[t]
        if t == 0:
            top = best
            if top == -np.inf:
                return top
    return top


@kernel
def largest_finite(scores):
    """The largest magnitude of scores that are not -inf, at least 1."""
    largest = 1.0
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            if scores[i, j] > -np.inf:
                largest = max(largest, abs(scores[i, j]))
    return largest


@kernel
def soft_sequence(emission, chain, step, lists, units, patterns, most, m, slot, y, size):
    """Improves y to the best labelling with soft penalties; returns its score, -inf if no labelling has a
    finite one. With hard constraints, y breaks `most` windows, the fewest; without them, what it has is not
    read. size: of transitions, for their rounding errors."""
    T = emission.shape[0]
    steps = pair_steps(step, T, lists, most, patterns)
    right = bounded_suffixes(emission, step, units, steps)
    likely = y.copy()
    top = read_bounds(right, step, units, likely)
    if top == -np.inf:
        return top
    if lists is None:  # otherwise, `likely` may break more windows than y
        y[:] = likely
    score = total_penalty(y, step, units) + chain_score(y, emission, chain)
    slack = SLACK * (1.0 + abs(top)) + ROUNDING * T * max(size, largest_finite(emission))
    near = min(NEAR, top - score)
    while True:
        least = top - near - slack
        value = best_path(emission, chain, step, lists, units, steps, right, least, most, m, slot, y)
        if top - value <= near + slack / 2:
            return value
        if near == top - score:
            return score
        near = top - value if value > -np.inf else near * WIDER if near < FAR else np.inf
        near = min(near, top - score)


@kernel
def constrained_many(chain, lists, units, m, first, last, y, scores, how):
    """Sequences first .. last - 1 under hard constraints or None, relaxed where they cannot be satisfied, and
    soft ones or None; how[i] is the `How` code."""
    V = chain.emission.shape[1] + 1
    slot = np.zeros(V**m, dtype=np.int32)
    patterns = None
    if lists is not None:
        tables = pair_tables(chain, V)
        patterns = tables[2]
    if units is not None:
        size = largest_finite(units.onward)
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        scores[i], how[i], most = 0.0, How.SATISFIED, 0
        if b == a:
            continue
        emission, labels, step = chain.emission[a:b], y[a:b], a + i
        if lists is not None:
            scores[i] = hard_sequence(emission, chain, step, lists, tables, m, slot, labels)
            if scores[i] == -np.inf:
                how[i] = How.RELAXED
                most, scores[i] = relaxed_sequence(emission, chain, step, lists, labels)
        if units is not None and scores[i] > -np.inf:
            scores[i] = soft_sequence(
                emission, chain, step, lists, units, patterns, most, m, slot, labels, size
            )
        if scores[i] == -np.inf:
            how[i] = How.INFEASIBLE
