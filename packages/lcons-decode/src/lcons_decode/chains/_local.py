"""Local constraints, prepared for the dynamic programs: what each label adds to a window, the n-grams that a
window allows, and bounds on its penalty.

The activations of a window are the sum of a part from its context and a part from each label
(`lcons_core._masks`):

    a = bias + context(c) + sum_i table[i, v_i]

An n-gram is stored as one integer, its code: base V = L + 1, most significant label first, where L stands for
padding. The kind of a window is its contexts, the number of START labels at its beginning, and whether it
ends in STOP. What is known of each kind is computed on demand and cached, as one row of arrays that only
grow:

    hard:  the allowed n-grams as groups: a prefix of n - 1 labels, and the labels that may follow it
    soft:  what the contexts add to each unit, and upper bounds on the penalty for the last labels

Lists are exact: weights that float64 cannot add exactly are added as rationals (`lcons_core._masks`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lcons_core import CodedColumn, LearnedConstraint, TooLarge, compile_masks
from lcons_core._blocks import check_numbers
from lcons_core.features import NgramContext, SequenceFeature
from lcons_decode.chains._ngrams import costs
from lcons_decode.kernels import share_rows
from lcons_decode.kernels._arrays import LANES, Floats, Groups, Ints, Singles, listed_groups

# Up to so many labels, with padding, and so many numbers, bounds are those of pairs: much closer, but squares
# of labels.
MOST_PAIRED, MOST_BOUNDS = 64, 2**25
# Float32 rounds by less than this, so bounds remain bounds.
SMALLER = 1.0 - 2.0**-22


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
        firsts = offsets[:-1] + np.arange(len(offsets) - 1)
        counts = np.diff(offsets) + 1
        positions = np.arange(counts.sum()) - np.repeat(firsts, counts)
        stops = np.zeros(len(positions), dtype=np.bool_)
        stops[firsts + counts - 1] = True
        return cls(positions, stops, np.flatnonzero(~stops))


@dataclass(eq=False)
class Rows:
    """What is known of the kinds of windows of one constraint, one row per kind, in the order in which kinds
    were added."""

    groups: Groups = field(default_factory=Groups.empty)
    contexts: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    tops: Singles = field(default_factory=lambda: np.zeros((0, 1, LANES), dtype=np.float32))
    _kinds: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # ascending
    _rows: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self._kinds)

    def find(self, kinds: Ints) -> Ints:
        """The row of each kind, -1 for a kind that was not added."""
        if not len(self):
            return np.full(len(kinds), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self._kinds, kinds), len(self) - 1)
        return np.where(self._kinds[places] == kinds, self._rows[places], -1)

    def add(self, kinds: Ints) -> None:
        """Appends kinds, none of which has a row yet."""
        rows = np.concatenate([self._rows, len(self) + np.arange(len(kinds))])
        kinds = np.concatenate([self._kinds, kinds])
        order = np.argsort(kinds, kind="stable")
        self._kinds, self._rows = kinds[order], rows[order]

    @property
    def nbytes(self) -> int:
        """The approximate size of the cache."""
        arrays = (*self.groups, self.contexts, self.tops, self._kinds, self._rows)
        return sum(array.nbytes for array in arrays)


def last_label_tops(tops: Singles) -> Singles:
    """(R, 1, P): the bounds given the last label alone."""
    bounds: Singles = tops.max(1, keepdims=True)
    return bounds


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
    known: Rows = field(default_factory=Rows, init=False, repr=False)

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
        kinds = np.zeros(len(positions), dtype=np.int64)
        if self.context_tables:
            feature = self.feature
            assert isinstance(feature, NgramContext)
            other = len(feature.contexts)
            ids = np.full(len(positions) + n - 1, other)
            if len(steps.tokens):
                ids[n - 1 + steps.tokens] = feature.ids_of(columns[feature.column])
            for i in range(n):
                contexts = ids[i : i + len(positions)]
                if feature.pad:  # what is before the sequence is OTHER
                    contexts = np.where(positions < n - 1 - i, other, contexts)
                kinds = kinds * (other + 1) + contexts
        if self.feature.pad:
            kinds = (kinds * n + np.maximum(n - 1 - positions, 0)) * 2 + steps.stops
            present = ~(steps.stops & (positions == 0))
        else:
            present = ~steps.stops & (positions >= n - 1)
        rows = np.full(len(positions), -1, dtype=np.int64)
        rows[present] = self.rows(kinds[present])
        return rows

    def members(self, kinds: Ints) -> Ints:
        """The members of kinds (C, contexts + 2): contexts, the number of START, whether STOP."""
        columns = []
        for size in reversed(self.shape):
            kinds, column = np.divmod(kinds, size)
            columns.append(column)
        none = [] if self.feature.pad else [np.zeros_like(kinds)] * 2
        return np.stack([*reversed(columns), *none], axis=1)

    def context_activations(self, members: Ints) -> Floats:
        """(C, U) the bias plus the part of the contexts of each kind."""
        total = np.tile(self.bias, (len(members), 1))
        for i, table in enumerate(self.context_tables):
            total += table[members[:, i]]
        return total

    def rows(self, kinds: Ints) -> Ints:
        """The rows of these kinds; missing ones are computed first."""
        rows = self.known.find(kinds)
        if len(rows) and rows.min() < 0:
            missing = np.unique(kinds[rows < 0])
            members = self.members(missing)
            # By padding, because windows with the same padding are searched together.
            order = np.lexsort((members[:, -1], members[:, -2]))
            missing, members = missing[order], members[order]
            if self.weight is None:
                self.known.groups = Groups.joined([self.known.groups, self._lists(members)])
            else:
                self._add_bounds(members)
            self.known.add(missing)
            rows = self.known.find(kinds)
        return rows

    def _add_bounds(self, members: Ints) -> None:
        """Adds activations of contexts, and tops (C, V or 1, P): bounds on the penalty of a window given
        its last two labels, or its last one if there are many labels or rows."""
        from lcons_decode.kernels._compiled import least_totals

        known, contexts = self.known, self.context_activations(members)
        V, numbers = self.V, (len(known) + len(members)) * self.V
        pairs = V <= MOST_PAIRED and numbers * V <= MOST_BOUNDS
        check_numbers(numbers, f"the bounds of {V - 1:,} labels")
        pads = np.ascontiguousarray(members[:, -2:])
        least = share_rows(
            lambda first, last: least_totals(contexts, pads, self.table, self.ends, pairs, first, last),
            len(members),
        )
        exact = (self.weight or 0.0) * costs(1.0 - np.concatenate(least), self.hinge)
        tops = np.zeros((*exact.shape[:2], -(-V // LANES) * LANES), dtype=np.float32)
        tops[..., :V] = exact * SMALLER
        before = known.tops if pairs else last_label_tops(known.tops)
        known.tops = np.concatenate([before, tops]) if len(known) else tops
        known.contexts = np.concatenate([known.contexts.reshape(-1, contexts.shape[1]), contexts])

    def _lists(self, members: Ints) -> Groups:
        """The allowed n-grams of kinds."""
        constraint = self.constraint
        if all(part.error_bound(constraint.space) == 0 for part in constraint.network.parts):
            from lcons_decode.kernels._compiled import allowed_codes

            contexts, pads = self.context_activations(members), np.ascontiguousarray(members[:, -2:])
            lists = share_rows(
                lambda first, last: allowed_codes(contexts, pads, self.table, self.ends, first, last),
                len(members),
            )
            return Groups.joined([Groups(*part) for part in lists])
        return listed_groups([self._exact_list(kind) for kind in members], self.V)

    def _exact_list(self, members: Ints) -> Ints:
        """The codes that one kind allows, in rational arithmetic."""
        mask = compile_masks(self.constraint).masks(members[None, :-2])[0]
        L, places = len(self.order), []
        codes = np.zeros(1, dtype=np.int64)
        for i in range(self.n):
            padded = i < members[-2] or (members[-1] and i == self.n - 1)
            places.append(np.array([len(self.feature.labels)]) if padded else self.order)
            codes = (codes[:, None] * self.V + (np.array([L]) if padded else np.arange(L))).reshape(-1)
        allowed = mask[np.ix_(*(np.maximum(place, 0) for place in places))]
        for i, place in enumerate(places):
            allowed |= (place < 0).reshape([-1 if j == i else 1 for j in range(self.n)])
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
    bias = np.concatenate([_filled(part.b, size) for part, size in zip(parts, units, strict=True)])
    index = {label: i for i, label in enumerate(feature.labels)}
    order = np.array([index.get(label, -1) for label in labels], dtype=np.int64)
    # Larger than any sum of the other contributions to a unit.
    least = -1.0 - np.abs(bias).max() - sum(float(np.abs(axis.table(W)).max()) for axis in axes)
    cells = (len(labels) + 1) ** feature.n
    check_numbers(
        max(cells, feature.n * (len(labels) + 1) * len(W)), f"the n-grams of {name!r}", "use a smaller n"
    )
    table = np.zeros((feature.n, len(labels) + 1, len(W)))
    for i, axis in enumerate(axes[-feature.n :]):
        by_label = axis.table(W)
        table[i, :-1] = np.where((order < 0)[:, None], least, by_label[order])
        if feature.pad:
            table[i, -1] = by_label[len(feature.labels)]
    contexts = tuple(np.ascontiguousarray(axis.table(W)) for axis in axes[: -feature.n])
    compiled = CompiledLocal(constraint, weight, table, bias, np.cumsum(units), order, contexts, hinge)
    if math.prod(compiled.shape) > 2**62:
        raise TooLarge(
            f"{name!r} has too many kinds of windows for 64-bit codes; use a smaller n or vocabulary."
        )
    return compiled


def _filled(array: Floats, size: int) -> Floats:
    """The array with zeros up to a length."""
    return np.concatenate([array, np.zeros((size - len(array), *array.shape[1:]))])
