"""A linear chain model: a weight per attribute and label, transitions, start and stop scores.

    emission[t, c] = sum over attributes a of token t of weights[a, c]

`_linear_crf` (CRFsuite) and `_chain_svm` (structured SVM) train it. Decoding and the model file need only
numpy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, repeat
from typing import Any, Self

import numpy as np

from lcons_core import CodedColumn
from lcons_decode import ChainBatch
from lcons_decode.kernels._arrays import Floats, Ints
from lcons_tasks.models._model_file import Arrays, read_names, write_model
from lcons_tasks.models.phi._slots import Slot
from lcons_tasks.models.phi._templates import Template, checked_columns, template
from lcons_tasks.models.phi._tokens import Columns

# How many sums of weights are cached, one per key; with 13 labels a sum takes about a hundred bytes.
MOST_KEYS = 2**18
# How many characters all cached keys may have together: unusual text may have keys of any length.
MOST_CHARACTERS = 2**25
# The number of keys that an empty cache has room for.
ROOM = 1024


@dataclass(frozen=True, eq=False)
class LinearChain:
    """`weights` (A, L) of `attributes`, `transition` (L, L) [from, to], `start` and `stop` (L,)."""

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    template: str
    attributes: tuple[str, ...]
    weights: Floats
    transition: Floats
    start: Floats
    stop: Floats
    kind = "linear-chain"

    @property
    def parameters(self) -> dict[str, int]:
        """The number of trained weights: those that are not zero."""
        trained = sum(int(np.count_nonzero(array)) for array in self._arrays.values())
        return {"trained": trained, "in all": trained}

    def scores(self, xs: Sequence[Columns]) -> ChainBatch:
        """The scores of the inputs, in order.

        Strings are coded first. Columns that are `CodedColumn`s with the same values, such as slices of one,
        are read by their codes: what depends on a value is computed once per value, not per token.
        """
        offsets = np.cumsum([0, *(len(next(iter(x.values()))) for x in xs)])
        for x in xs:
            checked_columns(x, self.columns)
        slots = template(self.template).slots
        if slots is None or not offsets[-1]:
            emission = self._emission(xs)
        else:
            emission = self._coded_emission(xs, slots(self.columns), offsets)
        return ChainBatch(emission, offsets, self.transition, self.start, self.stop, self.labels)

    def _coded_emission(self, xs: Sequence[Columns], slots: Sequence[Slot], offsets: Ints) -> Floats:
        """(N, L) the sum of the keys of each token, by codes."""
        names = dict.fromkeys(slot.column for slot in slots)
        columns = {name: _used(CodedColumn.joined([x[name] for x in xs])) for name in names}
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        first, after = offsets[:-1][owner], offsets[1:][owner]
        coded = [slot.coded(columns[slot.column], first, after) for slot in slots]
        summed = self._sums.rows([key for keys, _ in coded for key in keys])
        places = np.cumsum([0, *(len(keys) for keys, _ in coded)])
        present = [np.array([key is not None for key in keys])[codes] for keys, codes in coded]
        rows = [place + codes for place, (_, codes) in zip(places, coded, strict=False)]
        has = np.column_stack(present)
        lengths = has.sum(1)
        return np.add.reduceat(summed[np.column_stack(rows)[has]], np.cumsum(lengths) - lengths, axis=0)

    def _emission(self, xs: Sequence[Columns]) -> Floats:
        """(N, L) the sum of the keys of each token, by strings."""
        rows = [row for x in xs for row in self._keys(x)]
        if not rows:
            return np.zeros((0, len(self.labels)))
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        summed = self._sums.rows(list(chain.from_iterable(rows)))
        return np.add.reduceat(summed, np.cumsum(lengths) - lengths, axis=0)

    @property
    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file."""
        header = {
            "kind": self.kind,
            "labels": list(self.labels),
            "columns": list(self.columns),
            "template": self.template,
            "attributes": list(self.attributes),
        }
        return header, self._arrays

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model."""
        write_model(path, *self.contents)

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The model that `save` wrote."""
        labels, attributes = read_names(header["labels"], distinct=True), read_names(header["attributes"])
        name = str(header["template"])
        template(name)
        A, L = len(attributes), len(labels)
        shapes = {"weights": (A, L), "transition": (L, L), "start": (L,), "stop": (L,)}
        for part, shape in shapes.items():
            if arrays[part].shape != shape or arrays[part].dtype != np.float64:
                raise ValueError(f"its {part} are {arrays[part].dtype} of shape {arrays[part].shape}")
        values = (arrays[part] for part in shapes)
        return cls(labels, read_names(header["columns"]), name, attributes, *values)

    @property
    def _arrays(self) -> dict[str, Floats]:
        return {
            "weights": self.weights,
            "transition": self.transition,
            "start": self.start,
            "stop": self.stop,
        }

    @cached_property
    def _sums(self) -> _Sums:
        return _Sums(template(self.template), self._index, self._rows)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {attribute: i for i, attribute in enumerate(self.attributes)}

    @cached_property
    def _rows(self) -> Floats:
        """The weights, and a row of zeros for attributes that have none."""
        return np.concatenate([self.weights, np.zeros((1, len(self.labels)))])

    def _keys(self, x: Columns) -> list[list[str]]:
        checked_columns(x, self.columns)
        return template(self.template).keys(x, self.columns)


def _used(column: CodedColumn) -> CodedColumn:
    """The column without values that it has no token of, if there are many: an Arrow dictionary may be that
    of a whole corpus."""
    if len(column.values) <= len(column):
        return column
    known, codes = np.unique(column.codes, return_inverse=True)
    return CodedColumn(tuple(column.values[i] for i in known), codes.reshape(-1))


class _Sums:
    """A cache of the summed weights of each key's attributes, computed once per key: `sums[places[key]]`. No
    key (None) adds 0. The last row of `weights` is zero."""

    def __init__(self, template: Template, index: dict[str, int], weights: Floats) -> None:
        self.attributes, self.index, self.weights = template.attributes, index, weights
        self.forget()

    def forget(self) -> None:
        """Empties the cache."""
        self.places: dict[str | None, int] = {}
        self.sums = np.zeros((ROOM, self.weights.shape[1]))
        self.characters = 0

    def rows(self, keys: Sequence[str | None]) -> Floats:
        """(len(keys), L)"""
        if len(self.places) > MOST_KEYS or self.characters > MOST_CHARACTERS:
            self.forget()
        places = self.places
        rows = np.fromiter(map(places.get, keys, repeat(-1)), dtype=np.int64, count=len(keys))
        missing = np.flatnonzero(rows < 0).tolist()
        if missing:
            self._add(list(dict.fromkeys(map(keys.__getitem__, missing))))
            rows[missing] = [places[keys[i]] for i in missing]
        summed: Floats = self.sums[rows]
        return summed

    def _add(self, keys: Sequence[str | None]) -> None:
        """Appends the sums of keys, none of which has a row yet.

        Each list of attributes begins with the row of zeros, so that an empty list has a sum, too.
        """
        first, last = len(self.places), len(self.places) + len(keys)
        if last > len(self.sums):
            grown = np.zeros((2 * last, self.sums.shape[1]))
            grown[:first] = self.sums[:first]
            self.sums = grown
        get, nothing = self.index.get, len(self.weights) - 1
        self.characters += sum(len(key) for key in keys if key is not None)
        read = (() if key is None else self.attributes(key) for key in keys)
        lists = [[nothing, *(get(attribute, nothing) for attribute in attributes)] for attributes in read]
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        ids = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(lengths.sum()))
        self.sums[first:last] = np.add.reduceat(self.weights[ids], np.cumsum(lengths) - lengths, axis=0)
        self.places.update(zip(keys, count(first)))
