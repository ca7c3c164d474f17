"""The space of a table of psi vectors, from the names and the numbers of its columns.

Columns named `block=value` with the same block form a block. It is one-hot if each row has exactly one of
them (with OTHER if a row may have none), otherwise binary. Other columns are binary, or counts if they exceed
1. A column with negative integers is an integer block, one with fractions or very large numbers a real block;
their bounds are the range of the data, widened on both sides by its width, and not below 0 if no number is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike

from lcons_core._arithmetic import LARGEST_MAGNITUDE, checked_array
from lcons_core._blocks import LARGEST_COUNT, Block, binary, count, integer, one_hot, real
from lcons_core._errors import InvalidInput
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats

PLAIN, COUNTED, NUMBER = "psi", "count", "number"


def space_of_columns(X: ArrayLike, names: Iterable[str] | None = None) -> FeatureSpace:
    """The space of the columns of X (N, d), with blocks that fit its rows; names default to x1, x2, ...

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
        raise InvalidInput(
            f"expected X (N, d) with at least one row and d names, found shape {X.shape} and {len(names)}"
            " names; name each column."
        )
    kinds = [_block_name(name) or _kind(name, x) for name, x in zip(names, X.T, strict=True)]
    blocks: list[Block] = []
    first = 0
    for kind, group in groupby(kinds):
        columns = slice(first, first + len(list(group)))
        first = columns.stop
        blocks.append(_block(kind, names[columns], X[:, columns], {block.name for block in blocks}))
    return FeatureSpace(blocks)


def _kind(name: str, x: Floats) -> tuple[str, ...]:
    """The block of a column without one: its own for an integer or real column."""
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
    name, own = kind[0], kind[1:] == ("=",)
    if kind[1:] == (NUMBER,):
        return _number_block(name if name not in taken else f"{name} {NUMBER}", names, X)
    if name in taken and own:
        raise InvalidInput(
            f"expected the columns of block {name!r} next to each other, found others between them; reorder"
            " the columns."
        )
    numbered = (name if i == 1 else f"{name} {i}" for i in range(1, len(taken) + 2))
    free = name if own else next(one for one in numbered if one not in taken)
    values = [one.partition("=")[2] for one in names] if own else names
    if not _is_count(X):
        return _number_block(free, values, X)
    if X.max() > 1:
        # As for counts of labels, up to twice the largest count is possible.
        return count(free, values, high=2 * int(X.max()))
    sums = X.sum(1)
    if own and len(values) > 1 and (sums <= 1).all():
        return one_hot(free, values, other=bool((sums == 0).any()))
    return binary(free, values)
