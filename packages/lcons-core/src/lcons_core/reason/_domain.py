"""Parts of a domain by name (boxes), and the domain itself as linear equations.

A box restricts some axes to sets of values and leaves the others free. "Axis j has one of these values" is
linear in psi for one-hot and binary blocks; `indicator` returns the coefficients.

An integral psi is a point of the domain iff

    one-hot block:            sum of its columns  = 1      (<= 1 if the block has an OTHER)
    every column:             low <= psi_j <= high         (not integral in a real block)
    "value v needs block B":  indicator(v) <= indicator(B has one of the values)

Simplified rows (`_simplify.py`) are valid only together with these equations.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core._arithmetic import frozen
from lcons_core._blocks import Kind
from lcons_core._errors import InvalidInput, Unsupported
from lcons_core._psi import SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints


@dataclass(frozen=True)
class Box:
    """Conditions (axis, values), in the order of the axes; a point is inside iff all conditions hold."""

    conditions: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, space: FeatureSpace, assignment: Mapping[str, Any]) -> Box:
        """A box from names.

        One-hot block: one value or a collection of values. Binary block: a collection of names that hold, or
        a mapping from names to truth values. Count block: a mapping from names to one or several numbers.
        """
        chosen: dict[str, set[str]] = {}
        for name, given in assignment.items():
            for axis_name, values in _conditions(space, name, given):
                chosen[axis_name] = {str(value) for value in values}
        if not chosen:
            raise InvalidInput("a rule needs at least one condition, found none; name a block and a value.")
        conditions = []
        for axis_name, wanted in chosen.items():
            axis = space.axes[space.axis_index(axis_name)]
            unknown = sorted(wanted - set(axis.values))
            if unknown or not wanted:
                raise InvalidInput(
                    f"unknown value {unknown[0]!r} for {axis_name!r}; it is one of"
                    f" {', '.join(axis.values[:12])}{' ...' if len(axis) > 12 else ''}."
                    if unknown
                    else f"expected at least one value for {axis_name!r}, found none; name one."
                )
            conditions.append((axis_name, tuple(v for v in axis.values if v in wanted)))
        return cls(tuple(sorted(conditions, key=lambda c: space.axis_index(c[0]))))

    def contains(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) which assignments (N, axes) are inside."""
        inside = np.ones(len(assignments), dtype=np.bool_)
        for i, member in self.masks(space):
            inside &= member[assignments[:, i]]
        return inside

    def masks(self, space: FeatureSpace) -> list[tuple[int, Bools]]:
        """For each condition the position of its axis, and which values of the axis are inside."""
        places = ((space.axis_index(name), values) for name, values in self.conditions)
        return [(i, members(space.axes[i].values, values)) for i, values in places]

    def to_dict(self) -> dict[str, list[str]]:
        """Plain data: axis -> values."""
        return {name: list(values) for name, values in self.conditions}


def members(known: Sequence[str], wanted: Collection[str]) -> Bools:
    """Which of the known values are wanted."""
    some = frozenset(wanted)
    return np.fromiter((value in some for value in known), np.bool_, len(known))


def indicator(space: FeatureSpace, axis_name: str, values: Collection[str]) -> tuple[Floats, float]:
    """(w, c) with `w . psi + c` = 1 if the axis has one of `values`, else 0."""
    axis = space.axes[space.axis_index(axis_name)]
    block = space.block(axis.block)
    w, c = np.zeros(space.d), 0.0
    if block.whole:
        raise Unsupported(
            f"{axis_name!r} is a count: a set of counts is not linear in psi; write an inequality instead."
        )
    wanted = frozenset(values)
    for v, value in enumerate(axis.values):
        if value not in wanted:
            continue
        if axis.coefficients[v]:
            w[axis.columns[v]] += 1.0
        else:
            w[axis.columns[axis.coefficients > 0]] -= 1.0
            c += 1.0
    return w, c


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
    """`rows`, the bounds `lower <= psi <= upper`, and integers in the columns `integral`: the domain."""

    rows: tuple[Equation, ...]
    lower: Floats
    upper: Floats
    integral: Bools

    def __len__(self) -> int:
        return len(self.rows)

    def holds(self, psi: Any) -> Bools:
        """(N,) which psi (N, d) satisfy all equations and bounds."""
        checked = as_psi(psi, len(self.lower))
        dense = checked.dense() if isinstance(checked, SparsePsi) else np.atleast_2d(checked)
        integral = (dense == np.rint(dense)) | ~self.integral
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
        if block.numeric:
            lower[list(columns)], upper[list(columns)] = block.low, block.high
    for rule in space.requires:
        w_if, c_if = indicator(space, rule.block, (rule.value,))
        w_then, c_then = indicator(space, rule.needs_block, rule.needs_values)
        w = w_then - w_if
        columns = tuple(np.flatnonzero(w).tolist())
        meaning = f"{rule.block} {rule.value} needs {rule.needs_block} {' or '.join(rule.needs_values)}"
        rows.append(Equation(columns, tuple(w[list(columns)].tolist()), ">=", c_if - c_then, meaning))
    return DomainEquations(tuple(rows), frozen(lower), frozen(upper), frozen(~space.real_columns))


def drawn_points(space: FeatureSpace, number: int, rng: np.random.Generator) -> Ints:
    """At most `number` random assignments, uniform over the product of axes, without impossible ones."""
    drawn = [rng.integers(0, len(axis), number) for axis in space.axes]
    points = np.stack(drawn, axis=1)
    return points[space.possible(points)]


def _conditions(space: FeatureSpace, name: str, given: Any) -> Iterable[tuple[str, Collection[Any]]]:
    block = space.block(name)
    if block.kind is Kind.ONE_HOT:
        yield name, [given] if isinstance(given, str) else list(given)
        return
    if isinstance(given, str):
        given = [given]
    elif isinstance(given, int) and block.whole and len(block.values) == 1:
        given = {block.values[0]: given}
    named = given if isinstance(given, Mapping) else dict.fromkeys(given, True)
    axis_of = dict(zip(block.values, block.axis_names(), strict=True))
    for value, wanted in named.items():
        space.column(name, value)
        numbers = wanted if isinstance(wanted, Collection) else [wanted]
        yield axis_of[value], [int(number) for number in numbers]
