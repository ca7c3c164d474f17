"""Exact decoding under soft constraints: a dynamic program over the labels that a bound does not exclude."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import How
from lcons_decode.kernels._compiled.hard import better
from lcons_decode.kernels._compiled.jit import kernel
from lcons_decode.kernels._compiled.lists import broken
from lcons_decode.kernels._compiled.viterbi import chain_score

NEAR = 0.5  # the first pass keeps labels this far below the upper bound
WIDER = 6.0  # factor per pass, until the best labelling found excludes all other labels
SLACK = 1e-9  # relative: a different order of sums must not exclude a label


@kernel
def log_sigmoid(x):
    """log(1 / (1 + exp(-x))), for x of any size."""
    return -np.log1p(np.exp(-x)) if x > 0 else x - np.log1p(np.exp(x))


@kernel
def cost(margin, hinge):
    """The penalty of a part of this margin, at most 0 and not decreasing in it (`kernels._cost`)."""
    return min(margin, 0.0) if hinge else log_sigmoid(margin)


@kernel
def pair_bounds(activations, pads, table, ends, weight, hinge, first, last, bounds):
    """bounds[w] (V, V): an upper bound on the penalty of window w given its last two labels.

    The margin is at most the minimum over parts of 1 - sum ReLU(known activation + the least that older
    labels can add).
    """
    n, V, U = table.shape
    L = V - 1
    base = np.empty(U)
    for w in range(first, last):
        base[:] = activations[w]
        for i in range(n - 2):
            for u in range(U):
                least = table[i, L, u]
                if i >= pads[w, 0]:
                    least = table[i, 0, u]
                    for v in range(1, L):
                        least = min(least, table[i, v, u])
                base[u] += least
        for b in range(V):
            for c in range(V):
                margin = 1.0
                begin = 0
                for p in range(ends.shape[0]):
                    own = 1.0
                    for u in range(begin, ends[p]):
                        value = base[u] + table[n - 1, c, u]
                        if n > 1:
                            value += table[n - 2, b, u]
                        own -= max(value, 0.0)
                    begin = ends[p]
                    margin = min(margin, own)
                bounds[w, b, c] = weight * cost(margin, hinge)


@kernel
def penalty(activations, present, ends, owners, weights, hinges):
    """Sum over soft constraints of weight * cost of the least margin of its parts; 0 for a constraint
    without a window."""
    total = 0.0
    least = np.inf
    begin = 0
    for p in range(ends.shape[0]):
        margin = 1.0
        for u in range(begin, ends[p]):
            margin -= max(activations[u], 0.0)
        begin = ends[p]
        least = min(least, margin)
        if p + 1 == ends.shape[0] or owners[p + 1] != owners[p]:
            if present[owners[p]]:
                total += weights[owners[p]] * cost(least, hinges[owners[p]])
            least = np.inf
    return total


@kernel
def total_penalty(y, step, units):
    """The soft penalties of a labelling."""
    places, V, U = units.table.shape
    T = y.shape[0]
    activations = np.empty(U)
    total = 0.0
    for t in range(T + 1):
        activations[:] = units.given[step + t]
        for i in range(places):
            at = t - (places - 1) + i
            activations += units.table[i, V - 1 if at < 0 or at >= T else y[at]]
        present = units.present[step + t]
        total += penalty(activations, present, units.ends, units.owners, units.weights, units.hinges)
    return total


@kernel
def outlook(emission, chain, step, units):
    """(bound, left, right): upper bounds on scores with penalties.

    bound (T + 1, V, V) bounds the penalty at a step, given the last two labels; left (T, L) the score of a
    prefix that ends in a label, with its emission; right (T, L) the score of all that follows a label.
    """
    T, L = emission.shape
    V = L + 1
    transition, rows, bounds = chain.transition, units.bound_rows, units.bounds
    right, left = np.empty((T, L)), np.empty((T, L))
    bound = np.zeros((T + 1, V, V))
    for t in range(T + 1):
        for c in range(rows.shape[0]):
            row = rows[c, step + t]
            if row >= 0:
                for i in range(V):
                    for j in range(V):
                        bound[t, i, j] += bounds[row, i, j]
    onward = transition.T.copy()
    for c in range(L):
        right[T - 1, c] = chain.stop[c] + bound[T, c, L]
        left[0, c] = chain.start[c] + bound[0, L, c] + emission[0, c]
    after = np.empty(L)
    for t in range(T - 2, -1, -1):
        for c in range(L):
            after[c] = emission[t + 1, c] + right[t + 1, c]
        for b in range(L):
            top = -np.inf
            for c in range(L):
                top = max(top, onward[b, c] + bound[t + 1, b, c] + after[c])
            right[t, b] = top
    for t in range(1, T):
        left[t] = -np.inf
        for b in range(L):
            prefix = left[t - 1, b]
            for c in range(L):
                left[t, c] = max(left[t, c], prefix + onward[b, c] + bound[t, b, c])
        for c in range(L):
            left[t, c] += emission[t, c]
    return bound, left, right


@kernel
def lattice_sequence(emission, chain, step, keep, bound, left, least, lists, units, m, y):
    """Writes the best labelling of kept labels, by (broken, score with penalties), into y; returns its score.

    keep (T, L): which labels are kept. States are all tuples of kept labels at the last m positions, oldest
    most significant. A step is dropped before its penalty is computed if the best prefix and the bound leave
    the total below `least`.
    """
    T, L = emission.shape
    V = L + 1
    transition, start, stop = chain.transition, chain.start, chain.stop
    given, table, all_present = units.given, units.table, units.present
    ends, owners, weights, hinges = units.ends, units.owners, units.weights, units.hinges
    constrained = lists.sizes.shape[0] > 0
    U = table.shape[2]
    kept = np.zeros((T + m, L), dtype=np.int64)
    width = np.ones(T + m + 1, dtype=np.int64)
    kept[:m, 0] = L
    for t in range(T):
        k = 0
        for c in range(L):
            if keep[t, c]:
                kept[m + t, k] = c
                k += 1
        width[m + t] = k
    heads = np.zeros(T + 2, dtype=np.int64)
    for t in range(T + 1):
        product = 1
        for j in range(m):
            product *= width[t + j]
        heads[t + 1] = heads[t] + product
    count = np.zeros(heads[T + 1], dtype=np.int64)
    suffix = np.full(heads[T + 1], -np.inf)
    choice = np.zeros(heads[T + 1], dtype=np.int64)
    labels = np.empty(m, dtype=np.int64)
    base, activations = np.empty(U), np.empty(U)
    for t in range(T, -1, -1):
        number = heads[t + 1] - heads[t]
        ahead = number // width[t]
        present = all_present[step + t]
        places = width[m + t] if t < T else 1
        for index in range(number):
            last = index % width[t + m - 1]
            before = kept[t + m - 1, last]
            prefix = left[t - 1, before] if t > 0 else 0.0
            if m > 1 and t > 1:
                # Two labels of the state are known: the bound through both is tighter.
                older = kept[t + m - 2, (index - last) // width[t + m - 1] % width[t + m - 2]]
                arc = transition[before, older] + bound[t - 1, older, before]
                prefix = left[t - 2, older] + arc + emission[t - 1, before]
            ready = False
            state = 0
            at = heads[t] + index
            first = heads[t + 1] + (index % ahead) * places
            for k in range(places):
                label = kept[m + t, k] if t < T else L
                if t == T:
                    value = stop[before]
                else:
                    arc = start[label] if t == 0 else transition[label, before]
                    value = arc + (emission[t, label] + suffix[first + k])
                if not prefix + value + bound[t, before, label] >= least:
                    continue
                if not ready:
                    ready = True
                    rest = index
                    for j in range(m - 1, -1, -1):
                        labels[j] = kept[t + j, rest % width[t + j]]
                        rest //= width[t + j]
                    for u in range(U):
                        base[u] = given[step + t, u]
                    for j in range(m):
                        state = state * V + labels[j]
                        for u in range(U):
                            base[u] += table[j, labels[j], u]
                for u in range(U):
                    activations[u] = base[u] + table[m, label, u]
                value += penalty(activations, present, ends, owners, weights, hinges)
                total = broken(state * V + label, step + t, lists) if constrained else 0
                if t < T:
                    total += count[first + k]
                if better(total, value, count[at], suffix[at]):
                    count[at], suffix[at], choice[at] = total, value, k
    index = 0
    for t in range(T):
        ahead = (heads[t + 1] - heads[t]) // width[t]
        k = choice[heads[t] + index]
        y[t] = kept[m + t, k]
        index = (index % ahead) * width[m + t] + k
    return suffix[0]


@kernel
def soft_sequence(emission, chain, step, lists, units, m, y):
    """Improves y, which breaks as few hard windows as possible, to the best labelling with soft penalties;
    returns its score.

    A label is left out only if an upper bound on the score through it, with penalties, is below the score of
    a known labelling with penalties. The first passes keep only the labels nearest to the upper bound, to
    find good labellings cheaply. The answer of a pass is the optimum if the pass kept every label that this
    answer does not exclude.
    """
    T, L = emission.shape
    bound, left, right = outlook(emission, chain, step, units)
    best = -np.inf
    for c in range(L):
        best = max(best, left[0, c] + right[0, c])
    score = total_penalty(y, step, units) + chain_score(y, emission, chain)
    slack = SLACK * (1.0 + abs(best))
    near = min(best - score, NEAR)
    keep = np.empty((T, L), dtype=np.bool_)
    found = y.copy()
    while True:
        for t in range(T):
            for c in range(L):
                keep[t, c] = left[t, c] + right[t, c] >= best - near - slack or c == y[t]
        value = lattice_sequence(
            emission, chain, step, keep, bound, left, score - slack, lists, units, m, found
        )
        # Of equal labellings, the pass finds the first in declared order; y may be a later one.
        if value >= score:
            score = value
            y[:] = found
        if best - score <= near:
            return score
        near = min(best - score, WIDER * near)


@kernel
def soft_many(chain, lists, units, m, first, last, y, scores, how):
    """Sequences first .. last - 1: improves each labelling of packed y under soft constraints (see
    soft_sequence)."""
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        if b > a and how[i] != How.INFEASIBLE:
            scores[i] = soft_sequence(chain.emission[a:b], chain, a + i, lists, units, m, y[a:b])
