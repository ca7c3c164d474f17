"""PySCIPOpt: `Variable` and `Expr`."""

from __future__ import annotations

from typing import Any

import pyscipopt

from lcons_core.optimisers._system import Bounds
from lcons_core.optimisers._tool import RowByRow, Terms


class Scip(RowByRow):
    """A `pyscipopt.Model` that is not solved yet; the values are those of its best solution."""

    name = "PySCIPOpt"

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, pyscipopt.Expr)

    def bounds(self, entry: Any) -> Bounds:
        if not isinstance(entry, pyscipopt.Variable):
            return Bounds()
        return Bounds(entry.getLbOriginal(), entry.getUbOriginal(), entry.vtype() != "CONTINUOUS")

    def names(self) -> set[str]:
        return {constraint.name for constraint in self.model.getConss()}

    def variable(self, name: str, bounds: Bounds) -> Any:
        vtype = "I" if bounds.integral else "C"
        return self.model.addVar(name=name, vtype=vtype, lb=bounds.lower, ub=bounds.upper)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = pyscipopt.quicksum(c * entry for c, entry in terms)
        self.model.addCons(left == rhs if equal else left >= rhs, name=name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(self.model.getVal(entry))


TOOL = Scip
