"""Slots: the keys of a token, each made of the values of one column at places near the token.

    key[t] = key(column[t + places[0]], ...), or `outside` if one of the places is outside the input

The keys of an input are rows of strings. The keys of a coded column are those of its distinct values (or
pairs of values), and numbers that say which of them each token has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core import CodedColumn
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.models.phi._tokens import Columns


@dataclass(frozen=True)
class Slot:
    """`places` are one or two distances from the token, the smaller first; None is no key."""

    column: str
    key: Callable[..., str] | None
    places: tuple[int, ...] = (0,)
    outside: str | None = None

    def keys(self, values: Sequence[str]) -> list[str | None]:
        """The key of each token of an input."""
        T, low, high = len(values), min(*self.places, 0), max(*self.places, 0)
        shifted = (values[k - low : T + k - high] for k in self.places)
        found = [None if self.key is None else self.key(*own) for own in zip(*shifted, strict=True)]
        return [*[self.outside] * min(-low, T), *found, *[self.outside] * min(high, T + low)][:T]

    def coded(self, column: CodedColumn, first: Ints, after: Ints) -> tuple[list[str | None], Ints]:
        """The distinct keys of packed inputs, and the index of the key of each token, whose input begins at
        `first` and ends before `after`."""
        values, place = column.values, np.arange(len(column))
        inside = (place + self.places[0] >= first) & (place + self.places[-1] < after)
        codes = np.zeros(len(column), dtype=np.int64)
        for k in self.places:
            codes = codes * len(values) + np.roll(column.codes, -k).astype(np.int64)
        combinations: list[tuple[str, ...]] = [(value,) for value in values]
        if len(self.places) > 1:
            known, codes = np.unique(codes, return_inverse=True)
            combinations = [(values[i], values[j]) for i, j in zip(*divmod(known, len(values)), strict=True)]
        keys = [None if self.key is None else self.key(*own) for own in combinations]
        return [*keys, self.outside], np.where(inside, codes.reshape(-1), len(keys))


def slot_keys(slots: Sequence[Slot], x: Columns) -> list[list[str]]:
    """The keys of each token, in the order of the slots."""
    kinds = [slot.keys(x[slot.column]) for slot in slots]
    return [[key for key in row if key is not None] for row in zip(*kinds, strict=True)]
