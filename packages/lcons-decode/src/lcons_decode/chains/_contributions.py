"""Local constraints, prepared for the dynamic programs: tables of contributions, lists of allowed n-grams and
bounds.

The activations of a window are the sum of a part from its context and a part from each label
(`lcons_core._masks`):

    a = bias + context(c) + sum_i table[i, v_i]

An n-gram is stored as one integer, its code: base V = L + 1, most significant label first, where L stands for
padding. The kind of a window is its contexts, the number of START labels at its beginning, and whether it
ends in STOP. For each distinct kind, the codes that a hard constraint allows are listed once, in ascending
order, and cached: most constraints forbid most n-grams, so a list is shorter than a mask. For soft
constraints, what the contexts add to each unit and upper bounds on the penalty given the last labels are
cached instead. `RowIndex` finds the row of a kind in these arrays, which only grow: in a table of all codes,
or by a search if there are too many of them. Lists are exact:
weights that float64 cannot add exactly are added as rationals (`lcons_core._masks`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import CodedColumn, LearnedConstraint, TooLarge, compile_masks
from lcons_core._blocks import check_numbers
from lcons_core.features import NgramContext, SequenceFeature
from lcons_decode.chains._ngrams import costs
from lcons_decode.kernels._arrays import (
    LANES,
    WORD,
    Bits,
    Floats,
    Groups,
    Ints,
    Singles,
    Small,
    listed_groups,
    share_rows,
)

# Bounds are those of pairs, much closer, up to so many numbers. For windows of more than two labels each of
# them is a maximum over all labels: up to so many labels, with padding, or additions (about a second).
MOST_PAIRED, MOST_BOUNDS, PAIRED_WORK = 64, 2**25, 2**31
# Float32 rounds by less than this, so bounds remain bounds.
SMALLER = 1.0 - 2.0**-22
# A table of codes is allocated as zeros, so only the pages that are written to take memory.
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
    largest: Singles = tops.max(1, keepdims=True)
    return largest


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of a packed batch: the position of each in its sequence, whether it is STOP, and the step of
    each token."""

    positions: Ints
    stops: NDArray[np.bool_]
    tokens: Ints

    @classmethod
    def of(cls, offsets: Ints) -> Steps:
        """The steps of sequences packed at `offsets`."""
        sequences = len(offsets) - 1
        firsts = offsets[:-1] + np.arange(sequences)
        counts = np.diff(offsets) + 1
        positions = np.arange(int(offsets[-1]) + sequences) - np.repeat(firsts, counts)
        stops = np.zeros(len(positions), dtype=np.bool_)
        stops[firsts + counts - 1] = True
        return cls(positions, stops, np.flatnonzero(~stops))


@dataclass(frozen=True, eq=False)
class CompiledLocal:
    """One local constraint on the labels of a model; `weight` is None for a hard one; `hinge` says whether
    only violations cost (`_ngrams.costs`).

    table (n, V, U): what label v at place i adds to unit u. ends (P,): the end of each part's units; the
    margin is the minimum over parts. order (L,): the feature's index of each label of the model, -1 for a
    label that the constraint does not know: it makes all units of its windows negative, so these are allowed.
    """

    constraint: LearnedConstraint
    weight: float | None
    table: Floats
    bias: Floats
    ends: Ints
    order: Ints
    context_tables: tuple[Floats, ...]
    hinge: bool = False
    store: RowStore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "store", RowStore(RowIndex(math.prod(self.shape))))

    @property
    def feature(self) -> SequenceFeature:
        """The feature that defines the windows."""
        feature = self.constraint.feature
        assert isinstance(feature, SequenceFeature)
        return feature

    @property
    def n(self) -> int:
        """The length of a window."""
        return self.feature.n

    @property
    def V(self) -> int:
        """The base of codes: one more than the number of labels."""
        return self.table.shape[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each member of a kind: contexts, and START and STOP if the feature pads."""
        contexts = tuple(len(table) for table in self.context_tables)
        return (*contexts, self.n, 2) if self.feature.pad else contexts

    def positions(self, length: int) -> Ints:
        """The positions whose label completes a window (the length itself for STOP)."""
        first = 0 if self.feature.pad else self.n - 1
        return first + np.arange(self.feature.window_count(length))

    def rows_at(self, steps: Steps, columns: Mapping[str, CodedColumn]) -> Ints:
        """The row of the window that each step of a batch completes, -1 for none; `columns` are packed."""
        n, positions = self.n, steps.positions
        codes = np.zeros(len(positions), dtype=np.int64)
        if self.context_tables:
            feature = self.feature
            assert isinstance(feature, NgramContext)
            other = len(feature.contexts)
            ids = np.full(len(positions) + n - 1, other)
            if len(steps.tokens):
                ids[n - 1 + steps.tokens] = feature.ids_of(columns[feature.column])
            for i in range(n):
                members = ids[i : i + len(positions)]
                if feature.pad:  # what is before the sequence is OTHER
                    members = np.where(positions < n - 1 - i, other, members)
                codes = codes * (other + 1) + members
        if self.feature.pad:
            codes = (codes * n + np.maximum(n - 1 - positions, 0)) * 2 + steps.stops
            present = ~(steps.stops & (positions == 0))
        else:
            present = ~steps.stops & (positions >= n - 1)
        rows = np.full(len(positions), -1, dtype=np.int64)
        rows[present] = self.rows(codes[present])
        return rows

    def kinds(self, codes: Ints) -> Ints:
        """The members of kinds (C, contexts + 2): contexts, the number of START, whether STOP."""
        members = []
        for size in reversed(self.shape):
            codes, member = np.divmod(codes, size)
            members.append(member)
        none = [] if self.feature.pad else [np.zeros_like(codes)] * 2
        return np.stack([*reversed(members), *none], axis=1)

    def context_activations(self, kinds: Ints) -> Floats:
        """(C, U) the bias plus the part of the contexts of each kind."""
        total = np.tile(self.bias, (len(kinds), 1))
        for i, table in enumerate(self.context_tables):
            total += table[kinds[:, i]]
        return total

    def rows(self, codes: Ints) -> Ints:
        """The rows of the cache for these kinds; missing ones are computed first."""
        store = self.store
        rows = store.index.rows(codes)
        if len(rows) and rows.min() < 0:
            missing = np.unique(codes[rows < 0])
            kinds = self.kinds(missing)
            # By padding, because windows with the same padding are searched together.
            order = np.lexsort((kinds[:, -1], kinds[:, -2]))
            missing, kinds = missing[order], kinds[order]
            if self.weight is None:
                listed = self._lists(kinds)
                pairs = self._pairs(listed)
                store.groups = Groups.joined([store.groups, listed])
                store.pairs = np.concatenate([store.pairs.reshape(-1, *pairs.shape[1:]), pairs])
            else:
                contexts = self.context_activations(kinds)
                tops = self._tops(contexts, kinds[:, -2:])
                store.contexts = np.concatenate([store.contexts.reshape(-1, contexts.shape[1]), contexts])
                store.add_tops(tops)
            store.index.add(missing)
            rows = store.index.rows(codes)
        return rows

    def _tops(self, contexts: Floats, pads: Ints) -> Singles:
        """(C, V or 1, P) an upper bound on the penalty of a window, given its last labels: two, unless there
        are many labels or rows."""
        from lcons_decode.kernels._compiled import least_totals

        assert self.weight is not None
        V, numbers = self.V, (len(self.store.tops) + len(contexts)) * self.V
        quick = self.n <= 2 or V <= MOST_PAIRED or len(contexts) * V**2 * self.table.size <= PAIRED_WORK
        pairs = quick and numbers * V <= MOST_BOUNDS
        check_numbers(numbers, f"the bounds of {V - 1:,} labels")
        pads = np.ascontiguousarray(pads)
        least = share_rows(
            lambda first, last: least_totals(contexts, pads, self.table, self.ends, pairs, first, last),
            len(contexts),
        )
        exact = self.weight * costs(1.0 - np.concatenate(least), self.hinge)
        tops = np.zeros((*exact.shape[:2], -(-V // LANES) * LANES), dtype=np.float32)
        tops[..., :V] = exact * SMALLER
        return tops

    def _lists(self, kinds: Ints) -> Groups:
        """The allowed n-grams of kinds."""
        constraint = self.constraint
        if all(part.error_bound(constraint.space) == 0 for part in constraint.network.parts):
            from lcons_decode.kernels._compiled import allowed_codes

            contexts, pads = self.context_activations(kinds), np.ascontiguousarray(kinds[:, -2:])
            lists = share_rows(
                lambda first, last: allowed_codes(contexts, pads, self.table, self.ends, first, last),
                len(kinds),
            )
            return Groups.joined([Groups(*part) for part in lists])
        return listed_groups([self._exact_list(kind) for kind in kinds], self.V)

    def _pairs(self, listed: Groups) -> Bits:
        """The pairs of neighbours in the n-grams of rows."""
        from lcons_decode.kernels._compiled import pair_masks

        rows = len(self.store.pairs) + len(listed.rows)
        check_numbers(
            rows * max(self.n - 1, 1) * (self.V**2 // WORD + 1), f"the pairs of {self.V - 1:,} labels"
        )
        pairs: Bits = pair_masks(*listed, self.n, self.V)
        return pairs

    def _exact_list(self, kind: Ints) -> Ints:
        """The same for one kind, in rational arithmetic if floats are not exact."""
        mask = compile_masks(self.constraint).masks(kind[None, :-2])[0]
        L = len(self.order)
        codes = np.zeros(1, dtype=np.int64)
        cells: list[Ints] = []
        for i in range(self.n):
            padded = i < kind[-2] or (kind[-1] and i == self.n - 1)
            cells.append(np.array([len(self.feature.labels)]) if padded else self.order)
            codes = (codes[:, None] * self.V + (np.array([L]) if padded else np.arange(L))).reshape(-1)
        allowed = mask[np.ix_(*(np.maximum(places, 0) for places in cells))]
        for i, places in enumerate(cells):
            allowed |= (places < 0).reshape([-1 if j == i else 1 for j in range(self.n)])
        return codes[allowed.reshape(-1)]


def compile_local(
    constraint: LearnedConstraint,
    weight: float | None,
    labels: Sequence[str],
    name: str,
    hinge: bool = False,
) -> CompiledLocal:
    """The constraint on the labels of a model, in their order; labels that it does not know are free."""
    feature = constraint.feature
    assert isinstance(feature, SequenceFeature)
    axes, parts = constraint.space.axes, constraint.network.parts
    # Kernels add up four units at a time: units without weights, which add 0, fill up each part.
    units = [-(-part.K // 4) * 4 for part in parts]
    W = np.concatenate([_filled(part.W, size) for part, size in zip(parts, units, strict=True)])
    index = {label: i for i, label in enumerate(feature.labels)}
    order = np.array([index.get(label, -1) for label in labels], dtype=np.int64)
    # Larger than any sum of the other contributions to a unit.
    bias = np.concatenate([_filled(part.b, size) for part, size in zip(parts, units, strict=True)])
    least = -1.0 - np.abs(bias).max() - sum(float(np.abs(axis.table(W)).max()) for axis in axes)
    cells = (len(labels) + 1) ** feature.n
    check_numbers(
        max(cells, feature.n * (len(labels) + 1) * len(W)), f"the n-grams of {name!r}", "use a smaller n"
    )
    table = np.zeros((feature.n, len(labels) + 1, len(W)))
    for i, axis in enumerate(axes[-feature.n :]):
        values = axis.table(W)
        table[i, :-1] = np.where((order < 0)[:, None], least, values[order])
        if feature.pad:
            table[i, -1] = values[len(feature.labels)]
    compiled = CompiledLocal(
        constraint,
        weight,
        table,
        bias,
        np.cumsum(units),
        order,
        tuple(np.ascontiguousarray(axis.table(W)) for axis in axes[: -feature.n]),
        hinge,
    )
    if compiled.store.index.size > 2**62:
        raise TooLarge(
            f"{name!r} has too many kinds of windows for 64-bit codes; use a smaller n or vocabulary."
        )
    return compiled


def _filled(array: Floats, size: int) -> Floats:
    """The array with zeros up to a length."""
    return np.concatenate([array, np.zeros((size - len(array), *array.shape[1:]))])
