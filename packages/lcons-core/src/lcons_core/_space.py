"""The meaning of each column of psi: named blocks, and their finite domain.

A `FeatureSpace` is a sequence of blocks. A one-hot block has one column per value, of which exactly one is 1;
if the block has an OTHER, all may be 0. A binary block has independent 0/1 columns; a count block has
integers between two bounds, an integer block too, but its bounds may be negative; a real block has real
numbers between two bounds. All columns have names, so nobody needs to remember a layout.

Without real blocks the domain is a product of **axes**: one per one-hot block, one per column of others.
Value v of an axis puts `coefficients[v]` into column `columns[v]` (if that is -1, into none), so for any W

    W psi = sum over axes of axis.table(W)[v]

This makes block-wise bounds, enumeration and masks cheap. `requires` excludes combinations that no structure
can have, such as a START symbol after a label.

With real blocks the domain is a union of boxes, one per point of the other blocks (`finite_part`). It has no
axes, and code that lists points raises `Unsupported` with the name of a real block. A linear function has the
same minimum and maximum on it as on the finite space of its `corners`, where each real column is at a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core._arithmetic import frozen, many, unravelled
from lcons_core._blocks import (
    OTHER,
    Axis,
    Block,
    CellAxis,
    Kind,
    Requirement,
    binary,
    check_numbers,
    count,
    integer,
    one_hot,
    real,
)
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._psi import Psi, SparsePsi, as_psi
from lcons_core._types import Floats, Ints, Vector

__all__ = [
    "OTHER",
    "Axis",
    "Block",
    "FeatureSpace",
    "Kind",
    "Requirement",
    "binary",
    "count",
    "integer",
    "one_hot",
    "real",
]

MAX_COLUMNS = 2**20
# The most values of all axes together.
MAX_VALUES = 2**24
_DENSE_ROWS = 1 << 12
# From so many axes on, all are handled at once instead of one after another.
MANY_AXES = 128


@dataclass(frozen=True)
class FeatureSpace:
    """The names of all columns of psi, block by block.

    >>> source, relation = one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])
    >>> space = FeatureSpace([source, relation])
    >>> space.d, space.size, space.column("relation", "Kill")
    (4, 4, 3)
    >>> space.vector(source="Location", relation="Kill")
    array([0., 1., 0., 1.])
    >>> space.describe([0, 1, 0, 1])
    {'source': 'Location', 'relation': 'Kill'}
    """

    blocks: tuple[Block, ...]
    requires: tuple[Requirement, ...] = field(default=())

    def __init__(self, blocks: Iterable[Block], requires: Iterable[Requirement] = ()) -> None:
        object.__setattr__(self, "blocks", tuple(blocks))
        object.__setattr__(self, "requires", tuple(requires))
        names = [block.name for block in self.blocks]
        if not names or len(set(names)) != len(names):
            raise InvalidInput(
                f"a space needs at least one block and distinct block names, found {names}; rename them."
            )
        if self.d > MAX_COLUMNS:
            raise TooLarge(
                f"a space of {self.d:,} columns exceeds the limit of {MAX_COLUMNS:,}; use fewer values."
            )
        if len(set(self._axis_names())) != len(list(self._axis_names())):
            raise InvalidInput(
                f"two axes of the space {names} would have the same name (the name of an axis of a binary or"
                " count block is the block and the value); rename a block."
            )
        for rule in self.requires:
            self._value_index(rule.block, rule.value)
            self._one_hot(rule.needs_block)
            for value in rule.needs_values:
                self._value_index(rule.needs_block, value)

    @property
    def d(self) -> int:
        """The length of psi."""
        return sum(len(block.values) for block in self.blocks)

    @cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """(block, value) of every column."""
        return tuple((block.name, value) for block in self.blocks for value in block.values)

    def block(self, name: str) -> Block:
        """The block of that name."""
        found = self._block_of.get(name)
        if found is None:
            raise InvalidInput(f"unknown block {name!r}; the blocks are {_listed(tuple(self._block_of))}.")
        return found

    def column(self, block: str, value: str) -> int:
        """The column of a value, by name."""
        if not isinstance(value, str) or (block, value) not in self._column_of:
            raise _unknown_value(self.block(block), value)
        return self._column_of[block, value]

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The independent choices whose product is the domain; raises `Unsupported` if a block is real."""
        self.check_finite("listing points")
        self._check_values()
        return tuple(axis for block in self.blocks for axis in self._axes_of(block))

    @cached_property
    def real_columns(self) -> NDArray[np.bool_]:
        """(d,) which columns belong to real blocks."""
        return np.repeat([b.kind is Kind.REAL for b in self.blocks], [len(b.values) for b in self.blocks])

    @property
    def integral(self) -> bool:
        """Whether every psi is a vector of integers: there is no real block."""
        return not bool(self.real_columns.any())

    def check_finite(self, what: str, instead: str = "bin its values into a one-hot block") -> None:
        """Raises `Unsupported` with the name of the first real block, if there is one."""
        for block in self.blocks:
            if block.kind is Kind.REAL:
                raise Unsupported(
                    f"block {block.name!r} is real, and {what} needs a finite domain; {instead}."
                )

    @cached_property
    def finite_part(self) -> FeatureSpace:
        """The space without its real blocks, and with an empty one-value block if nothing else is left."""
        blocks = [block for block in self.blocks if block.kind is not Kind.REAL]
        return FeatureSpace(blocks, self.requires) if blocks else _NO_BLOCKS

    def corners(self, pinned: Mapping[int, float] | None = None) -> FeatureSpace:
        """The same columns with finite axes: a real column has its two bounds as values, or if it is pinned
        that number alone."""
        self._check_values()
        given = pinned or {}
        axes: list[Axis] = []
        for block in self.blocks:
            if block.kind is not Kind.REAL:
                axes += self._axes_of(block)
                continue
            for name, value in zip(block.axis_names(), block.values, strict=True):
                j = self._column_of[block.name, value]
                ends = [given[j]] if j in given else [block.low, block.high]
                shown = tuple(f"{end:g}" for end in ends)
                columns, numbers = frozen(np.full(len(ends), j)), frozen(np.array(ends))
                axes.append(Axis(name, block.name, shown, columns, numbers))
        return self._with_axes(axes)

    def cells(self) -> FeatureSpace:
        """The same columns with finite axes: the values of a real column are about 32 intervals."""
        if self.integral:
            return self
        self._check_values()
        axes: list[Axis] = []
        for block in self.blocks:
            if block.kind is not Kind.REAL:
                axes += self._axes_of(block)
                continue
            edges = frozen(block.edges())
            shown = tuple(f"{low:.12g} to {high:.12g}" for low, high in pairwise(edges.tolist()))
            for name, value in zip(block.axis_names(), block.values, strict=True):
                columns = frozen(np.full(len(shown), self._column_of[block.name, value]))
                axes.append(CellAxis(name, block.name, shown, columns, frozen(edges[1:].copy()), edges))
        return self._with_axes(axes)

    @property
    def extent(self) -> str:
        """The size of the domain: "36 points", "box of 2 real columns", "4 boxes of 1 real column"."""
        columns = int(self.real_columns.sum())
        if not columns:
            return f"{many(self.size)} points"
        boxes = self.finite_part.size
        number = "box" if boxes == 1 else f"{many(boxes)} boxes"
        return f"{number} of {columns:,} real column{'s' * (columns > 1)}"

    @property
    def size(self) -> int:
        """The number of points of the product of axes, including those that `requires` excludes."""
        return math.prod(len(axis) for axis in self.axes)

    def vector(self, assignment: Mapping[str, Any] | None = None, /, **named: Any) -> Vector:
        """psi (d,) from names: one value per one-hot block, the names that hold per binary block, one mapping
        of numbers per other block (the number alone if it has one column). One-hot, integer and real blocks
        need values (OTHER, if a one-hot block has it); counts are 0 by default."""
        choice = {**(assignment or {}), **named}
        psi = np.zeros(self.d)
        for name in choice:
            self.block(name)
        for block in self.blocks:
            if block.kind is Kind.ONE_HOT:
                if block.name not in choice:
                    raise InvalidInput(
                        f"block {block.name!r} has no value; name one of {_listed(block.values)}."
                    )
                index = self._value_index(block.name, choice[block.name])
                if index < len(block.values):
                    psi[self._column_of[block.name, block.values[index]]] = 1.0
                continue
            numbers = _numbers_of(block, choice.get(block.name, ()))
            for value, number in numbers.items():
                psi[self.column(block.name, value)] = number
        self.check(psi)
        return psi

    def describe(self, psi: Any) -> dict[str, Any]:
        """The names of one psi: the inverse of `vector`."""
        dense = np.atleast_2d(np.asarray(psi, dtype=np.float64))
        self.check(dense)
        named: dict[str, Any] = {}
        for block, columns in zip(self.blocks, self._spans, strict=True):
            pairs = list(zip(block.values, dense[0, columns].tolist(), strict=True))
            held = [value for value, number in pairs if number]
            if block.kind is Kind.ONE_HOT:
                named[block.name] = held[0] if held else OTHER
            elif block.kind is Kind.BINARY:
                named[block.name] = held
            else:
                whole = block.whole
                named[block.name] = {value: int(number) if whole else number for value, number in pairs}
        return named

    def contains(self, psi: Any) -> NDArray[np.bool_]:
        """(N,) which psi (N, d) are points of the domain."""
        chunks = _dense_chunks(as_psi(psi, self.d))
        return np.concatenate([self._contains(dense) for dense in chunks])

    def _contains(self, dense: Floats) -> NDArray[np.bool_]:
        valid = np.ones(len(dense), dtype=np.bool_)
        for block, columns in zip(self.blocks, self._spans, strict=True):
            part = dense[:, columns]
            low, high = (block.low, block.high) if block.numeric else (0, 1)
            valid &= ((part >= low) & (part <= high)).all(1)
            if block.kind is not Kind.REAL:
                valid &= (part == np.rint(part)).all(1)
            if block.kind is Kind.ONE_HOT:
                valid &= (part.sum(1) == 1) | (block.other & (part == 0).all(1))
        if self.requires:
            rows = np.flatnonzero(valid)
            finite = self.finite_part
            valid[rows] = finite.possible(finite._indices(dense[np.ix_(rows, ~self.real_columns)]))
        return valid

    def check(self, psi: Any) -> None:
        """Raises `InvalidInput` with the first psi that is not a point of the domain, if there is one."""
        valid = self.contains(psi)
        if not valid.all():
            raise InvalidInput(
                f"row {int(np.argmin(valid))} of psi is not a vector of this space"
                f" ({int((~valid).sum())} of {len(valid)} rows are not); one-hot blocks need one value,"
                " binary blocks 0 or 1, counts integers within their bounds, integer and real blocks numbers"
                " within theirs."
            )

    def assignments(self, psi: Any) -> Ints:
        """(N, axes) value indices of checked psi (N, d)."""
        self.check(psi)
        chunks = _dense_chunks(as_psi(psi, self.d))
        return np.concatenate([self._indices(dense) for dense in chunks])

    def vectors(self, assignments: Ints) -> Floats:
        """psi (N, d) of value indices (N, axes)."""
        check_numbers(len(assignments) * self.d, f"{len(assignments):,} vectors", "use fewer at a time")
        if len(self.axes) > MANY_AXES:
            starts, columns, coefficients = self._joined_axes
            places = starts + assignments
            if self._column_of_axis is not None:
                psi = np.empty((len(assignments), self.d))
                psi[:, self._column_of_axis] = coefficients[places]
                return psi
            wider = np.zeros((len(assignments), self.d + 1))  # the last column takes what OTHER puts nowhere
            np.put_along_axis(wider, columns[places], coefficients[places], axis=1)
            return np.ascontiguousarray(wider[:, :-1])
        psi = np.zeros((len(assignments), self.d))
        rows = np.arange(len(assignments))
        for axis, values in zip(self.axes, assignments.T, strict=True):
            columns = axis.columns[values]
            present = columns >= 0
            psi[rows[present], columns[present]] = axis.coefficients[values][present]
        return psi

    def columns_of(self, assignments: Ints) -> Ints:
        """(N, axes) the columns of value indices (N, axes), -1 for OTHER."""
        columns = [axis.columns[v] for axis, v in zip(self.axes, assignments.T, strict=True)]
        return np.stack(columns, axis=1)

    def possible(self, assignments: Ints) -> NDArray[np.bool_]:
        """(N,) which value indices (N, axes) satisfy `requires`."""
        possible = np.ones(len(assignments), dtype=np.bool_)
        for rule in self.requires:
            chosen = assignments[:, self._axis_of[rule.block]]
            needed = assignments[:, self._axis_of[rule.needs_block]]
            allowed = [self._value_index(rule.needs_block, value) for value in rule.needs_values]
            possible &= (chosen != self._value_index(rule.block, rule.value)) | np.isin(needed, allowed)
        return possible

    def points(self, chunk: int = 1 << 16) -> Iterator[Ints]:
        """All points of the domain as value indices (n, axes), `chunk` at a time, the last axis fastest."""
        for first in range(0, self.size, chunk):
            assignments = self.unravelled(np.arange(first, min(first + chunk, self.size)))
            yield assignments[self.possible(assignments)] if self.requires else assignments

    def unravelled(self, flat: Ints, first: int = 0) -> Ints:
        """Value indices (N, axes) of the points at these positions in the product of axes from `first`."""
        return unravelled(flat, [len(axis) for axis in self.axes[first:]])

    def fixed(self, axes: Iterable[int]) -> FeatureSpace:
        """The space in which each of these axes has only its first value; none of them is in `requires`.

        Columns and value indices are those of this space: only the number of points is smaller.
        """
        chosen = set(axes)
        return self._with_axes(
            Axis(axis.name, axis.block, axis.values[:1], axis.columns[:1], axis.coefficients[:1])
            if i in chosen
            else axis
            for i, axis in enumerate(self.axes)
        )

    def _with_axes(self, axes: Iterable[Axis]) -> FeatureSpace:
        """The same columns with other axes."""
        space = FeatureSpace(self.blocks, self.requires)
        space.__dict__["axes"] = tuple(axes)
        return space

    def _check_values(self) -> None:
        values = sum(
            len(block.values) * (block.high - block.low + 1 if block.whole else 2) for block in self.blocks
        )
        if values > MAX_VALUES:
            raise TooLarge(
                f"the axes of this space have {values:,} values, above the limit of {MAX_VALUES:,}; use lower"
                " bounds for its counts and integers, or real blocks."
            )

    def check_tables(self, rows: int) -> None:
        """Raises `TooLarge` if the tables of all axes for W (rows, d) do not fit in memory together."""
        check_numbers(rows * sum(map(len, self.axes)), f"the tables of {rows:,} rows")

    def axis_index(self, name: str) -> int:
        """The position of an axis, by name."""
        if name not in self._axis_of:
            raise InvalidInput(f"unknown axis {name!r}; the axes are {_listed(tuple(self._axis_of))}.")
        return self._axis_of[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for files."""
        blocks: list[dict[str, Any]] = []
        for block in self.blocks:
            data: dict[str, Any] = {
                "name": block.name,
                "kind": str(block.kind),
                "values": list(block.values),
            }
            if block.other:
                data["other"] = True
            if block.numeric:
                data.update(low=block.low, high=block.high)
            blocks.append(data)
        requires = [
            [rule.block, rule.value, rule.needs_block, list(rule.needs_values)] for rule in self.requires
        ]
        return {"blocks": blocks, "requires": requires} if requires else {"blocks": blocks}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FeatureSpace:
        """The space that `to_dict` described."""
        blocks = [Block(**block) for block in data["blocks"]]
        requires = [
            Requirement(block, value, needs, tuple(values))
            for block, value, needs, values in data.get("requires", ())
        ]
        return cls(blocks, requires)

    @cached_property
    def _column_of(self) -> dict[tuple[str, str], int]:
        return {name: j for j, name in enumerate(self.columns)}

    @cached_property
    def _block_of(self) -> dict[str, Block]:
        return {block.name: block for block in self.blocks}

    @cached_property
    def _index_of(self) -> dict[tuple[str, str], int]:
        """The value index of every value of a one-hot block."""
        blocks = [block for block in self.blocks if block.kind is Kind.ONE_HOT]
        return {
            (block.name, value): i
            for block in blocks
            for i, value in enumerate((*block.values, OTHER) if block.other else block.values)
        }

    def _axis_names(self) -> Iterator[str]:
        for block in self.blocks:
            yield from block.axis_names()

    @cached_property
    def _axis_of(self) -> dict[str, int]:
        return {axis.name: i for i, axis in enumerate(self.axes)}

    @cached_property
    def _joined_axes(self) -> tuple[Ints, Ints, Floats]:
        """All axes as one: where each begins, and the columns and coefficients of all values."""
        starts = np.cumsum([0, *(len(axis) for axis in self.axes[:-1])])
        columns = np.concatenate([axis.columns for axis in self.axes])
        return starts, columns, np.concatenate([axis.coefficients for axis in self.axes])

    @cached_property
    def _column_of_axis(self) -> Ints | None:
        """(axes,) the column of each axis; None if an axis has several columns or none."""
        columns = [axis.columns for axis in self.axes]
        single = all(own[0] >= 0 and (own == own[0]).all() for own in columns)
        return np.array([own[0] for own in columns]) if single else None

    @cached_property
    def _spans(self) -> tuple[slice, ...]:
        stops = np.cumsum([len(block.values) for block in self.blocks])
        return tuple(
            slice(int(stop) - len(block.values), int(stop))
            for block, stop in zip(self.blocks, stops, strict=True)
        )

    def _axes_of(self, block: Block) -> Iterator[Axis]:
        first = self._column_of[block.name, block.values[0]]
        if block.kind is Kind.ONE_HOT:
            columns = np.arange(first, first + len(block.values))
            values = block.values
            if block.other:
                columns, values = np.append(columns, -1), (*values, OTHER)
            ones = frozen((columns >= 0).astype(np.float64))
            yield Axis(block.name, block.name, values, frozen(columns), ones)
            return
        numbers = np.arange(block.low, block.high + 1) if block.whole else np.arange(2)
        # The axes of a block share everything but the column, which is one number in memory.
        shown, coefficients = tuple(map(str, numbers.tolist())), frozen(numbers.astype(np.float64))
        for offset, name in enumerate(block.axis_names()):
            yield Axis(
                name,
                block.name,
                shown,
                np.broadcast_to(np.int64(first + offset), len(numbers)),
                coefficients,
            )

    def _value_index(self, block: str, value: Any) -> int:
        self._one_hot(block)
        if not isinstance(value, str) or (block, value) not in self._index_of:
            raise _unknown_value(self.block(block), value)
        return self._index_of[block, value]

    def _one_hot(self, name: str) -> None:
        block = self._block_of.get(name)
        if block is None or block.kind is not Kind.ONE_HOT:
            raise InvalidInput(
                f"{name!r} is not a one-hot block of this space; name one of"
                f" {_listed(tuple(b.name for b in self.blocks if b.kind is Kind.ONE_HOT))}."
            )

    def _indices(self, dense: Floats) -> Ints:
        out = np.empty((len(dense), len(self.axes)), dtype=np.int64)
        for i, axis in enumerate(self.axes):
            block = self.block(axis.block)
            if block.kind is Kind.ONE_HOT:
                part = dense[:, axis.columns[: len(block.values)]]
                out[:, i] = np.where(part.any(1), part.argmax(1), len(block.values))
            elif isinstance(axis, CellAxis):
                out[:, i] = axis.index(dense[:, axis.columns[0]])
            else:
                low = block.low if block.whole else 0
                out[:, i] = dense[:, axis.columns[0]].astype(np.int64) - low
        return out


def _dense_chunks(psi: Psi) -> Iterator[Floats]:
    """Dense rows, in chunks if psi is sparse; at least one chunk."""
    if not isinstance(psi, SparsePsi):
        yield np.atleast_2d(psi)
        return
    for first in range(0, max(len(psi), 1), _DENSE_ROWS):
        yield psi.take(np.arange(first, min(first + _DENSE_ROWS, len(psi)))).dense()


def _numbers_of(block: Block, given: Any) -> Mapping[str, Any]:
    """The number of each column: those given, or 1 for each given name."""
    if isinstance(given, str):
        given = [given]
    elif isinstance(given, int | float | np.number) and block.numeric and len(block.values) == 1:
        given = {block.values[0]: given}
    numbers: Mapping[str, Any] = given if isinstance(given, Mapping) else dict.fromkeys(given, 1)
    if block.kind in (Kind.INTEGER, Kind.REAL):
        missing = [value for value in block.values if value not in numbers]
        if missing or not isinstance(given, Mapping):
            raise InvalidInput(
                f"block {block.name!r} needs a number for each of its columns, found none for"
                f" {_listed(tuple(missing) or block.values)}; pass a mapping of numbers by name."
            )
    return numbers


def _listed(names: tuple[str, ...], most: int = 12) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _unknown_value(block: Block, value: Any) -> InvalidInput:
    return InvalidInput(
        f"unknown value {value!r} for block {block.name!r}; it is one of {_listed(block.values)}."
    )


_NO_BLOCKS = FeatureSpace([one_hot("nothing", ["nothing"])])
