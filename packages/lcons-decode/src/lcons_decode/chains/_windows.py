"""All constraints of a decoder, compiled for the labels of a model and laid out for a batch of sequences.

Hard local constraints become rows of allowed n-gram codes; soft ones become context activations and label
tables. Both are indexed by step (see `kernels._arrays`). Rows are computed once per distinct window and
cached in `ChainConstraints`, so compile the constraints once for a whole corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcons_core import Instance, InvalidInput, TooLarge
from lcons_core.features import Counts
from lcons_core.grammars import Automaton, label_automaton
from lcons_decode._constraints import Constraint, ConstraintSet, Hard, Soft, broken_parts, judged_margins
from lcons_decode._result import Violation
from lcons_decode._scores import ChainBatch, Columns, X, columns_of
from lcons_decode.chains._contributions import CompiledLocal, compile_local, gram_members
from lcons_decode.kernels import Chain, Ints, Layout, Lists, Small, Units, costs

MAX_STATES = 2**22


@dataclass(frozen=True, eq=False)
class ChainConstraints:
    """Constraints for models with these labels."""

    labels: tuple[str, ...]
    named: ConstraintSet
    hard: tuple[CompiledLocal, ...]
    soft: tuple[CompiledLocal, ...]

    @classmethod
    def of(
        cls, constraints: Iterable[Constraint] | ChainConstraints, labels: Sequence[str]
    ) -> ChainConstraints:
        """Compiles constraints; constraints already compiled for these labels are returned unchanged."""
        names = tuple(labels)
        if isinstance(constraints, ChainConstraints):
            if constraints.labels != names:
                raise InvalidInput(
                    "the constraints were compiled for other labels; compile them for the labels of the"
                    " model."
                )
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

    def global_automaton(self, length: int) -> Automaton | None:
        """The automaton of the hard global constraints, for sequences of at most `length` labels; None if
        there are none. Only counts need to know the length, and automata are kept for powers of two."""
        hard = [use.constraint for use in self.named.global_hard]
        if not hard:
            return None
        counted = any(isinstance(one.feature, Counts) for one in hard)
        within = 1 << (length - 1).bit_length() if counted and length else None
        if within not in self._automata:
            self._automata[within] = label_automaton(hard, self.labels, within=within)
        return self._automata[within]

    @cached_property
    def _automata(self) -> dict[int | None, Automaton]:
        return {}

    @property
    def kept_bytes(self) -> int:
        """The approximate size of the cache; unusual text may have as many kinds as there are n-grams."""
        stores = [local.store for local in self.hard + self.soft]
        # Codes are stored a second time, as the four numbers that they consist of.
        return sum(3 * store.codes.nbytes + store.bounds.nbytes + 128 * len(store.rows) for store in stores)

    def violations(self, y: Sequence[str], x: X = None) -> tuple[Violation, ...]:
        """The hard constraints that a labelling breaks, by name and position."""
        instance = Instance(columns_of(x), tuple(y))
        found = []
        for use, local in zip(self.named.hard, self.hard, strict=True):
            positions = local.positions(len(instance.y))
            broken = broken_parts(use.constraint, instance)
            found += [Violation(use.name, int(positions[i])) for i in broken]
        return tuple(found) + self.global_violations(y, x)

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


def _check_labels(named: ConstraintSet, labels: tuple[str, ...]) -> None:
    """Raises an error if a constraint knows none of the labels: it would never apply."""
    uses: tuple[Hard | Soft, ...] = (*named.hard, *named.soft, *named.global_hard, *named.global_soft)
    for use in uses:
        known = use.constraint.labels
        if known and labels and not set(known) & set(labels):
            raise InvalidInput(
                f"expected scores of the labels of the constraint {use.name!r} ({', '.join(known[:8])}"
                f"{' ...' if len(known) > 8 else ''}), found none of them ({', '.join(labels[:8])}"
                f"{' ...' if len(labels) > 8 else ''}); name the labels as in its data, or use a constraint"
                " for these labels."
            )


def _penalty(uses: Iterable[Soft], y: Sequence[str], x: X) -> float:
    instance = Instance(columns_of(x), tuple(y))
    total = 0.0
    for use in uses:
        margins = judged_margins(use.constraint, instance)
        total += use.rate * float(costs(margins, use.hinge).sum())
    return total


def lay_out(batch: ChainBatch, constraints: ChainConstraints, xs: Sequence[X] | None) -> Layout:
    """The windows of every sequence of a batch, with the allowed n-grams of hard constraints and the
    activations of soft ones."""
    lengths = np.diff(batch.offsets)
    columns = [{}] * len(lengths) if xs is None else [columns_of(x) for x in xs]
    if len(columns) != len(lengths):
        raise InvalidInput(f"expected one x for each of {len(lengths)} sequences, found {len(columns)}.")
    for x, length in zip(columns, lengths.tolist(), strict=True):
        for name, column in x.items():
            if len(column) != length:
                raise InvalidInput(
                    f"column {name!r} has {len(column)} values for {length} tokens; pass one value per token."
                )
    transition = np.ascontiguousarray(batch.transition.T)
    chain = Chain(batch.emission, batch.offsets, transition, batch.start, batch.stop)
    return Layout(
        chain,
        _lists(constraints, columns, batch.offsets),
        _units(constraints, columns, batch.offsets),
    )


def _lists(constraints: ChainConstraints, columns: Sequence[Columns], offsets: Ints) -> Lists:
    steps = int(offsets[-1]) + len(offsets) - 1
    m, V = constraints.m, len(constraints.labels) + 1
    rows = np.full((len(constraints.hard), steps), -1, dtype=np.int64)
    lengths: list[Ints] = []
    codes: list[Ints] = []
    members: list[list[Small]] = [[], [], [], []]
    first = 0
    for c, local in enumerate(constraints.hard):
        windows = local.windows(columns, offsets)
        rows[c, windows.steps] = first + local.rows(windows.codes)[windows.which]
        lengths.append(np.diff(local.store.indptr))
        codes.append(local.store.codes)
        for part, own in zip(members, local.store.members(V, m), strict=True):
            part.append(own)
        first += len(lengths[-1])
    driver = np.full(steps, -1, dtype=np.int64)
    if constraints.hard:
        known = np.concatenate([*lengths, [0]])
        for c, local in enumerate(constraints.hard):
            if local.n == m + 1:
                # Among the constraints with the longest n, the one with the shortest list is the driver;
                # index -1 reads the 0 at the end of `known`.
                shorter = (rows[c] >= 0) & ((driver < 0) | (known[rows[c]] < known[driver]))
                driver[shorter] = rows[c, shorter]
        for at, free in _free_steps(driver, offsets, m, V):
            driver[at] = first
            lengths.append(np.array([len(free)]))
            codes.append(free)
            for part, own in zip(members, gram_members(free, V, m), strict=True):
                part.append(own)
            first += 1
    indptr = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, dtype=np.int64), *lengths]))])
    sizes = np.array([local.n for local in constraints.hard], dtype=np.int64)
    return Lists(
        m,
        V,
        sizes,
        V**sizes,
        rows,
        driver,
        indptr.astype(np.int64),
        np.concatenate([np.zeros(0, dtype=np.int64), *codes]),
        *(np.concatenate([np.zeros(0, dtype=np.int32), *part]) for part in members),
    )


def _free_steps(driver: Ints, offsets: Ints, m: int, V: int) -> Iterator[tuple[NDArray[np.bool_], Ints]]:
    """The steps at which no constraint with the longest n has a window, grouped by padding: each group with
    all (m + 1)-grams that are possible there."""
    lengths = np.diff(offsets)
    owner = np.repeat(np.arange(len(lengths)), lengths + 1)
    position = np.arange(len(driver)) - offsets[owner] - owner
    starts, stops = np.maximum(m - position, 0), position == lengths[owner]
    empty = driver < 0
    for count, stop in sorted(set(zip(starts[empty].tolist(), stops[empty].tolist(), strict=True))):
        places = [
            np.array([V - 1]) if i < count or (stop and i == m) else np.arange(V - 1) for i in range(m + 1)
        ]
        codes = np.zeros(1, dtype=np.int64)
        for own in places:
            codes = (codes[:, None] * V + own).reshape(-1)
        yield empty & (starts == count) & (stops == stop), codes


def _units(constraints: ChainConstraints, columns: Sequence[Columns], offsets: Ints) -> Units:
    steps = int(offsets[-1]) + len(offsets) - 1
    m, V = constraints.m, len(constraints.labels) + 1
    size = sum(local.table.shape[2] for local in constraints.soft)
    given = np.zeros((steps, size))
    present = np.zeros((steps, len(constraints.soft)), dtype=np.bool_)
    table = np.zeros((m + 1, V, size))
    bound_rows = np.full((len(constraints.soft), steps), -1, dtype=np.int64)
    bounds, ends, owners = [np.zeros((0, V, V))], [], []
    first = first_row = 0
    for c, local in enumerate(constraints.soft):
        windows = local.windows(columns, offsets)
        span = slice(first, first + local.table.shape[2])
        given[windows.steps, span] = local.context_activations(local.kinds(windows.codes))[windows.which]
        present[windows.steps, c] = True
        table[m + 1 - local.n :, :, span] = local.table
        bound_rows[c, windows.steps] = first_row + local.rows(windows.codes)[windows.which]
        bounds.append(local.store.bounds.reshape(-1, V, V))
        ends += [first + int(end) for end in local.ends]
        owners += [c] * len(local.ends)
        first, first_row = span.stop, first_row + len(bounds[-1])
    return Units(
        given,
        present,
        table,
        np.array(ends, dtype=np.int64),
        np.array(owners, dtype=np.int64),
        np.array([use.rate for use in constraints.named.soft], dtype=np.float64),
        np.array([use.hinge for use in constraints.named.soft], dtype=np.bool_),
        bound_rows,
        np.concatenate(bounds),
    )
