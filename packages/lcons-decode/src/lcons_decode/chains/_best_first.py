"""Labellings in order of score, best first, under local constraints, as detours from the best one.

First the best score from every state of a chain to the end is computed,

    value[t, state] = max_label  arc + (emission[t, label] + value[t + 1, next state]) + soft penalties

over the labels that break no hard local constraint; states without a finite value are left out. A detour
takes another label than the best continuation at one position, and these values state its cost. A labelling
is the best one with a list of detours:

    score(y) = best score - sum of the costs of its detours

It is stored as its last detour and a reference to the labelling without this detour, so memory does not
depend on its length. The detours on the best continuation of a state form a heap that shares all but a few
entries with the heap of the next state (Eppstein, Finding the k shortest paths, 1998). Detours and heaps are
made only for states on a labelling that was returned. Ties come in declared label order, as far as sums of
floats are equal.

Not in the paper.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lcons_decode._scores import ChainScores
from lcons_decode.chains._ngrams import broken, context_activations, costs, margins, penalties
from lcons_decode.kernels._arrays import Floats, Ints, Layout

# About this many numbers are computed for n-grams at a time.
_MOST = 2**20


def in_order(scores: ChainScores, layout: Layout) -> Iterator[tuple[tuple[str, ...], float]]:
    """All labellings that break no hard local constraint, best first, with their scores; there must be at
    least one token, and `layout` must hold only these scores."""
    lattice = Lattice.of(scores, layout)
    if not lattice.possible:
        return
    detours = _Detours(lattice)
    queue = [_Labelling()]
    while queue:
        found = heapq.heappop(queue)
        ids = detours.labels(found)
        yield scores.names(ids.tolist()), scores.score_ids(ids) + _penalty(ids, layout)
        for following in detours.after(found):
            heapq.heappush(queue, following)


def _penalty(ids: Ints, layout: Layout) -> float:
    """The sum of the soft penalties of a labelling (T,) of the first sequence of a layout."""
    units, padding = layout.units, layout.lists.V - 1
    if not len(units.weights):
        return 0.0
    steps = len(ids) + 1
    padded = np.concatenate([np.full(layout.m, padding), ids, [padding]])
    rows = units.rows[:, :steps]
    activations = context_activations(units, rows)
    for i, table in enumerate(units.table):
        activations += table[padded[i : i + steps]]
    by_part = margins(activations, units.ends)
    total = 0.0
    for c, weight in enumerate(units.weights):
        own = by_part[:, units.owners == c].min(-1)[rows[c] >= 0]
        total += float(weight) * float(costs(own, units.hinges[c]).sum())
    return total


@dataclass(frozen=True, eq=False)
class Level:
    """The states of one step from which a labelling can be completed, ascending, with the best score from
    each."""

    states: Ints
    values: Floats

    @classmethod
    def best(cls, states: Ints, values: Floats) -> Level:
        """The best value of each state; the states ascend, and may be repeated."""
        firsts = np.flatnonzero(np.diff(states, prepend=-1))
        return cls(states[firsts], np.maximum.reduceat(values, firsts) if len(firsts) else values)

    def of(self, states: Ints) -> Floats:
        """The values of any states; -inf for states that are not in this level."""
        if not len(self.states):
            return np.full(states.shape, -np.inf)
        at = np.minimum(np.searchsorted(self.states, states), len(self.states) - 1)
        return np.where(self.states[at] == states, self.values[at], -np.inf)


@dataclass(frozen=True, eq=False)
class Lattice:
    """A chain of at least one token under local constraints; levels[t] is before token t, the last one
    before STOP."""

    scores: ChainScores
    layout: Layout
    levels: list[Level]

    @classmethod
    def of(cls, scores: ChainScores, layout: Layout) -> Lattice:
        """The lattice with all its values; `layout` must hold only these scores."""
        lattice = cls(scores, layout, [])
        later: list[Level] = []
        for t in range(len(scores), -1, -1):
            later.append(lattice._level(t, later[-1] if later else None))
        lattice.levels.extend(reversed(later))
        return lattice

    @property
    def first(self) -> int:
        """The state before the first token: only padding."""
        return self._size - 1

    @property
    def possible(self) -> bool:
        """Whether any labelling has a finite score and breaks no constraint."""
        return bool(self.levels[0].of(np.array([self.first]))[0] > -np.inf)

    def after(self, state: int, label: int) -> int:
        """The state that a label leads to."""
        return (state * (self.scores.L + 1) + label) % self._size

    def through(self, t: int, state: int) -> Floats:
        """(L,) the best score from a state to the end with each label at position t; -inf if impossible."""
        L = self.scores.L
        return self._values(t, state * (L + 1) + np.arange(L), self.levels[t + 1])

    @property
    def _size(self) -> int:
        return int((self.scores.L + 1) ** self.layout.m)

    def _level(self, t: int, later: Level | None) -> Level:
        """The states before step t from which a labelling can be completed; computed in blocks, because there
        may be millions."""
        levels = []
        lists = self.layout.lists
        judged = len(lists.sizes) == 1 and lists.driver[t] >= 0  # the list of n-grams is the only constraint
        for grams in self._grams(t):
            values = self._values(t, grams, later, judged)
            alive = values > -np.inf
            levels.append(Level.best(grams[alive] // (self.scores.L + 1), values[alive]))
        states = np.concatenate([np.zeros(0, dtype=np.int64), *(level.states for level in levels)])
        return Level.best(states, np.concatenate([np.zeros(0), *(level.values for level in levels)]))

    def _grams(self, t: int) -> Iterator[Ints]:
        """Ascending n-grams at step t, in blocks; with all that are possible there: those of a list, or else
        all labels after all states. Labels that are missing before the sequence are START."""
        lists, T, L, m = self.layout.lists, len(self.scores), self.scores.L, self.layout.m
        V, row = L + 1, lists.driver[t] if len(lists.sizes) else -1
        most = max(1, _MOST // (1 + self.layout.units.table.shape[2]))
        if row >= 0:
            codes = lists.groups.codes(row, V)
            codes = codes[(codes // V % V == L) == (t == 0)]
            yield from (codes[first : first + most] for first in range(0, len(codes), most))
            return
        states = np.zeros(1, dtype=np.int64)
        for i in range(m):
            labels = np.array([L]) if i < m - t else np.arange(L)
            states = (states[:, None] * V + labels).reshape(-1)
        labels = np.arange(L) if t < T else np.array([L])
        some = max(1, most // L)
        for first in range(0, len(states), some):
            yield (states[first : first + some, None] * V + labels).reshape(-1)

    def _values(self, t: int, grams: Ints, later: Level | None, judged: bool = False) -> Floats:
        """The best score from each n-gram at step t, the last label included, to the end; -inf if that breaks
        a constraint, unless they are `judged` already. Without a later level, the last label is STOP."""
        scores, layout = self.scores, self.layout
        V = scores.L + 1
        before, labels = grams // V % V, grams % V
        values: Floats
        if later is None:
            values = scores.stop[before]
        else:
            arcs = scores.start[labels] if t == 0 else scores.transition[before, labels]
            # Added in the same order as in the kernels, so that sums that are equal there are equal here.
            values = arcs + (scores.emission[t, labels] + later.of(grams % self._size))
        values = values + penalties(grams, t, layout.units, V)
        if len(layout.lists.sizes) and not judged:
            alive = np.flatnonzero(values > -np.inf)
            values[alive[broken(grams[alive], t, layout.lists) > 0]] = -np.inf
        return values


@dataclass(frozen=True, eq=False, slots=True)
class _Place:
    """A position and the state before it: the best label, and the other labels with their costs, cheapest
    first."""

    t: int
    state: int
    best: int
    labels: Ints
    costs: Floats

    def rank(self, i: int) -> tuple[int, int, int]:
        """The rank of detour i among labellings that differ only in it, in declared label order; the
        labelling without it has (1, 0, 0)."""
        label = int(self.labels[i])
        return (0, self.t, label) if label < self.best else (2, -self.t, label)


_NO_DETOUR = (1, 0, 0)


class _Heap(NamedTuple):
    """An immutable leftist heap: `first` is the cheapest detour at a place, `height` the height of the right
    side."""

    first: tuple[float, tuple[int, int, int]]
    place: _Place
    height: int
    left: _Heap | None
    right: _Heap | None


def _merged(a: _Heap | None, b: _Heap | None) -> _Heap | None:
    if a is None or b is None:
        return b if a is None else a
    if b.first < a.first:
        a, b = b, a
    left, right = a.left, _merged(a.right, b)
    if left is None or (right is not None and left.height < right.height):
        left, right = right, left
    return _Heap(a.first, a.place, 1 if right is None else right.height + 1, left, right)


class _Labelling:
    """`before` with one more detour, label i of a place; the best labelling has no detour and is its own
    `before`."""

    __slots__ = ("before", "cost", "depth", "heap", "i")

    def __init__(self, before: _Labelling | None = None, heap: _Heap | None = None, i: int = 0) -> None:
        self.before: _Labelling = self if before is None else before
        self.heap, self.i = heap, i
        self.depth, self.cost = 0, 0.0
        if before is not None and heap is not None:
            self.depth = before.depth + 1
            self.cost = before.cost + float(heap.place.costs[i])

    def __lt__(self, other: _Labelling) -> bool:
        if self.cost != other.cost:
            return self.cost < other.cost
        # Equal costs: the first detour that they do not share decides.
        a, b = self, other
        first = second = _NO_DETOUR
        while a is not b:
            further = a.depth - b.depth
            if further >= 0:
                first, a = a.rank(), a.before
            if further <= 0:
                second, b = b.rank(), b.before
        return first < second

    def rank(self) -> tuple[int, int, int]:
        """The rank of the last detour among others."""
        return _NO_DETOUR if self.heap is None else self.heap.place.rank(self.i)


class _Detours:
    """The detours of a lattice, computed on demand."""

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._T = len(lattice.scores)
        self._places: list[dict[int, _Place]] = [{} for _ in range(self._T)]
        self._heaps: list[dict[int, _Heap | None]] = [{} for _ in range(self._T)]
        self._best = np.zeros(self._T, dtype=np.int64)
        self._best_states = np.zeros(self._T, dtype=np.int64)
        state = lattice.first
        for t in range(self._T):
            self._best[t], self._best_states[t] = self._place(t, state).best, state
            state = lattice.after(state, int(self._best[t]))

    def labels(self, labelling: _Labelling) -> Ints:
        """(T,) label indices."""
        chain: list[tuple[_Place, int]] = []
        while labelling.heap is not None:
            chain.append((labelling.heap.place, labelling.i))
            labelling = labelling.before
        ids = self._best.copy()
        ends = [*(place.t for place, _ in chain[-2::-1]), self._T]
        for (place, i), end in zip(reversed(chain), ends, strict=False):
            ids[place.t] = place.labels[i]
            state = self._lattice.after(place.state, int(ids[place.t]))
            # From here the best continuation follows; it soon joins that of the best labelling again.
            t = place.t + 1
            while t < end and state != self._best_states[t]:
                ids[t] = self._place(t, state).best
                state = self._lattice.after(state, int(ids[t]))
                t += 1
        return ids

    def after(self, found: _Labelling) -> Iterator[_Labelling]:
        """The successors of a labelling: those whose last detour is replaced by the next ones in its heap or
        at its place, and the one with the cheapest further detour. None costs less than the labelling, and
        each has only one predecessor."""
        heap, i = found.heap, found.i
        if heap is None:
            t, state = 0, self._lattice.first
        else:
            place = heap.place
            t, state = place.t + 1, self._lattice.after(place.state, int(place.labels[i]))
            if i == 0:
                for other in (heap.left, heap.right):
                    if other is not None:
                        yield _Labelling(found.before, other)
            if i + 1 < len(place.labels):
                yield _Labelling(found.before, heap, i + 1)
        onward = self._heap(t, state)
        if onward is not None:
            yield _Labelling(found, onward)

    def _place(self, t: int, state: int) -> _Place:
        found = self._places[t].get(state)
        if found is None:
            values = self._lattice.through(t, state)
            best = int(values.argmax())
            costs = values[best] - values
            order = np.argsort(costs, kind="stable")
            order = order[(costs[order] < np.inf) & (order != best)]
            found = self._places[t][state] = _Place(t, state, best, order, costs[order])
        return found

    def _heap(self, t: int, state: int) -> _Heap | None:
        """The detours on the best continuation of a state."""
        new: list[_Place] = []
        while t < self._T and state not in self._heaps[t]:
            place = self._place(t, state)
            new.append(place)
            t, state = t + 1, self._lattice.after(state, place.best)
        heap = self._heaps[t][state] if t < self._T else None
        for place in reversed(new):
            if len(place.labels):
                first = (float(place.costs[0]), place.rank(0))
                heap = _merged(_Heap(first, place, 1, None, None), heap)
            self._heaps[place.t][place.state] = heap
        return heap
