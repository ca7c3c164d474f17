"""gurobipy: `Var`, `LinExpr`, and the entries of `MVar` and `MLinExpr`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gurobipy

from lcons_core.optimisers._system import Bounds, System
from lcons_core.optimisers._tool import RowByRow, Terms


class Gurobi(RowByRow):
    """A `gurobipy.Model`, which is updated; the values are those of the last `optimize`."""

    name = "gurobipy"

    def listed(self, psi: Any) -> Sequence[Any]:
        if isinstance(psi, gurobipy.MVar | gurobipy.MLinExpr):
            if psi.ndim != 1:
                raise TypeError("psi has one dimension")
            return [psi[j].item() for j in range(psi.shape[0])]
        return [
            entry.item() if isinstance(entry, gurobipy.MVar | gurobipy.MLinExpr) else entry for entry in psi
        ]

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, gurobipy.Var | gurobipy.LinExpr)

    def bounds(self, entry: Any) -> Bounds:
        if not isinstance(entry, gurobipy.Var):
            return Bounds()
        self.model.update()
        return Bounds(entry.LB, entry.UB, entry.VType in "BI")

    def names(self) -> set[str]:
        self.model.update()
        return {*self.model.getAttr("ConstrName", self.model.getConstrs())}

    def variable(self, name: str, bounds: Bounds) -> Any:
        vtype = gurobipy.GRB.INTEGER if bounds.integral else gurobipy.GRB.CONTINUOUS
        return self.model.addVar(lb=bounds.lower, ub=bounds.upper, vtype=vtype, name=name)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = gurobipy.quicksum(c * entry for c, entry in terms)
        sense = gurobipy.GRB.EQUAL if equal else gurobipy.GRB.GREATER_EQUAL
        self.model.addLConstr(left, sense, rhs, name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(entry.X if isinstance(entry, gurobipy.Var) else entry.getValue())

    def add(self, system: System, entries: Sequence[Any], prefix: str) -> Any:
        """Adds the system and updates the model, so that its names and counts can be read."""
        model = super().add(system, entries, prefix)
        model.update()
        return model


TOOL = Gurobi
