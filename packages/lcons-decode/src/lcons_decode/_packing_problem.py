"""The best choice of items under packing rows, with a proof that no choice is better.

    maximise   sum_j c_j x_j,   x_j in {0, 1}
    subject to sum over a row's items of x_j <= b_i        (b_i >= 0)
               x_j <= x_k   for every k that j needs

c_j are integers, so that all sums are exact. For any numbers l_i >= 0 and m_jk >= 0

    bound = sum_i l_i b_i + sum_j max(0, c_j - sum_i l_i + sum_k' m_k'j - sum_k m_jk)

is at least the value of every choice (l over the rows of j, m_jk over what j needs, m_k'j over what needs j).
The simplex method finds good multipliers in floating point. They are rounded to integers and the bound is
computed from its definition, so that it holds whatever the simplex method did.

A proof is a tree: a leaf has multipliers whose bound is at most the value of the best choice; a branch
divides the choices by one item, taken or not. `check_proof` needs the tree and the definition alone.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lcons_decode.kernels._arrays import Floats

MAX_LEAVES = 1_000
_PIVOTS = 20_000
_SMALL = 1e-9


@dataclass(frozen=True)
class Row:
    """At most `most` of the items."""

    items: tuple[int, ...]
    most: int


@dataclass(frozen=True)
class Packing:
    """Items with a value, rows, and the items that each item needs."""

    values: tuple[int, ...]
    rows: tuple[Row, ...]
    needs: tuple[tuple[int, ...], ...]

    def holds(self, chosen: frozenset[int]) -> bool:
        """Whether a choice satisfies all rows and needs."""
        return all(len(chosen.intersection(row.items)) <= row.most for row in self.rows) and all(
            chosen.issuperset(self.needs[j]) for j in chosen
        )

    def value(self, chosen: frozenset[int]) -> int:
        """The value of a choice."""
        return sum(self.values[j] for j in chosen)


@dataclass(frozen=True)
class Leaf:
    """Multipliers that are not 0: of rows, and of needs (item, needed item)."""

    rows: tuple[tuple[int, int], ...]
    needs: tuple[tuple[tuple[int, int], int], ...]


@dataclass(frozen=True)
class Branch:
    """Item `item` not taken, or taken."""

    item: int
    without: Proof
    taken: Proof


Proof = Leaf | Branch


@dataclass(frozen=True)
class Packed:
    """The chosen items, their value, and a bound on the value of every choice: if it is equal to the value,
    `proof` proves it. `rows` are those that `more` added, and `leaves` the number of leaves."""

    chosen: frozenset[int]
    value: int
    bound: int
    proof: Proof | None
    rows: tuple[Row, ...]
    leaves: int


More = Callable[[frozenset[int]], Row | None]
"""A row that a choice breaks and that was left out until now."""


def pack(problem: Packing, more: More | None = None, max_leaves: int = MAX_LEAVES) -> Packed:
    """The best choice, and the proof.

    >>> pack(Packing((3, 2, 2), (Row((0, 1), 1), Row((0, 2), 1)), ((), (), ()))).chosen
    frozenset({1, 2})
    """
    search = _Search(problem, more, max_leaves)
    proof, bound = search.prove(frozenset(), frozenset())
    complete = Packing(problem.values, tuple(search.rows), problem.needs)
    added = complete.rows[len(problem.rows) :]
    best = search.best_value
    return Packed(search.best, best, max(bound, best), proof, added, search.leaves)


def check_proof(problem: Packing, value: int, proof: Proof) -> bool:
    """Whether a proof shows that no choice has more than `value`; `problem` with all rows."""

    def check(tree: Proof, out: frozenset[int], taken: frozenset[int]) -> bool:
        fixed = _fixed(problem, out, taken)
        if fixed is None:
            return True
        if isinstance(tree, Leaf):
            if any(m < 0 for _, m in (*tree.rows, *tree.needs)):
                return False
            return _bound(problem, *fixed, dict(tree.rows), dict(tree.needs)) <= value
        j = tree.item
        return check(tree.without, out | {j}, taken) and check(tree.taken, out, taken | {j})

    return check(proof, frozenset(), frozenset())


def _fixed(
    problem: Packing, out: frozenset[int], taken: frozenset[int]
) -> tuple[frozenset[int], frozenset[int]] | None:
    """`out` and `taken` with all that follows from needs and full rows; None if they contradict."""
    gone, there = set(out), set(taken)
    while True:
        before = len(gone), len(there)
        for j in tuple(there):
            there.update(problem.needs[j])
        for row in problem.rows:
            inside = there.intersection(row.items)
            if len(inside) > row.most:
                return None
            if len(inside) == row.most:
                gone.update(j for j in row.items if j not in inside)
        gone.update(j for j, needed in enumerate(problem.needs) if not gone.isdisjoint(needed))
        if gone & there:
            return None
        if (len(gone), len(there)) == before:
            return frozenset(gone), frozenset(there)


def _bound(
    problem: Packing,
    out: frozenset[int],
    taken: frozenset[int],
    rows: dict[int, int],
    needs: dict[tuple[int, int], int],
) -> int:
    """The bound on choices without `out` and with `taken`."""
    reduced = list(problem.values)
    total = 0
    for i, m in rows.items():
        total += m * problem.rows[i].most
        for j in problem.rows[i].items:
            reduced[j] -= m
    for (j, k), m in needs.items():
        if k not in problem.needs[j]:
            raise ValueError("a multiplier of no need")
        reduced[j] -= m
        reduced[k] += m
    total += sum(reduced[j] for j in taken)
    return total + sum(max(0, own) for j, own in enumerate(reduced) if j not in out and j not in taken)


class _Search:
    """Branch and bound: the best choice so far, the rows so far, and the number of leaves."""

    def __init__(self, problem: Packing, more: More | None, max_leaves: int) -> None:
        self.problem, self.more, self.max_leaves = problem, more, max_leaves
        self.rows = list(problem.rows)
        self.best: frozenset[int] = frozenset()
        self.best_value, self.leaves = 0, 0

    def prove(self, out: frozenset[int], taken: frozenset[int]) -> tuple[Proof | None, int]:
        """A proof that no choice without `out` and with `taken` is better than the best one, and the bound;
        None after too many leaves."""
        while True:
            problem = Packing(self.problem.values, tuple(self.rows), self.problem.needs)
            fixed = _fixed(problem, out, taken)
            if fixed is None:
                self.leaves += 1
                return Leaf((), ()), self.best_value
            x, leaf = _relaxed(problem, *fixed)
            chosen = frozenset(j for j in range(len(x)) if x[j] > 0.5)
            chosen = frozenset(j for j in chosen if chosen.issuperset(problem.needs[j]))
            row = self._try(problem, chosen)
            if row is None:
                break
            self.rows.append(row)
        bound = _bound(problem, *fixed, dict(leaf.rows), dict(leaf.needs))
        if bound <= self.best_value:
            self.leaves += 1
            return leaf, bound
        if self.leaves >= self.max_leaves:
            return None, bound
        free = [j for j in range(len(x)) if j not in fixed[0] and j not in fixed[1]]
        # The item furthest from a decision; of decided ones, one that is taken.
        item = max(free, key=lambda j: (min(x[j], 1.0 - x[j]) > 1e-6, min(x[j], 1.0 - x[j]), x[j]))
        first = (fixed[0], fixed[1] | {item}), (fixed[0] | {item}, fixed[1])
        taken_proof, taken_bound = self.prove(*first[0])
        without_proof, without_bound = self.prove(*first[1])
        bound = min(bound, max(taken_bound, without_bound))
        if taken_proof is None or without_proof is None:
            return None, bound
        return Branch(item, without_proof, taken_proof), bound

    def _try(self, problem: Packing, chosen: frozenset[int]) -> Row | None:
        """Keeps a choice if it is the best one so far; returns a row that it breaks, if any."""
        if not problem.holds(chosen):
            chosen = _repaired(problem, chosen)
        row = self.more(chosen) if self.more is not None else None
        if row is None and problem.value(chosen) > self.best_value:
            self.best, self.best_value = chosen, problem.value(chosen)
        return row


def _repaired(problem: Packing, wanted: frozenset[int]) -> frozenset[int]:
    """A choice that holds: the wanted items with what they need, the most valuable first."""
    chosen: frozenset[int] = frozenset()
    for j in sorted(wanted, key=lambda j: -problem.values[j]):
        more = chosen | {j, *problem.needs[j]}
        if problem.holds(more) and problem.value(more) >= problem.value(chosen):
            chosen = more
    return chosen


def _relaxed(problem: Packing, out: frozenset[int], taken: frozenset[int]) -> tuple[Floats, Leaf]:
    """The optimum of the linear relaxation, and its multipliers as integers."""
    free = [j for j in range(len(problem.values)) if j not in out and j not in taken]
    place = {j: at for at, j in enumerate(free)}
    lines: list[tuple[list[int], list[int], float]] = []
    names: list[tuple[int, ...]] = []
    for i, row in enumerate(problem.rows):
        inside = [place[j] for j in row.items if j in place]
        if inside:
            most = row.most - len(taken.intersection(row.items))
            if most < len(inside):
                lines.append((inside, [], float(most)))
                names.append((i,))
    for j in free:
        for k in problem.needs[j]:
            if k in place:
                lines.append(([place[j]], [place[k]], 0.0))
                names.append((j, k))
    x = np.zeros(len(problem.values))
    x[list(taken)] = 1.0
    bounded = set().union(*(plus for plus, minus, _ in lines)) if lines else set()
    for at in set(range(len(free))) - bounded:
        # Nothing holds this item back.
        lines.append(([at], [], 1.0))
        names.append(())
    found, prices = simplex([float(problem.values[j]) for j in free], lines)
    x[free] = found
    whole = np.maximum(np.rint(prices), 0).astype(object)
    rows = tuple((name[0], int(m)) for name, m in zip(names, whole, strict=True) if m and len(name) == 1)
    needs = tuple(
        ((name[0], name[1]), int(m)) for name, m in zip(names, whole, strict=True) if m and len(name) == 2
    )
    return x, Leaf(rows, needs)


def simplex(
    values: Sequence[float], lines: Sequence[tuple[Sequence[int], Sequence[int], float]]
) -> tuple[Floats, Floats]:
    """(x, prices): maximises values . x over x >= 0 with x[plus] - x[minus] <= b >= 0 for each line, in a
    dense table; the prices of the lines are the dual solution. A good answer is not guaranteed.

    >>> simplex([3.0, 2.0], [([0, 1], [], 1.0)])
    (array([1., 0.]), array([3.]))
    """
    n, m = len(values), len(lines)
    scale = max((abs(own) for own in values), default=1.0) or 1.0
    table = np.zeros((m + 1, n + m + 1))
    for i, (plus, minus, b) in enumerate(lines):
        table[i, list(plus)] = 1.0
        table[i, list(minus)] = -1.0
        table[i, n + i] = 1.0
        table[i, -1] = b
    table[m, :n] = np.asarray(values, dtype=np.float64) / scale
    basis = np.arange(n, n + m)
    for pivot in range(_PIVOTS):
        gains = table[m, :-1]
        # Bland's rule, after many pivots, ends every circle.
        candidates = np.flatnonzero(gains > _SMALL)
        if not len(candidates):
            break
        enter = int(candidates[0]) if pivot > 50 * (m + 1) else int(gains.argmax())
        column = table[:m, enter]
        rising = np.flatnonzero(column > _SMALL)
        if not len(rising):
            break
        ratios = table[rising, -1] / column[rising]
        ties = rising[ratios <= ratios.min() + 1e-12]
        leave = int(ties[basis[ties].argmin()])
        table[leave] /= table[leave, enter]
        factors = table[:, enter].copy()
        factors[leave] = 0.0
        touched = np.flatnonzero(factors)
        table[touched] -= np.outer(factors[touched], table[leave])
        basis[leave] = enter
    x = np.zeros(n + m)
    x[basis] = table[:m, -1]
    return x[:n], -table[m, n:-1] * scale
