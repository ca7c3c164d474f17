"""OR-Tools MathOpt: variables and linear expressions of a `mathopt.Model`."""

from __future__ import annotations

from typing import Any

from ortools.math_opt.python import mathopt

from lcons_core.optimisers._system import Bounds
from lcons_core.optimisers._tool import RowByRow, Terms, needed


class MathOpt(RowByRow):
    """A `mathopt.Model`; a solution is the result of `mathopt.solve`."""

    name = "MathOpt"

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, mathopt.LinearBase)

    def bounds(self, entry: Any) -> Bounds:
        if not isinstance(entry, mathopt.Variable):
            return Bounds()
        return Bounds(entry.lower_bound, entry.upper_bound, entry.integer)

    def names(self) -> set[str]:
        return {constraint.name for constraint in self.model.linear_constraints()}

    def variable(self, name: str, bounds: Bounds) -> Any:
        return self.model.add_variable(
            lb=bounds.lower, ub=bounds.upper, is_integer=bounds.integral, name=name
        )

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = mathopt.fast_sum(c * entry for c, entry in terms)
        self.model.add_linear_constraint(left == rhs if equal else left >= rhs, name=name)

    def value(self, entry: Any, solution: Any) -> float:
        result = needed(solution, mathopt.SolveResult, "the result of mathopt.solve")
        return float(mathopt.evaluate_expression(entry, result.variable_values()))


TOOL = MathOpt
