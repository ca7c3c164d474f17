"""The labellings of one sequence that satisfy constraints: what may follow, and its penalty.

A state is (position, the last labels, the state of the automaton of the constraints on whole sequences). With
f(s, l) the state after label l in state s, the states that can be completed are

    C_T = the states in which a sequence may end
    C_t = the states s with a label l that is allowed after s, and f(s, l) in C_{t+1}

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcons_contrib.llm._automaton import Automaton, label_automaton
from lcons_core import InvalidInput, TooLarge, Unsupported
from lcons_core.features import Counts
from lcons_decode import ChainConstraints, ChainScores
from lcons_decode._scores import X
from lcons_decode.chains._lattice import chain_gains

MAX_NUMBERS = 2**26

Floats = NDArray[np.float64]
State = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class LabelLattice:
    """gains (T, S, L) of each label after each window, with soft penalties, and ending (S,) that of the end;
    -inf if a local constraint is broken. `complete` (T + 1, S, A) says from which states a sequence can be
    completed."""

    automaton: Automaton
    gains: Floats
    ending: Floats
    complete: NDArray[np.bool_]

    @classmethod
    def of(cls, T: int, constraints: ChainConstraints, x: X) -> LabelLattice:
        """The lattice of a sequence of T tokens; soft constraints must be local."""
        named, labels = constraints.named, constraints.labels
        if named.global_soft:
            raise Unsupported(f"{named.global_soft[0].name!r} is soft and on whole sequences; make it hard.")
        whole = [use.constraint for use in named.global_hard]
        counted = any(isinstance(constraint.feature, Counts) for constraint in whole)
        automaton = label_automaton(whole, labels, longest=T if counted else None)
        table, L = automaton.table, len(labels)
        S = (L + 1) ** constraints.m
        numbers = T * S * L + (T + 1) * S * len(table)
        if numbers > MAX_NUMBERS:
            raise TooLarge(f"{numbers:,} numbers are above the limit of {MAX_NUMBERS:,}; use a smaller n.")
        gains, ending = chain_gains(ChainScores(np.zeros((T, L)), labels=labels), constraints, x)
        after = (np.arange(S)[:, None] * (L + 1) + np.arange(L)) % S
        complete = np.empty((T + 1, S, len(table)), dtype=np.bool_)
        complete[T] = automaton.final & (ending > -np.inf)[:, None]
        for t in range(T - 1, -1, -1):
            following = complete[t + 1][after[:, None, :], table[None]] & (table >= 0)
            complete[t] = (following & (gains[t] > -np.inf)[:, None, :]).any(2)
        lattice = cls(automaton, gains, ending, complete)
        if not complete[lattice.start]:
            raise InvalidInput(f"no labelling of {T} tokens satisfies the constraints; relax them.")
        return lattice

    @property
    def start(self) -> State:
        """Before the first label."""
        return 0, self.gains.shape[1] - 1, 0

    def step(self, state: State, label: int) -> State:
        """The state after a label, given by index."""
        t, window, place = state
        _, S, L = self.gains.shape
        return t + 1, (window * (L + 1) + label) % S, int(self.automaton.table[place, label])

    def following(self, state: State) -> dict[int, float]:
        """The labels after which a labelling can be completed, with their penalties; the penalty of the end
        belongs to the last label."""
        t, window, place = state
        penalties = {}
        for label in np.flatnonzero(self.automaton.table[place] >= 0).tolist():
            after = self.step(state, label)
            if self.complete[after] and self.gains[t, window, label] > -np.inf:
                end = self.ending[after[1]] if t + 1 == len(self.gains) else 0.0
                penalties[label] = float(self.gains[t, window, label] + end)
        return penalties
