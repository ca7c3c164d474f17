"""Programs solved under learned constraints in place of the hidden ones.

    minimise c . z   subject to   the network accepts z                     lifted by default, checked exactly

A program that no point satisfies is solved softly: `weight * max(0, -margin(z))` is added to its cost, with
weight sum_j |c_j|, so that one unit of violation costs as much as all decisions together. Such programs are
counted.

Paper: Appendix B. Not in the paper: the lifted form, the check of every solution, the soft mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcons_core.errors import LconsError
from lcons_core.exact import Floats
from lcons_core.rectifier import Network
from lcons_decode.decoding import Status
from lcons_decode.ilp import Assignment, Form, Program, Variable, ground_columns, solve
from lcons_tasks.experiment.jobs import Tell


@dataclass(frozen=True, eq=False)
class Predicted:
    """Points (N, d), and which programs were infeasible and solved softly."""

    points: Floats
    infeasible: tuple[int, ...] = ()


def unconstrained(costs: Floats) -> Floats:
    """(N, d) the points of least cost without constraints; a bit that costs nothing is 0."""
    return (costs < 0).astype(np.float64)


def predict(
    network: Network, costs: Floats, *, form: Form | str = Form.LIFTED, tell: Tell | None = None
) -> Predicted:
    """The best point of each program that the network accepts."""
    points, infeasible = [], []
    for i, c in enumerate(costs):
        found = _best(network, c, None, form)
        if found.status is Status.INFEASIBLE:
            infeasible.append(i)
            found = _best(network, c, float(np.abs(c).sum()), form)
        if found.status is not Status.OPTIMAL:
            raise LconsError(f"program {i} ended with {found.status}; use fewer hidden units.")
        points.append([found.values[j] for j in range(len(c))])
        if tell is not None:
            tell((i + 1) / len(costs), f"program {i + 1} of {len(costs)}")
    return Predicted(np.array(points).reshape(costs.shape), tuple(infeasible))


def _best(network: Network, c: Floats, weight: float | None, form: Form | str) -> Assignment:
    """The answer for one program; its score is minus the cost, its values are named by position."""
    program = Program({j: Variable(j, -float(cost)) for j, cost in enumerate(c)})
    grounded = ground_columns(network, list(range(len(c))), weight=weight)
    return solve(program, [grounded], form=form, explain=False)
