"""Local constraints, prepared for the dynamic programs: tables of contributions, lists of allowed n-grams and
bounds.

The activations of a window are the sum of a part from its context and a part from each label
(`lcons_core._masks`):

    a = bias + context(c) + sum_i table[i, v_i]

An n-gram is stored as one integer, its code: base V = L + 1, most significant label first, where L stands for
padding. The kind of a window is its contexts, the number of START labels at its beginning, and whether it
ends in STOP. For each distinct kind, the codes that a hard constraint allows are listed once, in ascending
order, and cached: most constraints forbid most n-grams, so a list is shorter than a mask. For soft
constraints, an upper bound on the penalty given the last two labels is cached instead. Lists are exact:
weights that float64 cannot add exactly are added as rationals (`lcons_core._masks`). A union allows the codes
that one of its members allows; its penalty is not the sum of theirs, so it cannot be soft here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from lcons_core import Instance, LearnedConstraint, TooLarge, Unsupported, check_numbers, compile_masks
from lcons_core.features import NgramContext, SequenceFeature
from lcons_decode.kernels import STEP, Floats, Ints, Small, backend, share_rows


@dataclass(eq=False)
class RowStore:
    """Append-only cache, filled on demand: `rows[code]` is the row of a kind of window."""

    rows: dict[int, int] = field(default_factory=dict)
    indptr: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    codes: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    bounds: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))
    _members: tuple[int, tuple[Small, ...]] | None = None

    def members(self, V: int, m: int) -> tuple[Small, ...]:
        """`gram_members` of all codes, cached until codes are added."""
        if self._members is None or self._members[0] != len(self.codes):
            self._members = (len(self.codes), gram_members(self.codes, V, m))
        return self._members[1]


def gram_members(codes: Ints, V: int, m: int) -> tuple[Small, ...]:
    """The parts of codes read as (m + 1)-grams: state, last label of the state, label, and next state."""
    states = codes // V
    return tuple(part.astype(np.int32) for part in (states, states % V, codes % V, codes % V**m))


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of a batch: the step that completes each window, the distinct codes of their kinds, and
    the index of each window's kind."""

    steps: Ints
    codes: Ints
    which: Ints


@dataclass(frozen=True, eq=False)
class CompiledLocal:
    """One local constraint on the labels of a model; `weight` is None for a hard one; `hinge` says whether
    only violations cost (`kernels._cost`).

    table (n, V, U): what label v at place i adds to unit u. ends (P,): the end of each part's units; the
    margin is the minimum over parts. order (L,): the feature's index of each label of the model, -1 for a
    label that the constraint does not know: it makes all units of its windows negative, so these are allowed.
    `members` are those of a union, which alone decide; the tables are then those of the first.
    """

    constraint: LearnedConstraint
    weight: float | None
    table: Floats
    bias: Floats
    ends: Ints
    order: Ints
    context_tables: tuple[Floats, ...]
    hinge: bool = False
    members: tuple[CompiledLocal, ...] = ()
    store: RowStore = field(default_factory=RowStore, repr=False)

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
        """The number of values of each member of a kind: contexts, START, STOP."""
        return (*(len(table) for table in self.context_tables), self.n, 2)

    def positions(self, length: int) -> Ints:
        """The positions whose label completes a window (the length itself for STOP)."""
        first = 0 if self.feature.pad else self.n - 1
        return first + np.arange(self.feature.window_count(length))

    def windows(self, columns: Sequence[Mapping[str, Sequence[str]]], offsets: Ints) -> Windows:
        """The windows of a packed batch, all at once."""
        lengths = np.diff(offsets)
        counts = (
            np.where(lengths > 0, lengths + 1, 0) if self.feature.pad else np.maximum(lengths - self.n + 1, 0)
        )
        owner = np.repeat(np.arange(len(lengths)), counts)
        position = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        if not self.feature.pad:
            position += self.n - 1
        members: list[Ints] = []
        if self.context_tables:
            feature = self.feature
            assert isinstance(feature, NgramContext)
            for x, length in zip(columns, lengths.tolist(), strict=True):
                if length and feature.column not in x:
                    feature.context_ids(Instance(x, [""] * length))  # raises: a column is missing
            # All sequences at once: one look-up per token, and no array per sequence.
            ids = feature.ids_of(chain.from_iterable(x.get(feature.column, ()) for x in columns))
            tokens = np.append(ids, len(feature.contexts))
            at = position[:, None] + np.arange(1 - self.n, 1)
            inside = (at >= 0) & (at < lengths[owner][:, None])
            contexts = tokens[np.where(inside, at + offsets[owner][:, None], -1)]
            members += list(contexts.T)
        starts = np.maximum(self.n - 1 - position, 0) if self.feature.pad else np.zeros_like(position)
        members += [starts, (position == lengths[owner]).astype(np.int64)]
        codes = np.ravel_multi_index(tuple(members), self.shape)
        distinct, which = np.unique(codes, return_inverse=True)
        return Windows(offsets[owner] + owner + position, distinct, which.reshape(-1))

    def kinds(self, codes: Ints) -> Ints:
        """The members of kinds (C, contexts + 2)."""
        return np.stack(np.unravel_index(codes, self.shape), axis=1)

    def context_activations(self, kinds: Ints) -> Floats:
        """(C, U) the bias plus the part of the contexts of each kind."""
        total = np.tile(self.bias, (len(kinds), 1))
        for i, table in enumerate(self.context_tables):
            total += table[kinds[:, i]]
        return total

    def rows(self, codes: Ints) -> Ints:
        """The rows of the cache for these kinds; missing ones are computed first."""
        store = self.store
        missing = np.array([code for code in codes.tolist() if code not in store.rows], dtype=np.int64)
        if len(missing):
            first = len(store.rows)
            kinds = self.kinds(missing)
            if self.weight is not None:
                check_numbers((first + len(kinds)) * self.V**2, f"the bounds of {self.V - 1:,} labels")
                known = store.bounds.reshape(-1, self.V, self.V)
                store.bounds = np.concatenate([known, self._bounds(kinds)])
            else:
                indptr, listed = self._lists(kinds)
                store.indptr = np.concatenate([store.indptr, store.indptr[-1] + indptr[1:]])
                store.codes = np.concatenate([store.codes, listed])
            store.rows.update(zip(missing.tolist(), range(first, first + len(missing)), strict=True))
        return np.array([store.rows[code] for code in codes.tolist()], dtype=np.int64)

    def _bounds(self, kinds: Ints) -> Floats:
        bounds = np.empty((len(kinds), self.V, self.V))
        given, pads, (weight, hinge) = (
            self.context_activations(kinds),
            kinds[:, -2:],
            (self.weight, self.hinge),
        )
        run = backend().pair_bounds
        share_rows(
            lambda first, last: run(given, pads, self.table, self.ends, weight, hinge, first, last, bounds),
            len(kinds),
        )
        return bounds

    def _lists(self, kinds: Ints) -> tuple[Ints, Ints]:
        """(indptr, codes) of the allowed n-grams of kinds."""
        constraint = self.constraint
        if self.members:
            return _merged([member._lists(kinds) for member in self.members])
        if all(part.error_bound(constraint.space) == 0 for part in constraint.network.parts):
            given, pads = self.context_activations(kinds), np.ascontiguousarray(kinds[:, -2:])
            work = float(len(kinds)) * (self.table.shape[2] * self.V**self.n + STEP)
            run = backend(work).allowed_codes
            pieces = share_rows(
                lambda first, last: run(given, pads, self.table, self.ends, first, last), len(kinds)
            )
        else:
            exact = [self._exact_list(kind) for kind in kinds]
            pieces = [(np.cumsum([0, *map(len, exact)]), np.concatenate(exact))]
        sizes = np.concatenate([np.diff(indptr) for indptr, _ in pieces])
        return np.cumsum([0, *sizes]), np.concatenate([codes for _, codes in pieces])

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
        allowed = mask[np.ix_(*(np.maximum(own, 0) for own in cells))]
        for i, own in enumerate(cells):
            allowed |= (own < 0).reshape([-1 if j == i else 1 for j in range(self.n)])
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
    if len(constraint.network.alternatives()) > 1:
        return _compile_union(constraint, weight, labels, name)
    axes, parts = constraint.space.axes, constraint.network.parts
    W = np.concatenate([part.W for part in parts])
    index = {label: i for i, label in enumerate(feature.labels)}
    order = np.array([index.get(label, -1) for label in labels], dtype=np.int64)
    # Larger than any sum of the other contributions to a unit.
    bias = np.concatenate([part.b for part in parts])
    least = -1.0 - np.abs(bias).max() - sum(float(np.abs(axis.table(W)).max()) for axis in axes)
    cells = (len(labels) + 1) ** feature.n
    check_numbers(
        max(cells, feature.n * (len(labels) + 1) * len(W)), f"the n-grams of {name!r}", "use a smaller n"
    )
    table = np.zeros((feature.n, len(labels) + 1, len(W)))
    for i, axis in enumerate(axes[-feature.n :]):
        own = axis.table(W)
        table[i, :-1] = np.where((order < 0)[:, None], least, own[order])
        if feature.pad:
            table[i, -1] = own[len(feature.labels)]
    compiled = CompiledLocal(
        constraint,
        weight,
        table,
        bias,
        np.cumsum([part.K for part in parts]),
        order,
        tuple(np.ascontiguousarray(axis.table(W)) for axis in axes[: -feature.n]),
        hinge,
    )
    if np.prod([float(size) for size in compiled.shape]) > 2.0**62:
        raise TooLarge(
            f"{name!r} has too many kinds of windows for 64-bit codes; use a smaller n or vocabulary."
        )
    return compiled


def _compile_union(
    constraint: LearnedConstraint, weight: float | None, labels: Sequence[str], name: str
) -> CompiledLocal:
    if weight is not None:
        raise Unsupported(
            f"{name!r} is a union, which has no soft penalty in a chain; use it as a hard constraint, or as"
            " Hinge(constraint, weight) in an integer program."
        )
    alone = (replace(constraint, network=member) for member in constraint.network.alternatives())
    members = tuple(compile_local(member, None, labels, name) for member in alone)
    return replace(members[0], constraint=constraint, members=members, store=RowStore())


def _merged(lists: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """(indptr, codes): for every kind, the codes of all lists, ascending and distinct."""
    kinds = len(lists[0][0]) - 1
    merged = [
        np.unique(np.concatenate([codes[indptr[i] : indptr[i + 1]] for indptr, codes in lists]))
        for i in range(kinds)
    ]
    every = np.concatenate(merged) if merged else np.zeros(0, dtype=np.int64)
    return np.cumsum([0, *map(len, merged)]), every
