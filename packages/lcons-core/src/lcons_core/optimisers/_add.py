"""`add_to(model, constraint, psi)`: a constraint becomes part of a model of any known tool."""

from __future__ import annotations

import numbers
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from itertools import chain, count
from typing import Any

import numpy as np

from lcons_core._errors import InvalidInput
from lcons_core._pointset import Fitted, PointSet, as_points
from lcons_core._theorem import Form, read_form
from lcons_core._types import Floats
from lcons_core.optimisers._system import build_system, fold_constants
from lcons_core.optimisers._tool import Bounds, Tool

INTEGRALITY = 1e-4  # the largest distance from an integer at which a solver's value is rounded

# (package, class of the model) -> module of this package. A list is one of cvxpy constraints.
MODELS = {
    ("builtins", "list"): "_cvxpy",
    ("cvxpy", "Problem"): "_cvxpy",
    ("gurobipy", "Model"): "_gurobi",
    ("highspy", "Highs"): "_highs",
    ("mip", "Model"): "_mip",
    ("ortools.math_opt", "Model"): "_mathopt",
    ("ortools.sat", "CpModel"): "_cpsat",
    ("pulp", "LpProblem"): "_pulp",
    ("pyomo", "BlockData"): "_pyomo",
    ("pyscipopt", "Model"): "_scip",
}


@dataclass(frozen=True, eq=False)
class Added:
    """What `add_to` added: names of variables and rows. `model` is the model, or a new `cvxpy.Problem`."""

    model: Any = field(repr=False)
    form: Form
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
        tool = self._tool
        if tool.solutions is not None and not isinstance(solution, tool.solutions):
            raise InvalidInput(f"{tool.name} needs the solver or its result, got {type(solution).__name__}.")
        values = [float(e) if is_number(e) else tool.value(e, solution) for e in self._entries]
        whole = np.rint(values)
        near = np.array(self._integral) & (np.abs(values - whole) <= INTEGRALITY)
        psi: Floats = np.where(near, whole, values)
        return psi

    def check(self, solution: Any = None) -> bool:
        """Whether the constraint accepts a solution, decided exactly; a solution may also be psi (d,)."""
        is_psi = isinstance(solution, np.ndarray | list | tuple)
        return bool(self.constraint.accepts(solution if is_psi else self.psi(solution)))

    def __str__(self) -> str:
        return (
            f"{self.form} in {self._tool.name}: {len(self.rows):,} rows, {len(self.variables):,} auxiliary"
            " variables"
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
        (block, value), or the value alone where only one block has it, or column numbers.
    form: "rows", "lifted" or "simplified" (`_system.py`); None: the shorter of the first two.
    domain: psi is a point of the constraint's space: the equations of the space are added too, such as one
        value per one-hot block.
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
    tool, points = _tool_of(model), as_points(constraint, "add_to")
    entries = _entries_of(tool, points, psi)
    constants = [_constant(entry) if is_number(entry) else None for entry in entries]
    bounds = [tool.bounds(e) if isinstance(e, tool.variables) else Bounds() for e in entries]
    system = build_system(points, bounds, None if form is None else read_form(form), domain)
    system = fold_constants(system, constants)
    taken, prefixes = tool.names(), chain([name], (f"{name}_{i}" for i in count(2)))
    prefix = next(p for p in prefixes if taken.isdisjoint(f"{p}_{row.name}" for row in system.rows))
    changed = tool.add(system, entries, prefix)
    whole = np.zeros(points.d, dtype=bool) if points.space is None else ~points.space.real_columns
    return Added(
        changed,
        system.form,
        tuple(f"{prefix}_{name}" for name in system.auxiliaries),
        tuple(f"{prefix}_{row.name}" for row in system.rows),
        points,
        tool,
        tuple(entries),
        tuple(known.integral or by_space for known, by_space in zip(bounds, whole.tolist(), strict=True)),
    )


def is_number(entry: Any) -> bool:
    """Whether an entry is a constant and not part of the model."""
    return isinstance(entry, numbers.Number | np.generic)


def _constant(entry: Any) -> Fraction:
    """A number in place of a variable, exactly."""
    try:
        return Fraction(entry.item() if isinstance(entry, np.generic) else entry)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"the numbers in psi must be finite and real, found {entry!r}.") from None


def _tool_of(model: Any) -> Tool:
    """The tool of a model, recognised by its class without importing any other."""
    for kind in type(model).__mro__:
        for (package, name), module in MODELS.items():
            if kind.__name__ == name and f"{kind.__module__}.".startswith(f"{package}."):
                tool: Tool = import_module(f"lcons_core.optimisers.{module}").Adapter(model)
                return tool
    kind = type(model)
    raise InvalidInput(f"add_to needs a model of a known tool, got {kind.__name__} of {kind.__module__}.")


def _entries_of(tool: Tool, points: PointSet, psi: Any) -> list[Any]:
    """The d entries of psi in column order."""
    entries = _by_name(points, psi) if hasattr(psi, "keys") else tool.listed(psi)
    unknown = [
        f", a {type(e).__name__} among them" for e in entries if not is_number(e) and not tool.knows(e)
    ]
    if len(entries) != points.d or unknown:
        raise InvalidInput(f"psi needs {points.d} variables, got {len(entries)}{''.join(unknown[:1])}.")
    return entries


def _by_name(points: PointSet, psi: Any) -> list[Any]:
    """The entries of a mapping: by column number, (block, value), or a value of one block only."""
    named = points.space.columns if points.space is not None else ()
    times = Counter(value for _, value in named)
    column_of: dict[Any, int] = {j: j for j in range(points.d)}
    column_of |= {value: j for j, (_, value) in enumerate(named) if times[value] == 1}
    column_of |= {column: j for j, column in enumerate(named)}
    keys = list(psi.keys())
    by_column = {column_of.get(key): psi[key] for key in keys}
    if by_column.keys() != {*range(points.d)} or len(keys) != points.d:
        raise InvalidInput(f"psi must name each of {points.d} columns once, as (block, value), found {keys}.")
    return [by_column[j] for j in range(points.d)]
