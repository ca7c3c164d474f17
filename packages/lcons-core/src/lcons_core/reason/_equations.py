"""The domain of a space as linear equations, for solvers.

An integral psi is a point of the domain iff

    one-hot block:            sum of its columns  = 1      (<= 1 where the block has an OTHER)
    every column:             low <= psi_j <= high
    "value v needs block B":  indicator(v) <= indicator(B has one of the values)

Simplified rows (`simplify.py`) mean something only together with these.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core._arithmetic import Floats, frozen
from lcons_core._blocks import Kind
from lcons_core._psi import SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core.reason._points import Bools
from lcons_core.reason._rules import indicator


@dataclass(frozen=True)
class Equation:
    """sum of `coefficients[i] * psi[columns[i]]`, compared with `rhs` by `sense`: "==", "<=" or ">="."""

    columns: tuple[int, ...]
    coefficients: tuple[float, ...]
    sense: str
    rhs: float
    meaning: str

    def __str__(self) -> str:
        pairs = zip(self.coefficients, self.columns, strict=True)
        terms = " ".join(f"{c:+g} psi[{j}]" for c, j in pairs)
        return f"{terms} {self.sense} {self.rhs:g}  ({self.meaning})"


@dataclass(frozen=True, eq=False)
class DomainEquations:
    """`rows`, the bounds `lower <= psi <= upper`, and psi integral: together the domain of a space."""

    rows: tuple[Equation, ...]
    lower: Floats
    upper: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def holds(self, psi: Any) -> Bools:
        """Which psi (N, d) satisfy all of it."""
        checked = as_psi(psi, len(self.lower))
        dense = checked.dense() if isinstance(checked, SparsePsi) else np.atleast_2d(checked)
        integral = dense == np.rint(dense)
        holds: Bools = (integral & (dense >= self.lower) & (dense <= self.upper)).all(1)
        for row in self.rows:
            value = dense[:, list(row.columns)] @ np.array(row.coefficients)
            low = value >= row.rhs if row.sense != "<=" else True
            high = value <= row.rhs if row.sense != ">=" else True
            holds &= low & high
        return holds


def domain_equations(space: FeatureSpace) -> DomainEquations:
    """The equations that hold exactly at the points of the space.

    >>> from lcons_core._space import one_hot
    >>> for row in domain_equations(FeatureSpace([one_hot("tag", "AB"), one_hot("word", "x", True)])).rows:
    ...     print(row)
    +1 psi[0] +1 psi[1] == 1  (tag has one value)
    +1 psi[2] <= 1  (word has at most one value)
    """
    rows = []
    lower, upper = np.zeros(space.d), np.ones(space.d)
    for block in space.blocks:
        columns = tuple(space.column(block.name, value) for value in block.values)
        if block.kind is Kind.ONE_HOT:
            sense, words = ("<=", "at most one value") if block.other else ("==", "one value")
            ones = (1.0,) * len(columns)
            rows.append(Equation(columns, ones, sense, 1.0, f"{block.name} has {words}"))
        if block.kind is Kind.COUNT:
            lower[list(columns)], upper[list(columns)] = block.low, block.high
    for rule in space.requires:
        w_if, c_if = indicator(space, rule.block, (rule.value,))
        w_then, c_then = indicator(space, rule.needs_block, rule.needs_values)
        w = w_then - w_if
        columns = tuple(np.flatnonzero(w).tolist())
        meaning = f"{rule.block} {rule.value} needs {rule.needs_block} {' or '.join(rule.needs_values)}"
        rows.append(Equation(columns, tuple(w[list(columns)].tolist()), ">=", c_if - c_then, meaning))
    return DomainEquations(tuple(rows), frozen(lower), frozen(upper))
