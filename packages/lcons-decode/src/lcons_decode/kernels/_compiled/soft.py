"""Exact decoding under soft constraints: a dynamic program over the labels that a bound does not exclude."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import How
from lcons_decode.kernels._compiled.jit import inlined, kernel
from lcons_decode.kernels._compiled.lists import broken
from lcons_decode.kernels._compiled.relaxed import better
from lcons_decode.kernels._compiled.viterbi import chain_score, step_back

NEAR = 2.0  # the first pass keeps labels this far below the upper bound
SLACK = 1e-9  # relative: a different order of sums must not exclude a label
NARROW = 64  # up to so many n-grams of kept labels, their penalties are worth computing for a bound
FEW = 8  # more labels than this are sorted by their bounds
ROUNDING = 1e-12  # relative, of bounds

FIRST_KNOT, KNOT = -8.0, 0.25  # where the tangents of log sigmoid touch it
KNOTS = np.arange(FIRST_KNOT, -FIRST_KNOT, KNOT)
HEIGHTS, SLOPES = -np.logaddexp(0.0, -KNOTS), 1.0 / (1.0 + np.exp(KNOTS))


@inlined
def log_sigmoid(x):
    """log(1 / (1 + exp(-x))), for x of any size."""
    return -np.log1p(np.exp(-x)) if x > 0 else x - np.log1p(np.exp(x))


@inlined
def cost(margin, hinge):
    """The penalty of a part of this margin, at most 0 and not decreasing in it (`kernels._cost`)."""
    return min(margin, 0.0) if hinge else log_sigmoid(margin)


@inlined
def add_contexts(rows, contexts, step, base, present):
    """base (U,): what the contexts of a step add to each unit; present (C,): which constraints have a
    window."""
    base[:] = 0.0
    for c in range(rows.shape[0]):
        row = rows[c, step]
        present[c] = row >= 0
        if row >= 0:
            for u in range(base.shape[0]):
                base[u] += contexts[row, u]


@inlined
def find_margins(base, table, place, label, present, ends, owners, weights, margins):
    """margins (C,): the least margin of the parts of each constraint, for activations base + table[place,
    label]; inf for a constraint without a window. Returns the sum of weight * min(0, margin), an upper bound
    on the penalty."""
    margins[:] = np.inf
    begin = 0
    for p in range(ends.shape[0]):
        # Four units at a time, in the order of `part_total`; parts are filled up to a multiple of four.
        own = 0.0
        for u in range(begin, ends[p], 4):
            a = max(base[u] + table[place, label, u], 0.0)
            b = max(base[u + 1] + table[place, label, u + 1], 0.0)
            c = max(base[u + 2] + table[place, label, u + 2], 0.0)
            d = max(base[u + 3] + table[place, label, u + 3], 0.0)
            own += (a + b) + (c + d)
        begin = ends[p]
        if present[owners[p]]:
            margins[owners[p]] = min(margins[owners[p]], 1.0 - own)
    total = 0.0
    for i in range(margins.shape[0]):
        if margins[i] < 0.0:
            total += weights[i] * margins[i]
    return total


@inlined
def total_cost(margins, weights, hinges):
    """Sum over soft constraints of weight * cost of the margin."""
    total = 0.0
    for i in range(margins.shape[0]):
        if margins[i] < np.inf:
            total += weights[i] * cost(margins[i], hinges[i])
    return total


@inlined
def most_cost(margins, weights, hinges):
    """An upper bound on `total_cost` without logarithms: log sigmoid is concave, so below its tangents."""
    total = 0.0
    for i in range(margins.shape[0]):
        if margins[i] < np.inf:
            if hinges[i]:
                total += weights[i] * min(margins[i], 0.0)
            else:
                at = int(min(max((margins[i] - FIRST_KNOT) / KNOT + 0.5, 0.0), HEIGHTS.shape[0] - 1.0))
                knot = FIRST_KNOT + at * KNOT
                total += weights[i] * (HEIGHTS[at] + SLOPES[at] * (margins[i] - knot))
    return total


@kernel
def total_penalty(y, step, units):
    """The soft penalties of a labelling."""
    table, ends, owners, weights = units.table, units.ends, units.owners, units.weights
    places, V, U = table.shape
    T, C = y.shape[0], weights.shape[0]
    base, margins, present = np.empty(U), np.empty(C), np.empty(C, dtype=np.bool_)
    total = 0.0
    for t in range(T + 1):
        add_contexts(units.rows, units.contexts, step + t, base, present)
        for i in range(places - 1):
            at = t - (places - 1) + i
            label = V - 1 if at < 0 or at >= T else y[at]
            for u in range(U):
                base[u] += table[i, label, u]
        label = y[t] if t < T else V - 1
        find_margins(base, table, places - 1, label, present, ends, owners, weights, margins)
        total += total_cost(margins, weights, units.hinges)
    return total


@inlined
def final_bound(step, units):
    """An upper bound on the penalty of the window at STOP."""
    total = 0.0
    for c in range(units.rows.shape[0]):
        row = units.rows[c, step]
        if row >= 0:
            total += units.tops[row, units.tops.shape[1] - 1]
    return total


@kernel
def outlook(emission, chain, step, units):
    """(lifted, left, right): upper bounds on scores with penalties, given one label.

    lifted (T, L) is the emission with an upper bound on the penalty of the window that ends there; left
    (T, L) bounds the score of a prefix that ends in a label, with its emission; right (T, L) the score of all
    that follows a label.
    """
    T, L = emission.shape
    right, left = np.empty((T, L)), np.empty((T, L))
    lifted = emission.copy()
    final = final_bound(step + T, units)
    rows, tops = units.rows, units.tops
    for c in range(rows.shape[0]):
        for t in range(T):
            row = rows[c, step + t]
            if row >= 0:
                for v in range(L):
                    lifted[t, v] += tops[row, v]
    P = chain.wide.shape[0]
    best, ahead = np.empty(P), np.full(P, -np.inf)
    for c in range(L):
        right[T - 1, c] = chain.stop[c] + final
        left[0, c] = chain.start[c] + lifted[0, c]
    for t in range(T - 2, -1, -1):
        for c in range(L):
            ahead[c] = lifted[t + 1, c] + right[t + 1, c]
        step_back(chain.wide, ahead, L, best)
        right[t] = best[:L]
    for t in range(1, T):
        ahead[:L] = left[t - 1]
        step_back(units.onward, ahead, L, best)
        for c in range(L):
            left[t, c] = best[c] + lifted[t, c]
    return lifted, left, right


@kernel
def keep_labels(keep, m):
    """(kept, width): the kept labels of each position, m positions of padding first and one last."""
    T, L = keep.shape
    kept = np.full((T + m + 1, L), L, dtype=np.int64)
    width = np.ones(T + m + 1, dtype=np.int64)
    for t in range(T):
        k = 0
        for c in range(L):
            if keep[t, c]:
                kept[m + t, k] = c
                k += 1
        width[m + t] = k
    return kept, width


@kernel
def pair_bounds(emission, chain, step, kept, width, outlooks, least, units, m):
    """(heads, bounds): an upper bound on the penalty at each step given the last two labels, among kept ones:
    bounds[heads[t] + i * width[t + m] + j]; -inf if no labelling through both can reach `least`.

    The label before the two is the best of the kept ones; of even older labels, each unit has the least that
    a kept one adds. Where many labels are kept, the bound is that of the last label.
    """
    lifted, left, right = outlooks
    T = lifted.shape[0]
    U = units.table.shape[2]
    table, arcs, rows, contexts = units.table, chain.arcs, units.rows, units.contexts
    ends, owners, weights, hinges = units.ends, units.owners, units.weights, units.hinges
    C = weights.shape[0]
    heads = np.zeros(T + 2, dtype=np.int64)
    for t in range(T + 1):
        heads[t + 1] = heads[t] + width[t + m - 1] * width[t + m]
    bounds = np.full(heads[T + 1], -np.inf)
    most = width.max()
    base, older = np.empty(U), np.empty(U)
    margins, present = np.empty(C), np.empty(C, dtype=np.bool_)
    largest, reaches = np.empty((most, C)), np.empty(most)
    for t in range(T + 1):
        add_contexts(rows, contexts, step + t, older, present)
        for i in range(m - 2):
            for u in range(U):
                low = np.inf
                for k in range(width[t + i]):
                    low = min(low, table[i, kept[t + i, k], u])
                older[u] += low
        places = width[t + m]
        before = width[t + m - 2] if m > 1 else 1
        narrow = before * width[t + m - 1] * places <= NARROW
        for i in range(width[t + m - 1]):
            b = kept[t + m - 1, i]
            some = -np.inf
            for j in range(places):
                c = kept[t + m, j]
                if t == 0:
                    reaches[j] = left[0, c] + right[0, c]
                elif t == T:
                    reaches[j] = left[T - 1, b] + right[T - 1, b]
                else:
                    reaches[j] = left[t - 1, b] + arcs[b, c] + lifted[t, c] + right[t, c]
                some = max(some, reaches[j])
                largest[j] = -np.inf
            if some < least:
                continue
            for k in range(before if narrow else 0):
                for u in range(U):
                    base[u] = older[u] + table[m - 1, b, u]
                if m > 1:
                    for u in range(U):
                        base[u] += table[m - 2, kept[t + m - 2, k], u]
                for j in range(places):
                    if reaches[j] >= least:
                        c = kept[t + m, j]
                        find_margins(base, table, m, c, present, ends, owners, weights, margins)
                        for one in range(C):
                            largest[j, one] = max(largest[j, one], margins[one])
            for j in range(places):
                if reaches[j] >= least:
                    c = kept[t + m, j]
                    if narrow:
                        bound = most_cost(largest[j], weights, hinges)
                    elif t < T:
                        bound = lifted[t, c] - emission[t, c]
                    else:
                        bound = final_bound(step + T, units)
                    bounds[heads[t] + i * places + j] = bound + ROUNDING * (1.0 - bound)
    return heads, bounds


@kernel
def reach_back(emission, chain, kept, width, heads, bounds, m):
    """(left, right) (T, most kept): as in `outlook`, among kept labels, from the bounds of pairs."""
    T = emission.shape[0]
    arcs = chain.arcs
    most = width.max()
    left, right = np.full((T, most), -np.inf), np.full((T, most), -np.inf)
    for j in range(width[m]):
        c = kept[m, j]
        left[0, j] = chain.start[c] + bounds[j] + emission[0, c]
    for i in range(width[T + m - 1]):
        right[T - 1, i] = chain.stop[kept[T + m - 1, i]] + bounds[heads[T] + i]
    for t in range(1, T):
        at = heads[t]
        for i in range(width[t + m - 1]):
            b, prefix = kept[t + m - 1, i], left[t - 1, i]
            for j in range(width[t + m]):
                left[t, j] = max(left[t, j], prefix + arcs[b, kept[t + m, j]] + bounds[at])
                at += 1
        for j in range(width[t + m]):
            left[t, j] += emission[t, kept[t + m, j]]
    for t in range(T - 2, -1, -1):
        at = heads[t + 1]
        for i in range(width[t + m]):
            b, top = kept[t + m, i], -np.inf
            for j in range(width[t + m + 1]):
                c = kept[t + m + 1, j]
                top = max(top, arcs[b, c] + bounds[at] + (emission[t + 1, c] + right[t + 1, j]))
                at += 1
            right[t, i] = top
    return left, right


@kernel
def trim(kept, width, heads, bounds, left, right, least, m):
    """The same labels and bounds without the labels whose bound is below `least`; `left` is trimmed, too."""
    T = left.shape[0]
    fewer, narrow = np.full(kept.shape, kept[0, 0]), np.ones_like(width)
    place = np.zeros((T + m + 1, left.shape[1]), dtype=np.int64)
    for t in range(T):
        k = 0
        for j in range(width[t + m]):
            if left[t, j] + right[t, j] >= least:
                fewer[t + m, k] = kept[t + m, j]
                place[t + m, k] = j
                left[t, k] = left[t, j]
                k += 1
        narrow[t + m] = k
    own_heads = np.zeros(T + 2, dtype=np.int64)
    for t in range(T + 1):
        own_heads[t + 1] = own_heads[t] + narrow[t + m - 1] * narrow[t + m]
    own = np.empty(own_heads[T + 1])
    at = 0
    for t in range(T + 1):
        for i in range(narrow[t + m - 1]):
            for j in range(narrow[t + m]):
                own[at] = bounds[heads[t] + place[t + m - 1, i] * width[t + m] + place[t + m, j]]
                at += 1
    return fewer, narrow, own_heads, own


@inlined
def sort_down(keys, order, count):
    """order (count,): the indices of the first keys, the largest key first."""
    for k in range(count):
        order[k] = k
    gap = count
    while gap > 1:
        gap = (gap * 5 - 1) // 11 if gap > 4 else 1
        for k in range(gap, count):
            own, at = order[k], k
            while at >= gap and keys[order[at - gap]] < keys[own]:
                order[at] = order[at - gap]
                at -= gap
            order[at] = own


@kernel
def lattice_sequence(emission, chain, step, keep, outlooks, least, lists, units, m, y):
    """Writes the best labelling of kept labels, by (broken, score with penalties), into y; returns its score,
    -inf if no labelling reaches `least`.

    keep (T, L): which labels are kept. States are all tuples of kept labels at the last m positions, oldest
    most significant. A step is dropped before its penalty is computed if the best prefix and the bound leave
    the total below `least`. States that differ in the oldest label alone share the bounds of their next
    labels: where these are many, they are tried in the order of the bound, until none can be better.
    """
    T, L = emission.shape
    V = L + 1
    arcs, start, stop, table = chain.arcs, chain.start, chain.stop, units.table
    rows, contexts, ends, owners = units.rows, units.contexts, units.ends, units.owners
    weights, hinges = units.weights, units.hinges
    constrained = lists.sizes.shape[0] > 0
    U, C = table.shape[2], weights.shape[0]
    kept, width = keep_labels(keep, m)
    pairs, bounds = pair_bounds(emission, chain, step, kept, width, outlooks, least, units, m)
    left, right = reach_back(emission, chain, kept, width, pairs, bounds, m)
    kept, width, pairs, bounds = trim(kept, width, pairs, bounds, left, right, least, m)
    if width.min() == 0:
        return -np.inf
    heads = np.zeros(T + 2, dtype=np.int64)
    for t in range(T + 1):
        product = 1
        for j in range(m):
            product *= width[t + j]
        heads[t + 1] = heads[t] + product
    count = np.zeros(heads[T + 1] if constrained else 1, dtype=np.int64)
    suffix = np.full(heads[T + 1], -np.inf)
    choice = np.zeros(heads[T + 1], dtype=np.int16)
    base, newer, margins, present = np.empty(U), np.empty(U), np.empty(C), np.empty(C, dtype=np.bool_)
    values, keys, order = np.empty(L), np.empty(L), np.arange(L)
    for t in range(T, -1, -1):
        number = heads[t + 1] - heads[t]
        ahead = number // width[t]
        places = width[m + t]
        ordered = m > 1 and places > FEW and not constrained
        groups = ahead if m > 1 else number
        for group in range(groups):
            last = group % width[t + m - 1]
            before = kept[t + m - 1, last]
            first = heads[t + 1] + (group % ahead) * places
            edge = pairs[t] + last * places
            most = -np.inf
            for k in range(places):
                label = kept[m + t, k]
                if t == T:
                    values[k] = stop[before]
                else:
                    arc = start[label] if t == 0 else arcs[before, label]
                    values[k] = arc + (emission[t, label] + suffix[first + k])
                keys[k] = values[k] + bounds[edge + k]
                most = max(most, keys[k])
            if ordered:
                sort_down(keys, order, places)
            ready = False
            for index in range(group, number, groups):
                prefix = left[t - 1, last] if t > 0 else 0.0
                if m > 1 and t > 1:
                    # Two labels of the state are known: the bound through both is tighter.
                    second = index // width[t + m - 1] % width[t + m - 2]
                    older = kept[t + m - 2, second]
                    arc = arcs[older, before] + bounds[pairs[t - 1] + second * width[t + m - 1] + last]
                    prefix = left[t - 2, second] + arc + emission[t - 1, before]
                if not prefix + most >= least:
                    continue
                if not ready:
                    ready = True
                    add_contexts(rows, contexts, step + t, newer, present)
                    rest = group
                    for j in range(m - 1, 0, -1):
                        own = kept[t + j, rest % width[t + j]]
                        rest //= width[t + j]
                        for u in range(U):
                            newer[u] += table[j, own, u]
                own = kept[t, index // ahead]
                for u in range(U):
                    base[u] = newer[u] + table[0, own, u]
                state = 0
                at = heads[t] + index
                for place in range(places):
                    k = order[place] if ordered else place
                    if not prefix + keys[k] >= least or (not constrained and keys[k] < suffix[at]):
                        if ordered:
                            break
                        continue
                    label = kept[m + t, k]
                    cheap = find_margins(base, table, m, label, present, ends, owners, weights, margins)
                    value = values[k]
                    # The penalty is at most `cheap`: often, its logarithms need not be computed.
                    if not prefix + value + cheap >= least or (
                        not constrained and value + cheap < suffix[at]
                    ):
                        continue
                    value += total_cost(margins, weights, hinges)
                    if not constrained:
                        if value > suffix[at] or (value == suffix[at] and k < choice[at]):
                            suffix[at], choice[at] = value, k
                        continue
                    if state == 0:
                        rest, power = index, 1
                        for j in range(m - 1, -1, -1):
                            state += kept[t + j, rest % width[t + j]] * power
                            rest //= width[t + j]
                            power *= V
                    total = broken(state * V + label, step + t, lists)
                    if t < T:
                        total += count[first + k]
                    if better(total, value, count[at], suffix[at]):
                        count[at], suffix[at], choice[at] = total, value, k
    if suffix[0] == -np.inf:
        return suffix[0]
    index = 0
    for t in range(T):
        ahead = (heads[t + 1] - heads[t]) // width[t]
        k = choice[heads[t] + index]
        y[t] = kept[m + t, k]
        index = (index % ahead) * width[m + t] + k
    return suffix[0]


@kernel
def bigram_sequence(emission, chain, step, keep, prefixes, least, units, y):
    """Writes the best labelling of kept labels into y, where windows have at most two labels and no
    constraint is hard; returns its score, -inf if no labelling reaches `least`.

    The labels after a label are tried in the order of an upper bound, until none can be better. prefixes
    (T, L): upper bounds on the score of all up to a label, with its emission.
    """
    T, L = emission.shape
    arcs, start, stop, table, tops = chain.arcs, chain.start, chain.stop, units.table, units.tops
    rows, ends, owners, weights, hinges = units.rows, units.ends, units.owners, units.weights, units.hinges
    U, C = table.shape[2], weights.shape[0]
    base, older, margins, present = np.empty(U), np.empty(U), np.empty(C), np.empty(C, dtype=np.bool_)
    ahead, bound, order = np.empty(L), np.empty(L), np.empty(L, dtype=np.int64)
    reach, largest = np.empty(L), np.full(L + 1, -np.inf)
    size = 1.0  # of arcs, for their rounding errors
    for b in range(L):
        for c in range(L):
            largest[b] = max(largest[b], arcs[b, c])
            if arcs[b, c] > -np.inf:
                size = max(size, abs(arcs[b, c]))
    for c in range(L):
        largest[L] = max(largest[L], start[c])
        if start[c] > -np.inf:
            size = max(size, abs(start[c]))
    suffix, choice = np.full((T + 1, L + 1), -np.inf), np.zeros((T, L + 1), dtype=np.int64)
    for t in range(T, -1, -1):
        add_contexts(rows, units.contexts, step + t, older, present)
        if t < T:
            for c in range(L):
                ahead[c] = emission[t, c] + suffix[t + 1, c] if keep[t, c] else -np.inf
                bound[c] = ahead[c]
            for one in range(C):
                if rows[one, step + t] >= 0:
                    for c in range(L):
                        bound[c] += tops[rows[one, step + t], c]
            sort_down(bound, order, L)
            for place in range(L):
                most = bound[order[place]]
                reach[place] = most + ROUNDING * (size + abs(most)) if most > -np.inf else most
        for b in range(L if t == 0 else 0, L + 1 if t == 0 else L):
            if t > 0 and not keep[t - 1, b]:
                continue
            best, pick = least - (prefixes[t - 1, b] if t > 0 else 0.0), L
            if t < T and not reach[0] + largest[b] >= best:
                continue
            for u in range(U):
                base[u] = older[u] + table[0, b, u]
            if t == T:
                find_margins(base, table, 1, L, present, ends, owners, weights, margins)
                suffix[t, b] = stop[b] + total_cost(margins, weights, hinges)
                continue
            for place in range(L):
                # Sums of rounded terms: `reach` is larger than the bound by more than their errors.
                if not reach[place] + largest[b] >= best:
                    break
                label = order[place]
                arc = start[label] if t == 0 else arcs[b, label]
                if reach[place] + arc >= best:
                    cheap = find_margins(base, table, 1, label, present, ends, owners, weights, margins)
                    value = arc + ahead[label]
                    if value + cheap < best:
                        continue
                    value += total_cost(margins, weights, hinges)
                    if value > best or (value == best and label < pick):
                        best, pick = value, label
            if pick < L:
                suffix[t, b], choice[t, b] = best, pick
    before = L
    for t in range(T if suffix[0, L] > -np.inf else 0):
        y[t] = choice[t, before]
        before = y[t]
    return suffix[0, L]


@kernel
def soft_sequence(emission, chain, step, lists, units, m, y):
    """Improves y, which breaks as few hard windows as possible, to the best labelling with soft penalties;
    returns its score.

    A label is left out only if an upper bound on the score through it, with penalties, is below the score of
    a known labelling with penalties. The first pass keeps only the labels nearest to the upper bound, to find
    a good labelling cheaply. The answer of a pass is the optimum if the pass kept every label that this
    answer does not exclude.
    """
    T, L = emission.shape
    outlooks = outlook(emission, chain, step, units)
    _, left, right = outlooks
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
        if m == 1 and lists.sizes.shape[0] == 0 and near > NEAR:
            value = bigram_sequence(emission, chain, step, keep, left, score - slack, units, found)
        else:
            value = lattice_sequence(
                emission, chain, step, keep, outlooks, score - slack, lists, units, m, found
            )
        # Of equal labellings, the pass finds the first in declared order; y may be a later one.
        if value >= score:
            score = value
            y[:] = found
        if best - score <= near:
            return score
        near = best - score


@kernel
def soft_many(chain, lists, units, m, first, last, y, scores, how):
    """Sequences first .. last - 1: improves each labelling of packed y under soft constraints (see
    soft_sequence)."""
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        if b > a and how[i] != How.INFEASIBLE:
            scores[i] = soft_sequence(chain.emission[a:b], chain, a + i, lists, units, m, y[a:b])
