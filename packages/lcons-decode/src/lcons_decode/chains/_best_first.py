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
from lcons_decode.kernels import Floats, Ints, Layout

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
        levels = lattice._hard_levels() if len(layout.lists.sizes) else None
        if levels is not None and not len(layout.units.weights):
            lattice.levels.extend(levels)
            return lattice
        later: list[Level] = []
        for t in range(len(scores), -1, -1):
            states = lattice._all_states(t) if levels is None else levels[t].states
            later.append(lattice._level(t, states, later[-1] if later else None))
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
        found: Floats = self._through(t, np.array([state]), self.levels[t + 1])[0]
        return found

    @property
    def _size(self) -> int:
        return int((self.scores.L + 1) ** self.layout.m)

    def _hard_levels(self) -> list[Level]:
        from lcons_decode.kernels._compiled import hard_levels

        T = len(self.scores)
        chain = self.layout.chain
        heads, states, values = hard_levels(chain.emission, chain, 0, self.layout.lists)
        spans = [slice(heads[T - t + 1], heads[T - t + 2]) for t in range(T + 1)]
        alive = [(states[own], values[own], values[own] > -np.inf) for own in spans]
        levels = [Level(own[some], ends[some]) for own, ends, some in alive]
        if self.layout.lists.driver[T] < 0:  # the kernel does not list the states before STOP then
            every = self._all_states(T)
            ends = self._ends(every)
            levels[T] = Level(every[ends > -np.inf], ends[ends > -np.inf])
        return levels

    def _all_states(self, t: int) -> Ints:
        """The states that are possible before token t: missing labels are START."""
        L, m = self.scores.L, self.layout.m
        codes = np.zeros(1, dtype=np.int64)
        for i in range(m):
            own = np.array([L]) if i < m - t else np.arange(L)
            codes = (codes[:, None] * (L + 1) + own).reshape(-1)
        return codes

    def _level(self, t: int, states: Ints, later: Level | None) -> Level:
        """Those of the given states that can be completed, computed in blocks: a level may have millions."""
        some = max(1, _MOST // (self.scores.L * (1 + self.layout.units.table.shape[2])))
        parts = [states[first : first + some] for first in range(0, len(states), some)]
        found = [
            self._stops(part) if later is None else self._through(t, part, later).max(1) for part in parts
        ]
        values = np.concatenate([np.zeros(0), *found])
        alive = values > -np.inf
        return Level(states[alive], values[alive])

    def _through(self, t: int, states: Ints, later: Level) -> Floats:
        scores, layout = self.scores, self.layout
        V = scores.L + 1
        grams = states[:, None] * V + np.arange(scores.L)
        onward = scores.emission[t] + later.of(grams % self._size)
        arcs = scores.start if t == 0 else scores.transition[states % V]
        # Added in the same order as in the kernels, so that sums that are equal there are equal here.
        values: Floats = arcs + onward + penalties(grams, t, layout.units, V)
        if len(layout.lists.sizes):
            values[broken(grams, t, layout.lists) > 0] = -np.inf
        return values

    def _stops(self, states: Ints) -> Floats:
        V = self.scores.L + 1
        grams = states * V + V - 1
        values: Floats = self._ends(states) + penalties(grams, len(self.scores), self.layout.units, V)
        return values

    def _ends(self, states: Ints) -> Floats:
        """What follows the states before STOP, without penalties; -inf where that breaks a constraint."""
        V = self.scores.L + 1
        values: Floats = self.scores.stop[states % V]
        if len(self.layout.lists.sizes):
            values[broken(states * V + V - 1, len(self.scores), self.layout.lists) > 0] = -np.inf
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
