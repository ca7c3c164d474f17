"""The pieces of a feature space: named blocks of columns, their axes, and requirements between blocks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from lcons_core._arithmetic import LARGEST_MAGNITUDE
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._types import Floats, Ints

OTHER = "(other)"
LARGEST_COUNT = 10**6
CELLS = 32
# The most numbers in the tables of contributions (2^26 floats are 512 MiB). A file of a few hundred bytes can
# describe axes of a million values each, so tables are counted before they are made.
MAX_NUMBERS = 2**26


class Kind(StrEnum):
    """The kind of a block: which values its columns can have together."""

    ONE_HOT = "one-hot"
    BINARY = "binary"
    COUNT = "count"
    INTEGER = "integer"
    REAL = "real"


@dataclass(frozen=True)
class Block:
    """Named columns of psi; with `other` a one-hot block may be all zeros; `low..high` bound every column of
    a count, integer or real block."""

    name: str
    kind: Kind
    values: tuple[str, ...]
    other: bool = False
    low: Any = 0  # int; float in a real block
    high: Any = 1

    def __post_init__(self) -> None:
        if self.kind not in tuple(Kind):
            raise InvalidInput(f"the kind of a block must be one of {', '.join(Kind)}, found {self.kind!r}.")
        object.__setattr__(self, "kind", Kind(self.kind))
        object.__setattr__(self, "values", tuple(self.values))
        names = (self.name, *self.values)
        if not self.values or not all(isinstance(name, str) and name for name in names):
            raise InvalidInput(f"a block and its values need names that are not empty, found {names!r:.80}.")
        if len(set(self.values)) != len(self.values) or (self.other and OTHER in self.values):
            raise InvalidInput(f"the values of block {self.name!r} must be distinct, and not {OTHER!r}.")
        if self.other and self.kind is not Kind.ONE_HOT:
            raise InvalidInput(f"only one-hot blocks can have OTHER, but block {self.name!r} is {self.kind}.")
        kinds = Real if self.kind is Kind.REAL else int
        numbers = all(isinstance(n, kinds) and not isinstance(n, bool) for n in (self.low, self.high))
        limit = LARGEST_MAGNITUDE if self.kind is Kind.REAL else LARGEST_COUNT
        least = 0 if self.kind is Kind.COUNT else -limit
        if not numbers or not least <= self.low < self.high <= limit:
            bounds = f"{least:g} <= low < high <= {limit:g}"
            raise InvalidInput(f"block {self.name!r} needs {bounds}, got {self.low!r} and {self.high!r}.")
        if self.kind is Kind.REAL:
            object.__setattr__(self, "low", float(self.low) + 0.0)
            object.__setattr__(self, "high", float(self.high) + 0.0)

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The beginnings of values that contain spaces, up to each space."""
        spaces = ((value, match.start()) for value in self.values for match in re.finditer(" ", value))
        return frozenset(value[:start] for value, start in spaces)

    @property
    def whole(self) -> bool:
        """Whether each column is an integer between `low` and `high`: a count or an integer block."""
        return self.kind in (Kind.COUNT, Kind.INTEGER)

    @property
    def numeric(self) -> bool:
        """Whether each column is a number between `low` and `high`: a count, integer or real block."""
        return self.whole or self.kind is Kind.REAL

    def edges(self) -> Floats:
        """Bounds of about 32 cells of equal length between `low` and `high`, rounded to few digits."""
        step = (self.high - self.low) / CELLS
        digits = 1 - math.floor(math.log10(max(step, 1e-290)))
        inner = np.round(np.linspace(self.low, self.high, CELLS + 1)[1:-1], digits)
        between = np.unique(inner[(inner > self.low) & (inner < self.high)]) + 0.0
        return np.concatenate([[self.low], between, [self.high]])

    def axis_names(self) -> tuple[str, ...]:
        """The name of each axis: the block of a one-hot block, otherwise the block and the value, or only the
        block if its single column, an integer or a real number, has the same name."""
        alone = self.values == (self.name,) and self.kind in (Kind.INTEGER, Kind.REAL)
        if self.kind is Kind.ONE_HOT or alone:
            return (self.name,)
        return tuple(f"{self.name} {value}" for value in self.values)


def check_numbers(numbers: int, what: str, instead: str = "use fewer values or lower bounds") -> None:
    """Raises `TooLarge` if something would have more than `MAX_NUMBERS` numbers."""
    if numbers > MAX_NUMBERS:
        raise TooLarge(f"{what} would have {numbers:,} numbers, above the limit of 2^26; {instead}.")


def one_hot(name: str, values: Iterable[str], other: bool = False) -> Block:
    """A block in which exactly one value is 1, or with `other` at most one (none means OTHER)."""
    return Block(name, Kind.ONE_HOT, tuple(values), other)


def binary(name: str, values: Iterable[str]) -> Block:
    """A block of independent 0/1 columns."""
    return Block(name, Kind.BINARY, tuple(values))


def count(name: str, values: Iterable[str], high: int, low: int = 0) -> Block:
    """A block of integers between `low` and `high`."""
    return Block(name, Kind.COUNT, tuple(values), low=low, high=high)


def integer(name: str, values: Iterable[str], low: int, high: int) -> Block:
    """A block of integers between `low` and `high`, which may be negative."""
    return Block(name, Kind.INTEGER, tuple(values), low=low, high=high)


def real(name: str, values: Iterable[str], low: float, high: float) -> Block:
    """A block of real numbers between `low` and `high`.

    >>> real("age", ["age"], 0, 120)
    Block(name='age', kind=<Kind.REAL: 'real'>, values=('age',), other=False, low=0.0, high=120.0)
    """
    return Block(name, Kind.REAL, tuple(values), low=low, high=high)


@dataclass(frozen=True)
class Requirement:
    """If the one-hot `block` is `value`, then the one-hot `needs_block` is one of `needs_values`."""

    block: str
    value: str
    needs_block: str
    needs_values: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Axis:
    """One independent choice of the domain: value v puts `coefficients[v]` into column `columns[v]`."""

    name: str
    block: str
    values: tuple[str, ...]
    columns: Ints
    coefficients: Floats

    def __len__(self) -> int:
        return len(self.values)

    def table(self, W: Floats) -> Floats:
        """(len(axis), M) contributions of each value to `W psi`, for W (M, d)."""
        check_numbers(len(self) * len(W), f"the table of {self.name!r:.60}")
        return self._table(W, slice(None))

    def contributions(self, W: Floats, values: Ints) -> Floats:
        """(N, M) the rows of `table(W)` at value indices (N,)."""
        return self.table(W)[values] if len(self) <= len(values) else self._table(W, values)

    def least(self, W: Floats) -> Floats:
        """(M,) the smallest contribution to each row of `W psi`."""
        least: Floats = self._table(W, self._ends).min(0)
        return least

    def reach(self, W: Floats) -> Floats:
        """(M,) the largest absolute contribution to each row of `W psi`."""
        reach: Floats = np.abs(self._table(W, self._ends)).max(0)
        return reach

    @property
    def _ends(self) -> Any:
        """Values that include the extreme contributions: the two ends of an axis of numbers."""
        return [0, -1] if self.columns[0] == self.columns[-1] else slice(None)

    def _table(self, W: Floats, values: Any) -> Floats:
        table: Floats = W.T[self.columns[values]] * self.coefficients[values][:, None]
        return table


@dataclass(frozen=True, eq=False)
class CellAxis(Axis):
    """A real column, divided into closed intervals: value v is `edges[v] <= psi_j <= edges[v + 1]`.

    `coefficients` are the upper ends. A contribution of a cell is its maximum, so sums are upper bounds.
    """

    edges: Floats

    def reach(self, W: Floats) -> Floats:
        """(M,) the largest absolute contribution to each row of `W psi`."""
        reach: Floats = np.abs(W.T[self.columns[0]] * self.edges[[0, -1], None]).max(0)
        return reach

    def _table(self, W: Floats, values: Any) -> Floats:
        low, high = (
            W.T[self.columns[0]] * edges[values, None] for edges in (self.edges[:-1], self.edges[1:])
        )
        return np.maximum(low, high)
