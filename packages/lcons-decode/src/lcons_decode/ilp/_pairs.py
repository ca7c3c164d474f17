"""Decisions that depend on each other in pairs, as an integer program: a variable for each pair of labels."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from lcons_core._errors import LconsError
from lcons_decode._result import Status
from lcons_decode._scores import Floats, Ints
from lcons_decode.ilp._backend import Solver
from lcons_decode.ilp._program import graph_program
from lcons_decode.ilp._solve import solve


def label_pairs_by_ilp(unary: Floats, best: Floats, solver: Solver | str = Solver.CBC) -> Ints:
    """The labels with the largest sum of unary (n, L) and pair values (n, n, L, L), of i < j.

    >>> best = np.zeros((2, 2, 2, 2))
    >>> best[0, 1] = [[0, 1], [2, 0]]
    >>> label_pairs_by_ilp(np.zeros((2, 2)), best).tolist()
    [1, 0]
    """
    n, L = unary.shape
    names = [str(label) for label in range(L)]
    decisions = {i: dict(zip(names, map(float, unary[i]), strict=True)) for i in range(n)}
    factors: dict[tuple[Hashable, Hashable], dict[tuple[str, str], float]] = {
        (i, j): {(names[a], names[b]): float(best[i, j, a, b]) for a in range(L) for b in range(L)}
        for i in range(n)
        for j in range(i + 1, n)
    }
    found = solve(graph_program(decisions, factors), solver=solver)
    if found.status is not Status.OPTIMAL:
        raise LconsError(f"the integer program of {n} candidates ended with {found.status}; use fewer.")
    return np.array([int(found.labels[i]) for i in range(n)], dtype=np.int64)
