"""highspy: `highs_var` and `highs_linear_expression`."""

from typing import Any

import highspy
from highspy.highs import highs_linear_expression, highs_var

from lcons_core.optimisers._tool import Bounds, Terms, Tool


class Adapter(Tool):
    """A `highspy.Highs`; the values are those of the last run."""

    name = "highspy"
    variables = highs_var
    expressions = highs_linear_expression

    def bounds(self, entry: Any) -> Bounds:
        _, _, lower, upper, _ = self.model.getCol(entry.index)
        _, kind = self.model.getColIntegrality(entry.index)
        return Bounds(lower, upper, kind == highspy.HighsVarType.kInteger)

    def names(self) -> set[str]:
        return {*self.model.getLp().row_names_}

    def auxiliary(self, name: str) -> Any:
        return self.model.addVariable(0.0, 1.0, name=name)

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        left = self.model.qsum(c * entry for c, entry in terms)
        self.model.addConstr(left == rhs if equal else left >= rhs, name)

    def value(self, entry: Any, solution: Any) -> float:
        return float(self.model.val(entry))
