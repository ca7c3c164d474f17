"""cvxpy: rows as matrix inequalities; a list of constraints is extended, a `Problem` is made anew.

cvxpy names variables but not rows, and auxiliary variables are entries of a vector: the names that `add_to`
returns count them.
"""

import math
from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.index import index

from lcons_core.optimisers._tool import Bounds, System, Tool


class Adapter(Tool):
    """A list of constraints or a `cvxpy.Problem`; the values are those of the last `solve`."""

    name = "cvxpy"
    variables = cp.Variable | index

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, cp.Expression) and entry.size == 1 and bool(entry.is_affine())

    def bounds(self, entry: Any) -> Bounds:
        leaf = entry.args[0] if isinstance(entry, index) else entry
        attributes = getattr(leaf, "attributes", {})
        if attributes.get("boolean") is True:
            return Bounds(0.0, 1.0, True)
        lower, upper = attributes.get("bounds") or (-math.inf, math.inf)
        return Bounds(float(np.min(lower)), float(np.max(upper)), attributes.get("integer") is True)

    def value(self, entry: Any, solution: Any) -> float:
        return float(np.asarray(entry.value).item())

    def add(self, system: System, entries: Sequence[Any], prefix: str) -> Any:
        """Adds `A x >= rhs` and `A x == rhs`, where x is psi and the auxiliary variables."""
        columns = [entry if isinstance(entry, cp.Expression) else 0.0 for entry in entries]
        if system.auxiliaries:
            columns += [*cp.Variable(len(system.auxiliaries), name=f"{prefix}_s", bounds=[0.0, 1.0])]
        x, added = cp.hstack(columns), []
        for equal in (False, True):
            rows = [row for row in system.rows if row.equal == equal]
            A, rhs = np.zeros((len(rows), len(columns))), np.array([float(row.rhs) for row in rows])
            for m, row in enumerate(rows):
                A[m, [j for j, _ in row.terms]] = [c for _, c in row.terms]
            added += [A @ x == rhs if equal else A @ x >= rhs] if rows else []
        if isinstance(self.model, list):
            self.model.extend(added)
            return self.model
        return cp.Problem(self.model.objective, [*self.model.constraints, *added])
