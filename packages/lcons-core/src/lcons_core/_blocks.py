"""The pieces of a feature space: named blocks of columns, their axes, and requirements between blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lcons_core._errors import InvalidInput
from lcons_core._types import Floats, Ints

OTHER = "(other)"
LARGEST_COUNT = 10**6


class Kind(StrEnum):
    """The kind of a block: which values its columns can have together."""

    ONE_HOT = "one-hot"
    BINARY = "binary"
    COUNT = "count"


@dataclass(frozen=True)
class Block:
    """Named columns of psi; with `other` a one-hot block may be all zeros; `low..high` bound a count."""

    name: str
    kind: Kind
    values: tuple[str, ...]
    other: bool = False
    low: int = 0
    high: int = 1

    def __post_init__(self) -> None:
        if self.kind not in tuple(Kind):
            raise InvalidInput(f"the kind of a block must be one of {', '.join(Kind)}, found {self.kind!r}.")
        object.__setattr__(self, "kind", Kind(self.kind))
        object.__setattr__(self, "values", tuple(self.values))
        names = (self.name, *self.values)
        if not all(isinstance(name, str) and name for name in names):
            raise InvalidInput(
                f"block and value names must be non-empty strings, found {names!r}; name every column."
            )
        if not self.values:
            raise InvalidInput(f"block {self.name!r} has no values; pass at least one.")
        if len(set(self.values)) != len(self.values) or (self.other and OTHER in self.values):
            raise InvalidInput(
                f"the values of block {self.name!r} must be distinct"
                f"{' and not ' + repr(OTHER) if self.other else ''}; drop or rename the duplicates."
            )
        if self.other and self.kind is not Kind.ONE_HOT:
            raise InvalidInput(f"only one-hot blocks can have OTHER, but block {self.name!r} is {self.kind}.")
        if not all(isinstance(n, int) and not isinstance(n, bool) for n in (self.low, self.high)):
            raise InvalidInput(
                f"the bounds of block {self.name!r} must be integers, found {self.low!r} and {self.high!r}."
            )
        if not 0 <= self.low < self.high <= LARGEST_COUNT and self.kind is Kind.COUNT:
            raise InvalidInput(
                f"count block {self.name!r} needs 0 <= low < high <= {LARGEST_COUNT:,}, found"
                f" {self.low}..{self.high}; pass bounds that the structures can reach."
            )


def one_hot(name: str, values: Iterable[str], other: bool = False) -> Block:
    """A block in which exactly one value is 1, or with `other` at most one (none means OTHER)."""
    return Block(name, Kind.ONE_HOT, tuple(values), other)


def binary(name: str, values: Iterable[str]) -> Block:
    """A block of independent 0/1 columns."""
    return Block(name, Kind.BINARY, tuple(values))


def count(name: str, values: Iterable[str], high: int, low: int = 0) -> Block:
    """A block of integers between `low` and `high`."""
    return Block(name, Kind.COUNT, tuple(values), low=low, high=high)


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
        table: Floats = W.T[self.columns] * self.coefficients[:, None]
        return table
