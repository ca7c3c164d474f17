"""The label sequences that satisfy constraints, as the smallest deterministic automaton that accepts them.

Each constraint is a machine that reads a sequence from the left:

| feature | state | a label | a sequence may end |
|---|---|---|---|
| `NgramLabels` | the last n - 1 labels | must be allowed after them by the masks | where STOP is allowed |
| `Existence` | the last n - 1 labels, the n-grams so far | adds an n-gram | where the network accepts them |
| `Counts` | the counts (with spans, the last label, too) | adds one, up to `high` | where it accepts them |
| a length | the number of labels | adds one, up to `longest` | from `shortest` on |

`_explored` lists the states of all machines together that can be reached, and merges those with the same
future (Moore): states are alike after k + 1 labels if they are alike after k, and so are their successors,
label by label. States from which no sequence can be completed are alike with the dead state and leave, so an
automaton has no dead ends. Masks and verdicts are exact.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput, LearnedConstraint, TooLarge, Unsupported, compile_masks
from lcons_core.features import Counts, Existence, NgramLabels

MAX_STATES = 2**17
_TOGETHER = 2**12  # states that are judged at a time
_FREE = "free"  # the state after a label that a constraint on whole sequences does not know: all is allowed
_DEAD = -1


@dataclass(frozen=True, eq=False)
class Automaton:
    """State 0 is the start; table (S, L) has the next state, or -1 if no accepted sequence goes on like this;
    a sequence may end in a state that is final (S,)."""

    labels: tuple[str, ...]
    table: NDArray[np.int64]
    final: NDArray[np.bool_]


@dataclass(frozen=True)
class _Machine:
    """`step(state, label)` returns the next state, or None if no accepted sequence goes on like this."""

    start: Hashable
    step: Callable[[Any, int], Hashable | None]
    ends: Callable[[Sequence[Any]], NDArray[np.bool_]]


def label_automaton(
    constraints: Sequence[LearnedConstraint],
    labels: Sequence[str],
    shortest: int = 0,
    longest: int | None = None,
) -> Automaton:
    """The smallest automaton of the sequences of `labels`, from `shortest` to `longest` of them (None: any
    number), that satisfy all constraints.

    A constraint on whole sequences allows every sequence with a label that it does not know, as in decoding.

    >>> from lcons_core import iob2
    >>> label_automaton([iob2(["B", "I", "O"])], ["B", "I", "O"]).table
    array([[ 1, -1,  0],
           [ 1,  1,  0]])
    """
    if shortest < 0 or (longest is not None and longest < shortest):
        raise InvalidInput(f"lengths must be 0 <= shortest <= longest, found {shortest} and {longest}.")
    machines = [_machine(constraint, labels, longest) for constraint in constraints]
    return _explored([*machines, _length(shortest, longest)], tuple(labels))


def _machine(constraint: LearnedConstraint, labels: Sequence[str], longest: int | None) -> _Machine:
    feature = constraint.feature
    if not isinstance(feature, NgramLabels | Existence | Counts):
        kind = "no feature" if feature is None else f"{feature.kind!r}, which reads more than the labels"
        raise Unsupported(f"expected a constraint on label n-grams, existence or counts, found {kind}.")
    ids = {label: i for i, label in enumerate(feature.labels)}
    known = [ids.get(label, -1) for label in labels]
    if not isinstance(feature, NgramLabels):
        return _tally(constraint, feature, known, longest)
    if -1 in known:
        raise InvalidInput(f"the constraint does not know the label {labels[known.index(-1)]!r}.")
    return _windows(constraint, feature, known)


def _windows(constraint: LearnedConstraint, feature: NgramLabels, known: Sequence[int]) -> _Machine:
    """Every n-gram must be allowed; V - 1 stands before the first label and after the last."""
    V, n = len(feature.labels) + 1, feature.n
    mask = compile_masks(constraint).masks()[0]
    allowed = np.ones((V,) * n, dtype=np.bool_)
    allowed[tuple(map(slice, mask.shape))] = mask
    start = (V - 1,) * (n - 1)

    def step(state: tuple[int, ...], label: int) -> tuple[int, ...] | None:
        window = (*state, known[label])
        return window[1:] if allowed[window] else None

    def ends(states: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
        return np.array([not feature.pad or state == start or allowed[*state, V - 1] for state in states])

    return _Machine(start, step, ends)


def _tally(
    constraint: LearnedConstraint, feature: Existence | Counts, known: Sequence[int], longest: int | None
) -> _Machine:
    """The network must accept psi of the whole sequence. A state is (last labels, the columns of psi that
    matter): those with a weight, and every count that may exceed its bound, where the domain ends."""
    L, exists = len(feature.labels), isinstance(feature, Existence)
    memory = feature.n - 1 if isinstance(feature, Existence) else int(feature.spans)
    high = 1 if isinstance(feature, Existence) else feature.high
    networks = constraint.network.networks()
    used = np.any([(network.W != 0).any(0) for network in networks], axis=0)
    if not networks or not (exists or (longest is not None and longest <= high)):
        used = np.ones(constraint.space.d, dtype=np.bool_)
    columns = np.flatnonzero(used)
    place = {column: i for i, column in enumerate(columns.tolist())}

    def step(state: Any, label: int) -> Any:
        if state == _FREE or known[label] < 0:
            return _FREE
        recent, tally = state
        window = (*recent, known[label])
        after = window[max(0, len(window) - memory) :]
        counted = len(window) > memory if exists else recent != (known[label],)
        at = place.get(reduce(lambda code, digit: code * L + digit, window) if exists else known[label])
        if at is None or not counted or (exists and tally[at]):
            return after, tally
        return None if tally[at] == high else (after, (*tally[:at], tally[at] + 1, *tally[at + 1 :]))

    def ends(states: Sequence[Any]) -> NDArray[np.bool_]:
        verdicts = np.ones(len(states), dtype=np.bool_)
        judged = [i for i, state in enumerate(states) if state != _FREE]
        for first in range(0, len(judged), _TOGETHER):
            chunk = judged[first : first + _TOGETHER]
            psi = np.zeros((len(chunk), constraint.space.d))
            psi[:, columns] = [states[i][1] for i in chunk]
            verdicts[chunk] = constraint.network.accepts(psi)
        return verdicts

    return _Machine(((), (0,) * len(columns)), step, ends)


def _length(shortest: int, longest: int | None) -> _Machine:
    top = shortest if longest is None else longest

    def step(state: int, label: int) -> int | None:
        return state + 1 if state < top else (None if longest is not None else state)

    return _Machine(0, step, lambda states: np.asarray(states) >= shortest)


def _explored(machines: Sequence[_Machine], labels: tuple[str, ...]) -> Automaton:
    """The smallest automaton that accepts what all machines accept."""
    order = [tuple(machine.start for machine in machines)]
    numbers: dict[tuple[Any, ...], int] = {order[0]: 0}
    table: list[list[int]] = []
    for state in order:
        table.append([])
        for label in range(len(labels)):
            after = tuple(machine.step(part, label) for machine, part in zip(machines, state, strict=True))
            if None not in after and after not in numbers:
                numbers[after] = len(order)
                order.append(after)
            table[-1].append(numbers.get(after, _DEAD))
        if len(order) > MAX_STATES:
            raise TooLarge(f"the automaton has more than {MAX_STATES:,} states; use fewer labels or decode.")
    final = np.ones(len(order), dtype=np.bool_)
    for machine, parts in zip(machines, zip(*order, strict=True), strict=True):
        final &= machine.ends(parts)
    return _smallest(labels, np.array(table, dtype=np.int64), final)


def _smallest(labels: tuple[str, ...], table: NDArray[np.int64], final: NDArray[np.bool_]) -> Automaton:
    """States with the same future become one, numbered in the order of their first; the last row of the table
    is the dead state."""
    table, final = np.vstack([table, np.full((1, len(labels)), _DEAD)]), np.append(final, False)
    classes, count = final.astype(np.int64), 0
    while True:
        futures = np.column_stack([classes, classes[table]])
        _, first, classes = np.unique(futures, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        classes = np.argsort(order)[classes.reshape(-1)]
        if len(first) == count:
            break
        count = len(first)
    if classes[0] == classes[-1]:
        raise InvalidInput("no sequence of labels satisfies the constraints; relax them.")
    live = np.arange(count) != classes[-1]
    numbers = np.where(live, np.cumsum(live) - 1, _DEAD)
    states = first[order][live]
    return Automaton(labels, numbers[classes[table[states]]], final[states])
