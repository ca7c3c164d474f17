"""The verdict of a constraint on two values together, for any rest of psi.

For values a and b of two axes, the completions are the points of the domain that have both. The combination
is

    forbidden    if no completion is accepted
    allowed      if every completion is accepted
    depends      otherwise
    impossible   if there is no completion

In a small domain, all points are enumerated. In a large domain, bounds of Theorem 1's rows over the other
axes decide. They prove `forbidden` and `allowed`; everything that they do not prove counts as `depends`:

    forbidden    if some row is below zero at its maximum over the completions
    allowed      if every row is at least zero at its minimum

If there are too many rows, the bounds of the hidden units are used instead.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lcons_core import (
    FeatureSpace,
    Floats,
    Kind,
    LearnedConstraint,
    LinearInequalities,
    RectifierNetwork,
    estimate_rows,
    to_inequalities,
)

MOST_POINTS = 2**21
MOST_AXES = 30
MOST_ROWS = 2**12

# Fixed values are subtracted from totals, which at most doubles the rounding error.
SLACK = 4.0

Codes = NDArray[np.int8]


class Combination(IntEnum):
    """The verdict on two values together."""

    ALLOWED = 0
    FORBIDDEN = 1
    DEPENDS = 2
    IMPOSSIBLE = 3


@dataclass(frozen=True, eq=False)
class Verdicts:
    """`codes` are `Combination`s; `shares` are the shares of accepted completions if all were enumerated."""

    codes: Codes
    shares: Floats | None


class Source(Protocol):
    """A source of verdicts; `how` describes it in words."""

    how: str

    def pair(self, i: int, j: int) -> Verdicts:
        """Verdicts (values of axis i, values of axis j)."""
        ...

    def single(self, i: int) -> Verdicts:
        """Verdicts (values of axis i,)."""
        ...


def source_of(constraint: LearnedConstraint) -> Source:
    """Enumeration in a small domain, otherwise bounds."""
    space = constraint.space
    if space.size <= MOST_POINTS and len(space.axes) <= MOST_AXES:
        return Enumeration(constraint)
    few = estimate_rows(constraint.network).rows < MOST_ROWS
    return RowBounds(constraint) if few else UnitBounds(constraint)


class Enumeration:
    """Verdicts from all points of the domain."""

    how = "every combination was checked"

    def __init__(self, constraint: LearnedConstraint) -> None:
        space = constraint.space
        shape = tuple(len(axis) for axis in space.axes)
        self.possible = np.zeros(shape, dtype=np.bool_)
        self.accepted = np.zeros(shape, dtype=np.bool_)
        for points in space.points():
            where = tuple(points.T)
            self.possible[where] = True
            self.accepted[where] = constraint.verdicts(space, points)

    def pair(self, i: int, j: int) -> Verdicts:
        others = tuple(axis for axis in range(self.possible.ndim) if axis not in (i, j))
        found = self._counted(others)
        if i <= j:
            return found
        return Verdicts(found.codes.T, None if found.shares is None else found.shares.T)

    def single(self, i: int) -> Verdicts:
        return self._counted(tuple(axis for axis in range(self.possible.ndim) if axis != i))

    def _counted(self, others: tuple[int, ...]) -> Verdicts:
        total, accepted = self.possible.sum(others), self.accepted.sum(others)
        codes = np.full(total.shape, Combination.DEPENDS, dtype=np.int8)
        codes[accepted == total] = Combination.ALLOWED
        codes[accepted == 0] = Combination.FORBIDDEN
        codes[total == 0] = Combination.IMPOSSIBLE
        return Verdicts(codes, accepted / np.maximum(total, 1))


@dataclass(frozen=True, eq=False)
class _Tables:
    """What each value of each axis adds to M sums, and the largest and smallest that each axis can add."""

    start: Floats
    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, space: FeatureSpace, W: Floats, b: Floats) -> _Tables:
        space.check_tables(len(W))
        return cls(b, tuple(axis.table(W) for axis in space.axes))

    @cached_property
    def most(self) -> Floats:
        return np.stack([table.max(0) for table in self.tables])

    @cached_property
    def least(self) -> Floats:
        return np.stack([table.min(0) for table in self.tables])

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """The smallest and the largest values of the sums."""
        return self.start + self.least.sum(0), self.start + self.most.sum(0)

    def range(self, i: int, j: int | None, v: int) -> tuple[Floats, Floats]:
        """(values of j, M) smallest and largest sums if axis i has value v; (1, M) without j."""
        known = np.atleast_2d(self.tables[i][v] + (0.0 if j is None else self.tables[j]))
        fixed = [i] if j is None else [i, j]
        low, high = self.totals
        return known + (low - self.least[fixed].sum(0)), known + (high - self.most[fixed].sum(0))


class _Bounds:
    """Verdicts from smallest and largest sums."""

    how = ""

    def __init__(self, constraint: LearnedConstraint) -> None:
        self.space = constraint.space

    def decide(self, i: int, j: int | None, v: int) -> Codes:
        """Verdicts of value v of axis i with each value of axis j."""
        raise NotImplementedError

    def pair(self, i: int, j: int) -> Verdicts:
        codes = np.stack([self.decide(i, j, v) for v in range(len(self.space.axes[i]))])
        for rule in self.space.requires:
            a, b = self.space.axis_index(rule.block), self.space.axis_index(rule.needs_block)
            if {a, b} == {i, j}:
                needed = np.isin(self.space.axes[b].values, rule.needs_values)
                value = self.space.axes[a].values.index(rule.value)
                own = codes if a == i else codes.T
                own[value, ~needed] = Combination.IMPOSSIBLE
        return Verdicts(codes, None)

    def single(self, i: int) -> Verdicts:
        codes = [self.decide(i, None, v) for v in range(len(self.space.axes[i]))]
        return Verdicts(np.concatenate(codes), None)


def _codes(forbidden: NDArray[np.bool_], allowed: NDArray[np.bool_]) -> Codes:
    codes = np.full(forbidden.shape, Combination.DEPENDS, dtype=np.int8)
    codes[allowed] = Combination.ALLOWED
    codes[forbidden] = Combination.FORBIDDEN
    return codes


class RowBounds(_Bounds):
    """Verdicts from the smallest and largest values of the rows of Theorem 1."""

    how = "proved by bounds of single inequalities; what they do not prove counts as depending on the rest"

    def __init__(self, constraint: LearnedConstraint) -> None:
        super().__init__(constraint)
        rows: LinearInequalities = to_inequalities(constraint.network)
        self.tables = _Tables.of(self.space, rows.coefficients, rows.bias)
        self.rounding = SLACK * rows.error_bound(self.space)

    def decide(self, i: int, j: int | None, v: int) -> Codes:
        low, high = self.tables.range(i, j, v)
        forbidden, allowed = high < -self.rounding, low >= self.rounding
        return _codes(np.any(forbidden, axis=1), np.all(allowed, axis=1))


class UnitBounds(_Bounds):
    """Verdicts from the smallest and largest values of the hidden units."""

    how = "proved by bounds of hidden units; what they do not prove counts as depending on the rest"

    def __init__(self, constraint: LearnedConstraint) -> None:
        super().__init__(constraint)
        self.parts: tuple[RectifierNetwork, ...] = constraint.network.parts
        self.tables = [_Tables.of(self.space, part.W, part.b) for part in self.parts]
        self.rounding = [SLACK * part.error_bound(self.space) for part in self.parts]

    def decide(self, i: int, j: int | None, v: int) -> Codes:
        forbidden, allowed = [], []
        for tables, rounding in zip(self.tables, self.rounding, strict=True):
            low, high = (np.maximum(sums, 0.0).sum(1) for sums in tables.range(i, j, v))
            forbidden.append(low > 1.0 + rounding)
            allowed.append(high <= 1.0 - rounding)
        return _codes(np.any(forbidden, axis=0), np.all(allowed, axis=0))


def one_hot_axes(space: FeatureSpace) -> list[int]:
    """The indices of the axes that are one-hot blocks."""
    return [i for i, axis in enumerate(space.axes) if space.block(axis.block).kind is Kind.ONE_HOT]


def axes_of(space: FeatureSpace, block: str) -> list[int]:
    """The indices of the axes of a block."""
    return [i for i, axis in enumerate(space.axes) if axis.block == block]
