"""The input of the kernels, as named tuples that numba and numpy both accept.

Conventions: L labels, V = L + 1 with L for padding. A state is the code, base V, of the last m labels, m >=
1; an n-gram is state * V + label. Sequence i has T_i tokens and T_i + 1 steps, the last being STOP; tokens
are packed at `offsets[i]`, steps at `offsets[i] + i`. Programs run from the right and labels are read off
from the left, so that ties go to the first labelling in declared label order.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lcons_decode._result import Status

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]


class How(IntEnum):
    """How exact decoding under hard constraints found a labelling, as numbers that the kernels write.

    VERIFIED: the best labelling without constraints satisfies them. SATISFIED: the best one that satisfies
    them. RELAXED: none satisfies them, and this one breaks the fewest windows. INFEASIBLE: no labelling has a
    finite score.
    """

    VERIFIED = 0
    SATISFIED = 1
    RELAXED = 2
    INFEASIBLE = 3

    @property
    def status(self) -> Status:
        """The status of the answer."""
        return {How.RELAXED: Status.RELAXED, How.INFEASIBLE: Status.INFEASIBLE}.get(self, Status.OPTIMAL)


class Chain(NamedTuple):
    """A packed batch: emission (N, L), offsets (B + 1,), transition (L, L) as [to, from], start (L,),
    stop (L,)."""

    emission: Floats
    offsets: Ints
    transition: Floats
    start: Floats
    stop: Floats


class Lists(NamedTuple):
    """Hard constraints. rows[c, step] is the row of (indptr, codes) that constraint c allows at a step, -1
    for no window; sizes[c] is its n and moduli[c] = V^n; driver[step] is a row of (m + 1)-grams that
    contains all that are possible at the step.

    Each code is also stored as the parts of an (m + 1)-gram: its state, the last label of the state, its
    label, and its tail, which is the next state.
    """

    m: int
    V: int
    sizes: Ints
    moduli: Ints
    rows: Ints
    driver: Ints
    indptr: Ints
    codes: Ints
    states: Small
    lasts: Small
    labels: Small
    tails: Small


class Units(NamedTuple):
    """Soft constraints. given (steps, U): what contexts add to each unit; table (m + 1, V, U): what labels
    add; ends (P,): the end of each part's units; owners (P,): the constraint of each part; weights (C,);
    hinges (C,): whether only violations cost (`_cost`); present (steps, C): whether a constraint has a window
    at a step; bound_rows (C, steps) and bounds (R, V, V): an upper bound on its penalty given the last two
    labels."""

    given: Floats
    present: NDArray[np.bool_]
    table: Floats
    ends: Ints
    owners: Ints
    weights: Floats
    hinges: NDArray[np.bool_]
    bound_rows: Ints
    bounds: Floats


class Layout(NamedTuple):
    """The complete input of the kernels for one batch."""

    chain: Chain
    lists: Lists
    units: Units

    @property
    def m(self) -> int:
        """The number of past labels in a state."""
        return self.lists.m
