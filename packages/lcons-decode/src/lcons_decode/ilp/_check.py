"""Checks outside the solver: of solutions, all exact, and of constraints that cannot hold together.

A solution is checked for integrality, for the rows of the program and by the constraints' networks. A row
over integral variables is decided without rounding. Rows that encode a constraint are not checked: the
network decides on psi of the decoded structure, independent of the form. Only rows of the program itself that
have continuous variables have a tolerance.

If a program has no solution, a deletion filter finds constraints that clash: it drops one constraint after
the other. If the program is still infeasible without it, the constraint is not needed; if it becomes
feasible, it is needed. The set that is left is irreducible: each of its constraints is needed for the clash.
Two orders are tried and the smaller set is returned; a still smaller one may exist.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from lcons_core import Floats, LconsError, SparsePsi
from lcons_decode.ilp._grounded import Grounded
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Values, holds

FAR_FROM_INTEGRAL = 1e-3
CONTINUOUS_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Check:
    """The hard rows and constraints that a solution breaks, and the costs of its hinges.

    `rejected` and `hinges` are (constraint, psi row) indices; a hinge comes with max(0, -margin).
    """

    broken_rows: tuple[Row, ...]
    rejected: tuple[tuple[int, int], ...]
    hinges: Mapping[tuple[int, int], float]
    psi: tuple[Floats, ...]

    @property
    def accepted(self) -> bool:
        """Whether the solution satisfies every row and every hard constraint."""
        return not self.broken_rows and not self.rejected

    def penalty(self, constraints: Sequence[Grounded]) -> float:
        """The sum of `weight * max(0, -margin)`."""
        return math.fsum((constraints[c].weight or 0.0) * hinge for (c, _), hinge in self.hinges.items())


def rounded(program: Program, values: Mapping[Name, float]) -> dict[Name, float]:
    """The values that are not 0, rounded for integral variables; raises an error if one is far from
    integral."""
    clean: dict[Name, float] = {}
    for name, variable in program.variables.items():
        value = values.get(name, 0.0)
        if variable.type is not Type.CONTINUOUS:
            nearest = float(round(value))
            if abs(nearest - value) > FAR_FROM_INTEGRAL:
                raise LconsError(
                    f"the solver returned {value} for {name!r}, which must be integral; try the other solver."
                )
            value = nearest
        if value:
            clean[name] = value
    return clean


def check(program: Program, constraints: Sequence[Grounded], values: Values) -> Check:
    """What a solution of rounded values breaks; `program` must not contain the rows of any form."""
    broken = tuple(row for row in program.all_rows() if not row_holds(program, row, values))
    rejected: list[tuple[int, int]] = []
    hinges: dict[tuple[int, int], float] = {}
    psis = []
    for c, grounded in enumerate(constraints):
        psi = dense_psi(grounded, values)
        psis.append(psi)
        accepted = verdicts(grounded, psi)
        for i in np.flatnonzero(~accepted).tolist():
            if grounded.weight is None:
                rejected.append((c, i))
            else:
                hinges[c, i] = float(-grounded.network.rational_margin(psi[i]))
    return Check(broken, tuple(rejected), hinges, tuple(psis))


def verdicts(grounded: Grounded, psi: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(N,) the network's verdict on every psi row."""
    return grounded.network.accepts(psi) if len(psi) else np.ones(0, np.bool_)


def dense_psi(grounded: Grounded, values: Values) -> Floats:
    """(N, d) psi of the decoded structure."""
    psi = grounded.psi(values)
    return psi.dense() if isinstance(psi, SparsePsi) else psi


def row_holds(program: Program, row: Row, values: Values) -> bool:
    """Whether a row holds: exactly for integral variables, within a tolerance if some are continuous."""
    present = [(c, values[name]) for name, c in row.terms if name in values]
    if any(program.variables[name].type is Type.CONTINUOUS for name, _ in row.terms):
        difference = math.fsum([*(c * value for c, value in present), -row.rhs])
        scale = CONTINUOUS_TOLERANCE * (1.0 + abs(row.rhs))
        low = -math.inf if row.sense is Sense.AT_MOST else -scale
        high = math.inf if row.sense is Sense.AT_LEAST else scale
        return low <= difference <= high
    if all(value == 1.0 for _, value in present):
        # fsum is correctly rounded, so it has the sign of the exact sum.
        return holds(row.sense, math.fsum([*(c for c, _ in present), -row.rhs]), 0.0)
    exact = sum((Fraction(c) * Fraction(value) for c, value in present), -Fraction(row.rhs))
    return holds(row.sense, float((exact > 0) - (exact < 0)), 0.0)


def no_good(program: Program, values: Values, number: int) -> Row:
    """The row that cuts off one solution: at least one decision or free binary variable differs."""
    for decision, indicators in program.decisions.items():
        if sum(values.get(name, 0.0) for name in indicators.values()) != 1.0:
            raise LconsError(
                f"expected one label for the decision {decision!r}, but the solver returned none or several;"
                " try the other solver."
            )
    labels = program.labels(values)
    chosen = [program.indicator(decision, label) for decision, label in labels.items()]
    terms: list[tuple[Name, float]] = [(name, 1.0) for name in chosen]
    ones = len(chosen)
    for name in program.free:
        if program.variables[name].type is not Type.BINARY:
            raise LconsError(
                f"a solution that the network rejects cannot be cut off: {name!r} is an integer variable;"
                " write it as bits."
            )
        terms.append((name, 1.0 if values.get(name) else -1.0))
        ones += bool(values.get(name))
    return Row(("no good", number), tuple(terms), Sense.AT_MOST, ones - 1.0)


Feasible = Callable[[Program, Sequence[Grounded]], bool | None]


def find_clash(
    program: Program, constraints: Sequence[Grounded], feasible: Feasible
) -> tuple[str, ...] | None:
    """The names of hard constraints and of row groups that clash; () if the program alone has no solution.

    None if `feasible` could not decide in time.
    """
    groups = dict.fromkeys(row.group for row in program.rows if row.group is not None)
    names = [*groups, *(grounded.name for grounded in constraints)]

    def without(dropped: set[str]) -> bool | None:
        rows = tuple(row for row in program.rows if row.group not in dropped)
        kept = [grounded for grounded in constraints if grounded.name not in dropped]
        return feasible(replace(program, rows=rows), kept)

    if without(set(names)) is False:
        return ()
    found = [_irreducible(order, without) for order in (names, names[::-1])]
    known = [clash for clash in found if clash is not None]
    return min(known, key=len) if known else None


def _irreducible(names: Sequence[str], without: Callable[[set[str]], bool | None]) -> tuple[str, ...] | None:
    dropped: set[str] = set()
    for name in names:
        verdict = without({*dropped, name})
        if verdict is None:
            return None
        if not verdict:
            dropped.add(name)
    return tuple(name for name in names if name not in dropped)
