"""The input of the kernels, as named tuples that numba accepts, and the division of a batch among threads.

Conventions: L labels, V = L + 1 with L for padding. A state is the code, base V, of the last m labels, m >=
1; an n-gram is state * V + label. Sequence i has T_i tokens and T_i + 1 steps, the last being STOP; tokens
are packed at `offsets[i]`, steps at `offsets[i] + i`. Programs run from the right and labels are read off
from the left, so that ties go to the first labelling in declared label order.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lcons_decode._result import Status

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Tiny = NDArray[np.int16]
Bits = NDArray[np.uint64]

WORD = 64  # bits per number of a set

LANES = 8  # float64 numbers in the widest registers


class How(IntEnum):
    """How exact decoding under hard constraints found a labelling, as numbers that the kernels write.

    SATISFIED: the best labelling that satisfies them. RELAXED: none satisfies them, and this one breaks the
    fewest windows. INFEASIBLE: no labelling has a finite score.
    """

    SATISFIED = 0
    RELAXED = 1
    INFEASIBLE = 2

    @property
    def status(self) -> Status:
        """The status of the answer."""
        return {How.RELAXED: Status.RELAXED, How.INFEASIBLE: Status.INFEASIBLE}.get(self, Status.OPTIMAL)


def widened(transition: Floats) -> Floats:
    """(P, P) the array (L, L), with -inf up to a multiple of `LANES`."""
    L = len(transition)
    width = -(-L // LANES) * LANES
    wide = np.full((width, width), -np.inf)
    wide[:L, :L] = transition
    return wide


class Chain(NamedTuple):
    """A packed batch: emission (N, L), offsets (B + 1,), start (L,), stop (L,), and the transitions, arcs
    (L, L), as [from, to].

    wide (P, P) is the same as [to, from], with -inf up to a multiple of `LANES`, so that inner loops have no
    remainder.
    """

    emission: Floats
    offsets: Ints
    start: Floats
    stop: Floats
    arcs: Floats
    wide: Floats

    @classmethod
    def of(cls, emission: Floats, offsets: Ints, arcs: Floats, start: Floats, stop: Floats) -> Chain:
        """The chain, read-only and in C order, because numba compiles once for each combination of these."""
        arrays = (emission, start, stop, arcs, widened(arcs.T))
        emission, start, stop, arcs, wide = (np.ascontiguousarray(array).view() for array in arrays)
        offsets = np.ascontiguousarray(offsets).view()
        for array in (emission, start, stop, arcs, wide):
            array.flags.writeable = False
        offsets.flags.writeable = False
        return cls(emission, offsets, start, stop, arcs, wide)


class Groups(NamedTuple):
    """Lists of n-grams, each as a state (its first n - 1 labels) and the last label.

    Row r has the groups rows[r] .. rows[r + 1] - 1; group g has the state states[g] and, ascending, the
    labels labels[firsts[g]:firsts[g + 1]]. The states of a row ascend.
    """

    rows: Ints
    states: Small
    firsts: Ints
    labels: Tiny

    @classmethod
    def empty(cls) -> Groups:
        """No rows."""
        pointers = np.zeros(1, dtype=np.int64)
        return cls(pointers, np.zeros(0, dtype=np.int32), pointers, np.zeros(0, dtype=np.int16))

    @classmethod
    def joined(cls, parts: Sequence[Groups]) -> Groups:
        """The rows of all parts, in order; a single part is not copied."""
        parts = [part for part in parts if len(part.rows) > 1]
        if len(parts) == 1:
            return parts[0]
        parts = [cls.empty(), *parts]
        groups = np.cumsum([0, *(len(part.states) for part in parts)])
        entries = np.cumsum([0, *(len(part.labels) for part in parts)])
        return cls(
            np.concatenate(
                [[0], *(part.rows[1:] + first for part, first in zip(parts, groups, strict=False))]
            ),
            np.concatenate([part.states for part in parts]),
            np.concatenate(
                [[0], *(part.firsts[1:] + first for part, first in zip(parts, entries, strict=False))]
            ),
            np.concatenate([part.labels for part in parts]),
        )

    def codes(self, row: int, V: int) -> Ints:
        """The n-grams of a row, ascending, as state * V + label."""
        groups = slice(self.rows[row], self.rows[row + 1])
        firsts = self.firsts[groups.start : groups.stop + 1]
        states = np.repeat(self.states[groups].astype(np.int64), np.diff(firsts))
        return states * V + self.labels[firsts[0] : firsts[-1]]


def listed_groups(lists: Sequence[Ints], V: int) -> Groups:
    """Rows of ascending codes, state * V + label, as groups."""
    codes = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
    ends = np.cumsum([0, *map(len, lists)])
    states = codes // V
    new = np.ones(len(codes), dtype=np.bool_)
    new[1:] = states[1:] != states[:-1]
    new[ends[:-1][ends[:-1] < len(codes)]] = True
    firsts = np.flatnonzero(new)
    return Groups(
        np.searchsorted(firsts, ends),
        states[firsts].astype(np.int32),
        np.append(firsts, len(codes)),
        (codes % V).astype(np.int16),
    )


class Lists(NamedTuple):
    """Hard constraints. rows[c, step] is the row of `groups` that constraint c allows at a step, -1 for no
    window; sizes[c] is its n and moduli[c] = V^n. pairs[row, d] has the pairs of neighbours that end d places
    before the end of the row's n-grams, as bits before * V + label; d < max(n - 1, 1)."""

    m: int
    V: int
    sizes: Ints
    moduli: Ints
    rows: Ints
    groups: Groups
    pairs: Bits


class Units(NamedTuple):
    """Soft constraints. rows[c, step]: the row of constraint c at a step, -1 for no window; contexts (R, U):
    what the contexts of a row add to each unit, 0 to those of other constraints; table (m + 1, V, U): what
    labels add; ends (P,): the end of each part's units; owners (P,): the constraint of each part; weights
    (C,); hinges (C,): whether only violations cost (`chains._ngrams`); tops (R, V, P): an upper bound on the
    penalty given the last two labels, or (R, 1, P) given the last one, P a multiple of `LANES`; onward
    (P, P): the transitions as [from, to], padded like `Chain.wide`, with START and STOP as label L."""

    rows: Ints
    contexts: Floats
    table: Floats
    ends: Ints
    owners: Ints
    weights: Floats
    hinges: NDArray[np.bool_]
    tops: Singles
    onward: Floats


class Layout(NamedTuple):
    """The complete input of the kernels for one batch."""

    chain: Chain
    lists: Lists
    units: Units

    @property
    def m(self) -> int:
        """The number of past labels in a state."""
        return self.lists.m


Result = TypeVar("Result")

LEAST_SHARE = 64
PIECES = 4  # per worker, because pieces differ in cost


def share_rows(run: Callable[[int, int], Result], total: int, threads: int | None = None) -> list[Result]:
    """The results of run(first, last) for ranges that cover 0 .. total - 1, in order, on at most `threads`
    threads (default: all cores), of which the caller's is one."""
    workers = min(threads or os.cpu_count() or 1, max(1, total // LEAST_SHARE))
    if workers == 1:
        return [run(0, total)]
    pieces = min(PIECES * workers, total)
    edges = [total * i // pieces for i in range(pieces + 1)]
    results: dict[int, Result] = {}
    left = iter(range(pieces))

    def work(worker: int) -> None:
        _begin_apart(worker, workers)
        try:
            for i in left:
                results[i] = run(edges[i], edges[i + 1])
        finally:
            deque(left, maxlen=0)  # after an error, no other piece is begun

    with ThreadPoolExecutor(workers - 1) as pool:
        others = [pool.submit(work, worker) for worker in range(1, workers)]
        work(0)
        for other in others:
            other.result()
    return [results[i] for i in range(pieces)]


def _begin_apart(worker: int, workers: int) -> None:
    """Moves the thread to a core of its own, if there is one for each worker: threads that begin on one core
    may share it for longer than a batch takes. From there, the system moves them as it likes."""
    if hasattr(os, "sched_setaffinity"):
        cores = os.sched_getaffinity(0)
        if len(cores) == workers:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, {sorted(cores)[worker]})
                os.sched_setaffinity(0, cores)
