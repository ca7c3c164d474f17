"""OR-Tools MathOpt: variables and linear expressions of a `mathopt.Model`."""

from typing import Any

from ortools.math_opt.python import mathopt

from lcons_core.optimisers._tool import Bounds, Terms, Tool


class Adapter(Tool):
    """A `mathopt.Model`; a solution is the result of `mathopt.solve`."""

    name = "MathOpt"
    variables = mathopt.Variable
    expressions = mathopt.LinearBase
    solutions = mathopt.SolveResult

    def bounds(self, entry: Any) -> Bounds:
        return Bounds(entry.lower_bound, entry.upper_bound, entry.integer)

    def names(self) -> set[str]:
        return {constraint.name for constraint in self.model.linear_constraints()}

    def auxiliary(self, name: str) -> Any:
        return self.model.add_variable(lb=0.0, ub=1.0, name=name)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = mathopt.fast_sum(c * entry for c, entry in terms)
        self.model.add_linear_constraint(left == rhs if equal else left >= rhs, name=name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(mathopt.evaluate_expression(entry, solution.variable_values()))
