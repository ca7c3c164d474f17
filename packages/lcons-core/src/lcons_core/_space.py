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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_core._arithmetic import LARGEST_MAGNITUDE, checked_array, frozen, many, unravelled
from lcons_core._blocks import (
    LARGEST_COUNT,
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
_DENSE_NUMBERS = 2**22
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
            raise InvalidInput(f"a space needs blocks of distinct names, at least one, found {names}.")
        if self.d > MAX_COLUMNS:
            raise TooLarge(f"a space of {self.d:,} columns exceeds the limit of {MAX_COLUMNS:,}.")
        axes = [name for block in self.blocks for name in block.axis_names()]
        if len(set(axes)) != len(axes):
            raise InvalidInput(f"two axes of the space {names} would have the same name; rename a block.")
        for rule in self.requires:
            self._value_index(rule.block, rule.value)
            self._check_one_hot(rule.needs_block)
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
        if name not in self._block_of:
            raise InvalidInput(f"unknown block {name!r}; the blocks are {_listed(tuple(self._block_of))}.")
        return self._block_of[name]

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
                raise Unsupported(f"block {block.name!r} is real; {what} needs a finite domain; {instead}.")

    @cached_property
    def finite_part(self) -> FeatureSpace:
        """The space without its real blocks, and with an empty one-value block if nothing else is left."""
        blocks = [block for block in self.blocks if block.kind is not Kind.REAL]
        return FeatureSpace(blocks, self.requires) if blocks else _NO_BLOCKS

    def corners(self, pinned: Mapping[int, float] | None = None) -> FeatureSpace:
        """The same columns with finite axes: a real column has its two bounds as values, or if it is pinned
        that number alone."""

        def axis(name: str, block: Block, j: int) -> Axis:
            ends = [pinned[j]] if pinned and j in pinned else [block.low, block.high]
            shown = tuple(f"{end:g}" for end in ends)
            return Axis(name, block.name, shown, frozen(np.full(len(ends), j)), frozen(np.array(ends)))

        return self._with_real_axes(axis)

    def cells(self) -> FeatureSpace:
        """The same columns with finite axes: the values of a real column are about 32 intervals."""

        def axis(name: str, block: Block, j: int) -> Axis:
            edges = frozen(block.edges())
            shown = tuple(f"{low:.12g} to {high:.12g}" for low, high in pairwise(edges.tolist()))
            columns = frozen(np.full(len(shown), j))
            return CellAxis(name, block.name, shown, columns, frozen(edges[1:].copy()), edges)

        return self if self.integral else self._with_real_axes(axis)

    def _with_real_axes(self, real_axis: Callable[[str, Block, int], Axis]) -> FeatureSpace:
        """The same columns, with an axis for each real one, made from its name, block and column."""
        self._check_values()
        axes: list[Axis] = []
        for block in self.blocks:
            if block.kind is not Kind.REAL:
                axes += self._axes_of(block)
                continue
            for name, value in zip(block.axis_names(), block.values, strict=True):
                axes.append(real_axis(name, block, self._column_of[block.name, value]))
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
            if block.kind is not Kind.ONE_HOT:
                for value, number in _numbers_of(block, choice.get(block.name, ())).items():
                    psi[self.column(block.name, value)] = number
                continue
            if block.name not in choice:
                raise InvalidInput(f"block {block.name!r} has no value; name one of {_listed(block.values)}.")
            index = self._value_index(block.name, choice[block.name])
            if index < len(block.values):
                psi[self._column_of[block.name, block.values[index]]] = 1.0
        self.check(psi)
        return psi

    def by_block(self, values: Any) -> Mapping[str, Any]:
        """Values by block: a mapping as it is; other values are those of the blocks, in order."""
        if isinstance(values, Mapping):
            return values
        if isinstance(values, str) or len(values) != len(self.blocks):
            raise InvalidInput(f"expected {len(self.blocks)} values, one per block, got {values!r:.60}.")
        return {block.name: value for block, value in zip(self.blocks, values, strict=True)}

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
                number_of = int if block.whole else float
                named[block.name] = {value: number_of(number) for value, number in pairs}
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
            raise InvalidInput(f"row {int(np.argmin(valid))} of psi is not a point of this space.")

    def assignments(self, psi: Any) -> Ints:
        """(N, axes) value indices of checked psi (N, d)."""
        self.check(psi)
        chunks = _dense_chunks(as_psi(psi, self.d))
        return np.concatenate([self._indices(dense) for dense in chunks])

    def vectors(self, assignments: Ints) -> Floats:
        """psi (N, d) of value indices (N, axes)."""
        check_numbers(len(assignments) * self.d, f"{len(assignments):,} vectors", "use fewer at a time")
        starts, columns, coefficients = self._joined_axes
        places = starts + assignments
        psi = np.zeros((len(assignments), self.d + 1))  # the last column takes what OTHER puts nowhere
        np.put_along_axis(psi, columns[places], coefficients[places], axis=1)
        return np.ascontiguousarray(psi[:, :-1])

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
            raise TooLarge(f"the axes of this space have {values:,} values, above {MAX_VALUES:,}.")

    def axis_index(self, name: str) -> int:
        """The position of an axis, by name."""
        if name not in self._axis_of:
            raise InvalidInput(f"unknown axis {name!r}; the axes are {_listed(tuple(self._axis_of))}.")
        return self._axis_of[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for files."""
        blocks = []
        for block in self.blocks:
            data: dict[str, Any] = {"name": block.name, "kind": str(block.kind), "values": list(block.values)}
            if block.other:
                data["other"] = True
            blocks.append({**data, **({"low": block.low, "high": block.high} if block.numeric else {})})
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
        for j, name in enumerate(block.axis_names(), first):
            columns = np.broadcast_to(np.int64(j), len(numbers))
            yield Axis(name, block.name, shown, columns, coefficients)

    def _value_index(self, block: str, value: Any) -> int:
        """The value index of a value of a one-hot block."""
        self._check_one_hot(block)
        if not isinstance(value, str) or (block, value) not in self._index_of:
            raise _unknown_value(self.block(block), value)
        return self._index_of[block, value]

    def _check_one_hot(self, block: str) -> None:
        if self.block(block).kind is not Kind.ONE_HOT:
            raise InvalidInput(f"{block!r} is not a one-hot block of this space.")

    def _indices(self, dense: Floats) -> Ints:
        """(N, axes) the value index of each axis, block by block."""
        parts = []
        for block, columns in zip(self.blocks, self._spans, strict=True):
            values: Any = dense[:, columns]
            if block.kind is Kind.ONE_HOT:
                values = np.where(values.any(1), values.argmax(1), len(block.values))[:, None]
            elif block.kind is Kind.REAL:
                values = np.searchsorted(block.edges()[1:-1], values, side="right")
            elif block.whole:
                values = values - block.low
            parts.append(values.astype(np.int64))
        return np.concatenate(parts, axis=1)


def _dense_chunks(psi: Psi) -> Iterator[Floats]:
    """Dense rows, in chunks if psi is sparse; at least one chunk."""
    if not isinstance(psi, SparsePsi):
        yield np.atleast_2d(psi)
        return
    step = max(1, _DENSE_NUMBERS // psi.d)
    for first in range(0, max(len(psi), 1), step):
        yield psi.take(np.arange(first, min(first + step, len(psi)))).dense()


def _numbers_of(block: Block, choice: Any) -> Mapping[str, Any]:
    """The number of each column: those chosen, or 1 for each name."""
    if isinstance(choice, str):
        choice = [choice]
    elif isinstance(choice, int | float | np.number) and block.numeric and len(block.values) == 1:
        choice = {block.values[0]: choice}
    numbers: Mapping[str, Any] = choice if isinstance(choice, Mapping) else dict.fromkeys(choice, 1)
    if block.kind in (Kind.INTEGER, Kind.REAL):
        missing = [value for value in block.values if value not in numbers]
        if missing or not isinstance(choice, Mapping):
            names = _listed(tuple(missing) or block.values)
            raise InvalidInput(f"block {block.name!r} needs a number for each of its columns, also {names}.")
    return numbers


def _listed(names: tuple[str, ...], most: int = 12) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _unknown_value(block: Block, value: Any) -> InvalidInput:
    known = _listed(block.values)
    return InvalidInput(f"unknown value {value!r} for block {block.name!r}; it is one of {known}.")


_NO_BLOCKS = FeatureSpace([one_hot("nothing", ["nothing"])])

# Blocks of columns without a block: binary ones, counts, and numbers, each of which is a block.
PLAIN, COUNTED, NUMBER = "psi", "count", "number"


def space_of_columns(X: ArrayLike, names: Iterable[str] | None = None) -> FeatureSpace:
    """The space of the columns of X (N, d), with blocks that fit its rows; names default to x1, x2, ...

    Columns named `block=value` with the same block form a block. It is one-hot if each row has exactly one of
    them (with OTHER if a row may have none), otherwise binary. Other columns are binary, or counts if they
    exceed 1. A column with negative integers is an integer block, one with fractions or very large numbers a
    real block; their bounds are the range of the data, widened on both sides by its width, and not below 0 if
    no number is.

    >>> names = ["source=Person", "source=Location", "weekday", "age", "change"]
    >>> for block in space_of_columns([[1, 0, 1, 30.5, -2], [0, 1, 0, 70.5, 3]], names).blocks:
    ...     print(block.name, block.kind, block.low, block.high)
    source one-hot 0 1
    psi binary 0 1
    age real 0.0 120.0
    change integer -7 8
    """
    X = checked_array(X, "X", 2)
    names = [f"x{j + 1}" for j in range(X.shape[1])] if names is None else list(names)
    if len(names) != X.shape[1] or not len(X):
        raise InvalidInput(f"X {X.shape} needs at least one row and {X.shape[1]} names, found {len(names)}.")
    kinds = [_block_name(name) or _kind(name, x) for name, x in zip(names, X.T, strict=True)]
    blocks: list[Block] = []
    first = 0
    for kind, group in groupby(kinds):
        columns = slice(first, first + len(list(group)))
        first = columns.stop
        blocks.append(_block(kind, names[columns], X[:, columns], {block.name for block in blocks}))
    return FeatureSpace(blocks)


def _kind(name: str, x: Floats) -> tuple[str, ...]:
    """The block of a column without one: a block of one column if it is integer or real."""
    if not _is_count(x):
        return (name, NUMBER)
    return (COUNTED if x.max() > 1 else PLAIN,)


def _is_count(x: Floats) -> bool:
    return bool((np.rint(x) == x).all() and x.min() >= 0 and x.max() <= LARGEST_COUNT // 2)


def _number_block(name: str, values: list[str], x: Floats) -> Block:
    """An integer or real block with bounds around the numbers of the data."""
    least, most = float(x.min()), float(x.max())
    width = (most - least) or max(1.0, abs(most))
    unit = 10.0 ** math.floor(math.log10(width))
    low = math.floor((least - width) / unit) * unit
    high = math.ceil((most + width) / unit) * unit
    low = max(0.0, low) if least >= 0 else low
    if bool((np.rint(x) == x).all()) and -LARGEST_COUNT <= low < high <= LARGEST_COUNT:
        return integer(name, values, math.floor(low), math.ceil(high))
    # Few digits, but never inside the data.
    low, high = min(float(f"{low:.12g}"), least), max(float(f"{high:.12g}"), most)
    return real(name, values, max(low, -LARGEST_MAGNITUDE), min(high, LARGEST_MAGNITUDE))


def _block_name(name: str) -> tuple[str, str] | None:
    """(block, "=") of a column named `block=value`."""
    block, equals, value = name.partition("=")
    return (block, "=") if equals and block and value else None


def _block(kind: tuple[str, ...], names: list[str], X: Floats, taken: set[str]) -> Block:
    name, named = kind[0], kind[1:] == ("=",)
    if kind[1:] == (NUMBER,):
        return _number_block(name if name not in taken else f"{name} {NUMBER}", names, X)
    if name in taken and named:
        raise InvalidInput(f"the columns of block {name!r} must be next to each other.")
    numbered = (name if i == 1 else f"{name} {i}" for i in range(1, len(taken) + 2))
    free = name if named else next(label for label in numbered if label not in taken)
    values = [label.partition("=")[2] for label in names] if named else names
    if not _is_count(X):
        return _number_block(free, values, X)
    if X.max() > 1:
        # As for counts of labels, up to twice the largest count is possible.
        return count(free, values, high=2 * int(X.max()))
    sums = X.sum(1)
    if named and len(values) > 1 and (sums <= 1).all():
        return one_hot(free, values, other=bool((sums == 0).any()))
    return binary(free, values)
