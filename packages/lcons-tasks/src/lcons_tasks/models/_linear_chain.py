"""A linear chain model: a weight per attribute and label, transitions, start and stop scores.

    emission[t, c] = sum over attributes a of token t of weights[a, c]

`_linear_crf` (CRFsuite) and `_chain_svm` (structured SVM) train it. Decoding and the model file need only
numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, count, repeat
from typing import Any, Self

import numpy as np

from lcons_core import CodedColumn
from lcons_decode import ChainBatch
from lcons_decode.kernels._arrays import Floats, Ints
from lcons_tasks.models._model_file import Arrays, Saved, checked_floats, read_names
from lcons_tasks.models.phi._templates import checked_columns, template
from lcons_tasks.models.phi._tokens import Columns, Slot

# The largest size of a cache of sums: bytes of its sums and characters of its items.
MOST_BYTES = 2**25

Item = tuple[str, ...] | None
ARRAYS = ("weights", "transition", "start", "stop")


@dataclass(frozen=True, eq=False)
class LinearChain(Saved):
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

    def scores(self, xs: Sequence[Columns]) -> ChainBatch:
        """The scores of the inputs, in order.

        Columns are read by their codes: what depends on a value is computed once per value, not per token.
        """
        offsets = np.cumsum([0, *(len(next(iter(x.values()))) for x in xs)])
        for x in xs:
            checked_columns(x, self.columns)
        if not offsets[-1]:
            emission = np.zeros((0, len(self.labels)))
        elif self._slots:
            emission = self._emission_by_values(xs, offsets)
        else:
            emission = self._emission_by_keys(xs)
        return ChainBatch(emission, offsets, self.transition, self.start, self.stop, self.labels)

    def _emission_by_values(self, xs: Sequence[Columns], offsets: Ints) -> Floats:
        """(N, L) the sums of the slots that read the same places, one after another."""
        widest = max(abs(k) for _, places in self._slots for k in places)
        # Inputs stand apart, so that no slot reads a neighbour: `at` is the place of each token.
        at = np.arange(offsets[-1]) + widest * np.repeat(np.arange(1, len(offsets)), np.diff(offsets))
        emission = np.zeros((len(at), len(self.labels)))
        columns: dict[str, tuple[tuple[Item, ...], Ints]] = {}
        for name in dict.fromkeys(name for name, _ in self._slots):
            column = _used(CodedColumn.joined([x[name] for x in xs]))
            codes = np.full(at[-1] + 1 + widest, len(column.values))
            codes[at] = column.codes
            columns[name] = (*((value,) for value in column.values), None), codes
        for (name, places), sums in self._slots.items():
            values, codes = columns[name]
            ids, items = codes[at + places[0]], values
            if len(places) > 1:
                pairs, ids = np.unique(ids * len(values) + codes[at + places[1]], return_inverse=True)
                both = ((values[i], values[j]) for i, j in zip(*divmod(pairs, len(values)), strict=True))
                items = tuple(None if a is None or b is None else a + b for a, b in both)
            emission += sums(items)[ids]
        return emission

    def _emission_by_keys(self, xs: Sequence[Columns]) -> Floats:
        """(N, L) the sum of the keys of each token, for templates whose keys read more of an input."""
        rows = [row for x in xs for row in template(self.template).keys(x, self.columns)]
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        summed = self._keys(list(chain.from_iterable(rows)))
        return np.asarray(np.add.reduceat(summed, np.cumsum(lengths) - lengths, axis=0))

    @property
    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file."""
        names: dict[str, Any] = {"labels": list(self.labels), "columns": list(self.columns)}
        header = {"kind": self.kind, **names, "template": self.template, "attributes": list(self.attributes)}
        arrays = (self.weights, self.transition, self.start, self.stop)
        return header, dict(zip(ARRAYS, arrays, strict=True))

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The model that `save` wrote."""
        labels, attributes = read_names(header["labels"], distinct=True), read_names(header["attributes"])
        template(name := str(header["template"]))
        A, L = len(attributes), len(labels)
        shapes = dict(zip(ARRAYS, ((A, L), (L, L), (L,), (L,)), strict=True))
        return cls(labels, read_names(header["columns"]), name, attributes, *checked_floats(arrays, shapes))

    @cached_property
    def _index(self) -> dict[str, int]:
        return {attribute: i for i, attribute in enumerate(self.attributes)}

    @cached_property
    def _rows(self) -> Floats:
        """The weights, and a row of zeros for attributes that have none."""
        return np.concatenate([self.weights, np.zeros((1, len(self.labels)))])

    @cached_property
    def _slots(self) -> dict[tuple[str, tuple[int, ...]], _Sums]:
        """The cached sums of all slots that read the same places of a column."""
        slots, L = template(self.template).slots, len(self.labels)
        groups: dict[tuple[str, tuple[int, ...]], list[Slot]] = {}
        for slot in slots(self.columns) if slots else ():
            groups.setdefault((slot.column, slot.places), []).append(slot)
        return {group: _Sums(L, partial(self._slot_sums, slots)) for group, slots in groups.items()}

    @cached_property
    def _keys(self) -> _Sums:
        return _Sums(len(self.labels), self._key_sums)

    def _slot_sums(self, slots: Sequence[Slot], items: Sequence[Item]) -> Floats:
        """(items, L) the sums of the keys that slots have for some values; for None, their keys outside."""
        summed, nothing = np.zeros((len(items), len(self.labels))), len(self.attributes)
        for slot in slots:
            key, outside = slot.key or (lambda *_: ""), slot.outside or ""
            keys = (outside if item is None else key(*item) for item in items)
            rows = np.fromiter(map(self._index.get, keys, repeat(nothing)), np.int64, len(items))
            summed += self._rows[rows]
        return summed

    def _key_sums(self, keys: Sequence[str]) -> Floats:
        """(keys, L) the sums of the attributes of each key. Each list of attributes begins with the row of
        zeros, so that an empty list has a sum, too."""
        attributes, nothing = template(self.template).attributes, len(self.attributes)
        lists = [[nothing, *(self._index.get(name, nothing) for name in attributes(key))] for key in keys]
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        ids = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(lengths.sum()))
        return np.asarray(np.add.reduceat(self._rows[ids], np.cumsum(lengths) - lengths, axis=0))


def _used(column: CodedColumn) -> CodedColumn:
    """The column without values that it has no token of, if there are many: an Arrow dictionary may be that
    of a whole corpus."""
    if len(column.values) <= len(column):
        return column
    known, codes = np.unique(column.codes, return_inverse=True)
    return CodedColumn(tuple(column.values[i] for i in known), codes.reshape(-1))


class _Sums:
    """A cache of sums (L,), which `compute` returns for items: each item is computed once."""

    def __init__(self, L: int, compute: Callable[[Sequence[Any]], Floats]) -> None:
        self.compute, self.sums, self.characters = compute, np.zeros((0, L)), 0
        self.places: dict[Any, int] = {}

    def __call__(self, items: Sequence[Any]) -> Floats:
        """(len(items), L)"""
        if self.characters + self.sums.nbytes > MOST_BYTES:
            self.places, self.sums, self.characters = {}, self.sums[:0], 0
        places = self.places
        rows = np.fromiter(map(places.get, items, repeat(-1)), dtype=np.int64, count=len(items))
        missing = np.flatnonzero(rows < 0).tolist()
        if missing:
            self._add(list(dict.fromkeys(map(items.__getitem__, missing))))
            rows[missing] = [places[items[i]] for i in missing]
        return np.asarray(self.sums[rows])

    def _add(self, items: Sequence[Any]) -> None:
        """Appends the sums of items, none of which has a row yet."""
        first, last = len(self.places), len(self.places) + len(items)
        if last > len(self.sums):
            grown = np.zeros((2 * last, self.sums.shape[1]))
            grown[:first] = self.sums[:first]
            self.sums = grown
        self.sums[first:last] = self.compute(items)
        self.characters += sum(map(len, chain.from_iterable(item or () for item in items)))
        self.places.update(zip(items, count(first)))
