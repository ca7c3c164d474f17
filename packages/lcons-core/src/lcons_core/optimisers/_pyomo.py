"""Pyomo: variables and expressions of a constructed model."""

import math
from typing import Any

import pyomo.environ as pyo
from pyomo.core.base.var import VarData
from pyomo.core.expr.numvalue import NumericValue

from lcons_core.optimisers._tool import Bounds, Terms, Tool


class Adapter(Tool):
    """A `ConcreteModel` or a block of it; the values are those of the last solution that was loaded."""

    name = "Pyomo"
    variables = VarData
    expressions = NumericValue

    def bounds(self, entry: Any) -> Bounds:
        lower = -math.inf if entry.lb is None else entry.lb
        return Bounds(lower, math.inf if entry.ub is None else entry.ub, entry.is_integer())

    def names(self) -> set[str]:
        return {*self.model.component_map()}

    def auxiliary(self, name: str) -> Any:
        self.model.add_component(name, pyo.Var(bounds=(0.0, 1.0)))
        return self.model.component(name)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = pyo.quicksum(c * entry for c, entry in terms)
        self.model.add_component(name, pyo.Constraint(expr=left == rhs if equal else left >= rhs))

    def value(self, entry: Any, solution: Any) -> float:
        return float(pyo.value(entry))
