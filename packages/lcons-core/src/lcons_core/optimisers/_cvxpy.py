"""cvxpy: rows as matrix inequalities; a list of constraints is extended, a `Problem` is made anew.

cvxpy names variables but not rows, and auxiliary variables are entries of vectors: the names that `add_to`
returns count them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.index import index

from lcons_core.optimisers._system import Auxiliary, Bounds, Row, System
from lcons_core.optimisers._tool import Tool


class Cvxpy(Tool):
    """A list of constraints or a `cvxpy.Problem`; the values are those of the last `solve`."""

    name = "cvxpy"
    entry = "affine expressions"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self._vector: Any = None  # psi as one expression, which is faster than its entries

    def listed(self, psi: Any) -> Sequence[Any]:
        """The entries; for a vector expression, its indices."""
        if not isinstance(psi, cp.Expression):
            return list(psi)
        if psi.ndim != 1:
            raise TypeError("psi has one dimension")
        self._vector = psi
        return [psi[j] for j in range(psi.size)]

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, cp.Expression) and entry.size == 1 and entry.is_affine()

    def bounds(self, entry: Any) -> Bounds:
        leaf = entry.args[0] if isinstance(entry, index) else entry
        if not isinstance(leaf, cp.Variable):
            return Bounds()
        if leaf.attributes["boolean"] is True:
            return Bounds(0.0, 1.0, True)
        lower, upper = leaf.attributes["bounds"] or (-math.inf, math.inf)
        lower, upper = float(np.min(lower)), float(np.max(upper))
        whole = leaf.attributes["integer"] is True
        return Bounds(max(lower, 0.0) if leaf.is_nonneg() else lower, upper, whole)

    def names(self) -> set[str]:
        return set()

    def value(self, entry: Any, solution: Any) -> float:
        return float(np.asarray(entry.value).item())

    def add(self, system: System, entries: Sequence[Any], prefix: str) -> Any:
        """Adds `A x >= rhs` and `A x == rhs`, where x is psi and the auxiliary variables."""
        vector = self._vector
        if vector is None:
            vector = cp.hstack([entry if isinstance(entry, cp.Expression) else 0.0 for entry in entries])
        groups = [
            (vector, [*range(system.d)]),
            *_variables(system, prefix, integral=False),
            *_variables(system, prefix, integral=True),
        ]
        added = []
        for equal in (False, True):
            rows = [row for row in system.rows if row.equal == equal]
            if rows:
                A = _matrix(rows, system.d + len(system.auxiliaries))
                left = sum(A[:, columns] @ variable for variable, columns in groups)
                rhs = np.array([float(row.rhs) for row in rows])
                added.append(left == rhs if equal else left >= rhs)
        if isinstance(self.model, list):
            self.model.extend(added)
            return self.model
        return cp.Problem(self.model.objective, [*self.model.constraints, *added])


def _variables(system: System, prefix: str, integral: bool) -> list[tuple[Any, list[int]]]:
    """A vector variable of the auxiliaries of one kind, and their columns; empty if there are none."""
    chosen: list[tuple[int, Auxiliary]] = [
        (system.d + i, a) for i, a in enumerate(system.auxiliaries) if a.bounds.integral == integral
    ]
    if not chosen:
        return []
    name = f"{prefix}_{'z' if integral else 's'}"
    bounds = [np.array([end(a.bounds) for _, a in chosen]) for end in (_lower, _upper)]
    return [(cp.Variable(len(chosen), name=name, integer=integral, bounds=bounds), [j for j, _ in chosen])]


def _lower(bounds: Bounds) -> float:
    return bounds.lower


def _upper(bounds: Bounds) -> float:
    return bounds.upper


def _matrix(rows: Sequence[Row], columns: int) -> Any:
    A = np.zeros((len(rows), columns))
    for m, row in enumerate(rows):
        for j, c in row.terms:
            A[m, j] = c
    return A


TOOL = Cvxpy
