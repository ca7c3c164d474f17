"""Decisions that depend on each other in pairs: the best value of each pair of labels, and the best labels.

All scores are integers, so that sums are exact in any order and ties are found exactly.
"""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import kernel

LEAST = -(2**63) + 1


@kernel
def best_pairs(relations, starts, forward, backward, cost, never):
    """(best, choice) (n, n, L, L) for i < j: the best value of the two relations between i and j for labels a
    of i and b of j, and the entry of the list of (a, b) that has it, the first of equal ones; `never` and -1
    if the list is empty."""
    n, L = len(relations), int(np.sqrt(len(starts) - 1))
    best = np.zeros((n, n, L, L), dtype=np.int64)
    choice = np.zeros((n, n, L, L), dtype=np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            for a in range(L):
                for b in range(L):
                    value, chosen = never, -1
                    for k in range(starts[a * L + b], starts[a * L + b + 1]):
                        total = relations[i, j, forward[k]] + relations[j, i, backward[k]] - cost[k]
                        if chosen < 0 or total > value:
                            value, chosen = total, k
                    best[i, j, a, b], choice[i, j, a, b] = value, chosen
    return best, choice


@kernel
def label_pairs(unary, best, sweeps, limit):
    """(labels, nodes): the labels with the largest sum of unary and pair values, the first of equal ones;
    nodes is the number of partial labellings tried, -1 if it would be more than `limit`."""
    n = len(unary)
    y = np.zeros(n, dtype=np.int64)
    if n == 0:
        return y, 0
    u, p = unary.copy(), best.copy()
    rest = level(u, p, sweeps)
    value, tried = search(u, p, rest, climb(u, p, y), limit, False, y)
    if tried < 0:
        return y, tried
    _, again = search(u, p, rest, value - 1, limit - tried, True, y)
    return y, tried + again if again >= 0 else again


@kernel
def level(u, p, sweeps):
    """Moves value between pairs and single labels without changing any sum, so that the sum of maxima falls.
    Returns, for each label, the most that pairs with later decisions can add."""
    n, L = u.shape
    rows, columns = np.empty(L, dtype=np.int64), np.empty(L, dtype=np.int64)
    for _ in range(sweeps):
        for i in range(n):
            for j in range(i + 1, n):
                rows[:], columns[:] = LEAST, LEAST
                for a in range(L):
                    for b in range(L):
                        value = p[i, j, a, b] + u[i, a] + u[j, b]
                        p[i, j, a, b] = value
                        rows[a] = max(rows[a], value)
                        columns[b] = max(columns[b], value)
                for a in range(L):
                    u[i, a] = rows[a] // 2
                    u[j, a] = columns[a] // 2
                for a in range(L):
                    for b in range(L):
                        p[i, j, a, b] -= u[i, a] + u[j, b]
    rest = np.zeros((n, L), dtype=np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            for a in range(L):
                most = LEAST
                for b in range(L):
                    most = max(most, p[i, j, a, b])
                rest[i, a] += most
    return rest


@kernel
def climb(u, p, y):
    """Writes a good labelling into y: the best single labels, changed one by one while the value rises.
    Returns its value."""
    n, L = u.shape
    for i in range(n):
        y[i] = np.argmax(u[i])
    better = True
    while better:
        better = False
        for i in range(n):
            highest, first = LEAST, LEAST
            for a in range(L):
                value = u[i, a]
                for j in range(n):
                    if j < i:
                        value += p[j, i, y[j], a]
                    elif j > i:
                        value += p[i, j, a, y[j]]
                if a == y[i]:
                    first = value
                if value > highest:
                    highest, chosen = value, a
            if highest > first:
                y[i] = chosen
                better = True
    total = 0
    for i in range(n):
        total += u[i, y[i]]
        for j in range(i + 1, n):
            total += p[i, j, y[i], y[j]]
    return total


@kernel
def search(u, p, rest, below, limit, first_only, y):
    """Depth-first search in declared order for a labelling whose value is above `below`: the first one, or
    the best one. Returns (value, nodes) and writes the labelling into y; if there is none, the value is
    `below` and y does not change."""
    n, L = u.shape
    # gain[d, i, a]: value of label a of decision i, with the pairs between i and the decisions before d.
    gain = np.zeros((n + 1, n, L), dtype=np.int64)
    gain[0] = u + rest
    done = np.zeros(n + 1, dtype=np.int64)
    tried = np.full(n, -1)
    depth, nodes = 0, 0
    while depth >= 0:
        tried[depth] += 1
        if tried[depth] == L:
            tried[depth] = -1
            depth -= 1
            continue
        a = tried[depth]
        nodes += 1
        if nodes > limit:
            return below, -1
        value = done[depth] + gain[depth, depth, a] - rest[depth, a]
        bound = value
        for i in range(depth + 1, n):
            most = LEAST
            for b in range(L):
                gained = gain[depth, i, b] + p[depth, i, a, b]
                gain[depth + 1, i, b] = gained
                most = max(most, gained)
            bound += most
        if bound <= below:
            continue
        if depth == n - 1:
            below = value
            y[:] = tried
            if first_only:
                return below, nodes
            continue
        done[depth + 1] = value
        depth += 1
    return below, nodes
