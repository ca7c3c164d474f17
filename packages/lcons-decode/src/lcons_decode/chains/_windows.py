"""All constraints of a decoder, compiled for the labels of a model and laid out for a batch of sequences.

Hard local constraints become rows of allowed n-gram codes; soft ones become context activations and label
tables. Both are indexed by step (see `kernels._arrays`). Rows are computed once per distinct window and
cached in `ChainConstraints`, so compile the constraints once for a whole corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lcons_core import CodedColumn, Instance, InvalidInput, TooLarge
from lcons_core.features import NgramContext
from lcons_decode._constraints import Constraint, ConstraintSet, Hard, Soft, broken_parts, judged_margins
from lcons_decode._result import Violation
from lcons_decode._scores import ChainBatch, X, Xs, columns_of
from lcons_decode.chains._contributions import CompiledLocal, Steps, compile_local, last_label_tops
from lcons_decode.chains._ngrams import costs
from lcons_decode.kernels._arrays import (
    LANES,
    Bits,
    Floats,
    Groups,
    Ints,
    Layout,
    Lists,
    Singles,
    Units,
    widened,
)

MAX_STATES = 2**22


@dataclass(frozen=True, eq=False)
class ChainConstraints:
    """Constraints for models with these labels."""

    labels: tuple[str, ...]
    named: ConstraintSet
    hard: tuple[CompiledLocal, ...]
    soft: tuple[CompiledLocal, ...]
    _cache: dict[str, tuple[Any, Any]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls, constraints: Iterable[Constraint] | ChainConstraints, labels: Sequence[str]
    ) -> ChainConstraints:
        """Compiles constraints; constraints already compiled for these labels are returned unchanged."""
        names = tuple(labels)
        if isinstance(constraints, ChainConstraints):
            if constraints.labels != names:
                raise InvalidInput("the constraints were compiled for other labels than the model's.")
            return constraints
        named = ConstraintSet.of(constraints)
        _check_labels(named, names)
        hard = tuple(compile_local(use.constraint, None, names, use.name) for use in named.hard)
        soft = tuple(
            compile_local(use.constraint, use.rate, names, use.name, use.hinge) for use in named.soft
        )
        compiled = cls(names, named, hard, soft)
        if len(names) ** compiled.m > MAX_STATES:
            raise TooLarge(
                f"{len(names)} labels and n = {compiled.m + 1} make {len(names) ** compiled.m:,} states,"
                f" above the limit of {MAX_STATES:,}; use a smaller n."
            )
        return compiled

    @property
    def m(self) -> int:
        """The number of past labels in a state: one less than the longest n, at least one."""
        return max([1, *(local.n - 1 for local in self.hard + self.soft)])

    @property
    def kept_bytes(self) -> int:
        """The approximate size of the cache; unusual text may have as many kinds as there are n-grams."""
        # Rows of several constraints are stored a second time, joined.
        return sum(2 * local.store.nbytes for local in self.hard + self.soft)

    def groups(self) -> tuple[Groups, Bits]:
        """The allowed n-grams of all hard constraints, row after row, and their pairs (`kernels.Lists`);
        joined anew only if rows were added."""
        lists: tuple[Groups, Bits] = self._joined("groups", self.hard, lambda: _joined_groups(self.hard))
        return lists

    def activations(self) -> tuple[Floats, Singles]:
        """(contexts, tops) of all soft constraints, row after row (`kernels.Units`)."""
        arrays: tuple[Floats, Singles] = self._joined("units", self.soft, lambda: _joined_units(self.soft))
        return arrays

    def _joined(self, name: str, locals_: Sequence[CompiledLocal], join: Callable[[], Any]) -> Any:
        sizes = tuple(len(local.store.index) for local in locals_)
        if self._cache.get(name, (None,))[0] != sizes:
            self._cache[name] = (sizes, join())
        return self._cache[name][1]

    def violations(self, y: Sequence[str], x: X = None) -> tuple[Violation, ...]:
        """The hard constraints that a labelling breaks, by name and position."""
        instance = Instance(columns_of(x), tuple(y))
        violations = []
        for use, local in zip(self.named.hard, self.hard, strict=True):
            positions = local.positions(len(instance.y))
            broken = broken_parts(use.constraint, instance)
            violations += [Violation(use.name, int(positions[i])) for i in broken]
        return tuple(violations) + self.global_violations(y, x)

    def global_violations(self, y: Sequence[str], x: X = None) -> tuple[Violation, ...]:
        """The hard global constraints that a labelling breaks."""
        instance = Instance(columns_of(x), tuple(y))
        broken = (use for use in self.named.global_hard if len(broken_parts(use.constraint, instance)))
        return tuple(Violation(use.name, None) for use in broken)

    def penalty(self, y: Sequence[str], x: X = None) -> float:
        """The sum of `weight * cost of the margin` (`Soft`) over all parts of all soft constraints."""
        return self.local_penalty(y, x) + self.global_penalty(y, x)

    def local_penalty(self, y: Sequence[str], x: X = None) -> float:
        """The same for the local ones."""
        return _penalty(self.named.soft, y, x)

    def global_penalty(self, y: Sequence[str], x: X = None) -> float:
        """The same for the global ones."""
        return _penalty(self.named.global_soft, y, x)


def _joined_groups(hard: Sequence[CompiledLocal]) -> tuple[Groups, Bits]:
    if len(hard) == 1:
        return hard[0].store.groups, hard[0].store.pairs
    groups = Groups.joined([local.store.groups for local in hard] or [Groups.empty()])
    stores = [local.store.pairs for local in hard if len(local.store.pairs)]
    shape = [max([0, *(store.shape[i] for store in stores)]) for i in (1, 2)]
    pairs = np.zeros((sum(map(len, stores)), *shape), dtype=np.uint64)
    row = 0
    for store in stores:
        pairs[row : row + len(store), : store.shape[1]] = store
        row += len(store)
    return groups, pairs


def _joined_units(soft: Sequence[CompiledLocal]) -> tuple[Floats, Singles]:
    size = sum(local.table.shape[2] for local in soft)
    if len(soft) == 1:
        store = soft[0].store
        return store.contexts.reshape(-1, size), store.tops
    contexts = np.zeros((sum(len(local.store.index) for local in soft), size))
    row = first = 0
    for local in soft:
        rows = local.store.contexts.reshape(-1, local.table.shape[2])
        contexts[row : row + len(rows), first : first + rows.shape[1]] = rows
        row, first = row + len(rows), first + rows.shape[1]
    tops = [local.store.tops for local in soft if len(local.store.tops)]
    if any(rows.shape[1] == 1 for rows in tops):
        tops = [last_label_tops(rows) for rows in tops]
    return contexts, np.concatenate(tops) if tops else np.zeros((0, 1, LANES), dtype=np.float32)


def _check_labels(named: ConstraintSet, labels: tuple[str, ...]) -> None:
    """Raises an error if a constraint knows none of the labels: it would never apply."""
    uses: tuple[Hard | Soft, ...] = (*named.hard, *named.soft, *named.global_hard, *named.global_soft)
    for use in uses:
        known = use.constraint.labels
        if known and labels and not set(known) & set(labels):
            raise InvalidInput(
                f"expected labels of the constraint {use.name!r}, such as {known[0]!r}: got {labels[0]!r}"
                f" and {len(labels) - 1} others, none of which it knows."
            )


def _penalty(uses: Iterable[Soft], y: Sequence[str], x: X) -> float:
    instance = Instance(columns_of(x), tuple(y))
    total = 0.0
    for use in uses:
        margins = judged_margins(use.constraint, instance)
        total += use.rate * float(costs(margins, use.hinge).sum())
    return total


def lay_out(batch: ChainBatch, constraints: ChainConstraints, xs: Xs) -> Layout:
    """The windows of every sequence of a batch, with the allowed n-grams of hard constraints and the
    activations of soft ones; `xs` as in `constrained_ids`."""
    columns = packed_columns(batch.offsets, constraints, xs)
    steps = Steps.of(batch.offsets)
    return Layout(
        batch.chain(),
        _lists(constraints, columns, steps),
        _units(constraints, columns, steps, batch),
    )


def packed_columns(offsets: Ints, constraints: ChainConstraints, xs: Xs) -> dict[str, CodedColumn]:
    """The columns that local constraints read, packed and coded, each once."""
    features = [local.feature for local in constraints.hard + constraints.soft if local.context_tables]
    lengths = np.diff(offsets).tolist()
    sources = (
        xs if isinstance(xs, Mapping) else [{}] * len(lengths) if xs is None else list(map(columns_of, xs))
    )
    if len(sources) != len(lengths) and not isinstance(sources, Mapping):
        raise InvalidInput(f"expected one x for each of {len(lengths)} sequences, found {len(sources)}.")
    whole = isinstance(sources, Mapping)
    parts, sizes = ([sources], [int(offsets[-1])]) if isinstance(sources, Mapping) else (sources, lengths)
    for x, length in zip(parts, sizes, strict=True):
        for name, column in x.items():
            if len(column) != length:
                raise InvalidInput(
                    f"column {name!r} has {len(column)} values for {length} tokens; pass one value per token."
                )
    columns = {}
    for feature in features:
        assert isinstance(feature, NgramContext)
        name = feature.column
        if name in columns:
            continue
        for x, length in zip(parts, sizes, strict=True):
            if length and name not in x:
                feature.context_ids(Instance(x, [""] * length))  # raises: a column is missing
        pieces = [x[name] for x in parts if name in x]
        columns[name] = CodedColumn.of(pieces[0]) if whole and pieces else CodedColumn.joined(pieces)
    return columns


def _lists(constraints: ChainConstraints, columns: Mapping[str, CodedColumn], steps: Steps) -> Lists:
    m, V, hard = constraints.m, len(constraints.labels) + 1, constraints.hard
    rows = np.full((len(hard), len(steps.positions)), -1, dtype=np.int64)
    for c, local in enumerate(hard):
        rows[c] = local.rows_at(steps, columns)
    groups, pairs = constraints.groups()
    first = 0
    for constraint_rows, local in zip(rows, hard, strict=True):
        if first:
            constraint_rows[constraint_rows >= 0] += first
        first += len(local.store.index)
    sizes = np.array([local.n for local in hard], dtype=np.int64)
    return Lists(m, V, sizes, V**sizes, rows, groups, pairs)


def _units(
    constraints: ChainConstraints, columns: Mapping[str, CodedColumn], steps: Steps, batch: ChainBatch
) -> Units:
    m, V, soft = constraints.m, len(constraints.labels) + 1, constraints.soft
    rows = np.full((len(soft), len(steps.positions)), -1, dtype=np.int64)
    size = sum(local.table.shape[2] for local in soft)
    table = np.zeros((m + 1, V, size))
    first = first_row = 0
    ends, owners = [], []
    for c, local in enumerate(soft):
        rows[c] = local.rows_at(steps, columns)
        if first_row:
            rows[c, rows[c] >= 0] += first_row
        table[m + 1 - local.n :, :, first : first + local.table.shape[2]] = local.table
        ends += [first + int(end) for end in local.ends]
        owners += [c] * len(local.ends)
        first, first_row = first + local.table.shape[2], first_row + len(local.store.index)
    contexts, tops = constraints.activations()
    return Units(
        rows,
        contexts,
        table,
        np.array(ends, dtype=np.int64),
        np.array(owners, dtype=np.int64),
        np.array([use.rate for use in constraints.named.soft], dtype=np.float64),
        np.array([use.hinge for use in constraints.named.soft], dtype=np.bool_),
        tops,
        _onward(batch) if soft else np.zeros((0, 0)),
    )


def _onward(batch: ChainBatch) -> Floats:
    """The transitions as [from, to], with START and STOP as the label after the last (`kernels.Units`)."""
    corner = np.zeros((1, 1))
    return widened(np.block([[batch.transition, batch.stop[:, None]], [batch.start[None], corner]]))
