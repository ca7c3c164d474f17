"""The same small integer program in each modelling tool, for the tests of `lcons_core.optimisers`.

A class makes integer variables, sets an objective and solves: `solve` returns whether there is a solution,
and fails if the solver is not sure. `solution` is what `Added.check` needs.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

Bounds = list[tuple[int, int]]


class Model:
    ortools: ClassVar[bool] = False  # OR-Tools and highspy cannot share a process
    model: Any
    solution: Any = None

    def expressions(self, x: list[Any]) -> list[Any]:
        """x as expressions that are not variables."""
        return [2 * entry + 1 - entry - 1 for entry in x]


class Pyomo(Model):
    def __init__(self) -> None:
        import pyomo.environ as pyo

        self.pyo, self.model = pyo, pyo.ConcreteModel()

    def variables(self, bounds: Bounds) -> list[Any]:
        self.model.x = self.pyo.Var(
            range(len(bounds)), domain=self.pyo.Integers, bounds=lambda _, j: bounds[j]
        )
        return list(self.model.x.values())

    def solve(self, gain: Any, x: list[Any]) -> bool:
        self.model.gain = self.pyo.Objective(expr=gain @ np.array(x), sense=self.pyo.maximize)
        solver = self.pyo.SolverFactory("appsi_highs")
        result = solver.solve(self.model, load_solutions=False)
        if result.solver.termination_condition == "infeasible":
            return False
        assert result.solver.termination_condition == "optimal"
        solver.load_vars()
        return True


class Cvxpy(Model):
    def __init__(self) -> None:
        import cvxpy as cp

        self.cp, self.model = cp, []

    def variables(self, bounds: Bounds) -> list[Any]:
        x = self.cp.Variable(len(bounds), integer=True, bounds=[*np.array(bounds, float).T])
        return list(x)

    def solve(self, gain: Any, x: list[Any]) -> bool:
        problem = self.cp.Problem(self.cp.Maximize(gain @ self.cp.hstack(x)), self.model)
        problem.solve(solver="HIGHS")
        assert problem.status in ("optimal", "infeasible")
        return problem.status == "optimal"


class Pulp(Model):
    def __init__(self) -> None:
        import pulp

        self.pulp, self.model = pulp, pulp.LpProblem("model", pulp.LpMaximize)

    def variables(self, bounds: Bounds) -> list[Any]:
        return [self.model.add_variable(f"x{j}", *ends, "Integer") for j, ends in enumerate(bounds)]

    def solve(self, gain: Any, x: list[Any]) -> bool:
        self.model += self.pulp.lpDot(gain.tolist(), x)
        done = self.model.solve(self.pulp.HiGHS(msg=False))
        status = getattr(done, "status", done)  # an object since PuLP 4, 1 for optimal and -1 for infeasible
        assert status in (1, -1)
        return status == 1


class CpSat(Model):
    ortools = True

    def __init__(self) -> None:
        from ortools.sat.python import cp_model

        self.cp, self.model = cp_model, cp_model.CpModel()

    def variables(self, bounds: Bounds) -> list[Any]:
        return [self.model.new_int_var(*ends, f"x{j}") for j, ends in enumerate(bounds)]

    def solve(self, gain: Any, x: list[Any]) -> bool:
        assert self.model.validate() == ""
        self.model.maximize(self.cp.LinearExpr.weighted_sum(x, gain.astype(int).tolist()))
        self.solution = self.cp.CpSolver()
        self.solution.parameters.num_workers = 1
        status = self.solution.solve(self.model)
        assert status in (self.cp.OPTIMAL, self.cp.INFEASIBLE)
        return status == self.cp.OPTIMAL


class MathOpt(Model):
    ortools = True

    def __init__(self) -> None:
        from ortools.math_opt.python import mathopt

        self.mathopt, self.model = mathopt, mathopt.Model()

    def variables(self, bounds: Bounds) -> list[Any]:
        return [
            self.model.add_integer_variable(lb=low, ub=high, name=f"x{j}")
            for j, (low, high) in enumerate(bounds)
        ]

    def solve(self, gain: Any, x: list[Any]) -> bool:
        self.model.maximize(self.mathopt.fast_sum(c * entry for c, entry in zip(gain, x, strict=True)))
        self.solution = self.mathopt.solve(self.model, self.mathopt.SolverType.HIGHS)
        reason, reasons = self.solution.termination.reason, self.mathopt.TerminationReason
        assert reason in (reasons.OPTIMAL, reasons.INFEASIBLE)
        return reason == reasons.OPTIMAL


class Gurobi(Model):
    def __init__(self) -> None:
        import gurobipy

        environment = gurobipy.Env(params={"OutputFlag": 0})
        self.gurobipy, self.model = gurobipy, gurobipy.Model(env=environment)

    def variables(self, bounds: Bounds) -> list[Any]:
        return [self.model.addVar(lb=low, ub=high, vtype="I") for low, high in bounds]

    def solve(self, gain: Any, x: list[Any]) -> bool:
        GRB = self.gurobipy.GRB
        total = self.gurobipy.quicksum(c * entry for c, entry in zip(gain, x, strict=True))
        self.model.setObjective(total, GRB.MAXIMIZE)
        self.model.optimize()
        assert self.model.Status in (GRB.OPTIMAL, GRB.INFEASIBLE)
        return self.model.Status == GRB.OPTIMAL


class Scip(Model):
    def __init__(self) -> None:
        import pyscipopt

        self.scip, self.model = pyscipopt, pyscipopt.Model()
        self.model.hideOutput()

    def variables(self, bounds: Bounds) -> list[Any]:
        return [self.model.addVar(lb=low, ub=high, vtype="I") for low, high in bounds]

    def solve(self, gain: Any, x: list[Any]) -> bool:
        total = self.scip.quicksum(c * entry for c, entry in zip(gain.tolist(), x, strict=True))
        self.model.setObjective(total, "maximize")
        self.model.optimize()
        assert self.model.getStatus() in ("optimal", "infeasible")
        return self.model.getStatus() == "optimal"


class Highs(Model):
    def __init__(self) -> None:
        import highspy

        self.highspy, self.model = highspy, highspy.Highs()
        self.model.silent()

    def variables(self, bounds: Bounds) -> list[Any]:
        return [self.model.addIntegral(low, high) for low, high in bounds]

    def solve(self, gain: Any, x: list[Any]) -> bool:
        self.model.maximize(self.model.qsum(c * entry for c, entry in zip(gain.tolist(), x, strict=True)))
        status, statuses = self.model.getModelStatus(), self.highspy.HighsModelStatus
        assert status in (statuses.kOptimal, statuses.kInfeasible)
        return status == statuses.kOptimal


class PythonMip(Model):
    def __init__(self) -> None:
        import mip

        self.mip, self.model = mip, mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
        self.model.verbose = 0

    def variables(self, bounds: Bounds) -> list[Any]:
        return [self.model.add_var(lb=low, ub=high, var_type="I") for low, high in bounds]

    def solve(self, gain: Any, x: list[Any]) -> bool:
        self.model.objective = self.mip.xsum(c * entry for c, entry in zip(gain.tolist(), x, strict=True))
        status, statuses = self.model.optimize(), self.mip.OptimizationStatus
        assert status in (statuses.OPTIMAL, statuses.INFEASIBLE)
        return status == statuses.OPTIMAL


MODELS = {
    "pyomo": Pyomo,
    "cvxpy": Cvxpy,
    "pulp": Pulp,
    "cpsat": CpSat,
    "mathopt": MathOpt,
    "gurobi": Gurobi,
    "scip": Scip,
    "highs": Highs,
    "mip": PythonMip,
}
