"""Constraints on label sequences as machines, which read a sequence from the left and know when it may end.

| feature | state | what a label does | a sequence may end |
|---|---|---|---|
| `NgramLabels` | the last n - 1 labels | must be allowed after them (`_masks.py`) | where STOP is allowed |
| `Existence` | the last n - 1 labels, the n-grams seen | adds an n-gram | where the network accepts the set |
| `Counts` | the counts (with spans, also the last label) | adds one, up to `high` | where it accepts them |
| a number of labels | the length | adds one, up to `longest` | from `shortest` on |

Masks and verdicts are exact, so the machine accepts a sequence iff the constraint is satisfied. A sequence
with a count above `high` is not in the domain of the constraint and is not accepted. Columns of psi that have
no weight are not kept in the state.

A feature that also reads the input (`NgramContext`) has no machine: the labels alone do not decide.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput, Unsupported
from lcons_core._masks import compile_masks
from lcons_core._pointset import PointSet
from lcons_core._types import Bools, Floats
from lcons_core.features._counts import Counts
from lcons_core.features._existence import Existence
from lcons_core.features._ngrams import NgramLabels
from lcons_core.grammars._automaton import Machine

_TOGETHER = 2**22  # numbers of psi that are judged at a time


@dataclass(frozen=True)
class Windows:
    """The last m of V - 1 labels, as digits of a number in base V; the digit V - 1 stands before the
    first."""

    V: int
    m: int

    @property
    def start(self) -> int:
        """No label yet."""
        return self.V**self.m - 1

    @property
    def states(self) -> int:
        """The number of windows that can occur."""
        return sum((self.V - 1) ** i for i in range(self.m + 1))

    def extended(self, window: int, label: int) -> int:
        """The code of the m labels and one more."""
        return window * self.V + label

    def shifted(self, longer: int) -> int:
        """The last m labels of m + 1."""
        return longer % (self.V**self.m)

    def whole(self, longer: int) -> bool:
        """Whether the first of m + 1 places is a label."""
        return longer // self.V**self.m < self.V - 1


@dataclass(frozen=True, eq=False)
class NgramMachine:
    """Every n-gram is allowed. `own[i]` is the label of the constraint that symbol i is."""

    constraint: LearnedConstraint
    own: tuple[int, ...]
    name: str

    @cached_property
    def feature(self) -> NgramLabels:
        """The feature of the constraint."""
        assert isinstance(self.constraint.feature, NgramLabels)
        return self.constraint.feature

    @cached_property
    def windows(self) -> Windows:
        """The last n - 1 labels."""
        return Windows(len(self.feature.labels) + 1, self.feature.n - 1)

    @cached_property
    def allowed(self) -> Bools:
        """(V^n,) by the code of the n-gram; n-grams that have no window are allowed."""
        V, n = self.windows.V, self.feature.n
        mask = compile_masks(self.constraint).masks()[0]
        if self.feature.pad:
            return mask.reshape(-1)
        allowed = np.ones((V,) * n, dtype=np.bool_)
        allowed[(slice(V - 1),) * n] = mask
        return allowed.reshape(-1)

    @property
    def bound(self) -> int:
        """One state per window."""
        return self.windows.states

    @property
    def start(self) -> int:
        """No label yet."""
        return self.windows.start

    def step(self, state: int, symbol: int) -> int | None:
        """The window one label on."""
        longer = self.windows.extended(state, self.own[symbol])
        return self.windows.shifted(longer) if self.allowed[longer] else None

    def finals(self, states: Sequence[int]) -> Bools:
        """Without padding, everywhere. An empty sequence has no window."""
        if not self.feature.pad:
            return np.ones(len(states), dtype=np.bool_)
        given = np.asarray(states, dtype=np.int64)
        stops = given * self.windows.V + self.windows.V - 1
        return self.allowed[stops] | (given == self.start)


@dataclass(frozen=True, eq=False)
class ExistenceMachine:
    """The network accepts the set of n-grams that occur; `own[i]` is -1 for a label that it does not know."""

    constraint: LearnedConstraint
    own: tuple[int, ...]
    name: str

    @cached_property
    def feature(self) -> Existence:
        """The feature of the constraint."""
        assert isinstance(self.constraint.feature, Existence)
        return self.constraint.feature

    @cached_property
    def windows(self) -> Windows:
        """The last n - 1 labels."""
        return Windows(len(self.feature.labels) + 1, self.feature.n - 1)

    @cached_property
    def tracked(self) -> tuple[int, ...]:
        """The columns of psi that matter."""
        return weighted_columns(self.constraint.network)

    @cached_property
    def bits(self) -> dict[int, int]:
        """The bit of each n-gram that matters, by its code in base V."""
        L, n = len(self.feature.labels), self.feature.n
        digits = np.stack(np.unravel_index(np.array(self.tracked, dtype=np.int64), (L,) * n), axis=1)
        codes = digits @ (self.windows.V ** np.arange(n)[::-1])
        return {int(code): 1 << i for i, code in enumerate(codes)}

    @property
    def bound(self) -> int:
        """One state per window and set."""
        return int(self.windows.states * 2 ** len(self.tracked))

    @property
    def start(self) -> tuple[int, int]:
        """No label, no n-gram."""
        return self.windows.start, 0

    def step(self, state: tuple[int, int] | str, symbol: int) -> tuple[int, int] | str:
        """One label on; a label that the constraint does not know leaves nothing to judge."""
        if isinstance(state, str) or self.own[symbol] < 0:
            return FREE
        longer = self.windows.extended(state[0], self.own[symbol])
        return self.windows.shifted(longer), state[1] | self.bits.get(longer, 0)

    def finals(self, states: Sequence[Any]) -> Bools:
        """Where the network accepts the set."""
        return _judged(self, [None if isinstance(state, str) else state[1] for state in states])

    def psi(self, sets: Sequence[int]) -> Floats:
        """(N, d) psi of sets of n-grams."""
        psi = np.zeros((len(sets), self.constraint.space.d))
        for i, column in enumerate(self.tracked):
            psi[:, column] = [seen >> i & 1 for seen in sets]
        return psi


@dataclass(frozen=True, eq=False)
class CountMachine:
    """The network accepts the counts; `own[i]` is -1 for a label that it does not know.

    With `longest` at most `high` no count can exceed it, and labels without weight need no count.
    """

    constraint: LearnedConstraint
    own: tuple[int, ...]
    name: str
    longest: int | None = None

    @cached_property
    def feature(self) -> Counts:
        """The feature of the constraint."""
        assert isinstance(self.constraint.feature, Counts)
        return self.constraint.feature

    @property
    def limited(self) -> bool:
        """Whether a count could exceed `high`."""
        return self.longest is None or self.longest > self.feature.high

    @cached_property
    def tracked(self) -> tuple[int, ...]:
        """The labels that are counted."""
        everything = tuple(range(len(self.feature.labels)))
        return everything if self.limited else weighted_columns(self.constraint.network)

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each counted label in the state."""
        return {label: i for i, label in enumerate(self.tracked)}

    @property
    def bound(self) -> int:
        """One state per vector of counts."""
        last = len(self.feature.labels) + 1 if self.feature.spans else 1
        return int(last * (self.feature.high + 1) ** len(self.tracked))

    @property
    def start(self) -> tuple[int, tuple[int, ...]]:
        """No label yet."""
        return -1, (0,) * len(self.tracked)

    def step(
        self, state: tuple[int, tuple[int, ...]] | str, symbol: int
    ) -> tuple[int, tuple[int, ...]] | str | None:
        """One more of a label, or of its spans."""
        label = self.own[symbol]
        if isinstance(state, str) or label < 0:
            return FREE
        last, counts = state
        after = label if self.feature.spans else -1
        if label not in self.places or (self.feature.spans and last == label):
            return after, counts
        place = self.places[label]
        if counts[place] == self.feature.high:
            return None
        return after, (*counts[:place], counts[place] + 1, *counts[place + 1 :])

    def finals(self, states: Sequence[Any]) -> Bools:
        """Where the network accepts the counts."""
        return _judged(self, [None if isinstance(state, str) else state[1] for state in states])

    def psi(self, counts: Sequence[tuple[int, ...]]) -> Floats:
        """(N, d) psi of vectors of counts."""
        psi = np.zeros((len(counts), self.constraint.space.d))
        if self.tracked:
            psi[:, list(self.tracked)] = np.array(counts)
        return psi


@dataclass(frozen=True)
class LengthMachine:
    """At least `shortest` and at most `longest` labels."""

    shortest: int
    longest: int | None
    name: str = "the number of labels"

    @property
    def most(self) -> int:
        """The largest length that is told from longer ones."""
        return self.shortest if self.longest is None else self.longest

    @property
    def bound(self) -> int:
        """One state per length."""
        return self.most + 1

    @property
    def start(self) -> int:
        """No label yet."""
        return 0

    def step(self, state: int, symbol: int) -> int | None:
        """One more label."""
        return state + 1 if state < self.most else (None if self.longest is not None else state)

    def finals(self, states: Sequence[int]) -> Bools:
        """From `shortest` on."""
        return np.asarray(states) >= self.shortest


FREE = "free"
Global = ExistenceMachine | CountMachine


def label_machine(
    constraint: LearnedConstraint, labels: Sequence[str], name: str = "", longest: int | None = None
) -> Machine:
    """The machine of one constraint over sequences of `labels`; raises `Unsupported` if it has none.

    A label that a constraint on whole sequences does not know makes every sequence with it satisfy the
    constraint, as in decoding.
    """
    feature = constraint.feature
    kind = "no feature" if feature is None else f"a feature of kind {feature.kind!r}"
    shown = name or "the constraint"
    if feature is not None and feature.context_column is not None:
        raise Unsupported(
            f"{shown} reads {feature.context_column!r} of the input, which a sequence of labels does not"
            " contain, so no grammar of labels has its set; decode under it instead."
        )
    if not isinstance(feature, NgramLabels | Existence | Counts):
        raise Unsupported(
            f"{shown} has {kind}, and a grammar of label sequences needs label n-grams, existence or counts"
            " (tuples and fields are written as JSON)."
        )
    ids = {label: i for i, label in enumerate(feature.labels)}
    own = tuple(ids.get(label, -1) for label in labels)
    title = f"{shown} ({feature.kind})" if name else f"the constraint of kind {feature.kind!r}"
    if isinstance(feature, Existence):
        return ExistenceMachine(constraint, own, title)
    if isinstance(feature, Counts):
        return CountMachine(constraint, own, title, longest)
    if -1 in own:
        raise InvalidInput(
            f"{shown} does not know the label {labels[own.index(-1)]!r}; pass constraints on the same labels."
        )
    return NgramMachine(constraint, own, title)


def weighted_columns(points: PointSet) -> tuple[int, ...]:
    """The columns of psi that some network of the set gives a weight; all, if the set has only rows."""
    used = np.zeros(points.d, dtype=np.bool_)
    if not points.networks():
        return tuple(range(points.d))
    for network in points.networks():
        used |= (network.W != 0).any(0)
    return tuple(np.flatnonzero(used).tolist())


def _judged(machine: Global, states: Sequence[Any]) -> Bools:
    """(N,) the verdicts on the distinct states; a state that is None is free."""
    distinct = [state for state in dict.fromkeys(states) if state is not None]
    verdicts: dict[Any, bool] = {None: True}
    step = max(1, _TOGETHER // machine.constraint.space.d)
    for first in range(0, len(distinct), step):
        chunk = distinct[first : first + step]
        accepted: Bools = machine.constraint.network.accepts(machine.psi(chunk))
        verdicts.update(zip(chunk, accepted.tolist(), strict=True))
    return np.array([verdicts[state] for state in states], dtype=np.bool_)
