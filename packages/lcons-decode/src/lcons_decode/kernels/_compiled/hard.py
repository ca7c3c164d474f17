"""The best labelling that breaks no hard constraint.

    pair     labels b, c at positions t - 1 and t such that each window that contains both positions allows
             an n-gram with b and c there
    top      the best score of a labelling whose neighbours are pairs: an upper bound

If the labelling of this score breaks nothing, it is the answer. Otherwise a prefix is continued only if its
score and the best suffix of pairs reach `top - near`; what they find bounds the next try, if one is needed.
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import WORD, How
from lcons_decode.kernels._compiled.jit import inlined, kernel, lowest
from lcons_decode.kernels._compiled.lists import count_broken, find
from lcons_decode.kernels._compiled.relaxed import relaxed_sequence
from lcons_decode.kernels._compiled.viterbi import read_off, suffixes

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
def pair_steps(step, T, lists, patterns):
    """(T + 1, words): the pairs of labels that may end at each step, as bits: every window that contains both
    has them in one of its n-grams."""
    pairs, rows, sizes = lists.pairs, lists.rows, lists.sizes
    words = patterns.shape[1]
    steps = np.empty((T + 1, words), dtype=np.uint64)
    for t in range(T + 1):
        steps[t] = patterns[0 if t == 0 else 1 if t < T else 2]
    for c in range(rows.shape[0]):
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
    """right (T, L): the best score of token t with label c and all that follows, where neighbours are pairs:
    an upper bound on the scores of labellings that break nothing."""
    T, L = emission.shape
    right, best = np.empty((T, L)), np.empty(V)
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


@inlined
def followers(bits, before, V, own):
    """own: the labels that may follow a label, as bits; `bits` are those of a step."""
    for w in range(own.shape[0]):
        first = before * V + WORD * w
        at, shift = first // WORD, np.uint64(first % WORD)
        own[w] = bits[at] >> shift
        if shift > 0 and at + 1 < bits.shape[0]:
            own[w] |= bits[at + 1] << (np.uint64(WORD) - shift)
        more = V - WORD * w
        if more < WORD:
            own[w] &= (ONE << np.uint64(more)) - ONE


@kernel
def read_pairs(right, chain, steps, V, y):
    """Writes the first best labelling of pairs into y; returns its score, -inf if there is none."""
    T, L = right.shape
    before, score = L, 0.0
    own = np.empty((V + WORD - 1) // WORD, dtype=np.uint64)
    for t in range(T):
        best = -np.inf
        followers(steps[t], before, V, own)
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
def doubled(states, values):
    """The same arrays with as much free space again."""
    size = states.shape[0]
    more_states, more_values = np.empty(2 * size, dtype=states.dtype), np.empty(2 * size, dtype=values.dtype)
    more_states[:size], more_values[:size] = states, values
    return more_states, more_values


@kernel
def paths(emission, chain, step, lists, steps, right, least, slot, y):
    """Writes the best labelling that breaks nothing into y; returns its score, -inf if none reaches `least`.

    From the left, a state is kept if its prefix and the bound of what follows reach `least`. Then the scores
    of the kept states are added up from the right, as everywhere.
    """
    T, L = emission.shape
    V = lists.V
    S = V**lists.m
    words = (V + WORD - 1) // WORD
    rows_of, sizes, moduli, groups = lists.rows, lists.sizes, lists.moduli, lists.groups
    rows, heads_of, firsts, labels = groups.rows, groups.states, groups.firsts, groups.labels
    arcs, start, stop = chain.arcs, chain.start, chain.stop
    states, prefix = np.empty(4 * T + 64, dtype=np.int64), np.empty(4 * T + 64)
    sources, targets = np.empty(4 * T + 64, dtype=np.int32), np.empty(4 * T + 64, dtype=np.int32)
    heads, edges = np.zeros(T + 2, dtype=np.int64), np.zeros(T + 2, dtype=np.int64)
    own, some = np.empty(words, dtype=np.uint64), np.empty(words, dtype=np.uint64)
    states[0], prefix[0], size, count = S - 1, 0.0, 1, 0
    heads[1] = 1
    for t in range(T + 1):
        for i in range(heads[t], heads[t + 1]):
            state = states[i]
            before = state % V
            followers(steps[t], before, V, own)
            for c in range(rows_of.shape[0]):
                row = rows_of[c, step + t]
                if row >= 0 and sizes[c] > 2:
                    wanted = state % (moduli[c] // V)
                    at = find(heads_of, rows[row], rows[row + 1], wanted)
                    some[:] = 0
                    if at < rows[row + 1] and heads_of[at] == wanted:
                        for k in range(firsts[at], firsts[at + 1]):
                            some[labels[k] // WORD] |= ONE << np.uint64(labels[k] % WORD)
                    for w in range(words):
                        own[w] &= some[w]
            if t == T:
                # The suffix of a last state; -inf for one that breaks something at STOP.
                prefix[i] = stop[before] if own[L // WORD] != 0 else -np.inf
                continue
            for w in range(words):
                bits = own[w]
                while bits != 0:
                    label = WORD * w + lowest(bits)
                    bits &= bits - ONE
                    arc = start[label] if t == 0 else arcs[before, label]
                    if not prefix[i] + (arc + right[t, label]) >= least:
                        continue
                    following = (state * V + label) % S
                    value = prefix[i] + (arc + emission[t, label])
                    at = slot[following]
                    if at < heads[t + 1] or at >= size or states[at] != following:
                        at = size
                        slot[following] = size
                        if size == states.shape[0]:
                            states, prefix = doubled(states, prefix)
                        states[size], prefix[size] = following, value
                        size += 1
                    elif value > prefix[at]:
                        prefix[at] = value
                    if count == sources.shape[0]:
                        sources, targets = doubled(sources, targets)
                    sources[count], targets[count] = i, at
                    count += 1
        if t < T:
            heads[t + 2], edges[t + 1] = size, count
            if size == heads[t + 1]:
                return -np.inf
    suffix, choice = prefix, np.zeros(size, dtype=np.int32)
    suffix[: heads[T]] = -np.inf
    for t in range(T - 1, -1, -1):
        for e in range(edges[t], edges[t + 1]):
            i, at = sources[e], targets[e]
            label = states[at] % V
            value = (start[label] if t == 0 else arcs[states[i] % V, label]) + (
                emission[t, label] + suffix[at]
            )
            if value > suffix[i]:
                suffix[i], choice[i] = value, at
    at = 0
    if suffix[0] > -np.inf:
        for t in range(T):
            at = choice[at]
            y[t] = states[at] % V
    return suffix[0]


@kernel
def hard_sequence(emission, chain, step, lists, tables, slot, y):
    """Writes the best labelling that breaks nothing into y; returns its score, -inf if there is none."""
    V = lists.V
    sources, arcs, patterns = tables
    steps = pair_steps(step, emission.shape[0], lists, patterns)
    right = pair_suffixes(emission, chain, steps, sources, arcs, V)
    top = read_pairs(right, chain, steps, V, y)
    if top == -np.inf or lists.sizes.max() <= 2 or count_broken(y, step, lists, 1) == 0:
        return top
    slack = SLACK * (1.0 + abs(top))
    near = NEAR
    while True:
        score = paths(emission, chain, step, lists, steps, right, top - near - slack, slot, y)
        if top - score <= near or near == np.inf:
            return score
        near = top - score if score > -np.inf else (near * WIDER if near < FAR else np.inf)


@kernel
def constrained_many(chain, lists, first, last, y, scores, how):
    """Sequences first .. last - 1 under hard constraints, relaxed where they cannot be satisfied; how[i] is
    the `How` code."""
    hard = lists.sizes.shape[0] > 0
    tables = pair_tables(chain, lists.V if hard else 1)
    slot = np.zeros(lists.V**lists.m if hard else 1, dtype=np.int32)
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        scores[i], how[i] = 0.0, How.SATISFIED
        if b == a:
            continue
        emission, own, step = chain.emission[a:b], y[a:b], a + i
        if not hard:
            scores[i] = read_off(suffixes(emission, chain), chain, own)
        else:
            scores[i] = hard_sequence(emission, chain, step, lists, tables, slot, own)
            if scores[i] == -np.inf:
                how[i] = How.RELAXED
                scores[i] = relaxed_sequence(emission, chain, step, lists, own)[1]
        if scores[i] == -np.inf:
            how[i] = How.INFEASIBLE
