"""PuLP: `LpVariable` and `LpAffineExpression`."""

import math
from typing import Any

import pulp

from lcons_core.optimisers._tool import Bounds, Terms, Tool


class Adapter(Tool):
    """An `LpProblem`; the values are those of the last `solve`."""

    name = "PuLP"
    variables = pulp.LpVariable
    expressions = pulp.LpAffineExpression

    def bounds(self, entry: Any) -> Bounds:
        lower = -math.inf if entry.lowBound is None else entry.lowBound
        upper = math.inf if entry.upBound is None else entry.upBound
        return Bounds(lower, upper, entry.cat == pulp.LpInteger)

    def names(self) -> set[str]:
        # A dict before PuLP 3.3, a method since.
        listed = self.model.constraints
        return {row.name for row in listed()} if callable(listed) else {*listed}

    def auxiliary(self, name: str) -> Any:
        return getattr(self.model, "add_variable", pulp.LpVariable)(name, 0.0, 1.0)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = pulp.lpSum(c * entry for c, entry in terms)
        self.model.addConstraint(left == rhs if equal else left >= rhs, name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(pulp.value(entry))
