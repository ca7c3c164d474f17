"""Deterministic finite automata over named symbols: explored from a machine, made minimal, compared.

An automaton reads one symbol at a time. State 0 is the start, `table[s, a]` is the state after symbol a in
state s, or -1 if no accepted word goes on like this, and a word is accepted iff it ends in a `final` state.

A machine is an automaton whose states are found on demand. `explore` lists the states that can be reached, at
most `most` of them. Moore's refinement then merges states with the same future: the classes of

    same future after 0 symbols: both final or both not;   after k + 1: also the same classes after k,
    symbol by symbol

until nothing changes. States are numbered in the order in which they are reached, so two minimal automata
accept the same words iff their arrays are equal.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lcons_core._arithmetic import frozen
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._types import Bools, Ints

MAX_STATES = 2**17


class Machine(Protocol):
    """Reads symbols, given by index; `bound` is the largest number of states that it can have."""

    @property
    def name(self) -> str: ...
    @property
    def bound(self) -> int: ...
    @property
    def start(self) -> Hashable: ...
    def step(self, state: Any, symbol: int) -> Hashable | None:
        """The next state; None if no accepted word goes on like this."""
        ...

    def finals(self, states: Sequence[Any]) -> Bools:
        """(N,) whether a word may end in each state."""
        ...


@dataclass(frozen=True, eq=False)
class Automaton:
    """table (S, L) of next states or -1, final (S,); the symbols by name.

    >>> even = Automaton(("a",), [[1], [0]], [True, False])
    >>> even.accepts(["a", "a"]), even.accepts(["a"])
    (True, False)
    """

    symbols: tuple[str, ...]
    table: Ints
    final: Bools

    def __post_init__(self) -> None:
        table = np.array(self.table, dtype=np.int64).reshape(-1, len(self.symbols))
        final = np.array(self.final, dtype=np.bool_)
        if final.shape != (len(table),) or not len(table) or not ((table >= -1) & (table < len(table))).all():
            raise InvalidInput(
                f"an automaton needs states (S, {len(self.symbols)}) between -1 and S - 1 and S truth values,"
                f" found {table.shape} and {final.shape}."
            )
        object.__setattr__(self, "table", frozen(table))
        object.__setattr__(self, "final", frozen(final))

    def __len__(self) -> int:
        return len(self.table)

    @property
    def empty(self) -> bool:
        """Whether no word is accepted; asked of a minimal automaton."""
        return not self.final.any()

    def accepts(self, word: Iterable[str]) -> bool:
        """Whether a word of symbols, by name, is accepted; an unknown symbol is not."""
        index = {symbol: i for i, symbol in enumerate(self.symbols)}
        state = 0
        for symbol in word:
            if symbol not in index:
                return False
            state = int(self.table[state, index[symbol]])
            if state < 0:
                return False
        return bool(self.final[state])

    def minimal(self) -> Automaton:
        """The automaton with the fewest states that accepts the same words."""
        table = np.where(self._alive()[self.table] & (self.table >= 0), self.table, -1)
        classes, count = self.final.astype(np.int64), 0
        while True:
            following = np.where(table >= 0, classes[table], -1)
            merged = _numbered(np.column_stack([classes, following]))
            if int(merged.max()) + 1 == count:
                break
            classes, count = merged, int(merged.max()) + 1
        first = np.unique(classes, return_index=True)[1]
        merged = np.where(table[first] >= 0, classes[table[first]], -1)
        return _in_order(Automaton(self.symbols, merged, self.final[first]), int(classes[0]))

    def same(self, other: Automaton) -> bool:
        """Whether two minimal automata accept the same words."""
        return (
            self.symbols == other.symbols
            and np.array_equal(self.table, other.table)
            and np.array_equal(self.final, other.final)
        )

    def _alive(self) -> Bools:
        """(S,) the states from which a final state can be reached."""
        alive = self.final.copy()
        while True:
            grown = alive | (alive[self.table] & (self.table >= 0)).any(1)
            if np.array_equal(grown, alive):
                return alive
            alive = grown


def explore(
    machines: Sequence[Machine], symbols: Sequence[str], most: int = MAX_STATES, within: int | None = None
) -> Automaton:
    """The automaton that accepts what every machine accepts, at least of the words of at most `within`
    symbols; raises `TooLarge` above `most` states."""
    start = tuple(machine.start for machine in machines)
    numbers: dict[tuple[Any, ...], int] = {start: 0}
    order, depth = [start], [0]
    rows: list[list[int]] = []
    steps = [machine.step for machine in machines]
    for at, state in enumerate(order):
        row: list[int] = []
        if within is not None and depth[at] >= within:
            rows.append([-1] * len(symbols))
            continue
        for symbol in range(len(symbols)):
            after = []
            for step, own in zip(steps, state, strict=True):
                new = step(own, symbol)
                if new is None:
                    break
                after.append(new)
            if len(after) < len(machines):
                row.append(-1)
                continue
            found = tuple(after)
            if found not in numbers:
                if len(order) == most:
                    raise TooLarge(_too_many(machines, most))
                numbers[found] = len(order)
                order.append(found)
                depth.append(depth[at] + 1)
            row.append(numbers[found])
        rows.append(row)
    final = np.ones(len(order), dtype=np.bool_)
    for machine, own in zip(machines, zip(*order, strict=True), strict=True):
        final &= machine.finals(own)
    return Automaton(tuple(symbols), np.array(rows, dtype=np.int64), final)


def _too_many(machines: Sequence[Machine], most: int) -> str:
    largest = max(machines, key=lambda machine: machine.bound)
    return (
        f"the automaton has more than {most:,} states, the limit: {largest.name} alone can have"
        f" {largest.bound:,}; use fewer labels, a shorter n or a lower bound of counts, or decode under the"
        " constraint instead."
    )


def _numbered(rows: Ints) -> Ints:
    """(N,) one number per distinct row."""
    order = np.lexsort(rows.T)
    changed = np.append(False, (rows[order][1:] != rows[order][:-1]).any(1))
    numbers = np.empty(len(rows), dtype=np.int64)
    numbers[order] = np.cumsum(changed)
    return numbers


def _in_order(automaton: Automaton, start: int) -> Automaton:
    """The states that can be reached from `start`, numbered in the order in which they are reached."""
    order, number = [start], {start: 0}
    for state in order:
        for after in automaton.table[state].tolist():
            if after >= 0 and after not in number:
                number[after] = len(order)
                order.append(after)
    renumbered = np.array([number.get(state, -1) for state in range(len(automaton))] + [-1])
    return Automaton(automaton.symbols, renumbered[automaton.table[order]], automaton.final[order])
