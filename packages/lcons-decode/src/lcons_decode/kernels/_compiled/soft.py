"""The best labelling with soft penalties, under hard constraints or without any.

    right[t, c]   at most the score of token t with label c and all that follows, by bounds on penalties
                  (`Units.tops`)
    top           an upper bound on the score of a labelling

The labelling that follows the bounds has a score not far below `top`. Prefixes are continued only if they can
reach it, or a nearer threshold that is tried first (`paths`).
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import WORD, How
from lcons_decode.kernels._compiled.hard import (
    FAR,
    NEAR,
    ONE,
    SLACK,
    WIDER,
    hard_sequence,
    pair_steps,
    pair_tables,
)
from lcons_decode.kernels._compiled.jit import kernel
from lcons_decode.kernels._compiled.paths import best_path
from lcons_decode.kernels._compiled.penalties import most_penalty, total_penalty
from lcons_decode.kernels._compiled.relaxed import relaxed_sequence
from lcons_decode.kernels._compiled.viterbi import chain_score

ROUNDING = 1e-12  # relative, of sums whose terms cancel


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
