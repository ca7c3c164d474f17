"""A program in python-mip, solved by CBC (the default) or HiGHS.

The gap is 0 and tolerances are as small as the solvers allow. The caller must check what the tolerances still
let through (`_solve.py`). Every call builds a new `mip.Model`: if CBC (mip 2.0.0) solves a model again after
rows were added, it sometimes calls solutions optimal that break an equation. Its preprocessing rarely does
the same, so it is off. If an answer breaks a row by more than a tolerance, it is rejected and the program is
solved again without the solver's cuts. mip is imported only here, when a program is solved.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from lcons_core import InvalidInput, LconsError, MissingExtra
from lcons_decode._result import Status
from lcons_decode.ilp._program import Name, Program, Row, Type

TOLERANCE = 1e-9
BELIEVABLE = 1e-5


class Solver(StrEnum):
    """The solvers that are used through python-mip."""

    CBC = "cbc"
    HIGHS = "highs"


@dataclass(frozen=True)
class Answer:
    """OPTIMAL, TIME_LIMIT or INFEASIBLE; the values, not rounded (empty: no solution), and the bound."""

    status: Status
    values: Mapping[Name, float] = field(default_factory=dict)
    bound: float = math.inf


def read_solver(solver: Solver | str) -> Solver:
    """The solver of that name; raises an error if it is not installed."""
    if not isinstance(solver, str) or solver.lower() not in tuple(Solver):
        raise InvalidInput(f"the solver must be one of {', '.join(Solver)}, found {solver!r}.")
    for package, extra in (("mip", "ilp"), ("highspy", "highs")):
        if (package == "mip" or solver.lower() == Solver.HIGHS) and find_spec(package) is None:
            raise MissingExtra(f'{package} is not installed; run: pip install "lcons-decode[{extra}]".')
    return Solver(solver.lower())


def optimise(program: Program, extra: Sequence[Row], solver: Solver, deadline: float | None) -> Answer:
    """The answer of a solver to a program with extra rows; rows without terms are decided here."""
    rows = [*program.all_rows(), *extra]
    if not all(row.terms or row.sense.holds(-row.rhs) for row in rows):
        return Answer(Status.INFEASIBLE)
    if not program.variables:
        return Answer(Status.OPTIMAL, {}, 0.0)
    rows = [row for row in rows if row.terms]
    for careful in (False, True):
        seconds = math.inf if deadline is None else deadline - time.perf_counter()
        if seconds <= 0:
            return Answer(Status.TIME_LIMIT)
        answer = _answer(program, rows, solver, seconds, careful)
        if not answer.values or all(_believable(row, answer.values) for row in rows):
            return answer
    raise LconsError(f"the answer of {solver} breaks the program's rows; try the other solver.")


def _believable(row: Row, values: Mapping[Name, float]) -> bool:
    """Whether a row holds within a tolerance."""
    products = [c * values[name] for name, c in row.terms]
    size = 1.0 + abs(row.rhs) + sum(map(abs, products))
    return row.sense.holds(sum(products) - row.rhs, BELIEVABLE * size)


def _answer(program: Program, rows: Sequence[Row], solver: Solver, seconds: float, careful: bool) -> Answer:
    mip = import_module("mip")
    model = mip.Model(sense=mip.MAXIMIZE, solver_name=solver.upper())
    _set_tolerances(model, solver)
    if careful:
        model.cuts = 0
    variables = {}
    for i, v in enumerate(program.variables.values()):
        kind = mip.BINARY if v.type is Type.BINARY else mip.CONTINUOUS
        variables[v.name] = model.add_var(f"x{i}", v.low, v.high, v.objective, kind)
    if all(v.type is not Type.BINARY for v in program.variables.values()):
        model.add_var("integer", 0, 0, 0, mip.BINARY)  # without integers, CBC prints what it finds infeasible
    for row in rows:
        members, coefficients = zip(*((variables[name], c) for name, c in row.terms), strict=True)
        model.add_constr(mip.LinExpr(list(members), list(coefficients), -row.rhs, row.sense[0]))
    outcome = model.optimize(max_seconds=seconds).name
    if outcome in ("INFEASIBLE", "INT_INFEASIBLE"):
        return Answer(Status.INFEASIBLE)
    if outcome in ("NO_SOLUTION_FOUND", "TRUNCATED"):
        return Answer(Status.TIME_LIMIT)
    if outcome not in ("OPTIMAL", "FEASIBLE"):
        raise LconsError(f"{solver} ended with the status {outcome}; try the other solver.")
    status = Status.OPTIMAL if outcome == "OPTIMAL" else Status.TIME_LIMIT
    values = {name: variable.x for name, variable in variables.items()}
    return Answer(status, values, float(model.objective_bound))


def _set_tolerances(model: Any, solver: Solver) -> None:
    model.verbose = 0
    model.threads = 1  # the same answer every run
    model.max_mip_gap = model.max_mip_gap_abs = 0.0
    model.integer_tol = model.infeas_tol = model.opt_tol = TOLERANCE
    if solver is Solver.CBC:
        model.preprocess = 0
        # The least improvement of a new solution: CBC's default is a guess that is sometimes too large.
        import_module("mip.cbc").cbc_set_parameter(model.solver, "increment", "1e-9")
    else:
        for option in ("mip_feasibility_tolerance", "primal_feasibility_tolerance"):
            model.solver._set_double_option_value(option, TOLERANCE)
