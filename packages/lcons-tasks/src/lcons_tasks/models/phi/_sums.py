"""Sums of weights by key: a key stands for attributes, whose weights are added once per key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import count, repeat
from typing import Generic, TypeVar

import numpy as np

from lcons_decode.kernels import Floats, Ints

Key = TypeVar("Key", bound=Hashable)

# The number of rows that a new table has room for.
ROOM = 1024


def sums_of(weights: Floats, lists: Iterable[Sequence[int]]) -> Floats:
    """(lists, L) the sum of the rows of `weights` in each list; the last row of `weights` is zero.

    Each list is read as if it began with the row of zeros, so that an empty list has a sum, too.
    """
    ids: list[int] = []
    starts: list[int] = []
    nothing = len(weights) - 1
    for own in lists:
        starts.append(len(ids))
        ids.append(nothing)
        ids += own
    if not starts:
        return np.zeros((0, weights.shape[1]))
    return np.add.reduceat(weights[ids], starts, axis=0)


def added(kinds: Sequence[Floats]) -> Floats:
    """The sum of arrays of one shape, to the last bit as `np.add.reduceat` adds so many rows: the first, plus
    the others, which are added in eight sums. At most 129 arrays."""
    first, *rest = kinds
    whole = len(rest) - len(rest) % 8
    total: Floats = np.zeros(())
    if whole:
        eight = rest[:8]
        for i in range(8, whole, 8):
            eight = [one + other for one, other in zip(eight, rest[i : i + 8], strict=True)]
        two = [(eight[i] + eight[i + 1]) + (eight[i + 2] + eight[i + 3]) for i in (0, 4)]
        total = two[0] + two[1]
    for one in rest[whole:]:
        total = total + one
    return np.asarray(first + total)


class KeySums(Generic[Key]):
    """The sums of keys, one row each: `sums[places[key]]`. A key that was seen before costs one look-up."""

    def __init__(self, width: int) -> None:
        self.places: dict[Key, int] = {}
        self.sums = np.zeros((ROOM, width))

    def __len__(self) -> int:
        return len(self.places)

    def rows(self, keys: Sequence[Key], sums: Callable[[list[Key]], Floats]) -> Ints:
        """The row of each key; `sums` returns those of new keys."""
        places = self.places
        rows = np.fromiter(map(places.get, keys, repeat(-1)), dtype=np.int64, count=len(keys))
        missing = np.flatnonzero(rows < 0).tolist()
        if missing:
            fresh = list(dict.fromkeys(map(keys.__getitem__, missing)))
            self.add(fresh, sums(fresh))
            rows[missing] = [places[keys[i]] for i in missing]
        return rows

    def of(self, keys: Sequence[Key], sums: Callable[[list[Key]], Floats]) -> Floats:
        """(len(keys), width) the sums of the keys."""
        rows = self.rows(keys, sums)
        return self.sums[rows]

    def add(self, keys: Sequence[Key], sums: Floats) -> None:
        """Appends keys, none of which has a row yet, with their sums."""
        first, last = len(self.places), len(self.places) + len(keys)
        if last > len(self.sums):
            grown = np.zeros((2 * last, self.sums.shape[1]))
            grown[:first] = self.sums[:first]
            self.sums = grown
        self.sums[first:last] = sums
        self.places.update(zip(keys, count(first)))
