"""The steps of Frank-Wolfe (`_structured_svm`) for entities and relations, compiled.

The weights are W (candidate attributes, E) and V (pair attributes, R), and `parts` if combinations of labels
have weights, too. A pair of candidates i < j with labels a, b and relations r, s between them adds

    table[a, b, r, s] = sum_k counts[(a, b, r, s), k] parts[k]

to the score. Each passage has its share of every weight that it reads, so a step costs no more than reading
the passage. Where the exact search for labels would take too long, a step goes towards good labels that are
not proven to be the worst, and the objective is bounded from above.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lcons_decode.kernels._arrays import Floats, Ints
from lcons_decode.kernels._compiled import best_pairs, label_pairs
from lcons_decode.kernels._compiled.jit import kernel

SCALE = 2.0**30
SWEEPS, LIMIT = 10, 500_000


class Flat(NamedTuple):
    """All passages, one after another.

    sizes, first_candidate, first_pair: the number of candidates of each passage, and where its candidates and
        its ordered pairs begin.
    entities, relations: gold labels of candidates and of ordered pairs.
    candidate_rows, candidate_places: where the attributes of each candidate begin, and the place of each
        among the distinct attributes of its passage; `candidate_known` are these, one passage after another.
    pair_rows, pair_places, pair_known: the same of ordered pairs.
    """

    sizes: Ints
    first_candidate: Ints
    first_pair: Ints
    entities: Ints
    relations: Ints
    candidate_rows: Ints
    candidate_places: Ints
    candidate_known: Ints
    first_candidate_known: Ints
    pair_rows: Ints
    pair_places: Ints
    pair_known: Ints
    first_pair_known: Ints


class Weights(NamedTuple):
    """The weights of candidates' attributes, of pairs' attributes, and of combinations of labels."""

    W: Floats
    V: Floats
    parts: Floats


class Shares(NamedTuple):
    """The shares of all passages in the weights, and in the loss."""

    W: Floats
    V: Floats
    parts: Floats
    losses: Floats


class Lists(NamedTuple):
    """The relations that break nothing by labels (a, b) as in `RelationRules.allowed_lists`, all relations,
    and for each the number of its combination (a, b, r, s)."""

    starts: Ints
    forward: Ints
    backward: Ints
    which: Ints
    all_starts: Ints
    all_forward: Ints
    all_backward: Ints
    all_which: Ints
    all_broken: Ints


@kernel
def read_scores(x: int, data: Flat, weights: Weights, single: Floats, double: Floats) -> None:
    """Writes the scores of the candidates and ordered pairs of passage x."""
    n = data.sizes[x]
    known = data.candidate_known[data.first_candidate_known[x] :]
    for i in range(n):
        single[i] = 0.0
        at = data.first_candidate[x] + i
        for k in range(data.candidate_rows[at], data.candidate_rows[at + 1]):
            own = weights.W[known[data.candidate_places[k]]]
            for a in range(len(own)):
                single[i, a] += own[a]
    known = data.pair_known[data.first_pair_known[x] :]
    at = data.first_pair[x]
    for i in range(n):
        for j in range(n):
            if i != j:
                double[i, j] = 0.0
                for k in range(data.pair_rows[at], data.pair_rows[at + 1]):
                    own = weights.V[known[data.pair_places[k]]]
                    for r in range(len(own)):
                        double[i, j, r] += own[r]
                at += 1


@kernel
def add_losses(x: int, data: Flat, miss: float, single: Floats, double: Floats) -> None:
    """Adds the loss of every label to its score."""
    n = data.sizes[x]
    for i in range(n):
        for a in range(single.shape[1]):
            if a != data.entities[data.first_candidate[x] + i]:
                single[i, a] += 1.0
    at = data.first_pair[x]
    for i in range(n):
        for j in range(n):
            if i != j:
                gold = data.relations[at]
                for r in range(double.shape[2]):
                    if r != gold:
                        double[i, j, r] += miss if gold > 0 else 1.0
                at += 1


@kernel
def chosen(y: Ints, choice: Ints, forward: Ints, backward: Ints, relations: Ints) -> bool:
    """Writes the chosen relations; False if a pair has none."""
    for i in range(len(y)):
        for j in range(i + 1, len(y)):
            k = choice[i, j, y[i], y[j]]
            if k < 0:
                return False
            relations[i, j], relations[j, i] = forward[k], backward[k]
    return True


@kernel
def rounded(values: Floats, found: Ints) -> float:
    """Writes the values as multiples of 1 / SCALE and returns the sum of their absolute values."""
    total = 0.0
    for k in range(len(values)):
        total += abs(values[k])
        found[k] = np.int64(np.rint(values[k] * SCALE))
    return total


@kernel
def best_labels(
    n: int, single: Floats, double: Floats, table: Floats, lists: Lists, relations: Ints
) -> tuple[Ints, float]:
    """(entities, bound): the best labels, with the relations written into an array, and an upper bound on
    their score if they are not proven to be the best, otherwise infinity. As `lcons_decode.relation_ids`."""
    E, R = single.shape[1], double.shape[2]
    entities, pairs = np.zeros((n, E), dtype=np.int64), np.zeros((n, n, R), dtype=np.int64)
    worth = np.zeros(len(table), dtype=np.int64)
    rounded(table, worth)
    most = 0.0
    for k in range(len(table)):
        most = max(most, abs(table[k]))
    total = n * n * most
    for i in range(n):
        total += rounded(single[i], entities[i])
        for j in range(n):
            if i != j:
                total += rounded(double[i, j], pairs[i, j])
    price = np.int64((2.0 * total + 1.0) * SCALE)
    cost = np.zeros(len(lists.which), dtype=np.int64)
    for k in range(len(cost)):
        cost[k] = -worth[lists.which[k]]
    best, choice = best_pairs(pairs, lists.starts, lists.forward, lists.backward, cost, -price)
    y, nodes = label_pairs(entities, best, SWEEPS, LIMIT)
    if not chosen(y, choice, lists.forward, lists.backward, relations):
        cost = np.zeros(len(lists.all_which), dtype=np.int64)
        for k in range(len(cost)):
            cost[k] = lists.all_broken[k] * price - worth[lists.all_which[k]]
        best, choice = best_pairs(
            pairs, lists.all_starts, lists.all_forward, lists.all_backward, cost, -price
        )
        y, nodes = label_pairs(entities, best, SWEEPS, LIMIT)
        chosen(y, choice, lists.all_forward, lists.all_backward, relations)
    if nodes >= 0:
        return y, np.inf
    bound = 0.0
    for i in range(n):
        bound += entities[i].max() / SCALE
        for j in range(i + 1, n):
            bound += best[i, j].max() / SCALE
    return y, bound


@kernel
def add_features(
    x: int,
    data: Flat,
    y: Ints,
    relations: Ints,
    by: float,
    counts: Floats,
    W: Floats,
    V: Floats,
    parts: Floats,
) -> None:
    """Adds `by` times phi(gold) - phi(labels), over the weights that the passage reads; returns nothing."""
    n, E, R = data.sizes[x], W.shape[1], V.shape[1]
    for i in range(n):
        at = data.first_candidate[x] + i
        gold = data.entities[at]
        if y[i] != gold:
            for k in range(data.candidate_rows[at], data.candidate_rows[at + 1]):
                W[data.candidate_places[k], gold] += by
                W[data.candidate_places[k], y[i]] -= by
    at = data.first_pair[x]
    for i in range(n):
        for j in range(n):
            if i != j:
                gold, found = data.relations[at], relations[i, j]
                if gold != found:
                    for k in range(data.pair_rows[at], data.pair_rows[at + 1]):
                        V[data.pair_places[k], gold] += by
                        V[data.pair_places[k], found] -= by
                at += 1
    if len(parts):
        for i in range(n):
            for j in range(i + 1, n):
                a, b = data.entities[data.first_candidate[x] + i], data.entities[data.first_candidate[x] + j]
                first = data.first_pair[x]
                r = data.relations[first + i * (n - 1) + j - 1]
                s = data.relations[first + j * (n - 1) + i]
                gold = ((a * E + b) * R + r) * R + s
                found = ((y[i] * E + y[j]) * R + relations[i, j]) * R + relations[j, i]
                if gold != found:
                    for k in range(len(parts)):
                        parts[k] += by * (counts[gold, k] - counts[found, k])


@kernel
def loss_of(x: int, data: Flat, y: Ints, relations: Ints, miss: float) -> float:
    """The loss of a labelling."""
    n, loss = data.sizes[x], 0.0
    for i in range(n):
        loss += y[i] != data.entities[data.first_candidate[x] + i]
    at = data.first_pair[x]
    for i in range(n):
        for j in range(n):
            if i != j:
                if relations[i, j] != data.relations[at]:
                    loss += miss if data.relations[at] > 0 else 1.0
                at += 1
    return loss


@kernel
def weigh(counts: Floats, parts: Floats, table: Floats) -> None:
    """Writes the table of the weights of combinations."""
    for k in range(len(table)):
        table[k] = 0.0
        for j in range(len(parts)):
            table[k] += counts[k, j] * parts[j]


@kernel
def towards(change: Floats, shares: Floats, first: int, known: Ints, weights: Floats) -> tuple[float, float]:
    """(size, along): the squared length of the way from the shares to a target, which is written over the
    target, and its product with the weights."""
    size, along = 0.0, 0.0
    for k in range(len(change)):
        for a in range(change.shape[1]):
            change[k, a] -= shares[first + k, a]
            size += change[k, a] * change[k, a]
            along += change[k, a] * weights[known[first + k], a]
    return size, along


@kernel
def move(
    change: Floats,
    step: float,
    before: float,
    shares: Floats,
    first: int,
    known: Ints,
    weights: Floats,
    late: Floats,
) -> None:
    """Moves shares and weights along a way."""
    for k in range(len(change)):
        at = known[first + k]
        for a in range(change.shape[1]):
            by = step * change[k, a]
            shares[first + k, a] += by
            weights[at, a] += by
            late[at, a] += by * before


@kernel
def take_steps(
    order: Ints,
    data: Flat,
    lists: Lists,
    counts: Floats,
    miss: float,
    penalty: float,
    weights: Weights,
    late: Weights,
    shares: Shares,
    sums: Floats,
) -> None:
    """One step of Frank-Wolfe per passage of `order`. `late` and sums (steps, late loss) are those of the
    average of the weights (`_structured_svm`)."""
    N, E, R, most = len(data.sizes), weights.W.shape[1], weights.V.shape[1], data.sizes.max()
    single, double = np.zeros((most, E)), np.zeros((most, most, R))
    relations = np.zeros((most, most), dtype=np.int64)
    table, numbers = np.zeros(len(counts)), np.arange(len(weights.parts))
    weigh(counts, weights.parts, table)
    # The weights of combinations as one row, so that they move as the others do.
    own_parts, late_parts = weights.parts.reshape((-1, 1)), late.parts.reshape((-1, 1))
    for x in order:
        read_scores(x, data, weights, single, double)
        add_losses(x, data, miss, single, double)
        y, _ = best_labels(data.sizes[x], single, double, table, lists, relations)
        c, p = data.first_candidate_known[x], data.first_pair_known[x]
        W = np.zeros((data.first_candidate_known[x + 1] - c, E))
        V = np.zeros((data.first_pair_known[x + 1] - p, R))
        parts = np.zeros((len(numbers), 1))
        own_shares = shares.parts[x].reshape((-1, 1))
        add_features(x, data, y, relations, 1.0 / (penalty * N), counts, W, V, parts[:, 0])
        loss = loss_of(x, data, y, relations, miss) / N
        size, along = towards(W, shares.W, c, data.candidate_known, weights.W)
        for found in (
            towards(V, shares.V, p, data.pair_known, weights.V),
            towards(parts, own_shares, 0, numbers, own_parts),
        ):
            size, along = size + found[0], along + found[1]
        gain = loss - shares.losses[x] - penalty * along
        # Labels may have the same features and a larger loss: then the share moves all the way to them.
        step = 1.0 if gain > 0 else 0.0
        if size > 0:
            step = min(1.0, max(0.0, gain / (penalty * size)))
        if step > 0:
            before = sums[0] * (sums[0] + 1) / 2
            move(W, step, before, shares.W, c, data.candidate_known, weights.W, late.W)
            move(V, step, before, shares.V, p, data.pair_known, weights.V, late.V)
            if len(numbers):
                move(parts, step, before, own_shares, 0, numbers, own_parts, late_parts)
                weigh(counts, weights.parts, table)
            lost = step * (loss - shares.losses[x])
            shares.losses[x] += lost
            sums[1] += lost * before
        sums[0] += 1


@kernel
def mean_hinge(data: Flat, lists: Lists, counts: Floats, miss: float, weights: Weights) -> float:
    """The mean of H_i at some weights."""
    N, E, R, most = len(data.sizes), weights.W.shape[1], weights.V.shape[1], data.sizes.max()
    single, double = np.zeros((most, E)), np.zeros((most, most, R))
    relations = np.zeros((most, most), dtype=np.int64)
    table = np.zeros(len(counts))
    weigh(counts, weights.parts, table)
    total = 0.0
    for x in range(N):
        n = data.sizes[x]
        read_scores(x, data, weights, single, double)
        add_losses(x, data, miss, single, double)
        y, bound = best_labels(n, single, double, table, lists, relations)
        gold, found, first = 0.0, 0.0, data.first_pair[x]
        for i in range(n):
            a = data.entities[data.first_candidate[x] + i]
            gold += single[i, a]
            found += single[i, y[i]]
            for j in range(i + 1, n):
                b = data.entities[data.first_candidate[x] + j]
                r = data.relations[first + i * (n - 1) + j - 1]
                s = data.relations[first + j * (n - 1) + i]
                gold += double[i, j, r] + double[j, i, s] + table[((a * E + b) * R + r) * R + s]
                r, s = relations[i, j], relations[j, i]
                found += double[i, j, r] + double[j, i, s]
                found += table[((y[i] * E + y[j]) * R + r) * R + s]
        total += max(0.0, (found if bound == np.inf else bound) - gold)
    return total / N
