"""OR-Tools CP-SAT: integer variables only, so rows are scaled to integers, without rounding.

Floats are rationals whose denominator is a power of two, so all rows times their common denominator Q are
integral,

    sum of c_j x_j >= r      iff      sum of (C_j / g) x_j >= ceil(R / g),     C = Q c, R = Q r, g = gcd(C)

for integers x. A continuous auxiliary s becomes the integer s' = Q s: every s_k >= a_k then compares s'_k
with the integer Q a_k, and the least s'_k is the integer max(0, Q a_k). So the rows hold for some s' iff they
hold for some real s. The sum of |C_j x_j| over the bounds of the variables must stay below 2^62, the limit of
CP-SAT.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ortools.sat.python import cp_model

from lcons_core._errors import TooLarge
from lcons_core.optimisers._tool import Bounds, System, Tool


class Adapter(Tool):
    """A `CpModel`; a solution is a `CpSolver` after `solve`, or a solution callback."""

    name = "CP-SAT"
    variables = cp_model.LinearExpr
    solutions = cp_model.CpSolver | cp_model.CpSolverSolutionCallback

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, cp_model.LinearExpr) and bool(entry.is_integer())

    def bounds(self, entry: Any) -> Bounds:
        flat = cp_model.FlatIntExpr(entry)
        ends = [[c * x for x in v.proto.domain] for v, c in zip(flat.vars, flat.coeffs, strict=True)]
        return Bounds(flat.offset + sum(map(min, ends)), flat.offset + sum(map(max, ends)), True)

    def names(self) -> set[str]:
        return {constraint.name for constraint in self.model.proto.constraints}

    def value(self, entry: Any, solution: Any) -> float:
        return float(solution.value(entry))

    def add(self, system: System, entries: Sequence[Any], prefix: str) -> Any:
        """Adds the rows with integer coefficients; nothing is added if one of them is out of range."""
        numbers = [x for row in system.rows for x in (row.rhs, *(Fraction(c) for _, c in row.terms))]
        Q = math.lcm(*(x.denominator for x in numbers))
        largest = [max(map(abs, self.bounds(e)[:2])) if self.knows(e) else 0 for e in entries]
        largest += [Q] * len(system.auxiliaries)
        scaled = []
        for row in system.rows:
            C = [int(c if j >= system.d else Fraction(c) * Q) for j, c in row.terms]
            R = int(row.rhs * Q)
            g = math.gcd(*C, R if row.equal else 0)
            scaled.append(([c // g for c in C], -(-R // g)))
            most = abs(R) + sum(abs(c) * largest[j] for c, (j, _) in zip(C, row.terms, strict=True))
            if most >= 2**62 * g:
                raise TooLarge(f"the row {row.name!r}, scaled to integers, may exceed CP-SAT's limit, 2^62.")
        columns = [*entries, *(self.model.new_int_var(0, Q, f"{prefix}_{a}") for a in system.auxiliaries)]
        for row, (C, R) in zip(system.rows, scaled, strict=True):
            left = cp_model.LinearExpr.weighted_sum([columns[j] for j, _ in row.terms], C)
            self.model.add(left == R if row.equal else left >= R).with_name(f"{prefix}_{row.name}")
        return self.model
