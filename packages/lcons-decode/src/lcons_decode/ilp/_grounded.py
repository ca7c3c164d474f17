"""A constraint in a program: psi as expressions over the program's variables, and bounds on such expressions.

    psi_j = constant_j + sum of coefficient * variable,        W psi + b = C v + c   over the variables v

The largest value of C v + c has a closed form: a variable goes to one of its bounds, and of the indicators of
a decision exactly one is 1.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from lcons_core import Bools, Floats, Network, Psi
from lcons_decode.ilp._program import Name, Program, Row, Values, Variable

Expression = tuple[tuple[Name, float], ...]


@dataclass(frozen=True)
class PsiRow:
    """One psi row: column j is `constant[j]` (0 if absent) plus the terms of `columns[j]`."""

    constant: Mapping[int, float]
    columns: Mapping[int, Expression]


@dataclass(frozen=True, eq=False)
class Grounded:
    """A constraint in a program: its psi rows, the auxiliary variables and rows they need, and psi.

    `weight` is None for a hard constraint, otherwise the weight of the hinge. `psi` reads the decoded
    structure itself, not the auxiliary variables, so that a verdict on it does not depend on the encoding.
    `positions[i]` is the position at which row i ends in a sequence, None outside sequences.
    """

    name: str
    network: Network
    psi_rows: tuple[PsiRow, ...]
    psi: Callable[[Values], Psi]
    variables: tuple[Variable, ...] = ()
    rows: tuple[Row, ...] = ()
    weight: float | None = None
    positions: tuple[int | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Affine:
    """`coefficients @ variables + constant`, M expressions over named variables."""

    names: tuple[Name, ...]
    coefficients: Floats
    constant: Floats

    def terms(self, m: int, scale: float = 1.0) -> list[tuple[Name, float]]:
        """The terms of expression m that are not zero."""
        row = self.coefficients[m] * scale
        return [(self.names[i], float(row[i])) for i in np.flatnonzero(row)]


def affine(row: PsiRow, W: Floats, b: Floats) -> Affine:
    """`W psi + b` for one psi row, over the program's variables."""
    constant = b.copy()
    for j, value in row.constant.items():
        constant += W[:, j] * value
    terms = [(name, j, c) for j, expression in row.columns.items() for name, c in expression]
    index = {name: i for i, name in enumerate(dict.fromkeys(name for name, _, _ in terms))}
    coefficients = np.zeros((len(W), len(index)))
    if len(index) == len(terms):
        columns, scales = [j for _, j, _ in terms], np.array([c for _, _, c in terms])
        coefficients = W[:, columns] * scales if terms else coefficients
    else:
        for name, j, c in terms:
            coefficients[:, index[name]] += W[:, j] * c
    return Affine(tuple(index), coefficients, constant)


class Bounds:
    """Bounds on expressions over the variables of a program with constraints, never rounded the wrong way."""

    def __init__(self, program: Program, constraints: Sequence[Grounded]) -> None:
        self.program = program
        self.variables = dict(program.variables)
        for grounded in constraints:
            self.variables |= {variable.name: variable for variable in grounded.variables}
        self._known_ends: dict[tuple[Name, ...], tuple[Floats, Floats, list[tuple[list[int], bool]]]] = {}

    @cached_property
    def decision_of(self) -> dict[Name, Hashable]:
        """The decision of each indicator."""
        decisions = self.program.decisions.items()
        return {name: decision for decision, labels in decisions for name in labels.values()}

    @cached_property
    def position_of(self) -> dict[Hashable, int]:
        """The position of each decision in the program."""
        return {decision: i for i, decision in enumerate(self.program.decisions)}

    def at_most_zero(self, values: Affine, scale: float = 1.0) -> Bools:
        """(M,) whether `scale` times expression m is never above 0, for a scale of 1 or -1; exact."""
        low, high, groups = self._ends(values.names)
        C, constant = values.coefficients * scale, values.constant * scale
        with np.errstate(invalid="ignore"):
            products = np.where(C > 0, C * high, np.where(C < 0, C * low, 0.0))
        highest = constant + products.sum(1)
        size = np.abs(constant) + np.abs(products).sum(1)
        for columns, others in groups:
            own = C[:, columns]
            highest += own.max(1, initial=0.0 if others or not columns else -np.inf)
            size += np.abs(own).max(1, initial=0.0)
        # A float sum decides unless it is so near to 0 that rounding could have changed its sign.
        error = size * (2.0**-50 * (len(values.names) + 1))
        found: Bools = highest <= -error
        for m in np.flatnonzero((np.abs(highest) <= error) & ~found).tolist():
            exact = self._highest(values.terms(m, scale), float(constant[m]))
            found[m] = exact is not None and exact <= 0
        return found

    def _ends(self, names: tuple[Name, ...]) -> tuple[Floats, Floats, list[tuple[list[int], bool]]]:
        """The bounds of free variables (0 for indicators); for each decision, its possible indicators, and
        whether it has others that are not named."""
        if names not in self._known_ends:
            chosen: dict[Hashable, list[int]] = {}
            low, high = np.zeros(len(names)), np.zeros(len(names))
            for i, name in enumerate(names):
                if name in self.decision_of:
                    chosen.setdefault(self.decision_of[name], []).append(i)
                else:
                    low[i], high[i] = self.variables[name].low, self.variables[name].high
            groups = []
            for decision, columns in chosen.items():
                possible = [i for i in columns if self.variables[names[i]].high > 0]
                groups.append((possible, len(columns) < len(self.program.decisions[decision])))
            self._known_ends[names] = (low, high, groups)
        return self._known_ends[names]

    def _highest(self, terms: Sequence[tuple[Name, float]], constant: float) -> Fraction | None:
        """The largest value, where one indicator per decision is 1; None if there is none."""
        total = Fraction(constant)
        chosen: dict[Hashable, dict[Name, float]] = {}
        for name, c in terms:
            if name in self.decision_of:
                chosen.setdefault(self.decision_of[name], {})[name] = c
                continue
            variable = self.variables[name]
            end = variable.high if c > 0 else variable.low
            if not math.isfinite(end):
                return None
            total += Fraction(c) * Fraction(end)
        for decision, given in chosen.items():
            indicators = self.program.decisions[decision].values()
            possible = [given.get(name, 0.0) for name in indicators if self.variables[name].high > 0]
            total += Fraction(max(possible, default=0.0))
        return total
