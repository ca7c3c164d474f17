"""The lifted form in other modelling tools.

In cvxpy and Pyomo, as the README writes it: the best accepted point of small spaces. In OR-Tools: with psi
fixed to a point, the lifted rows are feasible exactly where the network accepts the point.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcons_core._network import Network, RectifierNetwork
from lcons_core._theorem1 import lift

pytestmark = pytest.mark.integrations

README = (Path(__file__).parents[2] / "README.md").read_text()


def cases():
    """Networks and conjunctions that accept some 0/1 point, with gains."""
    rng = np.random.default_rng(0)
    found = [
        (RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0]), np.array([3.0, 2.0, 1.0]), 4.0)
    ]
    while len(found) < 8:
        d = int(rng.integers(2, 6))
        parts = [
            RectifierNetwork(rng.integers(-4, 5, (K, d)) / 2, rng.integers(-4, 3, K) / 2)
            for K in rng.integers(1, 4, rng.integers(1, 3))
        ]
        network = parts[0] if len(parts) == 1 else parts[0] & parts[1]
        points = np.array(list(product([0.0, 1.0], repeat=d)))
        accepted = points[network.accepts(points)]
        gain = rng.integers(-5, 6, d).astype(float)
        if 0 < len(accepted) < len(points):
            found.append((network, gain, float((accepted @ gain).max())))
    return found


def run(library: str, network: Network, gain: np.ndarray) -> dict[str, Any]:
    """What the README's block for that library leaves behind."""
    (recipe,) = (block for block in re.findall(r"^```py\n(.*?)^```", README, re.M | re.S) if library in block)
    namespace = {"lifted": lift(network), "gain": gain}
    exec(compile(recipe, "README.md", "exec"), namespace)
    return namespace


@pytest.mark.parametrize(("network", "gain", "best"), cases())
def test_cvxpy_finds_the_best_accepted_point(network, gain, best):
    psi = run("cvxpy", network, gain)["psi"].value.round()
    assert network.accepts(psi)
    assert gain @ psi == best


@pytest.mark.parametrize(("network", "gain", "best"), cases())
def test_pyomo_finds_the_best_accepted_point(network, gain, best):
    psi = np.array([round(variable.value) for variable in run("pyomo", network, gain)["model"].psi.values()])
    assert network.accepts(psi)
    assert gain @ psi == best


@pytest.mark.ortools
@pytest.mark.parametrize("network", [network for network, _, _ in cases()])
def test_ortools_finds_the_lifted_rows_feasible_where_the_network_accepts(network):
    points = np.array(list(product([0.0, 1.0], repeat=network.d)))
    feasible = [is_feasible(network, point) for point in points]
    assert feasible == network.accepts(points).tolist()


def is_feasible(network: Network, point: np.ndarray) -> bool:
    """Whether GLOP finds s for the lifted rows with psi fixed to the point."""
    from ortools.linear_solver import pywraplp

    lifted = lift(network)
    solver = pywraplp.Solver.CreateSolver("GLOP")
    psi = [solver.NumVar(value, value, "") for value in point]
    s = [solver.NumVar(0, solver.infinity(), "") for _ in range(lifted.K)]
    for left, rhs in zip(lifted.A_psi @ psi + lifted.A_s @ s, lifted.rhs, strict=True):
        solver.Add(left >= rhs)
    status = solver.Solve()
    assert status in (solver.OPTIMAL, solver.INFEASIBLE)
    return status == solver.OPTIMAL
