"""Labellings in order of score, best first, under local constraints, as detours from the best one.

The best score from every state on is known (`lattice`), so it is known what it costs to leave the best
continuation at a position for another label: a detour. A labelling is its detours from the best one,

    score(y) = best score - sum of what its detours cost,

and is kept as its last detour and the labelling without that, whatever its length. The detours on the
best continuation of a state are a heap that shares all but a few entries with the heap of the next state
(Eppstein, Finding the k shortest paths, 1998). Both are made only for states that a labelling came through.
Ties come in declared label order, as far as sums of floats show them.

Not in the paper.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from lcons_core._errors import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._result import Decoding, Status
from lcons_decode._scores import ChainScores, Floats, Ints, checked_scores
from lcons_decode.chains._lattice import Lattice, labelling_penalty
from lcons_decode.chains._windows import ChainConstraints, X


def nbest(
    scores: ChainScores, count: int, constraints: Iterable[Constraint] | ChainConstraints = (), x: X = None
) -> list[Decoding]:
    """The `count` best labellings that break no hard local constraint, best first; fewer where there are
    fewer.

    Global constraints do not change the order; what breaks them is named.

    >>> scores = ChainScores([[1.0, 0.0], [0.0, 2.0]], labels=["B", "I"])
    >>> [(found.y, found.score) for found in nbest(scores, 2)]
    [(('B', 'I'), 3.0), (('I', 'I'), 2.0)]
    """
    if not isinstance(count, int) or count < 1:
        raise InvalidInput(f"expected how many labellings to give, 1 or more, found {count!r}; pass an int.")
    compiled = ChainConstraints.of(constraints, checked_scores(scores).labels)
    found = islice(in_order(scores, compiled, x), count)
    return [
        Decoding(y, score, Status.OPTIMAL, {"rank": rank}, compiled.global_violations(y, x))
        for rank, (y, score) in enumerate(found, start=1)
    ]


def in_order(
    scores: ChainScores, compiled: ChainConstraints, x: X = None
) -> Iterator[tuple[tuple[str, ...], float]]:
    """All labellings that break no hard local constraint, best first, with their scores."""
    if not len(scores):
        yield (), 0.0
        return
    lattice = Lattice.of(scores, compiled, x)
    if not lattice.possible:
        return
    detours = _Detours(lattice)
    queue = [_Labelling()]
    while queue:
        found = heapq.heappop(queue)
        ids = detours.labels(found)
        yield scores.names(ids.tolist()), scores.score_ids(ids) + labelling_penalty(ids, lattice.layout)
        for following in detours.after(found):
            heapq.heappush(queue, following)


@dataclass(frozen=True, eq=False, slots=True)
class _Place:
    """A position and a state before it: the best label, and the others with what they cost, cheapest
    first."""

    t: int
    state: int
    best: int
    labels: Ints
    costs: Floats

    def rank(self, i: int) -> tuple[int, int, int]:
        """Where detour i belongs among labellings that differ in it alone, in declared label order; the one
        without it has (1, 0, 0)."""
        label = int(self.labels[i])
        return (0, self.t, label) if label < self.best else (2, -self.t, label)


_NO_DETOUR = (1, 0, 0)


class _Heap(NamedTuple):
    """A leftist heap that is never changed: `first` is the cheapest detour at a place, `height` that of the
    right."""

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
    """`before` with one more detour, label i of a place; the best labelling has no detour and is before
    itself."""

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
        # Of equal cost: they part at the first detour that they do not share.
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
        """Where the last detour belongs among others."""
        return _NO_DETOUR if self.heap is None else self.heap.place.rank(self.i)


class _Detours:
    """The detours of a lattice, found as they are asked for."""

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
            # From here the best continuation goes on, which soon is that of the best labelling again.
            t = place.t + 1
            while t < end and state != self._best_states[t]:
                ids[t] = self._place(t, state).best
                state = self._lattice.after(state, int(ids[t]))
                t += 1
        return ids

    def after(self, found: _Labelling) -> Iterator[_Labelling]:
        """The labellings that are next to a labelling: those with another last detour that is next to
        it, or with one more, the cheapest. None costs less, and each is next to one only."""
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
