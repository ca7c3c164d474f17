"""What is known about each kind of window, found on demand and cached.

A kind is an integer code (`_contributions`). Its row is an index into arrays that only grow:

    hard:  the allowed n-grams as groups: a prefix of n - 1 labels, and the labels that may follow it;
           and the pairs of neighbours in them
    soft:  what the contexts add to each unit, and upper bounds on the penalty for the last labels

The row of a code is read from a table of all codes, or searched for if there are too many of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_decode.kernels._arrays import Bits, Floats, Groups, Ints, Singles, Small

# The table is allocated as zeros, so only the pages that are written to take memory.
MOST_CODES = 2**24


@dataclass(eq=False)
class RowIndex:
    """The rows 0, 1, ... of codes below `size`, in the order in which they were added."""

    size: int
    _table: Small | None = None
    _codes: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _rows: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _count: int = 0

    def __len__(self) -> int:
        return self._count

    def rows(self, codes: Ints) -> Ints:
        """The row of each code, -1 for a code that was not added."""
        if self.size <= MOST_CODES:
            if self._table is None:
                self._table = np.zeros(self.size, dtype=np.int32)
            return self._table[codes].astype(np.int64) - 1
        if not self._count:
            return np.full(len(codes), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._codes, codes), self._count - 1)
        return np.where(self._codes[at] == codes, self._rows[at], -1)

    def add(self, codes: Ints) -> None:
        """Appends codes, none of which has a row yet."""
        rows = self._count + np.arange(len(codes))
        self._count += len(codes)
        if self._table is not None:
            self._table[codes] = rows + 1
            return
        order = np.argsort(np.concatenate([self._codes, codes]), kind="stable")
        self._codes = np.concatenate([self._codes, codes])[order]
        self._rows = np.concatenate([self._rows, rows])[order]


@dataclass(eq=False)
class RowStore:
    """The rows of one constraint."""

    index: RowIndex
    groups: Groups = field(default_factory=Groups.empty)
    pairs: Bits = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.uint64))
    contexts: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    tops: Singles = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.float32))
    _space: Singles = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.float32), repr=False)

    def add_tops(self, tops: Singles) -> None:
        """Appends bounds, in space that grows by doubling; if they know the last label alone, all do."""
        used, size = len(self.tops), len(self.tops) + len(tops)
        if size > len(self._space) or tops.shape[1:] != self._space.shape[1:]:
            self._space = np.empty((max(size, 2 * used), *tops.shape[1:]), dtype=np.float32)
            if used:
                self._space[:used] = last_label_tops(self.tops) if tops.shape[1] == 1 else self.tops
        self._space[used:size] = tops
        self.tops = self._space[:size]

    @property
    def nbytes(self) -> int:
        """The approximate size of the cache."""
        arrays: tuple[NDArray[Any], ...] = (*self.groups, self.pairs, self.contexts, self.tops)
        return sum(array.nbytes for array in arrays) + 16 * len(self.index)


def last_label_tops(tops: Singles) -> Singles:
    """(R, 1, P): the bounds given the last label alone."""
    found: Singles = tops.max(1, keepdims=True)
    return found
