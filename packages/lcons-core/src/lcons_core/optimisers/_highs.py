"""highspy: `highs_var` and `highs_linear_expression`."""

from __future__ import annotations

from typing import Any

import highspy
from highspy.highs import highs_linear_expression, highs_var

from lcons_core.optimisers._system import Bounds
from lcons_core.optimisers._tool import RowByRow, Terms


class Highs(RowByRow):
    """A `highspy.Highs`; the values are those of the last run."""

    name = "highspy"

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, highs_var | highs_linear_expression)

    def bounds(self, entry: Any) -> Bounds:
        if not isinstance(entry, highs_var):
            return Bounds()
        _, _, lower, upper, _ = self.model.getCol(entry.index)
        _, kind = self.model.getColIntegrality(entry.index)
        return Bounds(lower, upper, kind == highspy.HighsVarType.kInteger)

    def names(self) -> set[str]:
        return {*self.model.getLp().row_names_}

    def variable(self, name: str, bounds: Bounds) -> Any:
        kind = highspy.HighsVarType.kInteger if bounds.integral else highspy.HighsVarType.kContinuous
        return self.model.addVariable(bounds.lower, bounds.upper, 0.0, kind, name)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = self.model.qsum(c * entry for c, entry in terms)
        self.model.addConstr(left == rhs if equal else left >= rhs, name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(self.model.val(entry))


TOOL = Highs
