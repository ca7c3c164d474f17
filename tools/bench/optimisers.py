"""`add_to` beside PySCIPOpt-ML and gurobi-machinelearning: the same network in the same integer program.

The programs are those of `ilp.py`: 50 binaries, random integer gains, a random dyadic network of K hidden
units with a planted feasible point. The peers have the same network as a torch `Sequential` of doubles,
y = 1 - sum ReLU(W psi + b), with y >= 0. Their formulations of ReLU, which also hold for networks that are
not convex, need a binary, an SOS or a general constraint per hidden unit; the rows of `add_to` need none. All
optima must agree. The presolve of Gurobi 13 finds the lifted form itself (60 variables and 11 rows are left
in both cases at K = 10), so there the difference is the size of the model and the time to build it.

Times are CPU seconds of building the formulation and solving, with one thread, all in one run. Printed are
the sizes and the geometric mean, over instances, of the ratio to the form that `add_to` chooses. At K = 10 it
must reach the target for the fastest formulation of each peer. Needs the environment of the integrations (the
licence that comes with gurobipy has room for 2,000 variables):

    .venv-integrations/bin/python tools/bench/optimisers.py [instances]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from ilp import BINARIES, instance
from timing import report

from lcons_core import RectifierNetwork, add_to

SIZES = (2, 4, 10)
TARGETS = {"PySCIPOpt": 2.0, "gurobipy": 1.0}


@dataclass(frozen=True)
class Run:
    """The seconds and the optimum of one program, and what the network added to the model."""

    seconds: float
    optimum: float
    variables: int
    binaries: int
    rows: int
    other: int  # SOS and general constraints


def sequential(network: RectifierNetwork) -> Any:
    """The margin of the network as a torch module of doubles."""
    import torch

    first, last = torch.nn.Linear(network.d, network.K), torch.nn.Linear(network.K, 1)
    model = torch.nn.Sequential(first, torch.nn.ReLU(), last).double()
    with torch.no_grad():
        first.weight.copy_(torch.tensor(network.W))
        first.bias.copy_(torch.tensor(network.b))
        last.weight.fill_(-1.0)
        last.bias.fill_(1.0)
    return model


def scip(network: RectifierNetwork, gain: Any, form: str) -> Run:
    """One program in SCIP; `form` is a form of add_to or a formulation of PySCIPOpt-ML."""
    import pyscipopt
    from pyscipopt_ml.add_predictor import add_predictor_constr

    model = pyscipopt.Model()
    model.hideOutput()
    x = [model.addVar(vtype="B") for _ in range(BINARIES)]
    model.setObjective(pyscipopt.quicksum(c * v for c, v in zip(gain, x, strict=True)), "maximize")
    module = sequential(network)
    start = time.process_time()
    if form in ("sos", "bigm"):
        y = model.addVar(lb=0.0, ub=None)
        add_predictor_constr(
            model, module, np.array(x, dtype=object), np.array([y], dtype=object), formulation=form
        )
    else:
        add_to(model, network, x, form=form)
    binaries = sum(v.vtype() == "BINARY" for v in model.getVars()) - BINARIES
    handlers = [row.getConshdlrName() for row in model.getConss()]
    sizes = model.getNVars() - BINARIES, binaries, handlers.count("linear")
    model.optimize()
    assert model.getStatus() == "optimal"
    seconds = time.process_time() - start
    return Run(seconds, model.getObjVal(), *sizes, len(handlers) - handlers.count("linear"))


def gurobi(network: RectifierNetwork, gain: Any, form: str) -> Run:
    """One program in Gurobi; `form` is a form of add_to or "gurobi_ml"."""
    import gurobipy
    from gurobi_ml import add_predictor_constr

    model = gurobipy.Model(env=ENVIRONMENT[0])
    x = model.addMVar(BINARIES, vtype="B")
    model.setObjective(gain @ x, gurobipy.GRB.MAXIMIZE)
    module = sequential(network)
    start = time.process_time()
    if form == "gurobi_ml":
        add_predictor_constr(model, module, x, model.addMVar(1, lb=0.0), float_type=np.float64)
    else:
        add_to(model, network, x, form=form)
    model.update()
    sizes = model.NumVars - BINARIES, model.NumBinVars - BINARIES, model.NumConstrs
    model.optimize()
    assert model.Status == gurobipy.GRB.OPTIMAL
    return Run(time.process_time() - start, model.ObjVal, *sizes, model.NumGenConstrs + model.NumSOS)


ENVIRONMENT: list[Any] = []
SOLVERS: dict[str, tuple[Callable[[RectifierNetwork, Any, str], Run], list[str]]] = {
    "PySCIPOpt": (scip, ["sos", "bigm"]),
    "gurobipy": (gurobi, ["gurobi_ml"]),
}


def mean_ratio(runs: list[Run], own: list[Run]) -> float:
    """The geometric mean of the ratios of the seconds."""
    return statistics.geometric_mean(a.seconds / b.seconds for a, b in zip(runs, own, strict=True))


def main() -> int:
    """0 if both targets are met."""
    import gurobipy

    instances = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    ENVIRONMENT.append(gurobipy.Env(params={"OutputFlag": 0, "Threads": 1}))
    met = True
    for K in SIZES:
        problems = [instance(K, seed) for seed in range(instances)]
        for name, (solve, peers) in SOLVERS.items():
            runs: dict[str, list[Run]] = {form: [] for form in ["rows", "lifted", *peers]}
            for network, gain in problems:
                for form, found in runs.items():
                    found.append(solve(network, gain, form))
                optima = [found[-1].optimum for found in runs.values()]
                assert np.ptp(optima) < 1e-6, f"{name}, K = {K}: the optima differ: {optima}"
            own = runs["lifted" if K > 3 else "rows"]  # which add_to chooses
            ratios = {form: mean_ratio(found, own) for form, found in runs.items()}
            for form, found in runs.items():
                size = found[0]
                print(
                    f"{name}, K = {K}, {form}: {size.variables} variables, of which {size.binaries} binary;"
                    f" {size.rows} rows, {size.other} other constraints;"
                    f" {sum(run.seconds for run in found):.2f} s in all, {ratios[form]:.2f}x"
                )
            if max(SIZES) == K:
                met &= report(f"{name}, K = {K}", min(ratios[peer] for peer in peers), at_least=TARGETS[name])
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
