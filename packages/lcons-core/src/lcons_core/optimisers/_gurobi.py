"""gurobipy: `Var`, `LinExpr`, and the entries of `MVar` and `MLinExpr`."""

from typing import Any

import gurobipy

from lcons_core.optimisers._tool import Bounds, Terms, Tool


class Adapter(Tool):
    """A `gurobipy.Model`, which is updated; the values are those of the last `optimize`."""

    name = "gurobipy"
    variables = gurobipy.Var
    expressions = gurobipy.LinExpr

    def listed(self, psi: Any) -> list[Any]:
        vectors = gurobipy.MVar | gurobipy.MLinExpr
        entries = [psi[j] for j in range(psi.shape[0])] if isinstance(psi, vectors) else psi
        return [entry.item() if isinstance(entry, vectors) else entry for entry in entries]

    def bounds(self, entry: Any) -> Bounds:
        self.model.update()
        return Bounds(entry.LB, entry.UB, entry.VType in "BI")

    def names(self) -> set[str]:
        self.model.update()
        return {*self.model.getAttr("ConstrName", self.model.getConstrs())}

    def auxiliary(self, name: str) -> Any:
        return self.model.addVar(ub=1.0, name=name)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = gurobipy.quicksum(c * entry for c, entry in terms)
        self.model.addLConstr(left, "=" if equal else ">", rhs, name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(entry.X if isinstance(entry, gurobipy.Var) else entry.getValue())
