"""Exact decoding under soft constraints: a dynamic program from the right over the states that a bound from
the left does not exclude.

    left[t, c]   at most the score of all up to label c of token t, by bounds on penalties (`Units.tops`)
    suffix[s]    the score of all that follows state s, exactly

A state is left out only if left + suffix is below a threshold. The first pass begins with one near the upper
bound; where no state is left, it falls. If the labelling that is found reaches the first threshold, it is the
optimum; otherwise its score is the threshold of a second pass, which finds the optimum.
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import How
from lcons_decode.kernels._compiled.jit import inlined, kernel
from lcons_decode.kernels._compiled.lists import broken
from lcons_decode.kernels._compiled.penalties import (
    ROUNDING,
    add_contexts,
    find_margins,
    most_cost,
    most_penalty,
    total_cost,
    total_penalty,
)
from lcons_decode.kernels._compiled.relaxed import better
from lcons_decode.kernels._compiled.soft_pairs import NEAR, best_pairs
from lcons_decode.kernels._compiled.viterbi import chain_score, step_back

SLACK = 1e-9  # relative: a different order of sums must not exclude a label
FEW = 8  # more labels than this are sorted by their bounds


@kernel
def prefix_bounds(emission, step, units):
    """left (T, P): an upper bound on the score of a prefix that ends in a label, with its penalties; -inf
    beyond L."""
    T, L = emission.shape
    rows, tops, onward = units.rows, units.tops, units.onward
    P, pairs = onward.shape[1], tops.shape[1] > 1
    left, best = np.full((T, P), -np.inf), np.empty(P)
    lifted = np.empty_like(onward) if pairs else np.empty((0, P))
    for c in range(L):
        left[0, c] = onward[L, c] + most_penalty(step, L, c, rows, tops) + emission[0, c]
    for t in range(1, T):
        if pairs:
            lifted[:] = onward
            for c in range(rows.shape[0]):
                row = rows[c, step + t]
                if row >= 0:
                    for b in range(L):
                        for v in range(P):
                            lifted[b, v] += tops[row, b, v]
            step_back(lifted, left[t - 1], L, best)
        else:
            step_back(onward, left[t - 1], L, best)
            for c in range(rows.shape[0]):
                row = rows[c, step + t]
                if row >= 0:
                    for v in range(P):
                        best[v] += tops[row, 0, v]
        for c in range(L):
            left[t, c] = best[c] + emission[t, c]
    return left


@kernel
def likely_labels(left, chain, step, units, y):
    """Writes the labelling with the largest upper bound into y; returns this bound."""
    T, L = y.shape[0], units.table.shape[1] - 1
    rows, tops, wide = units.rows, units.tops, chain.wide
    after, largest = L, -np.inf
    for t in range(T, 0, -1):
        best = -np.inf
        for b in range(L):
            value = left[t - 1, b] + (chain.stop[b] if t == T else wide[after, b])
            if value > best:  # penalties are at most 0
                value += most_penalty(step + t, b, after, rows, tops)
                if value > best:
                    best = value
                    y[t - 1] = b
        after = y[t - 1]
        if t == T:
            largest = best
    return largest


@kernel
def longer(array, size):
    """The array with place for `size` numbers, and at least twice as many as before."""
    more = np.empty(max(size, 2 * array.shape[0]), dtype=array.dtype)
    more[: array.shape[0]] = array
    return more


@inlined
def sort_down(keys, items, count):
    """Sorts the first keys, the largest first, and their items with them."""
    gap = count
    while gap > 1:
        gap = (gap * 5 - 1) // 11 if gap > 4 else 1
        for k in range(gap, count):
            key, item, at = keys[k], items[k], k
            while at >= gap and keys[at - gap] < key:
                keys[at], items[at] = keys[at - gap], items[at - gap]
                at -= gap
            keys[at], items[at] = key, item


@kernel
def last_states(emission, step, left, least, units, m, bits, codes):
    """(codes, first, last): codes[first:last] are the states after STOP, ascending, whose upper bound is at
    least `least`."""
    T, L = emission.shape
    rows, tops, onward = units.rows, units.tops, units.onward
    tails = np.zeros(codes.shape[0])
    codes[0] = L
    first, last, shift = 0, 1, 0
    for t in range(T, T - m + 1, -1):
        shift += bits
        end = last
        # Arrays are made longer once per step: each assignment of an array counts references.
        if last + (last - first) * (L + 1) > codes.shape[0]:
            codes = longer(codes, last + (last - first) * (L + 1))
            tails = longer(tails, codes.shape[0])
        for a in range(0 if t > 0 else L, L if t > 0 else L + 1):
            for i in range(first, last):
                tail = tails[i]
                if t >= 0:
                    b = codes[i] >> (shift - bits)
                    tail += onward[a, b] + most_penalty(step + t, a, b, rows, tops)
                    tail += emission[t, b] if t < T else 0.0
                if (left[t - 1, a] if t > 0 else 0.0) + tail >= least:
                    codes[end], tails[end] = (a << shift) + codes[i], tail
                    end += 1
        first, last = last, end
    return codes, first, last


@inlined
def group_states(codes, first, last, bits, heads):
    """heads: where the groups of codes[first:last] begin, which differ in the last label alone, and `last`;
    returns the number of groups."""
    number = 0
    for i in range(first, last):
        if i == first or codes[i] >> bits != codes[i - 1] >> bits:
            heads[number] = i
            number += 1
    heads[number] = last
    return number


@kernel
def best_states(emission, chain, step, left, least, floor, lists, units, m, y):
    """Writes the best labelling, by (broken, score with penalties), of those that can reach `least` into y;
    returns its score. Where no state is left, `least` falls, at most to `floor`: then the labelling need not
    be the best one. Returns -inf if there is none.

    A state is the last m labels, a few bits each, the oldest first. The states of a step are ascending, so
    that those which differ in the last label alone, a group, are neighbours: all of them can follow the same
    states of the step before. A window is evaluated only if the best prefix, its bound and its suffix reach
    `least` and the best suffix so far; where many labels can follow, they are tried by their bounds.
    """
    T, L = emission.shape
    V = L + 1
    bits = 1
    while 1 << bits < V:
        bits += 1
    mask, oldest = (1 << bits) - 1, bits * (m - 1)
    rows, tops, onward, wide, table = units.rows, units.tops, units.onward, chain.wide, units.table
    contexts, ends, owners = units.contexts, units.ends, units.owners
    weights, hinges = units.weights, units.hinges
    constrained = lists.sizes.shape[0] > 0
    U, C = table.shape[2], weights.shape[0]
    base, newer, margins, present = np.empty(U), np.empty(U), np.empty(C), np.empty(C, dtype=np.bool_)
    values, keys, order, reach = np.empty(V), np.empty(V), np.arange(V), np.empty(V)
    own = np.zeros(m + 1, dtype=np.int64)
    room = np.empty(4 * (T + 1), dtype=np.int64)
    drop = NEAR
    codes, first, last = last_states(emission, step, left, least, units, m, bits, room)
    while first == last and least > floor:
        least, drop = max(least - drop, floor), 2.0 * drop
        codes, first, last = last_states(emission, step, left, least, units, m, bits, room)
    size = codes.shape[0]
    suffix, count, choice = np.zeros(size), np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    found, fewest = np.empty(L), np.empty(L, dtype=np.int64)
    pick, heads = np.empty(L, dtype=np.int64), np.empty(L, dtype=np.int64)
    some = np.empty(V, dtype=np.bool_)
    t, drop = T, NEAR
    while t >= 0:
        low, high = (0, L) if t >= m else (L, V)
        labels = high - low
        if last - first >= heads.shape[0]:
            heads = longer(heads, last - first + 1)
        number = group_states(codes, first, last, bits, heads)
        cells = number * labels
        if cells > found.shape[0]:
            found, fewest, pick = longer(found, cells), longer(fewest, cells), longer(pick, cells)
        if last + cells > codes.shape[0]:
            codes = longer(codes, last + cells)
            suffix, count = longer(suffix, codes.shape[0]), longer(count, codes.shape[0])
            choice = longer(choice, codes.shape[0])
        found[:cells], some[:] = -np.inf, False
        for g in range(number):
            begin, places = heads[g], heads[g + 1] - heads[g]
            group = codes[begin] >> bits
            # own[1:m] are the labels of the group; `tail` bounds what they add to a prefix.
            rest, tail = group, 0.0
            for j in range(m - 1, 0, -1):
                own[j] = rest & mask
                rest >>= bits
                at = t - m + j
                if at >= 0:
                    tail += emission[at, own[j]]
                    if j < m - 1:
                        tail += onward[own[j], own[j + 1]]
                        tail += most_penalty(step + at + 1, own[j], own[j + 1], rows, tops)
                if at == 0:
                    tail += onward[L, own[j]] + most_penalty(step, L, own[j], rows, tops)
            joined = m > 1 and t >= m  # to the label before the group, by an arc
            if t < m:
                reach[L] = tail
            elif joined:
                for a in range(L):
                    reach[a] = tail + (left[t - m, a] + wide[own[1], a])
            else:
                for a in range(L):
                    reach[a] = tail + left[t - m, a]
            ready, ordered = False, m > 1 and places > FEW and not constrained
            most = np.inf
            for a in range(low, high):
                own[0] = a
                if m == 1 or most == np.inf:
                    before = own[m - 1] if m > 1 or t > 0 else L
                    most = -np.inf
                    for k in range(places):
                        label = codes[begin + k] & mask
                        score = emission[t, label] if t < T else 0.0
                        values[k] = onward[before, label] + (score + suffix[begin + k])
                        keys[k] = values[k] + most_penalty(step + t, before, label, rows, tops)
                        most = max(most, keys[k])
                        order[k] = k
                    if ordered:
                        sort_down(keys, order, places)
                if not reach[a] + most >= least:
                    continue
                prefix = reach[a]
                if joined:
                    prefix += most_penalty(step + t - m + 1, a, own[1], rows, tops)
                    if not prefix + most >= least:
                        continue
                if not ready:
                    ready = True
                    add_contexts(rows, contexts, step + t, newer, present)
                    for j in range(m - 1, 0, -1):
                        for u in range(U):
                            newer[u] += table[j, own[j], u]
                for u in range(U):
                    base[u] = newer[u] + table[0, a, u]
                best, least_broken, chosen = -np.inf, 0, V
                for place in range(places):
                    k = order[place]
                    if not prefix + keys[place] >= least or (not constrained and keys[place] < best):
                        if ordered:
                            break
                        continue
                    label = codes[begin + k] & mask
                    find_margins(base, table, m, label, present, ends, owners, margins)
                    # Often, a tangent shows that the logarithms need not be computed.
                    value = values[k] + most_cost(margins, weights, hinges)
                    if not prefix + value >= least or (not constrained and value < best):
                        continue
                    value = values[k] + total_cost(margins, weights, hinges)
                    total = 0
                    if constrained:
                        gram = 0
                        for j in range(m):
                            gram = gram * V + own[j]
                        total = broken(gram * V + label, step + t, lists) + count[begin + k]
                        if chosen < V and not better(total, value, least_broken, best):
                            continue
                    elif value < best or (value == best and k > chosen):
                        continue
                    best, least_broken, chosen = value, total, k
                if best > -np.inf:
                    cell = g * labels + a - low
                    found[cell], fewest[cell], pick[cell] = best, least_broken, begin + chosen
                    some[a] = True
        begin, first = first, last
        for a in range(low, high):
            for g in range(number if some[a] else 0):
                cell = g * labels + a - low
                if found[cell] > -np.inf:
                    codes[last], suffix[last] = (a << oldest) + (codes[heads[g]] >> bits), found[cell]
                    count[last], choice[last] = fewest[cell], pick[cell]
                    last += 1
        if first < last:
            t, drop = t - 1, NEAR
        elif least > floor:
            first, least, drop = begin, max(least - drop, floor), 2.0 * drop
        else:
            return -np.inf
    at = first
    for t in range(T):
        at = choice[at]
        y[t] = codes[at] & mask
    return suffix[first]


@kernel
def best_labels(emission, chain, step, left, least, floor, lists, units, m, y, size):
    """`best_pairs` or `best_states`."""
    if m == 1 and lists.sizes.shape[0] == 0 and units.tops.shape[1] == 1:
        return best_pairs(emission, chain, step, left, least, floor, units, y, size)
    return best_states(emission, chain, step, left, least, floor, lists, units, m, y)


@kernel
def soft_sequence(emission, chain, step, lists, units, m, y, size):
    """Improves y, which breaks as few hard windows as possible, to the best labelling with soft penalties;
    returns its score, -inf if no labelling has a finite one. Without hard constraints, what y has is not
    read. size: of transitions, for their rounding errors."""
    T, L = emission.shape
    left = prefix_bounds(emission, step, units)
    found = y.copy()
    bound = likely_labels(left, chain, step, units, found)
    if bound == -np.inf:
        return bound
    if lists.sizes.shape[0] == 0:  # otherwise, `found` may break more windows than y
        y[:] = found
    score = total_penalty(y, step, units) + chain_score(y, emission, chain)
    for t in range(T):
        for c in range(L):
            if emission[t, c] > -np.inf:
                size = max(size, abs(emission[t, c]))
    slack = SLACK * (1.0 + abs(bound)) + ROUNDING * T * size
    floor = score - slack
    least = max(floor, bound - NEAR) if lists.sizes.shape[0] == 0 else floor
    value = best_labels(emission, chain, step, left, least, floor, lists, units, m, found, size)
    # What was left out is below `least` but for rounding errors, which are far below half of the slack.
    if value < least + slack / 2:
        least = max(score, value) - slack
        value = best_labels(emission, chain, step, left, least, least, lists, units, m, found, size)
    # Of equal labellings, `found` is the first in declared order, and its score does not depend on bounds.
    if value >= score - slack:
        y[:] = found
        return value
    return score


@kernel
def soft_many(chain, lists, units, m, first, last, y, scores, how):
    """Sequences first .. last - 1 under soft constraints: improves each labelling of packed y that
    `constrained_many` found; without hard constraints, finds one."""
    size = 1.0
    onward = units.onward
    for b in range(onward.shape[0]):
        for c in range(onward.shape[1]):
            if onward[b, c] > -np.inf:
                size = max(size, abs(onward[b, c]))
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        if b > a and how[i] != How.INFEASIBLE:
            scores[i] = soft_sequence(chain.emission[a:b], chain, a + i, lists, units, m, y[a:b], size)
            if scores[i] == -np.inf:
                how[i] = How.INFEASIBLE
