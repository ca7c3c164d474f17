"""Views of a layout for code that is not a kernel: what a step breaks and costs, for arrays of n-grams.

The best score from every state of a chain on: what search needs to know before it begins.

    value[t, state] = max_label  arc + (emission[t, label] + value[t + 1, next state]) + soft penalties

over the labels that break no hard local constraint. States without a finite value are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_decode._scores import ChainBatch, ChainScores, Floats, Ints
from lcons_decode.chains._windows import ChainConstraints, Layout, X, lay_out
from lcons_decode.kernels import _plain as plain
from lcons_decode.kernels import backend


def broken(grams: Ints, step: int, layout: Layout) -> Ints:
    """How many hard constraints do not allow each n-gram at a step."""
    return plain.broken(grams, step, layout.lists)


def penalties(grams: Ints, step: int, layout: Layout) -> Any:
    """The soft penalties of each n-gram at a step."""
    return plain.penalties(grams, step, layout.units, layout.lists.V)


def labelling_penalty(ids: Ints, layout: Layout) -> float:
    """The soft penalties of all windows of a labelling (T,), the first sequence of a layout."""
    units, padding = layout.units, layout.lists.V - 1
    if not len(units.weights):
        return 0.0
    steps = len(ids) + 1
    padded = np.concatenate([np.full(layout.m, padding), ids, [padding]])
    activations = units.given[:steps].copy()
    for i, table in enumerate(units.table):
        activations += table[padded[i : i + steps]]
    margins = plain.margins(activations, units.ends)
    total = 0.0
    for c, weight in enumerate(units.weights):
        own = margins[:, units.owners == c].min(-1)[units.present[:steps, c]]
        total -= float(weight) * float(np.logaddexp(0.0, -own).sum())
    return total


# About so many numbers are made of n-grams at a time.
_MOST = 2**20


@dataclass(frozen=True, eq=False)
class Level:
    """The states of one step from which a labelling can go on, ascending, with the best score from each."""

    states: Ints
    values: Floats

    def of(self, states: Ints) -> Floats:
        """The values of any states; -inf for those that are not there."""
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
    def of(cls, scores: ChainScores, compiled: ChainConstraints, x: X = None) -> Lattice:
        """The lattice with all its values."""
        layout = lay_out(ChainBatch.of([scores]), compiled, None if x is None else [x])
        lattice = cls(scores, layout, [])
        levels = lattice._hard_levels() if compiled.hard else None
        if levels is not None and not compiled.soft:
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
        """The state before the first token: padding alone."""
        return self._size - 1

    @property
    def possible(self) -> bool:
        """Whether any labelling has a finite score and breaks nothing."""
        return bool(self.levels[0].of(np.array([self.first]))[0] > -np.inf)

    def after(self, state: int, label: int) -> int:
        """The state that a label leads to."""
        return (state * (self.scores.L + 1) + label) % self._size

    def through(self, t: int, state: int) -> Floats:
        """(L,) the best score from a state on with each label at position t; -inf where there is none."""
        found: Floats = self._through(t, np.array([state]), self.levels[t + 1])[0]
        return found

    @property
    def _size(self) -> int:
        return int((self.scores.L + 1) ** self.layout.m)

    def _hard_levels(self) -> list[Level]:
        T = len(self.scores)
        kernel = backend().hard_levels
        heads, states, values = kernel(self.scores.emission, self.layout.chain, 0, self.layout.lists)
        spans = [slice(heads[T - t + 1], heads[T - t + 2]) for t in range(T + 1)]
        return [Level(states[own], values[own]) for own in spans]

    def _all_states(self, t: int) -> Ints:
        """The states that may stand before token t: as many START as there are labels missing."""
        L, m = self.scores.L, self.layout.m
        codes = np.zeros(1, dtype=np.int64)
        for i in range(m):
            own = np.array([L]) if i < m - t else np.arange(L)
            codes = (codes[:, None] * (L + 1) + own).reshape(-1)
        return codes

    def _level(self, t: int, states: Ints, later: Level | None) -> Level:
        """The states that go on, of those given, some at a time: a level may have millions."""
        some = max(1, _MOST // (self.scores.L * (1 + self.layout.units.given.shape[1])))
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
        # Added up as the kernels do, so that what is equal there is equal here.
        values: Floats = arcs + onward + penalties(grams, t, layout)
        if len(layout.lists.sizes):
            values[broken(grams, t, layout) > 0] = -np.inf
        return values

    def _stops(self, states: Ints) -> Floats:
        T, V = len(self.scores), self.scores.L + 1
        grams = states * V + V - 1
        values: Floats = self.scores.stop[states % V] + penalties(grams, T, self.layout)
        if len(self.layout.lists.sizes):
            values[broken(grams, T, self.layout) > 0] = -np.inf
        return values
