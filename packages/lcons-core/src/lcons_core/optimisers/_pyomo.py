"""Pyomo: variables and expressions; what is added is one `Block` of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo

from lcons_core._errors import InvalidInput
from lcons_core.optimisers._system import Bounds, System
from lcons_core.optimisers._tool import Tool


class Pyomo(Tool):
    """A `ConcreteModel` or a block of it; the values are those of the last solution that was loaded."""

    name = "Pyomo"
    entry = "variables or expressions"
    separator = "."

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        if not model.is_constructed():
            raise InvalidInput(
                "add_to needs a concrete Pyomo model, found one that is not constructed; pass"
                " model.create_instance()."
            )

    def knows(self, entry: Any) -> bool:
        return hasattr(entry, "is_numeric_type") and entry.is_numeric_type()

    def bounds(self, entry: Any) -> Bounds:
        if not entry.is_variable_type():
            return Bounds()
        lower = -math.inf if entry.lb is None else entry.lb
        return Bounds(lower, math.inf if entry.ub is None else entry.ub, entry.is_integer())

    def names(self) -> set[str]:
        return {*self.model.component_map()}

    def value(self, entry: Any, solution: Any) -> float:
        return float(pyo.value(entry))

    def add(self, system: System, entries: Sequence[Any], prefix: str) -> Any:
        """Adds a block named `prefix` with the variables and rows."""
        if not system.rows:
            return self.model
        block = pyo.Block()
        self.model.add_component(prefix, block)
        columns = [*entries]
        for auxiliary in system.auxiliaries:
            bounds = auxiliary.bounds
            kind = pyo.Integers if bounds.integral else pyo.Reals
            block.add_component(auxiliary.name, pyo.Var(domain=kind, bounds=(bounds.lower, bounds.upper)))
            columns.append(block.component(auxiliary.name))
        for row in system.rows:
            left = pyo.quicksum(c * columns[j] for j, c in row.terms)
            rhs = float(row.rhs)
            block.add_component(row.name, pyo.Constraint(expr=left == rhs if row.equal else left >= rhs))
        return self.model


TOOL = Pyomo
