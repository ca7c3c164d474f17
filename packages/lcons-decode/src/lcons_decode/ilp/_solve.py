"""The best solution of a program under learned constraints, checked outside the solver.

    repeat:  solve;  check the rounded solution exactly
             accepted                      -> done
             rejected, form cuts           -> add the row of S* for each rejected psi row
             rejected, nothing to add      -> add a no-good row over the decisions, and count it

A solver works with tolerances, so its solution may violate a learned row by less than the tolerance; the
network decides on psi of the decoded structure, whatever the form. The program's own rows are decided without
rounding, too, unless they have continuous variables. Only for the claim that no better solution exists is the
solver trusted. The solver breaks ties, not the label order.

INFEASIBLE comes with constraints that clash, found by a deletion filter: it drops one constraint after the
other, and leaves out those without which the program is still infeasible. Each of the set that is left is
needed for the clash; a smaller set may exist.

Paper: Sec. 4 and Appendices B, C decode by integer programs. Not in the paper: the checks, no-good rows,
hinges, clashes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from lcons_core import LconsError, SparsePsi
from lcons_core._theorem import Form, read_form
from lcons_core._types import Floats
from lcons_decode._result import Status, Violation
from lcons_decode.ilp._encode import FORMS, cut, encode, slack_name
from lcons_decode.ilp._ground import Grounded
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Values
from lcons_decode.ilp._solver import Answer, Solver, optimise, read_solver

FAR_FROM_INTEGRAL = 1e-3
SLACK_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Assignment:
    """The label of every decision, the score (with hinges), status, stats; `values` of the free variables.

    `violations` are the hinges with a cost. Without a solution, the labels are empty and the score is -inf;
    if the status is INFEASIBLE, stats["clash"] names the constraints that cannot hold together: () if the
    program alone has no solution, None if the time limit was reached before they were found.
    """

    labels: Mapping[Hashable, str]
    score: float
    status: Status
    stats: Mapping[str, Any] = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()
    values: Mapping[Name, float] = field(default_factory=dict)


def solve(
    program: Program,
    constraints: Sequence[Grounded] = (),
    *,
    form: Form | str = Form.AUTO,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
    explain: bool = True,
) -> Assignment:
    """The best assignment that satisfies every row and every constraint; form: see `_encode.py`.

    >>> from lcons_decode.ilp._program import graph_program
    >>> solve(graph_program({"city": {"Location": 2.0, "Person": 1.0}})).labels
    {'city': 'Location'}
    """
    deadline = None if time_limit is None else time.perf_counter() + time_limit
    search = _Search(read_form(form, FORMS), read_solver(solver), deadline)
    result = search.run(program, constraints)
    if result.status is Status.INFEASIBLE and explain:
        clash = search.clash(program, [grounded for grounded in constraints if grounded.weight is None])
        return replace(result, stats={**result.stats, "clash": clash})
    return result


class Check(NamedTuple):
    """Whether a solution satisfies the program and all hard constraints; the (constraint, psi row) that are
    rejected; the cost max(0, -margin) of hinges; psi of each constraint."""

    accepted: bool
    rejected: list[tuple[int, int]]
    hinges: dict[tuple[int, int], float]
    psi: list[Floats]


def check(program: Program, constraints: Sequence[Grounded], values: Values) -> Check:
    """What a solution of rounded values breaks; `program` must not contain the rows of any form."""
    rejected: list[tuple[int, int]] = []
    hinges: dict[tuple[int, int], float] = {}
    psis = [psi.dense() if isinstance(psi := g.psi(values), SparsePsi) else psi for g in constraints]
    for c, (grounded, psi) in enumerate(zip(constraints, psis, strict=True)):
        accepted = grounded.network.accepts(psi) if len(psi) else np.ones(0, np.bool_)
        for i in np.flatnonzero(~accepted).tolist():
            if grounded.weight is None:
                rejected.append((c, i))
            else:
                hinges[c, i] = float(-grounded.network.rational_margin(psi[i]))
    holds = all(row_holds(program, row, values) for row in program.all_rows())
    return Check(holds and not rejected, rejected, hinges, psis)


def row_holds(program: Program, row: Row, values: Values) -> bool:
    """Whether a row holds at 0/1 values, exactly; a row with continuous variables is left to the solver."""
    if any(program.variables[name].type is Type.CONTINUOUS for name, _ in row.terms):
        return True
    # fsum is correctly rounded, so it has the sign of the exact sum.
    return row.sense.holds(math.fsum([*(c for name, c in row.terms if values.get(name)), -row.rhs]))


def no_good(program: Program, values: Values, number: int) -> Row:
    """The row that cuts off one solution: at least one decision or free binary variable differs."""
    labels = program.labels(values)
    chosen = [program.decisions[decision][label] for decision, label in labels.items()]
    free = [(name, 1.0 if values.get(name) else -1.0) for name in program.free]
    ones = len(chosen) + sum(c > 0 for _, c in free)
    return Row(("no good", number), (*((name, 1.0) for name in chosen), *free), Sense.AT_MOST, ones - 1.0)


def _rounded(program: Program, values: Values) -> dict[Name, float]:
    """The values that are not 0, rounded unless they are continuous."""
    clean: dict[Name, float] = {}
    for name, value in values.items():
        nearest = value if program.variables[name].type is Type.CONTINUOUS else float(round(value))
        if abs(nearest - value) > FAR_FROM_INTEGRAL:
            raise LconsError(f"the solver returned {value} for {name!r}, which is 0 or 1; try the other one.")
        if nearest:
            clean[name] = nearest
    return clean


@dataclass(frozen=True)
class _Search:
    """The loop of solving and checking."""

    form: Form
    solver: Solver
    deadline: float | None

    def run(self, program: Program, constraints: Sequence[Grounded]) -> Assignment:
        """Solves until a solution is accepted, no solution is left, or the time limit is reached."""
        full, forms = encode(program, constraints, self.form)
        added: dict[Name, Row] = {}
        no_goods = rounds = 0
        while True:
            rounds += 1
            answer = optimise(full, list(added.values()), self.solver, self.deadline)
            counts = {"rounds": rounds, "cuts": len(added) - no_goods, "no_goods": no_goods}
            stats: dict[str, Any] = {"forms": forms, **counts, "bound": answer.bound}
            if answer.status is not Status.OPTIMAL and not answer.values:
                return Assignment({}, -math.inf, answer.status, stats)
            values = _rounded(full, answer.values)
            verdict = check(program, constraints, values)
            cuts = {row.name: row for row in self._cuts(constraints, verdict, answer)}
            if not cuts.keys() <= added.keys():
                added |= cuts
            elif not verdict.accepted:
                added["no good", no_goods] = no_good(program, values, no_goods)
                no_goods += 1
            else:
                break
        costs = [(constraints[c].weight or 0.0) * hinge for (c, _), hinge in verdict.hinges.items()]
        score = program.objective({v: x for v, x in values.items() if v in program.variables}) - math.fsum(
            costs
        )
        violations = (Violation(constraints[c].name, constraints[c].positions[i]) for c, i in verdict.hinges)
        free = {name: values.get(name, 0.0) for name in program.free}
        stats = {**stats, "penalty": math.fsum(costs)}
        return Assignment(program.labels(values), score, answer.status, stats, tuple(violations), free)

    def clash(self, program: Program, constraints: Sequence[Grounded]) -> tuple[str, ...] | None:
        """The names of hard constraints and of row groups that clash."""
        flat = {name: replace(variable, objective=0.0) for name, variable in program.variables.items()}

        def status(names: Sequence[str]) -> Status:
            rows = tuple(row for row in program.rows if row.group is None or row.group in names)
            some = [grounded for grounded in constraints if grounded.name in names]
            return self.run(Program(flat, program.decisions, rows), some).status

        groups = dict.fromkeys(row.group for row in program.rows if row.group is not None)
        needed = [*groups, *(grounded.name for grounded in constraints)]
        if status([]) is Status.INFEASIBLE:
            return ()
        for name in needed[::]:
            without = [other for other in needed if other != name]
            outcome = status(without)
            if outcome is Status.INFEASIBLE:
                needed = without
            elif outcome is not Status.OPTIMAL:
                return None
        return tuple(needed)

    def _cuts(self, constraints: Sequence[Grounded], verdict: Check, answer: Answer) -> Iterator[Row]:
        """The rows that rejected psi rows, and hinges that cost more than in the model, break."""
        if self.form is not Form.CUTS:
            return
        for (c, i), hinge in verdict.hinges.items():
            slack = answer.values[slack_name(constraints[c], i)]
            if slack < hinge - SLACK_TOLERANCE * (1.0 + hinge):
                yield cut(constraints[c], i, verdict.psi[c][i])
        for c, i in verdict.rejected:
            yield cut(constraints[c], i, verdict.psi[c][i])
