"""`add_to(model, constraint, psi)`: a constraint becomes part of a model of any known tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, count
from typing import Any

import numpy as np

from lcons_core._errors import InvalidInput
from lcons_core._pointset import Fitted, PointSet, as_points
from lcons_core._space import FeatureSpace
from lcons_core._theorem import Form, read_form
from lcons_core._types import Floats
from lcons_core.optimisers._psi_entries import is_number, read_entries
from lcons_core.optimisers._system import Bounds, System, build_system, fold_constants, read_constant
from lcons_core.optimisers._tool import Tool
from lcons_core.optimisers._tools import read_tool

INTEGRALITY = 1e-4  # the largest distance from an integer at which a solver's value is rounded


@dataclass(frozen=True, eq=False)
class Added:
    """What `add_to` added: names of variables and rows. `model` is the model, or a new `cvxpy.Problem`."""

    model: Any = field(repr=False)
    tool: str
    forms: tuple[Form, ...]
    variables: tuple[str, ...]
    rows: tuple[str, ...]
    constraint: PointSet = field(repr=False)
    _tool: Tool = field(repr=False)
    _entries: tuple[Any, ...] = field(repr=False)
    _integral: tuple[bool, ...] = field(repr=False)

    def psi(self, solution: Any = None) -> Floats:
        """psi (d,) in a solution: the model's last one, a `CpSolver`, or a MathOpt result.

        Solvers return integers up to a tolerance: entries that are integral are rounded.
        """
        values = np.array([self._value(entry, solution) for entry in self._entries])
        whole = np.rint(values)
        near = np.array(self._integral) & (np.abs(values - whole) <= INTEGRALITY)
        psi: Floats = np.where(near, whole, values)
        return psi

    def check(self, solution: Any = None) -> bool:
        """Whether the constraint accepts a solution, decided exactly; a solution may also be psi (d,)."""
        given = isinstance(solution, np.ndarray | list | tuple)
        return bool(self.constraint.accepts(solution if given else self.psi(solution)))

    def _value(self, entry: Any, solution: Any) -> float:
        return float(entry) if is_number(entry) else self._tool.value(entry, solution)

    def __str__(self) -> str:
        return (
            f"{' and '.join(self.forms)} in {self.tool}: {len(self.rows):,} rows,"
            f" {len(self.variables):,} auxiliary variables"
        )


def add_to(
    model: Any,
    constraint: PointSet | Fitted,
    psi: Any,
    *,
    form: Form | str | None = None,
    domain: bool = False,
    name: str = "lcons",
) -> Added:
    """Adds "psi is accepted by the constraint" to a model of an optimiser, and returns what was added.

    model: of Pyomo, PuLP, gurobipy, PySCIPOpt, highspy, python-mip, OR-Tools (`CpModel`, `mathopt.Model`), or
        a list of cvxpy constraints, which is extended. A `cvxpy.Problem` cannot change: `.model` is new.
    constraint: a network, conjunction, constraint, rules or fitted learner.
    psi: one variable, linear expression or number per column, in column order; or a mapping with the keys
        (block, value), or the value alone where only one block has it.
    form: "rows", "lifted" or "simplified" (`_system.py`); None: the shortest.
    domain: psi is a point of the constraint's space; the equations of the space are added too (one value per
        one-hot block), and simplified rows may be used.
    name: the beginning of all new names; a number is appended if it is taken.

    All solvers but CP-SAT satisfy rows only up to a tolerance: check their solutions with `.check()`, which
    decides exactly. CP-SAT has only integers: its rows are scaled to integers without rounding.

    >>> import highspy
    >>> from lcons_core import RectifierNetwork
    >>> model = highspy.Highs()
    >>> model.silent()
    >>> x = [model.addBinary() for _ in range(3)]
    >>> added = add_to(model, RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0]), x)
    >>> print(added)
    rows in highspy: 3 rows, 0 auxiliary variables
    >>> _ = model.maximize(3 * x[0] + 2 * x[1] + x[2])
    >>> added.psi(), added.check()
    (array([1., 0., 1.]), True)
    """
    tool, points = read_tool(model), as_points(constraint, "add_to")
    entries = read_entries(tool, points, psi)
    numbers = [read_constant(entry) if is_number(entry) else None for entry in entries]
    bounds = [
        _constant_bounds(number) if number is not None else tool.bounds(entry)
        for number, entry in zip(numbers, entries, strict=True)
    ]
    system = build_system(points, bounds, None if form is None else read_form(form), domain)
    folded = fold_constants(system, numbers)
    prefix = _free_name(tool, folded, name)
    changed = tool.add(folded, entries, prefix)
    return Added(
        changed,
        tool.name,
        folded.forms,
        tuple(tool.joined(prefix, auxiliary.name) for auxiliary in folded.auxiliaries),
        tuple(tool.joined(prefix, row.name) for row in folded.rows),
        points,
        tool,
        tuple(entries),
        _integral(points.space, bounds),
    )


def _constant_bounds(number: Fraction) -> Bounds:
    return Bounds(float(number), float(number), number.denominator == 1)


def _integral(space: FeatureSpace | None, bounds: Sequence[Bounds]) -> tuple[bool, ...]:
    """Which columns are integers: by the tool, or by the space."""
    whole = [False] * len(bounds) if space is None else (~space.real_columns).tolist()
    return tuple(known.integral or by_space for known, by_space in zip(bounds, whole, strict=True))


def _free_name(tool: Tool, system: System, name: str) -> str:
    """`name`, or name_2, name_3, ... if the model has such rows already."""
    if not name:
        raise InvalidInput("expected a name that is not empty, found ''; names of rows begin with it.")
    taken = tool.names()
    prefixes = chain([name], (f"{name}_{number}" for number in count(2)))
    return next(
        prefix
        for prefix in prefixes
        if taken.isdisjoint([prefix, *(tool.joined(prefix, row.name) for row in system.rows)])
    )
