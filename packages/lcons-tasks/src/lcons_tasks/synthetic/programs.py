"""Integer programs that share their constraints: minimise c . z over 0/1 assignments z, solved by python-mip.

    hidden constraints    A z >= b
    learned constraints   1 - sum_k ReLU(w_k . z + b_k) >= 0, in the lifted form

Solutions are proved optimal (gap 0) and checked again. Where learned constraints allow nothing, the one that
breaks them least is taken instead, at a price that no cost outweighs, and counted.

Paper: Appendix B, Eq. 15-16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core.errors import LconsError
from lcons_core.rectifier import Network
from lcons_core.theorem1 import LinearInequalities
from lcons_decode.decoding import Status
from lcons_decode.ilp import Form, Grounded, Program, Row, Sense, Variable, ground_columns, solve
from lcons_decode.scores import Floats, Ints


def optimum(costs: Sequence[int] | Ints, rows: LinearInequalities) -> Ints:
    """The cheapest assignment that satisfies every row; `LconsError` where there is none.

    >>> at_least_two = LinearInequalities([[1.0, 1.0, 1.0]], [-2.0])
    >>> optimum([3, 1, 2], at_least_two).tolist()
    [0, 1, 1]
    """
    inequalities = [
        Row(
            ("hidden", m),
            tuple((j, float(row[j])) for j in np.flatnonzero(row).tolist()),
            Sense.AT_LEAST,
            -float(rows.bias[m]),
        )
        for m, row in enumerate(rows.coefficients)
    ]
    found = _solved(costs, inequalities)
    if found is None:
        raise LconsError("expected constraints with a solution, found none; draw others.")
    return found


@dataclass(frozen=True, eq=False)
class Predicted:
    """The cheapest assignment that a network accepts; `soft` where it accepts none and the least rejected
    one was taken."""

    assignment: Ints
    soft: bool


def predict(costs: Sequence[int] | Ints, network: Network, form: Form | str = Form.LIFTED) -> Predicted:
    """The cheapest assignment under learned constraints."""
    d = len(costs)
    found = _solved(costs, (), [ground_columns(network, list(range(d)))], form)
    if found is not None:
        return Predicted(found, False)
    price = 2.0 * float(np.abs(costs).sum()) + 1.0
    paid = _solved(costs, (), [ground_columns(network, list(range(d)), weight=price)], form)
    assert paid is not None, "with a price every assignment is allowed"
    return Predicted(paid, True)


def free_minimum(costs: Ints) -> Ints:
    """The cheapest assignments (n, d) without any constraint: the baseline."""
    return (np.asarray(costs) < 0).astype(np.int64)


def _solved(
    costs: Sequence[int] | Ints,
    rows: Sequence[Row],
    constraints: Sequence[Grounded] = (),
    form: Form | str = Form.LIFTED,
) -> Ints | None:
    variables = {j: Variable(j, -float(cost)) for j, cost in enumerate(costs)}
    program = Program(variables, {}, tuple(rows))  # type: ignore[arg-type]
    found = solve(program, constraints, form=form, explain=False)
    if found.status is Status.INFEASIBLE:
        return None
    if found.status is not Status.OPTIMAL:
        raise LconsError(f"expected a proved optimum, found {found.status}; use fewer hidden units.")
    return np.rint([found.values[j] for j in range(len(costs))]).astype(np.int64)


def margins_of(network: Network, assignments: Ints | Floats) -> Floats:
    """(n,): how far each assignment is from being rejected."""
    return np.atleast_1d(np.asarray(network.margin(np.asarray(assignments, dtype=np.float64))))
