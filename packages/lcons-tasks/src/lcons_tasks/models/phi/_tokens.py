"""Tokens as numbers: the word, its affixes, its shape and context columns, each with a vocabulary.

Vocabularies come from the training sentences; number 0 stands for every unknown value. Words and affixes that
occur only once count as unknown, so that the vector of the unknown is trained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput
from lcons_core._instance import WORD
from lcons_tasks.models._model_file import read_names

Ints = NDArray[np.int64]
Columns = Mapping[str, Sequence[str]]

SUFFIXES = (2, 3)


@dataclass(frozen=True)
class TokenIds:
    """Vocabularies: `words`, `suffixes` of two and three letters, `shapes`, and values of context columns."""

    words: tuple[str, ...]
    suffixes: tuple[tuple[str, ...], ...]
    shapes: tuple[str, ...]
    contexts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, xs: Iterable[Columns], columns: Sequence[str] = ()) -> Self:
        """The vocabularies of training inputs; `columns` are the context columns to read."""
        inputs = list(xs)
        words = [word for x in inputs for word in x[WORD]]
        lower = [word.lower() for word in words]
        return cls(
            _seen(lower, 2),
            tuple(_seen((word[-k:] for word in lower), 2) for k in SUFFIXES),
            _seen(map(shape, words), 1),
            {name: _seen((value for x in inputs for value in _column(x, name)), 1) for name in columns},
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each field, the unknown included."""
        return tuple(len(index) + 1 for index in self._indices)

    def __call__(self, x: Columns) -> Ints:
        """(T, fields) numbers of a sentence."""
        words = x[WORD]
        lower = [word.lower() for word in words]
        fields = [lower, *([word[-k:] for word in lower] for k in SUFFIXES), [shape(word) for word in words]]
        fields += [list(_column(x, name)) for name in self.contexts]
        ids = [[index.get(value, 0) for value in f] for index, f in zip(self._indices, fields, strict=True)]
        return np.array(ids, dtype=np.int64).reshape(len(fields), len(words)).T

    def to_dict(self) -> dict[str, Any]:
        """The vocabularies as plain data."""
        contexts = {name: list(values) for name, values in self.contexts.items()}
        lists = {"suffixes": [*map(list, self.suffixes)], "contexts": contexts}
        return {"words": list(self.words), "shapes": list(self.shapes), **lists}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The vocabularies that `to_dict` returned."""
        contexts = {name: read_names(values) for name, values in data["contexts"].items()}
        suffixes = tuple(map(read_names, data["suffixes"]))
        return cls(read_names(data["words"]), suffixes, read_names(data["shapes"]), contexts)

    @cached_property
    def _indices(self) -> list[dict[str, int]]:
        vocabularies = [self.words, *self.suffixes, self.shapes, *self.contexts.values()]
        return [{value: i for i, value in enumerate(values, start=1)} for values in vocabularies]


def shape(word: str) -> str:
    """The kinds of characters of a word; a run of one kind counts once.

    >>> shape("McDonald"), shape("U.S."), shape("3,500"), shape("don't")
    ('XxXx', 'X.X.', 'd,d', "x'x")
    """
    if word.isalpha():  # most words
        if word.islower():
            return "x"
        if word[0].isupper() and word[1:].islower():
            return "Xx"
    elif word.isdigit():
        return "d"
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return "".join(kind for kind, _ in groupby(kinds))


@dataclass(frozen=True)
class Slot:
    """The keys of a token, each made of the values of one column at places near the token:

        keys[t] = key(column[t + places[0]], ...), or `outside` if one of the places is outside the input

    `places` are one or two distances from the token, the smaller first; None is no key.
    """

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


@dataclass(frozen=True, eq=False)
class Rows:
    """The numbers of attributes, row after row: how many each row has, and the starts of those with some."""

    ids: Ints
    sizes: Ints
    starts: Ints

    @classmethod
    def of(cls, numbers: Sequence[Sequence[int]]) -> Self:
        ids = np.array([k for row in numbers for k in row], dtype=np.int64)
        sizes = np.array([len(row) for row in numbers], dtype=np.int64)
        return cls(ids, sizes, (np.cumsum(sizes) - sizes)[sizes > 0])

    def sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(rows, labels): the summed weights of each row."""
        summed = np.zeros((len(self.sizes), weights.shape[1]))
        if len(self.starts):
            summed[self.sizes > 0] = np.add.reduceat(weights[self.ids], self.starts, axis=0)
        return summed


def _column(x: Columns, name: str) -> Sequence[str]:
    if name not in x:
        raise InvalidInput(
            f"the model reads column {name!r}, but the input has {', '.join(x)}; add that column or train"
            " without it."
        )
    return x[name]


def _seen(values: Iterable[str], least: int) -> tuple[str, ...]:
    return tuple(sorted(value for value, count in Counter(values).items() if count >= least))
