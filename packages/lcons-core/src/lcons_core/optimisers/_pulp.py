"""PuLP: `LpVariable` and `LpAffineExpression`."""

from __future__ import annotations

import math
from typing import Any

import pulp

from lcons_core.optimisers._system import Bounds
from lcons_core.optimisers._tool import RowByRow, Terms


class Pulp(RowByRow):
    """An `LpProblem`; the values are those of the last `solve`."""

    name = "PuLP"

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, pulp.LpVariable | pulp.LpAffineExpression)

    def bounds(self, entry: Any) -> Bounds:
        if not isinstance(entry, pulp.LpVariable):
            return Bounds()
        lower = -math.inf if entry.lowBound is None else entry.lowBound
        upper = math.inf if entry.upBound is None else entry.upBound
        return Bounds(lower, upper, entry.cat == pulp.LpInteger)

    def names(self) -> set[str]:
        # A dict before PuLP 3.3, a method since.
        listed = self.model.constraints
        return {row.name for row in listed()} if callable(listed) else {*listed}

    def variable(self, name: str, bounds: Bounds) -> Any:
        kind = pulp.LpInteger if bounds.integral else pulp.LpContinuous
        make = getattr(self.model, "add_variable", pulp.LpVariable)
        return make(name, bounds.lower, bounds.upper, kind)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = pulp.lpSum(c * entry for c, entry in terms)
        self.model.addConstraint(left == rhs if equal else left >= rhs, name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(pulp.value(entry))


TOOL = Pulp
