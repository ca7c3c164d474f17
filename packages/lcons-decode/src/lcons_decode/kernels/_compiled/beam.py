"""The beam search of the paper."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import kernel
from lcons_decode.kernels._compiled.lists import allows, count_broken, locate
from lcons_decode.kernels._compiled.penalties import add_contexts, find_margins, total_cost

ALL = 2**62  # broken windows are counted to the end


@kernel
def pick(values, satisfies, total, width, chosen, picked, wanted):
    """Appends the best values with satisfies == wanted to chosen[:picked]; the best of all values if nothing
    is chosen yet and `wanted` is false.

    Ties go to the first candidate; candidates of value -inf are never chosen.
    """
    first = picked
    while picked < width:
        best = -1
        for at in range(total):
            if satisfies[at] != wanted and (wanted or first > 0):
                continue
            if values[at] == -np.inf or (best >= 0 and values[at] <= values[best]):
                continue
            taken = False
            for q in range(first, picked):
                taken |= chosen[q] == at
            if not taken:
                best = at
        if best < 0:
            return picked
        chosen[picked] = best
        picked += 1
    return picked


@kernel
def beam_sequence(emission, chain, step, lists, units, m, width, rerank, beam, scores):
    """The last beam, best first, into beam (width, T) and scores (width,): (size, fallbacks).

    At each step candidates are ordered by score, then parent, then label. Candidates whose newest windows
    break nothing are kept, up to the width; if there is none, the unfiltered best ones are kept (a fallback).
    With `rerank`, violating candidates fill the rest of the beam.
    """
    T, L = emission.shape
    V = L + 1
    S = V**m
    U = units.table.shape[2]
    size, fallbacks = 1, 0
    states = np.full(width, S - 1)
    totals = np.zeros(width)
    older = np.empty((width, T), dtype=np.int64)
    candidates = np.empty(width * L)
    satisfies = np.empty(width * L, dtype=np.bool_)
    table, ends, owners, weights = units.table, units.ends, units.owners, units.weights
    base, margins = np.empty(U), np.empty(weights.shape[0])
    present = np.empty(weights.shape[0], dtype=np.bool_)
    arcs, start, stop = chain.arcs, chain.start, chain.stop
    chosen = np.empty(width, dtype=np.int64)
    rows, moduli, groups = lists.rows, lists.moduli, lists.groups
    firsts, lasts = np.empty(rows.shape[0], dtype=np.int64), np.empty(rows.shape[0], dtype=np.int64)
    # Whether the newest windows of each state are satisfied: STOP must not put violating states first.
    was = np.ones(width, dtype=np.bool_)
    for t in range(T + 1):
        labels = L if t < T else 1
        some = False
        for p in range(size):
            add_contexts(units.rows, units.contexts, step + t, base, present)
            locate(states[p], step + t, rows, moduli, V, groups, firsts, lasts)
            code = states[p]
            before = code % V
            for j in range(m - 1, -1, -1):
                base += table[j, code % V]
                code //= V
            for k in range(labels):
                label = k if t < T else L
                if t == T:
                    value = totals[p] + stop[before]
                elif t == 0:
                    value = totals[p] + start[label] + emission[t, label]
                else:
                    value = totals[p] + arcs[before, label] + emission[t, label]
                if U > 0:
                    find_margins(base, table, m, label, present, ends, owners, margins)
                    value += total_cost(margins, weights, units.hinges)
                candidates[p * labels + k] = value
                satisfies[p * labels + k] = allows(label, groups.labels, firsts, lasts)
        for at in range(size * labels):
            some |= satisfies[at] and candidates[at] > -np.inf
            if t == T and rerank:
                satisfies[at] &= was[at]
        picked = pick(candidates, satisfies, size * labels, width, chosen, 0, True)
        if picked == 0:
            fallbacks += not some
            picked = pick(candidates, satisfies, size * labels, width, chosen, 0, False)
        elif rerank and picked < width:
            picked = pick(candidates, satisfies, size * labels, width, chosen, picked, False)
        if picked == 0:
            return 0, fallbacks
        following = np.empty(width, dtype=np.int64)
        older[:size] = beam[:size]
        for q in range(picked):
            p, k = chosen[q] // labels, chosen[q] % labels
            beam[q] = older[p]
            totals[q] = candidates[chosen[q]]
            following[q] = states[p]
            was[q] = satisfies[chosen[q]]
            if t < T:
                beam[q, t] = k
                following[q] = (states[p] * V + k) % S
        states = following
        size = picked
    scores[:size] = totals[:size]
    return size, fallbacks


@kernel
def beam_many(chain, lists, units, m, width, rerank, first, last, beams, scores, sizes, fallbacks, counts):
    """Sequences first .. last - 1: the last beam of each, into beams (width, N), scores and counts of
    broken windows (B, width)."""
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        sizes[i], fallbacks[i], scores[i, 0] = 1, 0, 0.0
        if b > a:
            sizes[i], fallbacks[i] = beam_sequence(
                chain.emission[a:b], chain, a + i, lists, units, m, width, rerank, beams[:, a:b], scores[i]
            )
            for q in range(sizes[i]):
                counts[i, q] = count_broken(beams[q, a:b], a + i, lists, ALL)
