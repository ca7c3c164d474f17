"""All labellings of one sequence with their weights, summed backwards over an automaton.

    p(y) = exp(score(y) + soft penalties) / Z   over the labellings that break no hard constraint

A state is (the last labels, the state of the automaton of the global constraints): `label_automaton` of
lcons_core makes existence and counts a finite automaton. With g_t(s, l) the score of label l in state s at
position t, and f(s, l) the state after it,

    B_T(s) = stop score, or -inf if a constraint is broken
    B_t(s) = log sum_l exp(g_t(s, l) + B_{t+1}(f(s, l)))

so Z = exp(B_0(start)), and p(y_t = l | y_1 .. y_{t-1}) = exp(g_t(s, l) + B_{t+1}(f(s, l)) - B_t(s)): labels
drawn one after the other from this are draws of p, up to the rounding of float64. Masking what is forbidden
next is another distribution: it ignores how much of p lies behind each label.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core import InvalidInput, TooLarge, Unsupported
from lcons_decode._constraints import Constraint
from lcons_decode._scores import ChainScores, Floats, Ints, X, checked_scores
from lcons_decode.chains._marginals import chain_gains, log_sum
from lcons_decode.chains._windows import ChainConstraints

MAX_NUMBERS = 2**26
State = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class LabelLattice:
    """gains (T, S, L) of each label after each window; `after` (S, L) and `table` (A, L) the next window
    and automaton state; sums (T + 1, S, A) of all that follows, in logarithms."""

    labels: tuple[str, ...]
    gains: Floats
    after: Ints
    table: Ints
    sums: Floats
    start: State

    @classmethod
    def of(
        cls,
        scores: ChainScores,
        constraints: Iterable[Constraint] | ChainConstraints = (),
        x: X = None,
    ) -> LabelLattice:
        """The lattice of a sequence; soft constraints must be local.

        >>> lattice = LabelLattice.of(ChainScores([[0.0, 0.0]], labels=["A", "B"]))
        >>> f"{lattice.log_probability(['A']):.4f}"
        '-0.6931'
        """
        labels = checked_scores(scores).labels
        compiled = ChainConstraints.of(constraints, labels)
        if compiled.named.global_soft:
            raise Unsupported(
                f"{compiled.named.global_soft[0].name!r} is a soft constraint on whole sequences, which a"
                " lattice does not have; use it as a hard one, or decode with `constrained_viterbi`."
            )
        T, L = len(scores), scores.L
        automaton = compiled.global_automaton(T)
        if automaton is None:
            table, final = np.zeros((1, L), dtype=np.int64), np.ones(1, dtype=np.bool_)
        else:
            table, final = automaton.table, automaton.final
        V, m = L + 1, compiled.m
        S = V**m
        numbers = T * S * L + (T + 1) * S * len(table)
        if numbers > MAX_NUMBERS:
            raise TooLarge(
                f"a lattice of {T} tokens, {S:,} windows and {len(table):,} states of global constraints"
                f" has {numbers:,} numbers, above the limit of {MAX_NUMBERS:,}; use fewer labels or a"
                " smaller n."
            )
        gains, ending = chain_gains(scores, compiled, x)
        grams = np.arange(S)[:, None] * V + np.arange(L)
        after = grams % S
        sums = np.empty((T + 1, S, len(table)))
        sums[T] = np.where(final, 0.0, -np.inf)[None] + ending[:, None]
        for t in range(T - 1, -1, -1):
            following = np.where(table >= 0, sums[t + 1][after[:, None, :], table[None]], -np.inf)
            sums[t] = log_sum(gains[t][:, None, :] + following, axis=2)
        return cls(labels, gains, after, table, sums, (0, S - 1, 0))

    def __len__(self) -> int:
        return len(self.gains)

    @property
    def log_partition(self) -> float:
        """log Z; -inf if no labelling satisfies the constraints."""
        return float(self.sums[self.start])

    def step(self, state: State, label: int) -> State:
        """The state after a label, given by index."""
        t, window, own = state
        return t + 1, int(self.after[window, label]), int(self.table[own, label])

    def gain(self, state: State) -> Floats:
        """(L,) the score of each next label; -inf for a label after which no labelling satisfies the
        constraints."""
        t, window, _ = state
        return np.where(self._behind(state) > -np.inf, self.gains[t, window], -np.inf)

    def probability(self, state: State) -> Floats:
        """(L,) the probability of each next label."""
        t, window, own = state
        found: Floats = np.exp(self.gains[t, window] + self._behind(state) - self.sums[t, window, own])
        return found

    def _behind(self, state: State) -> Floats:
        """(L,) the sum of all that follows each next label."""
        t, window, own = state
        following = self.sums[t + 1, self.after[window], self.table[own]]
        behind: Floats = np.where(self.table[own] >= 0, following, -np.inf)
        return behind

    def log_probability(self, y: Sequence[str]) -> float:
        """log p(y), by name; -inf if y breaks a hard constraint."""
        if len(y) != len(self):
            raise InvalidInput(f"expected one label for each of {len(self)} tokens, found {len(y)} labels.")
        index = {label: i for i, label in enumerate(self.labels)}
        unknown = [label for label in y if label not in index]
        if unknown:
            raise InvalidInput(
                f"unknown label {unknown[0]!r}; the lattice has {', '.join(self.labels[:12])}."
            )
        state, total = self.start, 0.0
        for label in (index[name] for name in y):
            total += float(self.gain(state)[label])
            if total == -np.inf:
                return total
            state = self.step(state, label)
        return total + float(self.sums[state]) - self.log_partition

    def sample(self, count: int, rng: np.random.Generator) -> Ints:
        """(count, T) label indices of independent draws of p."""
        if self.log_partition == -np.inf:
            raise InvalidInput(
                "no labelling satisfies the constraints, so there is none to draw; relax them."
            )
        drawn = np.zeros((count, len(self)), dtype=np.int64)
        states: dict[State, Ints] = {self.start: np.arange(count)}
        for t in range(len(self)):
            following: dict[State, list[Ints]] = {}
            for state in sorted(states):
                rows = states[state]
                edges = np.cumsum(self.probability(state))
                chosen = np.searchsorted(edges, rng.random(len(rows)) * edges[-1], side="right")
                drawn[rows, t] = chosen
                for label in np.unique(chosen).tolist():
                    following.setdefault(self.step(state, label), []).append(rows[chosen == label])
            states = {state: np.concatenate(pieces) for state, pieces in following.items()}
        return drawn


def sample(
    scores: ChainScores,
    constraints: Iterable[Constraint] | ChainConstraints = (),
    x: X = None,
    *,
    count: int = 1,
    seed: int = 0,
) -> list[tuple[str, ...]]:
    """Independent draws of p(y) = exp(score(y) + soft penalties) / Z over the labellings that satisfy the
    hard ones.

    >>> from lcons_core import iob2
    >>> scores = ChainScores([[0.0, 0.0, 0.0]] * 3, labels=["B", "I", "O"])
    >>> sample(scores, [iob2(["B", "I", "O"])], count=2)
    [('O', 'B', 'O'), ('B', 'B', 'O')]
    """
    lattice = LabelLattice.of(scores, constraints, x)
    rows = lattice.sample(count, np.random.default_rng(seed))
    return [tuple(lattice.labels[label] for label in row) for row in rows.tolist()]
