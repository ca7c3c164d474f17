"""The best solutions of a program without rows, in order.

Without rows, the parts of a program (its decisions and its other variables) are independent. The best
solution has the best option of each part; another one costs what its options are behind the best ones, in
sum. With the parts in the order of their second options, solutions of rising cost come from a heap: each has
at most three successors,

    the next option of its last changed part
    also the second option of the next part
    the second option of the next part instead of that of the last

so that every solution is reached once, from one that is not worse.

Not in the paper.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice

import numpy as np

from lcons_core import Floats
from lcons_decode.ilp._grounded import Grounded
from lcons_decode.ilp._program import Name, Program, Type, Variable
from lcons_decode.kernels import Ints

Option = Mapping[Name, float]


def best_of_parts(program: Program) -> dict[Name, float] | None:
    """The best solution of a program without rows, part by part; None if it has rows or no best solution.

    >>> from lcons_decode.ilp import graph_program
    >>> best_of_parts(graph_program({"city": {"Location": 2.0, "Person": 1.0}}))
    {('city', 'Location'): 1.0}
    """
    if program.rows:
        return None
    values: dict[Name, float] = {}
    owned = set()
    for labels in program.decisions.values():
        owned |= set(labels.values())
        possible = _possible(program, labels.values())
        if not possible:
            return None
        values[max(possible, key=lambda variable: variable.objective).name] = 1.0
    for variable in program.variables.values():
        end = variable.high if variable.objective > 0 else variable.low
        if variable.name not in owned:
            if not end.is_integer() and (math.isinf(end) or variable.type is not Type.CONTINUOUS):
                return None
            values[variable.name] = end
    return {name: value for name, value in values.items() if value}


def _possible(program: Program, names: Iterable[Name]) -> list[Variable]:
    """The labels of a decision that bounds allow: if they require one, that one."""
    open_ones = [program.variables[name] for name in names if program.variables[name].high > 0]
    required = [variable for variable in open_ones if variable.low > 0]
    return open_ones if not required else required if len(required) == 1 else []


def best_accepted(
    program: Program,
    constraints: Sequence[Grounded],
    best: Mapping[Name, float],
    rejected: Sequence[tuple[int, int]],
    most: int,
) -> dict[Name, float] | None:
    """The best solution that all constraints accept, if it is among the `most` that come after the `best`,
    which some psi rows (constraint, row) have `rejected`; None also where the parts or the constraints are
    not simple enough."""
    linear = all(own.weight is None and not own.variables and not own.rows for own in constraints)
    parts = _parts(program, best) if linear else None
    if parts is None:
        return None
    place = {name: i for i, name in enumerate(program.variables)}
    found = list(islice(_changes(parts), most))
    X = np.zeros((len(found), len(place)))
    X[:, [place[name] for name in best]] = list(best.values())
    for x, changes in zip(X, found, strict=True):
        for name, value in changes.items():
            x[place[name]] = value
    accepted = _accepted(constraints, rejected, X, place)
    if not len(accepted):
        return None
    # Sums of floats may be out of order by their rounding.
    solutions = [{**best, **found[i]} for i in accepted.tolist()]
    chosen = max(solutions, key=program.objective)
    return {name: value for name, value in chosen.items() if value}


def _parts(program: Program, best: Mapping[Name, float]) -> list[list[tuple[float, Option]]] | None:
    """The options of each part that has several: what they cost, and how they change the best solution."""
    parts: list[list[tuple[float, Option]]] = []
    owned = set()
    for labels in program.decisions.values():
        owned |= set(labels.values())
        possible = _possible(program, labels.values())
        (held,) = (name for name in labels.values() if name in best)
        top = program.variables[held].objective
        others = sorted((v for v in possible if v.name != held), key=lambda v: -v.objective)
        parts.append([(0.0, {}), *((top - v.objective, {held: 0.0, v.name: 1.0}) for v in others)])
    for variable in program.variables.values():
        if variable.name in owned or variable.low == variable.high:
            continue
        if variable.type is not Type.BINARY or (variable.low, variable.high) != (0.0, 1.0):
            return None
        other = 0.0 if variable.name in best else 1.0
        parts.append([(0.0, {}), (abs(variable.objective), {variable.name: other})])
    return sorted((part for part in parts if len(part) > 1), key=lambda part: part[1][0])


def _changes(parts: Sequence[Sequence[tuple[float, Option]]]) -> Iterator[dict[Name, float]]:
    """How all solutions but the best differ from it, in the order of their costs."""
    order = count()
    heap: list[tuple[float, int, tuple[tuple[int, int], ...]]] = []

    def push(before: float, kept: tuple[tuple[int, int], ...], part: int, option: int) -> None:
        heapq.heappush(heap, (before + parts[part][option][0], next(order), (*kept, (part, option))))

    if parts:
        push(0.0, (), 0, 1)
    while heap:
        cost, _, chosen = heapq.heappop(heap)
        yield {name: value for p, o in chosen for name, value in parts[p][o][1].items()}
        *kept, (part, option) = chosen
        before = cost - parts[part][option][0]
        if option + 1 < len(parts[part]):
            push(before, tuple(kept), part, option + 1)
        if part + 1 < len(parts):
            push(cost, chosen, part + 1, 1)
            if option == 1:
                push(before, tuple(kept), part + 1, 1)


def _accepted(
    constraints: Sequence[Grounded], first: Sequence[tuple[int, int]], X: Floats, place: Mapping[Name, int]
) -> Ints:
    """The indices of the solutions (n, variables) that all constraints accept; psi rows (constraint, row)
    that come `first` are those that reject most."""
    left = np.arange(len(X))
    every = ((c, i) for c, grounded in enumerate(constraints) for i in range(len(grounded.psi_rows)))
    for c, i in dict.fromkeys([*first, *every]):
        network, row = constraints[c].network, constraints[c].psi_rows[i]
        terms = [(place[name], j, weight) for j, own in row.columns.items() for name, weight in own]
        used, own_places = np.unique([at for at, _, _ in terms], return_inverse=True)
        linear = np.zeros((len(used), network.d))
        columns = np.array([j for _, j, _ in terms], dtype=np.intp)
        np.add.at(linear, (own_places, columns), [weight for _, _, weight in terms])
        constant = np.zeros(network.d)
        constant[list(row.constant)] = list(row.constant.values())
        left = left[network.accepts(X[np.ix_(left, used.astype(np.intp))] @ linear + constant)]
        if not len(left):
            break
    return left
