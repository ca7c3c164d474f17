"""OR-Tools CP-SAT: integer variables only, so rows are scaled to integers (`_integers.py`), exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ortools.sat.python import cp_model

from lcons_core.optimisers._integers import IntegerRow, RationalRow, check_range, common_scale, integer_row
from lcons_core.optimisers._system import Bounds, Row, System
from lcons_core.optimisers._tool import Tool, needed


class CpSat(Tool):
    """A `CpModel`; a solution is a `CpSolver` after `solve`, or a solution callback."""

    name = "CP-SAT"
    entry = "integer variables, literals or integer expressions"

    def knows(self, entry: Any) -> bool:
        return isinstance(entry, cp_model.LinearExpr) and entry.is_integer()

    def bounds(self, entry: Any) -> Bounds:
        flat = cp_model.FlatIntExpr(entry)
        ends = [sorted((c * _low(v), c * _high(v))) for v, c in zip(flat.vars, flat.coeffs, strict=True)]
        low, high = (flat.offset + sum(end[side] for end in ends) for side in (0, 1))
        return Bounds(float(low), float(high), True)

    def names(self) -> set[str]:
        return {constraint.name for constraint in self.model.proto.constraints}

    def value(self, entry: Any, solution: Any) -> float:
        kinds = (cp_model.CpSolver, cp_model.CpSolverSolutionCallback)
        return float(needed(solution, kinds, "the CpSolver that solved it").value(entry))

    def add(self, system: System, entries: Sequence[Any], prefix: str) -> Any:
        """Adds the rows with integer coefficients; nothing is added if one of them is out of range."""
        expressions = [None if _is_constant(entry) else cp_model.FlatIntExpr(entry) for entry in entries]
        variables = {v.index: v for flat in expressions if flat is not None for v in flat.vars}
        # Auxiliary i has the index -1 - i until it exists.
        rational = [_over_variables(row, system.d, expressions) for row in system.rows]
        real = frozenset(-1 - i for i, a in enumerate(system.auxiliaries) if not a.bounds.integral)
        scale = common_scale(rational, real)
        rows = [integer_row(row, real, scale) for row in rational]
        largest = {index: max(abs(_low(v)), abs(_high(v))) for index, v in variables.items()}
        bounds = {}
        for i, auxiliary in enumerate(system.auxiliaries):
            unit = scale if -1 - i in real else 1
            low, high = (int(end) * unit for end in (auxiliary.bounds.lower, auxiliary.bounds.upper))
            bounds[-1 - i] = (auxiliary.name, low, high)
            largest[-1 - i] = max(abs(low), abs(high))
        for row in rows:
            check_range(row, largest)
        for index, (name, low, high) in bounds.items():
            variables[index] = self.model.new_int_var(low, high, self.joined(prefix, name))
        for row in rows:
            self.model.add(_comparison(row, variables)).with_name(self.joined(prefix, row.name))
        return self.model


def _over_variables(row: Row, d: int, expressions: Sequence[Any]) -> RationalRow:
    """The row over variables of the model instead of expressions."""
    terms: dict[int, Fraction] = {}
    rhs = row.rhs
    for j, c in row.terms:
        if j >= d:
            terms[d - 1 - j] = Fraction(c)
            continue
        flat = expressions[j]
        rhs -= Fraction(c) * flat.offset
        for variable, factor in zip(flat.vars, flat.coeffs, strict=True):
            terms[variable.index] = terms.get(variable.index, Fraction(0)) + Fraction(c) * factor
    # Entries such as x and 1 - x may cancel.
    return RationalRow(row.name, tuple((v, c) for v, c in terms.items() if c), rhs, row.equal)


def _comparison(row: IntegerRow, variables: dict[int, Any]) -> Any:
    left = cp_model.LinearExpr.weighted_sum([variables[v] for v, _ in row.terms], [c for _, c in row.terms])
    return left == row.rhs if row.equal else left >= row.rhs


def _is_constant(entry: Any) -> bool:
    return not isinstance(entry, cp_model.LinearExpr)


def _low(variable: Any) -> int:
    return min(variable.proto.domain)


def _high(variable: Any) -> int:
    return max(variable.proto.domain)


TOOL = CpSat
