"""python-mip: `Var` and `LinExpr`."""

from __future__ import annotations

from typing import Any

import mip

from lcons_core.optimisers._system import Bounds
from lcons_core.optimisers._tool import RowByRow, Terms


class PythonMip(RowByRow):
    """A `mip.Model`; the values are those of the last `optimize`."""

    name = "python-mip"

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, mip.Var | mip.LinExpr)

    def bounds(self, entry: Any) -> Bounds:
        if not isinstance(entry, mip.Var):
            return Bounds()
        return Bounds(entry.lb, entry.ub, entry.var_type != mip.CONTINUOUS)

    def names(self) -> set[str]:
        return {constraint.name for constraint in self.model.constrs}

    def variable(self, name: str, bounds: Bounds) -> Any:
        kind = mip.INTEGER if bounds.integral else mip.CONTINUOUS
        return self.model.add_var(name=name, lb=bounds.lower, ub=bounds.upper, var_type=kind)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = mip.xsum(c * entry for c, entry in terms)
        if not any(left.expr.values()):
            # Entries such as x and 1 - x cancel, and CBC aborts the process on a row without variables.
            left += self.variable(f"{name}_zero", Bounds(0.0, 0.0))
        self.model.add_constr(left == rhs if equal else left >= rhs, name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(entry.x)


TOOL = PythonMip
