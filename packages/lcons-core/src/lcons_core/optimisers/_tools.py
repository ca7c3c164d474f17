"""The modelling tools that `add_to` knows, recognised by the class of the model without importing any."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lcons_core._errors import InvalidInput
from lcons_core.optimisers._tool import Tool

# (package, class of the model) -> module of this package. A list is one of cvxpy constraints.
MODELS = {
    ("builtins", "list"): "_cvxpy",
    ("cvxpy", "Problem"): "_cvxpy",
    ("gurobipy", "Model"): "_gurobi",
    ("highspy", "Highs"): "_highs",
    ("mip", "Model"): "_mip",
    ("ortools.math_opt", "Model"): "_mathopt",
    ("ortools.sat", "CpModel"): "_cpsat",
    ("pulp", "LpProblem"): "_pulp",
    ("pyomo", "BlockData"): "_pyomo",
    ("pyscipopt", "Model"): "_scip",
}


def read_tool(model: Any) -> Tool:
    """The tool of a model; raises `InvalidInput` if it is none of these."""
    for kind in type(model).__mro__:
        for (package, name), module in MODELS.items():
            if kind.__name__ == name and f"{kind.__module__}.".startswith(f"{package}."):
                tool: Tool = import_module(f"lcons_core.optimisers.{module}").TOOL(model)
                return tool
    raise InvalidInput(
        "add_to needs a model of Pyomo, cvxpy, PuLP, OR-Tools (CpModel, mathopt.Model), gurobipy, PySCIPOpt,"
        f" highspy or python-mip, found {type(model).__name__} of {type(model).__module__}; for another tool"
        " write the rows of lift(constraint)."
    )
