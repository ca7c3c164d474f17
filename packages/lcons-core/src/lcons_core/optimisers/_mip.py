"""python-mip: `Var` and `LinExpr`."""

from typing import Any

import mip

from lcons_core.optimisers._tool import Bounds, Terms, Tool


class Adapter(Tool):
    """A `mip.Model`; the values are those of the last `optimize`."""

    name = "python-mip"
    variables = mip.Var
    expressions = mip.LinExpr

    def bounds(self, entry: Any) -> Bounds:
        return Bounds(entry.lb, entry.ub, entry.var_type != mip.CONTINUOUS)

    def names(self) -> set[str]:
        return {constraint.name for constraint in self.model.constrs}

    def auxiliary(self, name: str) -> Any:
        return self.model.add_var(name=name, lb=0.0, ub=1.0)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = mip.xsum(c * entry for c, entry in terms)
        if not any(left.expr.values()):
            # Entries such as x and 1 - x cancel, and CBC aborts the process on a row without variables.
            left += self.model.add_var(name=f"{name}_zero", lb=0.0, ub=0.0)
        self.model.add_constr(left == rhs if equal else left >= rhs, name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(entry.x)
