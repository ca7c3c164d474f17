"""PySCIPOpt: `Variable` and `Expr`."""

from typing import Any

import pyscipopt

from lcons_core.optimisers._tool import Bounds, Terms, Tool


class Adapter(Tool):
    """A `pyscipopt.Model` that is not solved yet; the values are those of its best solution."""

    name = "PySCIPOpt"
    variables = pyscipopt.Variable
    expressions = pyscipopt.Expr

    def bounds(self, entry: Any) -> Bounds:
        return Bounds(entry.getLbOriginal(), entry.getUbOriginal(), entry.vtype() != "CONTINUOUS")

    def names(self) -> set[str]:
        return {constraint.name for constraint in self.model.getConss()}

    def auxiliary(self, name: str) -> Any:
        return self.model.addVar(name=name, ub=1.0)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = pyscipopt.quicksum(c * entry for c, entry in terms)
        self.model.addCons(left == rhs if equal else left >= rhs, name=name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(self.model.getVal(entry))
