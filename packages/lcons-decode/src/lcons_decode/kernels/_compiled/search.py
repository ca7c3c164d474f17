"""The best labelling under hard and soft constraints: a dynamic program from the right over the states that a
bound from the left does not exclude.

    left[t, c]   at most the score of all up to label c of token t, by bounds on penalties (`Units.tops`)
    suffix[s]    (broken windows, score) of the best that follows state s, exactly

A state is left out only if left + suffix is below a threshold, or if more than `most` windows are broken. The
first threshold is near the upper bound; where no state is left, it falls. A labelling that reaches the first
threshold is the optimum. Otherwise, its score is the threshold of a second search, which finds the optimum.
If no labelling that breaks nothing is near the upper bound, `relaxed` finds the fewest broken windows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lcons_decode.kernels._arrays import How
from lcons_decode.kernels._compiled.jit import inlined, kernel
from lcons_decode.kernels._compiled.lists import count_broken, locate, outside
from lcons_decode.kernels._compiled.penalties import (
    ROUNDING,
    add_contexts,
    find_margins,
    most_cost,
    most_penalty,
    total_cost,
    total_penalty,
)
from lcons_decode.kernels._compiled.relaxed import fewest_broken, precedes
from lcons_decode.kernels._compiled.viterbi import chain_score, read_off, step_back, suffixes

NEAR = 3.0  # the first threshold is this far below the upper bound
WIDER, FAR = 3.0, 9.0  # under hard constraints, then 3 times as far, until it is this far
SLACK = 1e-9  # relative: a different order of sums must not exclude a label


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
    T, L = y.shape[0], chain.stop.shape[0]
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


class States(NamedTuple):
    """Arrays with one entry per state: codes, a few bits per label, the oldest first; the score of what
    follows, and how many windows it breaks; the state that follows."""

    codes: Any
    suffix: Any
    broken: Any
    choice: Any


@kernel
def longer(array, size):
    """The array with place for `size` numbers, and at least twice as many as before."""
    more = np.empty(max(size, 2 * array.shape[0]), dtype=array.dtype)
    more[: array.shape[0]] = array
    return more


@kernel
def longer_states(states, size):
    """The same for all arrays of states."""
    return States(
        longer(states.codes, size),
        longer(states.suffix, size),
        longer(states.broken, size),
        longer(states.choice, size),
    )


class Work(NamedTuple):
    """Memory for one group of states: own (m,) its labels, the oldest first; reach (V,) bounds of prefixes;
    values and keys (V,) of what follows, exactly and as a bound; activations of units: those of contexts,
    with the labels of the group, and with the oldest label; margins and whether there is a window of each
    soft constraint; the ranges of labels that hard ones allow."""

    own: Any
    reach: Any
    values: Any
    keys: Any
    contexts: Any
    newer: Any
    base: Any
    margins: Any
    present: Any
    firsts: Any
    lasts: Any


@kernel
def new_work(V, m, U, soft, hard):
    """The memory for V labels, U units, and these numbers of constraints."""
    own, firsts, lasts = np.empty(m, np.int64), np.empty(hard, np.int64), np.empty(hard, np.int64)
    contexts, newer, base = np.empty(U), np.empty(U), np.empty(U)
    margins, present = np.empty(soft), np.empty(soft, np.bool_)
    reach, values, keys = np.empty(V), np.empty(V), np.empty(V)
    return Work(own, reach, values, keys, contexts, newer, base, margins, present, firsts, lasts)


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


@inlined
def bound_prefixes(t, low, high, left, emission, step, units, work):
    """reach[a]: at most the score of all up to the labels own[1:] before step t, if label a is before them.
    Beyond STOP, labels are padding."""
    own, rows, tops, onward = work.own, units.rows, units.tops, units.onward
    T, m, tail = emission.shape[0], own.shape[0], 0.0
    for j in range(1, m):
        at = t - m + j
        if 0 <= at < T:
            tail += emission[at, own[j]]
        if j > 1:
            tail += onward[own[j - 1], own[j]]
            if 0 <= at <= T:
                tail += most_penalty(step + at, own[j - 1], own[j], rows, tops)
    bounded = m > 1 and 0 <= t - m + 1 <= T
    for a in range(low, high):
        reach = tail + (left[t - m, a] if t >= m else 0.0) + (onward[a, own[1]] if m > 1 else 0.0)
        if bounded:
            reach += most_penalty(step + t - m + 1, a, own[1], rows, tops)
        work.reach[a] = reach


@inlined
def follow(t, begin, places, mask, states, emission, step, units, work):
    """values: the scores of the labels of a group of states at step t and of all that follows; keys: the same
    with a bound on the penalty. Returns the place of the largest key."""
    before, values, keys = work.own[-1], work.values, work.keys
    T, top = emission.shape[0], 0
    for k in range(places):
        label, value = states.codes[begin + k] & mask, states.suffix[begin + k]
        if t <= T:
            value = units.onward[before, label] + ((emission[t, label] if t < T else 0.0) + value)
        values[k] = keys[k] = value
        if t <= T:
            keys[k] += most_penalty(step + t, before, label, units.rows, units.tops)
        if keys[k] > keys[top]:
            top = k
    return top


@inlined
def add_labels(units, work):
    """newer: the activations of contexts and of the labels of a group without the oldest."""
    table, newer = units.table, work.newer
    for u in range(newer.shape[0]):
        newer[u] = work.contexts[u]
        for j in range(1, work.own.shape[0]):
            newer[u] += table[j, work.own[j], u]


@inlined
def begin_window(step, lists, units, work):
    """What the window with all labels of a group allows, and what they add to the units."""
    own, state = work.own, 0
    for u in range(work.base.shape[0]):
        work.base[u] = work.newer[u] + units.table[0, own[0], u]
    for j in range(own.shape[0]):
        state = state * lists.V + own[j]
    locate(state, step, lists.rows, lists.moduli, lists.V, lists.groups, work.firsts, work.lasts)


@inlined
def best_place(prefix, least, most, begin, places, top, mask, states, labels, units, work):
    """(score, broken windows, place) of the best label of a group; the score is -inf if there is none."""
    values, keys, margins, weights = work.values, work.keys, work.margins, units.weights
    best, fewest, chosen = -np.inf, 0, 0
    for j in range(-1, places):  # the place of the largest key first
        k = top if j < 0 else j
        if j == top or not prefix + keys[k] >= least or (most == 0 and keys[k] < best):
            continue
        label = states.codes[begin + k] & mask
        broken = states.broken[begin + k] + outside(label, labels, work.firsts, work.lasts)
        if broken > most:
            continue
        value = values[k]
        if weights.shape[0]:
            m = work.own.shape[0]
            find_margins(work.base, units.table, m, label, work.present, units.ends, units.owners, margins)
            # Often, a tangent shows that the logarithms need not be computed.
            value = values[k] + most_cost(margins, weights, units.hinges)
            if not prefix + value >= least or (most == 0 and value < best):
                continue
            value = values[k] + total_cost(margins, weights, units.hinges)
        if precedes(broken, value, k, fewest, best, chosen):
            best, fewest, chosen = value, broken, k
    return best, fewest, chosen


@inlined
def expand(
    t, g, begin, places, low, high, bits, limits, left, emission, step, lists, units, states, work, cells
):
    """The states before step t that a group of states after it can follow, into cells g (high - low), ...;
    limits: (least, most)."""
    least, most = limits
    T, m, mask = emission.shape[0], work.own.shape[0], (1 << bits) - 1
    rest, ready, top = states.codes[begin] >> bits, False, -1
    for j in range(m - 1, 0, -1):
        work.own[j] = rest & mask
        rest >>= bits
    bound_prefixes(t, low, high, left, emission, step, units, work)
    for a in range(low, high):
        work.own[0] = a
        if top < 0 or m == 1:
            top = follow(t, begin, places, mask, states, emission, step, units, work)
        reach, cell = work.reach[a], g * (high - low) + a - low
        if not reach + work.keys[top] >= least:
            continue
        score, broken, place = work.values[top], states.broken[begin], 0
        if t <= T:
            if not ready:
                add_labels(units, work)
                ready = True
            begin_window(step + t, lists, units, work)
            score, broken, place = best_place(
                reach, least, most, begin, places, top, mask, states, lists.groups.labels, units, work
            )
        cells.suffix[cell], cells.broken[cell], cells.choice[cell] = score, broken, begin + place


@inlined
def collect(groups, low, high, oldest, bits, heads, states, cells, last):
    """Appends the states in cells that have a score, ascending; returns where they end."""
    for a in range(low, high):
        for g in range(groups):
            cell = g * (high - low) + a - low
            if cells.suffix[cell] > -np.inf:
                states.codes[last] = (a << oldest) + (states.codes[heads[g]] >> bits)
                states.suffix[last], states.broken[last] = cells.suffix[cell], cells.broken[cell]
                states.choice[last] = cells.choice[cell]
                last += 1
    return last


@kernel
def search(emission, step, left, least, floor, most, lists, units, y):
    """Writes the best labelling, by (broken windows, score with penalties), of those that can reach `least`
    into y; returns its score, -inf if there is none. Where no state is left, the threshold falls from `least`
    to `floor` at the lowest; then a better labelling may exist, below `least`.

    A state is the last m labels. The states of a step ascend, so those that differ in the last label alone, a
    group, are neighbours: they follow the same states of the step before.
    """
    T, L = emission.shape
    V, m, bits = L + 1, lists.m, 1
    while 1 << bits < V:
        bits += 1
    work = new_work(V, m, units.table.shape[2], units.rows.shape[0], lists.rows.shape[0])
    none = np.zeros(0, dtype=np.int64)
    states = longer_states(States(none, np.zeros(0), none, none), 4 * (T + m))
    cells, heads = longer_states(States(none, np.zeros(0), none, none), V), np.empty(V, dtype=np.int64)
    states.codes[0], states.suffix[0], states.broken[0] = 0, 0.0, 0
    for j in range(m):  # after STOP, all labels are padding
        states.codes[0] += L << bits * j
    first, last, t, drop = 0, 1, T + m - 1, NEAR
    while t >= 0:
        low, high = (0, L) if t >= m else (L, V)
        if last - first >= heads.shape[0]:
            heads = longer(heads, last - first + 1)
        groups = group_states(states.codes, first, last, bits, heads)
        size = groups * (high - low)
        if size > cells.codes.shape[0]:
            cells = longer_states(cells, size)
        if last + size > states.codes.shape[0]:
            states = longer_states(states, last + size)
        cells.suffix[:size] = -np.inf
        if t <= T:
            add_contexts(units.rows, units.contexts, step + t, work.contexts, work.present)
        for g in range(groups):
            expand(
                t, g, heads[g], heads[g + 1] - heads[g], low, high, bits, (least, most),
                left, emission, step, lists, units, states, work, cells,
            )  # fmt: skip
        begin, first = first, last
        last = collect(groups, low, high, bits * (m - 1), bits, heads, states, cells, last)
        if first < last:
            t, drop = t - 1, NEAR
        elif least > floor:
            first, least, drop = begin, max(least - drop, floor), 2.0 * drop
        else:
            return -np.inf
    at = first
    for t in range(T):
        at = states.choice[at]
        y[t] = states.codes[at] & ((1 << bits) - 1)
    return states.suffix[first]


@kernel
def decode_sequence(emission, chain, step, lists, units, size, y):
    """Writes the best labelling into y; returns (score, how). size: of transitions, for their rounding."""
    T, L = emission.shape
    hard, soft = lists.rows.shape[0] > 0, units.rows.shape[0] > 0
    if not soft:
        score = read_off(suffixes(emission, chain), chain, y)
        if score > -np.inf and count_broken(y, step, lists) == 0:
            return score, How.SATISFIED
    left = prefix_bounds(emission, step, units)
    bound = likely_labels(left, chain, step, units, y)
    if bound == -np.inf:
        y[:] = 0
        return bound, How.INFEASIBLE
    for t in range(T):
        for c in range(L):
            if emission[t, c] > -np.inf:
                size = max(size, abs(emission[t, c]))
    slack = SLACK * (1.0 + abs(bound)) + ROUNDING * T * size
    known = -np.inf if hard else total_penalty(y, step, units) + chain_score(y, emission, chain)
    floor, near = known - slack, NEAR
    least = max(floor, bound - near)
    score = search(emission, step, left, least, least if hard else floor, 0, lists, units, y)
    while hard and score == -np.inf and near < FAR:
        near *= WIDER
        least = bound - near
        score = search(emission, step, left, least, least, 0, lists, units, y)
    # What was left out is below `least` but for rounding errors, which are far below half of the slack.
    if score < least + slack / 2 and max(score, known) > -np.inf:
        score = max(score, known)
        again = search(emission, step, left, score - slack, score - slack, 0, lists, units, y)
        score = again if again > -np.inf else score
    if score > -np.inf:
        return score, How.SATISFIED
    broken, score = fewest_broken(emission, chain, step, lists, y)
    if score == -np.inf:
        y[:] = 0
        return score, How.INFEASIBLE
    if soft:
        score = total_penalty(y, step, units) + chain_score(y, emission, chain)
        again = search(emission, step, left, score - slack, score - slack, broken, lists, units, y)
        score = again if again > -np.inf else score
    return score, How.RELAXED if broken else How.SATISFIED


@kernel
def decode_many(chain, lists, units, first, last, y, scores, how):
    """Sequences first .. last - 1 under hard and soft constraints, relaxed where the hard ones cannot be
    satisfied; how[i] is the `How` code."""
    size, onward = 1.0, units.onward
    for b in range(onward.shape[0]):
        for c in range(onward.shape[1]):
            if onward[b, c] > -np.inf:
                size = max(size, abs(onward[b, c]))
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        scores[i], how[i] = 0.0, How.SATISFIED
        if b > a:
            scores[i], how[i] = decode_sequence(chain.emission[a:b], chain, a + i, lists, units, size, y[a:b])
