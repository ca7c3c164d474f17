"""All labellings of one sequence under local constraints, as paths over states of the last n - 1 labels.

    gain[t](s, l)    the scores of label l in state s at step t, with soft penalties; left out if a hard
                     constraint is broken
    rest[t](s)       = max_l, or log sum exp_l, of gain[t](s, l) + rest[t + 1](s l)

With the maximum, `in_order` searches for labellings, best first: a prefix is tried in the order of its score
and the best score of all that may follow. So it finds each labelling without trying a prefix that leads to
none of those before. Ties come in declared label order, as far as sums of floats are equal.

Not in the paper.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lcons_decode._scores import ChainBatch, ChainScores, X
from lcons_decode.chains._ngrams import broken, penalties
from lcons_decode.chains._windows import ChainConstraints, lay_out
from lcons_decode.kernels._arrays import Floats, Ints, Layout


@dataclass(frozen=True, eq=False)
class Level:
    """The states of a step that have a finite value, ascending, and their values."""

    states: Ints
    values: Floats

    @classmethod
    def of(cls, add: np.ufunc, states: Ints, values: Floats) -> Level:
        """The values of each state, added up by `add`."""
        alive = np.flatnonzero(values > -np.inf)
        order = alive[np.argsort(states[alive], kind="stable")]
        states, values = states[order], values[order]
        firsts = np.flatnonzero(np.diff(states, prepend=-1))
        return cls(states[firsts], add.reduceat(values, firsts) if len(firsts) else values)

    def at(self, states: Ints) -> Floats:
        """The values of any states; -inf for states that are not in this level."""
        if not len(self.states):
            return np.full(states.shape, -np.inf)
        places = np.minimum(np.searchsorted(self.states, states), len(self.states) - 1)
        return np.where(self.states[places] == states, self.values[places], -np.inf)


@dataclass(frozen=True, eq=False)
class Step:
    """Ascending n-grams, state * V + label, with their gains and the penalties that these contain."""

    grams: Ints
    gains: Floats
    penalties: Floats


@dataclass(frozen=True, eq=False)
class Lattice:
    """The steps of a sequence of at least one token, the last one STOP; V: the base of codes; S = V^m."""

    steps: list[Step]
    V: int
    S: int

    @classmethod
    def of(cls, scores: ChainScores, constraints: ChainConstraints, x: X) -> Lattice:
        """The lattice of a sequence."""
        layout = lay_out(ChainBatch.of([scores]), constraints, None if x is None else [x])
        V = scores.L + 1
        return cls([_step(t, scores, layout) for t in range(len(scores) + 1)], V, V**layout.m)

    @property
    def first(self) -> int:
        """The state before the first token: padding alone."""
        return self.S - 1

    def rests(self, add: np.ufunc) -> list[Level]:
        """The values of all that may follow the states of each step; after STOP, 0."""
        levels: list[Level] = []
        for step in reversed(self.steps):
            after = levels[-1].at(step.grams % self.S) if levels else 0.0
            levels.append(Level.of(add, step.grams // self.V, step.gains + after))
        return levels[::-1]

    def penalty(self, ids: Ints) -> float:
        """The sum of the soft penalties of a labelling."""
        state, total = self.first, 0.0
        for step, label in zip(self.steps, [*ids.tolist(), self.V - 1], strict=True):
            gram = state * self.V + label
            total += float(step.penalties[np.searchsorted(step.grams, gram)])
            state = gram % self.S
        return total


def _step(t: int, scores: ChainScores, layout: Layout) -> Step:
    """The n-grams that are possible at a step: those of a list, or else all labels after all states."""
    lists, T, L = layout.lists, len(scores), scores.L
    V, m = L + 1, lists.m
    listed = [
        row for row, size in zip(lists.rows[:, t], lists.sizes, strict=True) if row >= 0 and size == m + 1
    ]
    if listed:
        grams = lists.groups.codes(listed[0], V)
    else:
        grams = _all_grams(tuple(0 <= place < T for place in range(t - m, t + 1)), L)
    before, labels = grams // V % V, grams % V
    if t == T:
        gains = scores.stop[before]
    else:
        arcs = scores.start[labels] if t == 0 else scores.transition[before, labels]
        gains = arcs + scores.emission[t, labels]
    costs = penalties(grams, t, layout.units, V)
    return Step(grams, np.where(broken(grams, t, lists) > 0, -np.inf, gains + costs), costs)


@lru_cache(8)
def _all_grams(inside: tuple[bool, ...], L: int) -> Ints:
    """All n-grams, ascending, with padding at places that are not inside the sequence."""
    codes = np.zeros(1, dtype=np.int64)
    for is_label in inside:
        labels = np.arange(L) if is_label else np.array([L])
        codes = (codes[:, None] * (L + 1) + labels).reshape(-1)
    return codes


def in_order(
    scores: ChainScores, constraints: ChainConstraints, x: X, most: int
) -> Iterator[tuple[tuple[str, ...], float]]:
    """The labellings that break no hard local constraint, best first, with their scores; at most `most`."""
    if not len(scores):
        yield (), 0.0
        return
    lattice = Lattice.of(scores, constraints, x)
    rests = lattice.rests(np.maximum)
    V, S, T = lattice.V, lattice.S, len(scores)
    known: list[dict[int, list[tuple[float, int, float]]]] = [{} for _ in lattice.steps]

    def options(t: int, state: int) -> list[tuple[float, int, float]]:
        """(value of all that follows, label, gain) of the labels in a state, the best first."""
        if state not in known[t]:
            step = lattice.steps[t]
            begin, end = np.searchsorted(step.grams, [state * V, (state + 1) * V])
            grams, gains = step.grams[begin:end], step.gains[begin:end]
            values = gains + (rests[t + 1].at(grams % S) if t < T else 0.0)
            order = np.argsort(-values, kind="stable")
            order = order[values[order] > -np.inf]
            triples = (values[order], grams[order] % V, gains[order])
            known[t][state] = list(zip(*(array.tolist() for array in triples), strict=True))
        return known[t][state]

    # (bound, labels, t, state before step t, rank of the last label there, score before step t); labels are
    # big-endian, so that their bytes are in declared order.
    queue: list[tuple[float, bytes, int, int, int, float]] = []

    def push(labels: bytes, t: int, state: int, rank: int, score: float) -> None:
        choices = options(t, state)
        if rank < len(choices):
            value, label, _ = choices[rank]
            bound = -(score + value)
            heapq.heappush(queue, (bound, labels + label.to_bytes(2, "big"), t, state, rank, score))
            if len(queue) > 2 * most + T:  # each entry leads to a labelling of its own
                queue[:] = heapq.nsmallest(most, queue)

    push(b"", 0, lattice.first, 0, 0.0)
    while queue:
        _, labels, t, state, rank, score = heapq.heappop(queue)
        push(labels[:-2], t, state, rank + 1, score)
        if t == T:
            ids = np.frombuffer(labels, dtype=">u2")[:T].astype(np.int64)
            yield scores.names(ids.tolist()), scores.score_ids(ids) + lattice.penalty(ids)
        else:
            _, label, gain = options(t, state)[rank]
            push(labels, t + 1, (state * V + label) % S, 0, score + gain)


def chain_gains(scores: ChainScores, constraints: ChainConstraints, x: X) -> tuple[Floats, Floats]:
    """(T, S, L) the score of each label after each window of labels, and (S,) that of the end; -inf if a
    local constraint is broken."""
    T, L = len(scores), scores.L
    V, S = L + 1, (L + 1) ** constraints.m
    gains, ending = np.full((T, S, V), -np.inf), np.where(np.arange(S) == S - 1, 0.0, -np.inf)
    if T:
        *steps, last = Lattice.of(scores, constraints, x).steps
        for t, step in enumerate(steps):
            gains[t].reshape(-1)[step.grams] = step.gains
        ending[:] = -np.inf
        ending[last.grams // V] = last.gains
    return gains[..., :L], ending
