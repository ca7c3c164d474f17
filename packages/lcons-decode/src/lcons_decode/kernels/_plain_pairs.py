"""`kernels.compiled.pairs` in numpy: the same functions and answers."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import Ints


def best_pairs(
    relations: Ints, starts: Ints, forward: Ints, backward: Ints, cost: Ints, never: int
) -> tuple[Ints, Ints]:
    """(best, choice) (n, n, L, L), of i < j: the best value of the two relations between i and j for labels a
    of i and b of j, and which entry of the list of (a, b) gives it, the first of equal ones; `never` and -1
    where the list is empty."""
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
    nodes is how many partial labellings were tried, -1 where that would be more than `limit`."""
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
    """Moves value between pairs and single labels without changing any sum, so that the sum of maxima comes
    down."""
    for _ in range(sweeps):
        for i in range(len(u)):
            for j in range(i + 1, len(u)):
                total = p[i, j] + u[i][:, None] + u[j][None]
                u[i], u[j] = total.max(1) // 2, total.max(0) // 2
                p[i, j] = total - u[i][:, None] - u[j][None]


class _OverLimit(Exception):
    """More partial labellings than allowed."""


class _Search:
    """Depth first, in declared order: the best labelling, then the first one that is as good."""

    def __init__(self, p: Ints, ahead: Ints, limit: int) -> None:
        self.p, self.ahead, self.limit = p, ahead, limit
        self.below = np.iinfo(np.int64).min
        self.found: tuple[int, ...] | None = None
        self.first_only = False
        self.nodes = 0

    def go(self, depth: int, done: int, gain: Ints, before: tuple[int, ...]) -> None:
        """gain[i, a]: label a of decision i, with its pairs with earlier ones and the most that later ones
        add."""
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
