"""Registers for what a sequence has had so far: bits of n-grams seen, and counts.

An automaton needs one state per set of n-grams seen, or per vector of counts. With registers, one state per
window is enough: a label changes registers, and a condition on them decides whether it may come next. Over
the finite domain of the registers,

    alive[q] = final[q]  or, for some label,  alive[q after the label] at the registers after the label

is the table of the registers from which a sequence can still be completed. A label is allowed where the
table after it holds, so no allowed prefix is a dead end. Tables are written as conditions by their boxes
(`_records.py`).

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from lcons_core._errors import TooLarge
from lcons_core._types import Bools, Ints
from lcons_core.grammars._automaton import Automaton, Machine, explore
from lcons_core.grammars._label_machines import (
    CountMachine,
    ExistenceMachine,
    Global,
    LengthMachine,
    Windows,
)
from lcons_core.grammars._records import Diagram

BITS = 64
MAX_CELLS = 2**16
MAX_TABLES = 2**22
MAX_CONDITION = 2**8


@dataclass(frozen=True)
class Field:
    """Bits first .. last - 1 of the parameter, which hold 0 .. high."""

    first: int
    high: int

    @property
    def last(self) -> int:
        """The bit after the field."""
        return self.first + self.high.bit_length()


@dataclass(frozen=True)
class Arc:
    """After `label`, the state `after`: fields that grow by one, bits that are set, the condition (None:
    always)."""

    label: int
    after: int
    grown: tuple[Field, ...]
    bits: int
    condition: str | None


@dataclass(frozen=True, eq=False)
class Registers:
    """States of local constraints (`control`), with `fields` for the others; window[q] are the last labels
    in q."""

    control: Automaton
    windows: Windows
    window: tuple[int, ...]
    machines: tuple[Global | LengthMachine, ...]
    fields: tuple[tuple[Field, ...], ...]

    @classmethod
    def of(cls, machines: Sequence[Machine], symbols: Sequence[str]) -> Registers | None:
        """Registers for the constraints on whole sequences; None if there are none, or too many for a
        parameter."""
        counted = tuple(
            machine
            for machine in machines
            if isinstance(machine, ExistenceMachine | CountMachine)
            or (isinstance(machine, LengthMachine) and machine.longest is not None)
        )
        if not any(isinstance(machine, ExistenceMachine | CountMachine) for machine in counted):
            return None
        fields, first = [], 0
        for machine in counted:
            own = []
            for high in _highs(machine):
                own.append(Field(first, high))
                first = own[-1].last
            fields.append(tuple(own))
        shape = [field.high + 1 for own in fields for field in own]
        if first > BITS or int(np.prod(shape, dtype=object)) > MAX_CELLS:
            return None
        windows = Windows(len(symbols) + 1, max(map(_memory, counted)))
        local = [machine for machine in machines if machine not in counted]
        if windows.m:
            control = explore([*local, _WindowMachine(windows)], symbols)
        else:
            control = explore(local, symbols).minimal()
        if len(control) * len(symbols) * int(np.prod(shape)) > MAX_TABLES:
            return None
        return cls(control, windows, _last_labels(control, windows), counted, tuple(fields))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each field."""
        return tuple(field.high + 1 for own in self.fields for field in own)

    @cached_property
    def final(self) -> Bools:
        """(S, cells) whether a sequence may end in a state, at each value of the registers."""
        cells: Bools = np.ones(self.shape, dtype=np.bool_)
        axis = 0
        for machine, own in zip(self.machines, self.fields, strict=True):
            table = _verdicts(machine, [field.high + 1 for field in own])
            rest = len(self.shape) - axis - len(own)
            cells = cells & table.reshape((1,) * axis + table.shape + (1,) * rest)
            axis += len(own)
        return self.control.final[:, None] & cells.reshape(1, -1)

    @cached_property
    def alive(self) -> Bools:
        """(S, cells) whether a sequence can be completed."""
        alive = self.final
        while True:
            grown = alive.copy()
            for state, label, after in self._steps:
                where = self.updates(state, label)[2]
                grown[state] |= alive[after][where] & (where >= 0)
            if np.array_equal(grown, alive):
                return alive
            alive = grown

    @cached_property
    def met(self) -> Bools:
        """(S, cells) the registers that a sequence that can be completed may have in a state."""
        met = np.zeros_like(self.final)
        met[0, 0] = self.alive[0, 0]
        while True:
            grown = met.copy()
            for state, label, after in self._steps:
                where = self.updates(state, label)[2]
                reached = where[met[state] & (where >= 0)]
                grown[after, reached] |= self.alive[after, reached]
            if np.array_equal(grown, met):
                return met
            met = grown

    @cached_property
    def _steps(self) -> list[tuple[int, int, int]]:
        table = self.control.table
        return [(int(s), int(a), int(table[s, a])) for s, a in np.argwhere(table >= 0)]

    def updates(self, state: int, label: int) -> tuple[tuple[Field, ...], int, Ints]:
        """(fields that grow, bits that are set, (cells,) the cell after each cell, or -1 past a bound)."""
        longer = self.windows.extended(self.window[state], label)
        key = longer if self.windows.m else label
        if key not in self._updates:
            self._updates[key] = self._update(longer, label)
        return self._updates[key]

    @cached_property
    def _updates(self) -> dict[int, tuple[tuple[Field, ...], int, Ints]]:
        return {}

    def _update(self, longer: int, label: int) -> tuple[tuple[Field, ...], int, Ints]:
        values = np.indices(self.shape).reshape(len(self.shape), -1)
        grown, bits, possible = [], 0, np.ones(values.shape[1], dtype=np.bool_)
        for machine, axis, own in self._placed():
            for i in _changed(machine, self.windows, longer, label):
                if isinstance(machine, ExistenceMachine):
                    bits |= 1 << own[i].first
                    values[axis + i] = 1
                else:
                    grown.append(own[i])
                    values[axis + i] += 1
                    possible &= values[axis + i] <= own[i].high
        strides = np.cumprod([1, *self.shape[:0:-1]])[::-1]
        return tuple(grown), bits, np.where(possible, strides @ values, -1)

    def _placed(self) -> list[tuple[Global | LengthMachine, int, tuple[Field, ...]]]:
        first = np.cumsum([0, *map(len, self.fields)]).tolist()
        return list(zip(self.machines, first, self.fields, strict=False))

    def arcs(self, state: int) -> list[Arc]:
        """The labels that may come next in a state, with their conditions."""
        found = []
        for own, label, after in self._steps:
            if own != state:
                continue
            grown, bits, where = self.updates(state, label)
            allowed = self.alive[after][where] & (where >= 0)
            if (allowed & self.met[state]).any():
                found.append(Arc(label, after, grown, bits, self.condition(allowed, self.met[state])))
        return found

    def ending(self, state: int) -> tuple[bool, str | None]:
        """Whether a sequence may end in a state, and on which condition."""
        final = self.final[state] & self.met[state]
        return bool(final.any()), self.condition(self.final[state], self.met[state])

    def condition(self, table: Bools, care: Bools) -> str | None:
        """The condition of a table (cells,) that need hold only where `care`; None if it always holds there.

        A field that is not needed to tell the cells apart is left out first.
        """
        holds, fails = (table & care).reshape(self.shape), (~table & care).reshape(self.shape)
        if not fails.any():
            return None
        for axis in range(len(self.shape)):
            fewer: Bools = np.any(holds, axis, keepdims=True)
            others: Bools = np.any(fails, axis, keepdims=True)
            if not (fewer & others).any():
                holds, fails = fewer, others
        found = []
        for cells, negated in ((holds, False), (~fails, False), (fails, True), (~holds, True)):
            try:
                text = self._any_of(Diagram.of(cells).boxes(MAX_CONDITION), cells.shape)
            except TooLarge:
                continue
            found.append(f"not({text})" if negated else text)
        if not found:
            raise TooLarge(f"a condition has more than {MAX_CONDITION:,} boxes.")
        return min(found, key=len)

    def _any_of(self, boxes: list[tuple[tuple[int, ...], ...]], shape: tuple[int, ...]) -> str:
        fields = [field for own in self.fields for field in own]
        bits = [isinstance(machine, ExistenceMachine) for machine, _, own in self._placed() for _ in own]
        return _joined("or", [_box_text(box, shape, fields, bits) for box in boxes])


def _box_text(
    box: tuple[tuple[int, ...], ...], shape: Sequence[int], fields: Sequence[Field], bits: Sequence[bool]
) -> str:
    parts = []
    for values, size, field, bit in zip(box, shape, fields, bits, strict=True):
        if len(values) == size:
            continue
        if bit:
            parts.append(f"bit_{'set' if values[0] else 'clear'}({field.first})")
            continue
        where = f"[{field.first}:{field.last}]"
        breaks = np.flatnonzero(np.diff(values) > 1) + 1
        runs = [(int(run[0]), int(run[-1])) for run in np.split(np.array(values), breaks)]
        parts.append(_joined("or", [_run_text(where, low, high, field) for low, high in runs]))
    return _joined("and", parts) if parts else "true"


def _run_text(where: str, low: int, high: int, field: Field) -> str:
    if low == high:
        return f"eq({where}, {low})"
    if low == 0:
        return f"le({where}, {high})"
    above = f"ge({where}, {low})"
    return above if high == field.high else f"and({above}, le({where}, {high}))"


def _joined(operation: str, parts: Sequence[str]) -> str:
    """`operation` of two, nested in halves so that it is not deep."""
    if len(parts) <= 1:
        return parts[0] if parts else "not(true)"
    half = len(parts) // 2
    return f"{operation}({_joined(operation, parts[:half])}, {_joined(operation, parts[half:])})"


def _highs(machine: Global | LengthMachine) -> list[int]:
    if isinstance(machine, LengthMachine):
        return [max(1, machine.most)]
    return [machine.feature.high if isinstance(machine, CountMachine) else 1] * len(machine.tracked)


def _memory(machine: Global | LengthMachine) -> int:
    """The number of past labels on which a change of the registers depends."""
    if isinstance(machine, ExistenceMachine):
        return machine.windows.m
    return int(isinstance(machine, CountMachine) and machine.feature.spans)


def _changed(machine: Global | LengthMachine, windows: Windows, longer: int, label: int) -> list[int]:
    """The fields of a machine that change, by place."""
    if isinstance(machine, LengthMachine):
        return [0]
    if isinstance(machine, CountMachine):
        own = machine.own[label]
        before = longer // windows.V % windows.V if windows.m else windows.V - 1
        if own not in machine.places or (machine.feature.spans and before == label):
            return []
        return [machine.places[own]]
    V, n = windows.V, machine.windows.m + 1
    digits = [longer // V**i % V for i in reversed(range(n))]
    if V - 1 in digits:
        return []
    code = reduce(lambda total, digit: total * machine.windows.V + machine.own[digit], digits, 0)
    return [machine.bits[code].bit_length() - 1] if code in machine.bits else []


def _verdicts(machine: Global | LengthMachine, shape: Sequence[int]) -> Bools:
    """The verdict of a machine at each value of its registers."""
    if isinstance(machine, LengthMachine):
        lengths = np.arange(shape[0])
        return (lengths >= machine.shortest) & (lengths <= machine.most)
    values = np.indices(shape).reshape(len(shape), int(np.prod(shape)))
    psi = np.zeros((values.shape[1], machine.constraint.space.d))
    psi[:, list(machine.tracked)] = values.T
    return machine.constraint.network.accepts(psi).reshape(shape)


def _last_labels(control: Automaton, windows: Windows) -> tuple[int, ...]:
    """The last labels in each state; one window per state, because the control reads them."""
    found = {0: windows.start}
    order = [0]
    for state in order:
        for label, after in enumerate(control.table[state].tolist()):
            if after >= 0 and after not in found:
                found[after] = windows.shifted(windows.extended(found[state], label)) if windows.m else 0
                order.append(after)
    return tuple(found[state] if windows.m else 0 for state in range(len(control)))


@dataclass(frozen=True)
class _WindowMachine:
    """Accepts everything, and has one state per window."""

    windows: Windows
    name: str = "the last labels"

    @property
    def bound(self) -> int:
        return self.windows.states

    @property
    def start(self) -> int:
        return self.windows.start

    def step(self, state: int, symbol: int) -> int:
        return self.windows.shifted(self.windows.extended(state, symbol))

    def finals(self, states: Sequence[int]) -> Bools:
        return np.ones(len(states), dtype=np.bool_)
