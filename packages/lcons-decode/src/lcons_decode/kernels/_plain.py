"""The inner loops in numpy: the same functions and answers as `kernels._compiled`, with nothing compiled.

One dense dynamic program over (state, label) does hard, relaxed and soft decoding. This version is simple
rather than fast: it is used if numba is missing, and tests compare the compiled version with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lcons_decode.kernels._arrays import (
    WORD,
    Bits,
    Chain,
    Floats,
    Groups,
    How,
    Ints,
    Lists,
    Units,
    listed_groups,
)
from lcons_decode.kernels._cost import costs


def allowed_codes(
    activations: Floats, pads: Ints, table: Floats, ends: Ints, first: int, last: int
) -> Groups:
    """The n-grams that windows first .. last - 1 accept, one row each."""
    n, V, _ = table.shape
    L = V - 1
    found = []
    for given, (starts, stops) in zip(activations[first:last], pads[first:last], strict=True):
        codes, totals = np.zeros(1, dtype=np.int64), given[None]
        for i in range(n):
            padded = i < starts or (stops and i == n - 1)
            labels = np.array([L]) if padded else np.arange(L)
            codes = (codes[:, None] * V + labels).reshape(-1)
            totals = (totals[:, None] + table[i, labels]).reshape(len(codes), -1)
        found.append(codes[margins(totals, ends).min(1) >= 0])
    return listed_groups(found, V)


def least_totals(
    activations: Floats, pads: Ints, table: Floats, ends: Ints, pairs: bool, first: int, last: int
) -> Floats:
    """(last - first, V or 1, V): for windows first .. last - 1, the last label but one (if `pairs`) and the
    last label, at most what the largest part adds up to, whatever the older labels are. The compiled version
    is closer."""
    n, V, _ = table.shape
    base = activations[first:last].copy()
    own = np.zeros((V if pairs else 1, table.shape[2]))
    for i in range(n - 1):
        if pairs and i == n - 2:
            own = table[i]
        else:
            padded = (i < pads[first:last, 0])[:, None]
            base += np.where(padded, table[i, -1], table[i, :-1].min(0))
    base = base[:, None] + own
    return np.stack([1.0 - margins(base + new, ends).min(-1) for new in table[-1]], axis=-1)


def pair_masks(rows: Ints, states: Ints, firsts: Ints, labels: Ints, n: int, V: int) -> Bits:
    """(R, max(n - 1, 1), words): the pairs of neighbours in the n-grams of each row (`Lists.pairs`)."""
    grams = np.repeat(states.astype(np.int64), np.diff(firsts)) * V + labels
    owners = np.repeat(np.repeat(np.arange(len(rows) - 1), np.diff(rows)), np.diff(firsts))
    masks = np.zeros((len(rows) - 1, max(n - 1, 1), -(-V * V // WORD)), dtype=np.uint64)
    for d in range(max(n - 1, 1)):
        own: Any = masks[:, d]
        for code in grams + V * np.arange(V)[:, None] if n == 1 else [grams // V**d % V**2]:
            bits = np.uint64(1) << (code % WORD).astype(np.uint64)
            np.bitwise_or.at(own, (owners, code // WORD), bits)
    return masks


def viterbi_many(chain: Chain, first: int, last: int, y: Ints, scores: Floats) -> None:
    """Sequences first .. last - 1: the best labelling of each, into packed y."""
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        scores[i] = 0.0
        if a == b:
            continue
        right = chain.emission[a:b].copy()
        right[-1] += chain.stop
        for t in range(b - a - 2, -1, -1):
            right[t] += (chain.arcs + right[t + 1]).max(1)
        total = chain.start + right[0]
        scores[i] = total.max()
        if scores[i] > -np.inf:
            y[a] = total.argmax()
            for t in range(1, b - a):
                y[a + t] = (chain.arcs[y[a + t - 1]] + right[t]).argmax()


def hard_levels(emission: Floats, chain: Chain, step: int, lists: Lists) -> tuple[Ints, Ints, Floats]:
    """(heads, states, values): the states from which a labelling can be completed without breaking anything,
    with the best score from each.

    The states of step t are at heads[T - t + 1]:heads[T - t + 2], ascending.
    """
    T = len(emission)
    count, suffix, _ = _programme(emission, chain, step, lists, None, lists.m)
    heads, states, values = [0, 0], [], []
    for t in range(T, -1, -1):
        alive = np.flatnonzero((count[t] == 0) & (suffix[t] > -np.inf))
        states.append(alive)
        values.append(suffix[t, alive])
        heads.append(heads[-1] + len(alive))
    return np.array(heads), np.concatenate(states), np.concatenate(values)


def constrained_many(
    chain: Chain, lists: Lists, first: int, last: int, y: Ints, scores: Floats, how: Ints
) -> None:
    """Sequences first .. last - 1 under hard constraints; how[i] is the `How` code of each."""
    viterbi_many(chain, first, last, y, scores)
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        how[i] = How.SATISFIED if scores[i] > -np.inf else How.INFEASIBLE
        if a == b or how[i] == How.INFEASIBLE:
            continue
        broken_windows, scores[i], y[a:b] = _dense(chain.emission[a:b], chain, a + i, lists, None, lists.m)
        if broken_windows:
            how[i] = How.RELAXED


def soft_many(
    chain: Chain,
    lists: Lists,
    units: Units,
    m: int,
    first: int,
    last: int,
    y: Ints,
    scores: Floats,
    how: Ints,
) -> None:
    """Sequences first .. last - 1: the best labelling under soft constraints, into packed y; after
    `constrained_many`, if there are hard ones."""
    if not len(lists.sizes):
        constrained_many(chain, lists, first, last, y, scores, how)
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        if b > a and how[i] != How.INFEASIBLE:
            _, scores[i], y[a:b] = _dense(chain.emission[a:b], chain, a + i, lists, units, m)


def beam_many(
    chain: Chain,
    lists: Lists,
    units: Units,
    m: int,
    width: int,
    rerank: bool,
    first: int,
    last: int,
    beams: Ints,
    scores: Floats,
    sizes: Ints,
    fallbacks: Ints,
    counts: Ints,
) -> None:
    """Sequences first .. last - 1: the last beam of each, into beams (width, N), scores and counts of broken
    windows (B, width)."""
    L = chain.emission.shape[1]
    V = L + 1
    S = V**m
    for i in range(first, last):
        a, b = chain.offsets[i], chain.offsets[i + 1]
        sizes[i], fallbacks[i], scores[i, 0] = 1, 0, 0.0
        if a == b:
            continue
        states, totals = np.array([S - 1]), np.zeros(1)
        prefixes = np.zeros((1, 0), dtype=np.int64)
        # Whether the newest windows of each state are satisfied: STOP must not put violating states first.
        was = np.ones(1, dtype=np.bool_)
        for t in range(b - a + 1):
            labels = np.arange(L) if t < b - a else np.array([L])
            if t == b - a:
                values = totals[:, None] + chain.stop[states % V][:, None]
            else:
                arcs = chain.start[None] if t == 0 else chain.arcs[states % V]
                values = totals[:, None] + arcs + chain.emission[a + t]
            grams = states[:, None] * V + labels
            values = (values + penalties(grams, a + i + t, units, V)).reshape(-1)
            satisfies = (broken(grams, a + i + t, lists) == 0).reshape(-1)
            order = np.argsort(-values, kind="stable")
            order = order[values[order] > -np.inf]
            some = satisfies[order].any()
            if t == b - a and rerank:
                satisfies &= was
            chosen = order[satisfies[order]][:width]
            if not len(chosen):
                fallbacks[i] += not some
                chosen = order[:width]
            elif rerank:
                chosen = np.concatenate([chosen, order[~satisfies[order]]])[:width]
            parents, picked = chosen // len(labels), chosen % len(labels)
            totals, prefixes, states = values[chosen], prefixes[parents], states[parents]
            was = satisfies[chosen]
            if not len(chosen):
                break
            if t < b - a:
                prefixes = np.concatenate([prefixes, picked[:, None]], axis=1)
                states = (states * V + picked) % S
        sizes[i] = len(totals)
        if len(totals):
            beams[: len(totals), a:b] = prefixes
        scores[i, : len(totals)] = totals
        counts[i, : len(totals)] = [_count_broken(row, a + i, lists) for row in prefixes]


def _count_broken(y: Ints, step: int, lists: Lists) -> int:
    """How many (position, hard constraint) pairs a labelling breaks."""
    state, total = lists.V**lists.m - 1, 0
    for t, label in enumerate([*y.tolist(), lists.V - 1]):
        gram = state * lists.V + label
        total += int(broken(np.array([gram]), step + t, lists)[0])
        state = gram % lists.V**lists.m
    return total


def broken(grams: Ints, step: int, lists: Lists) -> Ints:
    """How many hard constraints have a window at `step` that does not allow each n-gram."""
    total = np.zeros(grams.shape, dtype=np.int64)
    for size, row in zip(lists.sizes, lists.rows[:, step], strict=True):
        if row >= 0:
            total += ~np.isin(grams % lists.V**size, lists.groups.codes(row, lists.V))
    return total


def penalties(grams: Ints, step: int, units: Units | None, V: int) -> Any:
    """Sum over soft constraints of weight * cost of the margin for each n-gram at `step`."""
    if units is None or not len(units.weights):
        return 0.0
    rows = units.rows[:, step]
    given = context_activations(units, rows[:, None])[0]
    activations = np.broadcast_to(given, (*grams.shape, len(given))).copy()
    rest = grams
    for i in range(units.table.shape[0] - 1, -1, -1):
        activations += units.table[i, rest % V]
        rest = rest // V
    by_part = margins(activations, units.ends)
    total = np.zeros(grams.shape)
    for c, weight in enumerate(units.weights):
        if rows[c] >= 0:
            total += weight * costs(by_part[..., units.owners == c].min(-1), units.hinges[c])
    return total


def context_activations(units: Units, rows: Ints) -> Floats:
    """(steps, U) what contexts add to each unit, for rows (C, steps) of soft constraints."""
    total = np.zeros((rows.shape[1], units.table.shape[2]))
    for own in rows:
        total[own >= 0] += units.contexts[own[own >= 0]]
    return total


def margins(activations: Floats, ends: Ints) -> Floats:
    """(..., parts) margins of activations (..., U)."""
    firsts = np.concatenate([[0], ends[:-1]])
    rectified = np.maximum(activations, 0.0)
    return np.stack([1.0 - rectified[..., a:b].sum(-1) for a, b in zip(firsts, ends, strict=True)], axis=-1)


def _dense(
    emission: Floats, chain: Chain, step: int, lists: Lists, units: Units | None, m: int
) -> tuple[int, float, Ints]:
    """(broken, score, labels): the fewest broken windows and, among those, the best score with penalties."""
    T, L = emission.shape
    S = (L + 1) ** m
    count, suffix, choices = _programme(emission, chain, step, lists, units, m)
    y = np.zeros(T, dtype=np.int64)
    state = S - 1
    for t in range(T):
        y[t] = choices[t, state]
        state = (state * (L + 1) + y[t]) % S
    return int(count[0, S - 1]), float(suffix[0, S - 1]), y


def _programme(
    emission: Floats, chain: Chain, step: int, lists: Lists, units: Units | None, m: int
) -> tuple[Ints, Floats, Ints]:
    """(count, suffix, choices): for each step and state the fewest broken windows, the best score and the
    first label."""
    T, L = emission.shape
    V = L + 1
    S = V**m
    states = np.arange(S)
    arcs = np.append(chain.arcs, np.full((1, L), -np.inf), axis=0)[states % V]
    count, suffix = np.zeros((T + 1, S), dtype=np.int64), np.full((T + 1, S), -np.inf)
    stops = states * V + L
    suffix[T] = np.append(chain.stop, -np.inf)[states % V] + penalties(stops, step + T, units, V)
    count[T] = broken(stops, step + T, lists)
    choices = np.zeros((T, S), dtype=np.int64)
    for t in range(T - 1, -1, -1):
        grams = states[:, None] * V + np.arange(L)
        own = np.where(states[:, None] == S - 1, chain.start, -np.inf) if t == 0 else arcs
        values = own + (emission[t] + suffix[t + 1][grams % S])
        values = values + penalties(grams, step + t, units, V)
        totals = count[t + 1][grams % S] + broken(grams, step + t, lists)
        least = np.where(values > -np.inf, totals, np.iinfo(np.int64).max)
        best = np.where(least == least.min(1, keepdims=True), values, -np.inf)
        choices[t] = best.argmax(1)
        suffix[t] = best.max(1)
        count[t] = totals[states, choices[t]]
    return count, suffix, choices


def best_pairs(
    relations: Ints, starts: Ints, forward: Ints, backward: Ints, cost: Ints, never: int
) -> tuple[Ints, Ints]:
    """(best, choice) (n, n, L, L) for i < j: the best value of the two relations between i and j for labels a
    of i and b of j, and the entry of the list of (a, b) that has it, the first of equal ones; `never` and -1
    if the list is empty."""
    n, L = len(relations), int(np.sqrt(len(starts) - 1))
    best = np.full((n, n, L, L), never, dtype=np.int64)
    choice = np.full((n, n, L, L), -1, dtype=np.int64)
    values = relations[:, :, forward] + relations[:, :, backward].transpose(1, 0, 2) - cost
    for a in range(L):
        for b in range(L):
            first, last = starts[a * L + b], starts[a * L + b + 1]
            if first < last:
                best[:, :, a, b] = values[:, :, first:last].max(2)
                choice[:, :, a, b] = first + values[:, :, first:last].argmax(2)
    return best, choice


def label_pairs(unary: Ints, best: Ints, sweeps: int, limit: int) -> tuple[Ints, int]:
    """(labels, nodes): the labels with the largest sum of unary and pair values, the first of equal ones;
    nodes is the number of partial labellings tried, -1 if it would be more than `limit`."""
    n = len(unary)
    if n == 0:
        return np.zeros(0, dtype=np.int64), 0
    u, p = unary.copy(), best.copy()
    _level(u, p, sweeps)
    ahead = np.array([p[i, i + 1 :].max(2).sum(0) for i in range(n)])
    u += ahead
    search = _Search(p, ahead, limit)
    try:
        search.go(0, 0, u, ())
        search.first_only = True
        search.below -= 1
        search.found = None
        search.go(0, 0, u, ())
    except _OverLimit:
        return np.zeros(n, dtype=np.int64), -1
    return np.array(search.found, dtype=np.int64), search.nodes


def _level(u: Ints, p: Ints, sweeps: int) -> None:
    """Moves value between pairs and single labels without changing any sum, so that the sum of maxima
    falls."""
    for _ in range(sweeps):
        for i in range(len(u)):
            for j in range(i + 1, len(u)):
                total = p[i, j] + u[i][:, None] + u[j][None]
                u[i], u[j] = total.max(1) // 2, total.max(0) // 2
                p[i, j] = total - u[i][:, None] - u[j][None]


class _OverLimit(Exception):
    """More partial labellings than allowed."""


class _Search:
    """Depth-first search in declared order: the best labelling, then the first one that is equally good."""

    def __init__(self, p: Ints, ahead: Ints, limit: int) -> None:
        self.p, self.ahead, self.limit = p, ahead, limit
        self.below = np.iinfo(np.int64).min
        self.found: tuple[int, ...] | None = None
        self.first_only = False
        self.nodes = 0

    def go(self, depth: int, done: int, gain: Ints, before: tuple[int, ...]) -> None:
        """gain[i, a]: the value of label a of decision i, with its pairs with earlier decisions and an upper
        bound on those with later ones."""
        for a in range(gain.shape[1]):
            if self.first_only and self.found is not None:
                return
            self.nodes += 1
            if self.nodes > self.limit:
                raise _OverLimit
            value = done + int(gain[depth, a]) - int(self.ahead[depth, a])
            later = gain.copy()
            later[depth + 1 :] += self.p[depth, depth + 1 :, a]
            if value + int(later[depth + 1 :].max(1).sum()) <= self.below:
                continue
            if depth == len(gain) - 1:
                self.below, self.found = value, (*before, a)
            else:
                self.go(depth + 1, value, later, (*before, a))
