"""A program in python-mip, solved by CBC (the default) or HiGHS.

The gap is 0 and tolerances are as small as the solvers allow. The caller must check what the tolerances still
let through (`_check.py`). Rows can be added and the program solved again; there are no callbacks. mip is
imported only here, when a model is made.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lcons_core import InvalidInput, LconsError, MissingExtra
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, holds

TOLERANCE = 1e-9
BELIEVABLE = 1e-5
HIGHS_VERSION = (1, 15, 1)


class Solver(StrEnum):
    """The solvers that are used through python-mip."""

    CBC = "cbc"
    HIGHS = "highs"


class Found(StrEnum):
    """The outcome that a solver reports."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Answer:
    """The outcome of a solver, its values (not rounded; empty without a solution) and its bound."""

    found: Found
    values: Mapping[Name, float] = field(default_factory=dict)
    bound: float = math.inf


class MipModel:
    """A program and the rows added to it, for python-mip; rows without terms are decided here.

    Every `optimise` builds a new `mip.Model`: if CBC (mip 2.0.0) solves a model again after rows were added,
    it sometimes calls solutions optimal that break an equation. Its preprocessing rarely does the same, so it
    is off. If an answer breaks a row by more than a tolerance, it is rejected and the program is solved again
    without the solver's cuts.
    """

    def __init__(self, program: Program, solver: Solver | str = Solver.CBC) -> None:
        self.solver = read_solver(solver)
        self._mip = check_solver(self.solver)
        self._program = program
        self._rows: list[Row] = []
        self._impossible = False
        for row in program.all_rows():
            self.add(row)

    def add(self, row: Row) -> None:
        """Adds a row, used in every later `optimise`."""
        if row.terms:
            self._rows.append(row)
        else:
            self._impossible |= not holds(row.sense, 0.0, row.rhs)

    def optimise(self, seconds: float | None = None) -> Answer:
        """Solves the model as it is, within `seconds`."""
        if self._impossible:
            return Answer(Found.INFEASIBLE)
        if not self._program.variables:
            return Answer(Found.OPTIMAL, {}, 0.0)
        if seconds is not None and seconds <= 0:
            return Answer(Found.NOTHING)
        start = time.perf_counter()
        answer = self._solved(seconds, careful=False)
        if self._believable(answer.values):
            return answer
        left = None if seconds is None else max(seconds - (time.perf_counter() - start), 0.01)
        answer = self._solved(left, careful=True)
        if not self._believable(answer.values):
            raise LconsError(f"the answer of {self.solver} breaks the program's rows; try the other solver.")
        return answer

    def _believable(self, values: Mapping[Name, float]) -> bool:
        """Whether every row holds within a tolerance; True if there are no values."""
        if not values:
            return True
        for row in self._rows:
            products = [c * values[name] for name, c in row.terms]
            most = BELIEVABLE * (1.0 + abs(row.rhs) + sum(map(abs, products)))
            difference = sum(products) - row.rhs
            if (difference > most and row.sense is not Sense.AT_LEAST) or (
                difference < -most and row.sense is not Sense.AT_MOST
            ):
                return False
        return True

    def _solved(self, seconds: float | None, careful: bool) -> Answer:
        model, variables = self._build()
        if careful:
            model.cuts = 0
        status = model.optimize(max_seconds=self._mip.INF if seconds is None else seconds)
        statuses = self._mip.OptimizationStatus
        found = {
            statuses.OPTIMAL: Found.OPTIMAL,
            statuses.FEASIBLE: Found.FEASIBLE,
            statuses.INFEASIBLE: Found.INFEASIBLE,
            statuses.INT_INFEASIBLE: Found.INFEASIBLE,
            statuses.NO_SOLUTION_FOUND: Found.NOTHING,
            statuses.TRUNCATED: Found.NOTHING,
        }.get(status)
        if found is None:
            raise LconsError(
                f"{self.solver} ended with the unexpected status {status.name}; check the rows of the"
                " program, or try the other solver."
            )
        if found in (Found.INFEASIBLE, Found.NOTHING):
            return Answer(found)
        values = {name: variable.x for name, variable in variables.items()}
        return Answer(found, values, float(model.objective_bound))

    def _build(self) -> tuple[Any, dict[Name, Any]]:
        """The model, and its variables by name."""
        mip = self._mip
        model = mip.Model(sense=mip.MAXIMIZE, solver_name=self.solver.upper())
        self._settings(model)
        types = {Type.BINARY: mip.BINARY, Type.INTEGER: mip.INTEGER}
        variables = {
            v.name: model.add_var(f"x{i}", v.low, v.high, v.objective, types.get(v.type, mip.CONTINUOUS))
            for i, v in enumerate(self._program.variables.values())
        }
        senses = {Sense.AT_MOST: "<", Sense.AT_LEAST: ">", Sense.EQUAL: "="}
        for row in self._rows:
            members = [variables[name] for name, _ in row.terms]
            coefficients = [coefficient for _, coefficient in row.terms]
            model.add_constr(mip.LinExpr(members, coefficients, -row.rhs, senses[row.sense]))
        return model, variables

    def _settings(self, model: Any) -> None:
        model.verbose = 0
        model.threads = 1  # the same answer every run
        model.max_mip_gap = 0.0
        model.max_mip_gap_abs = 0.0
        model.integer_tol = TOLERANCE
        model.infeas_tol = TOLERANCE
        model.opt_tol = TOLERANCE
        if self.solver is Solver.CBC:
            from mip.cbc import cbc_set_parameter

            model.preprocess = 0
            # The least improvement of a new solution: CBC's default is a guess that is sometimes too large.
            cbc_set_parameter(model.solver, "increment", "1e-9")
        else:
            for option in ("mip_feasibility_tolerance", "primal_feasibility_tolerance"):
                model.solver._set_double_option_value(option, TOLERANCE)


@cache
def _version(package: str) -> str:
    return version(package)


def read_solver(solver: Solver | str) -> Solver:
    """The solver of that name."""
    if not isinstance(solver, str) or solver.lower() not in tuple(Solver):
        raise InvalidInput(f"the solver must be one of {', '.join(Solver)}, found {solver!r}.")
    return Solver(solver.lower())


def check_solver(solver: Solver) -> Any:
    """The module mip; raises an error if it or the solver is not installed."""
    try:
        mip = import_module("mip")
    except ImportError:
        raise MissingExtra(
            'integer programs need python-mip, which is not installed; run: pip install "lcons-decode[ilp]".'
        ) from None
    if solver is Solver.HIGHS:
        try:
            found = _version("highspy")
        except PackageNotFoundError:
            raise MissingExtra(
                'HiGHS is not installed; run pip install highspy, or use solver="cbc".'
            ) from None
        # HiGHS 1.14 returned wrong optima for small mixed models.
        if tuple(int(part) for part in found.split(".")[:3] if part.isdigit()) < HIGHS_VERSION:
            raise MissingExtra(
                f"highspy {'.'.join(map(str, HIGHS_VERSION))} or later is needed, found {found}; run pip"
                ' install -U highspy, or use solver="cbc".'
            )
    return mip
