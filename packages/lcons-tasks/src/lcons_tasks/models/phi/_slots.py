"""Slots: the keys of a token, each made of the values of one column at places near the token.

key[t] = key(column[t + places[0]], ...), or `outside` if one of the places is outside the input
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
        inside = [None if self.key is None else self.key(*own) for own in zip(*shifted, strict=True)]
        return [*[self.outside] * min(-low, T), *inside, *[self.outside] * min(high, T + low)][:T]


def slot_keys(slots: Sequence[Slot], x: Columns) -> list[list[str]]:
    """The keys of each token, in the order of the slots."""
    kinds = [slot.keys(x[slot.column]) for slot in slots]
    return [[key for key in row if key is not None] for row in zip(*kinds, strict=True)]
