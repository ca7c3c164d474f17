"""A psi row that reads a few decisions, as rows that forbid the combinations of labels that it rejects.

The network's verdict on every combination of the labels of the decisions is a table, whatever K is. With
indicators y of the labels, and pair variables p where the program has them (`_program.py`):

    one decision            sum of y[l] over the rejected l  <=  0
    two, with p             sum of p[l, m] over the rejected (l, m)  <=  0
    two, without            sum_{l in A} y1[l] + sum_{m in B} y2[m]  <=  1
    three, p12 and p23      sum_{l in A} p12[l, b] + sum_{m in B} p23[b, m]  <=  y2[b]      for every label b

A x B are rectangles of rejected combinations that cannot be enlarged, and together they contain every
rejected combination, so an integral point satisfies the rows iff its combination is accepted. With p on pairs
of neighbours alone, the vertices of the relaxation are the accepted labellings.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from lcons_core import Bools, Network
from lcons_decode.ilp._grounded import Bounds, Grounded, PsiRow
from lcons_decode.ilp._program import Name, Row, Sense, pair_name

MOST_NUMBERS = 2**20
MOST_DECISIONS = 3

Indices = tuple[tuple[int, int], ...]
Terms = list[tuple[Indices, float]]
Forbidden = list[tuple[Terms, float]]
Layout = tuple[tuple[tuple[int, float], ...], tuple[tuple[int, int, int, float], ...]]


class Combinations:
    """Writes the rows; psi rows with the same network and the same layout share their table."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds, self.program = bounds, bounds.program
        self._known: dict[Hashable, Forbidden | None] = {}
        self._pairs: dict[tuple[Hashable, Hashable], bool] = {}

    def rows(self, grounded: Grounded, index: int) -> list[Row] | None:
        """The rows of psi row `index`; None if it reads more than a few decisions, is a hinge, or is one row
        that a table without pair variables would not tighten."""
        decisions = self._decisions(grounded.psi_rows[index])
        if grounded.weight is not None or decisions is None:
            return None
        linked = tuple(self._linked(*pair) for pair in pairwise(decisions))
        if (len(decisions) == MOST_DECISIONS or grounded.network.K == 1) and not all(linked):
            return None
        labels = [list(self.program.decisions[decision].items()) for decision in decisions]
        place = {name: (axis, i) for axis, own in enumerate(labels) for i, (_, name) in enumerate(own)}
        layout = _layout(grounded.psi_rows[index], place)
        shape = tuple(len(own) for own in labels)
        key = (id(grounded.network), layout, shape, linked)
        if key not in self._known:
            rejected = _rejected(grounded.network, layout, shape)
            self._known[key] = None if rejected is None else list(_forbidden(rejected, linked))
        known = self._known[key]
        if known is None:
            return None

        def name(indices: Indices) -> Name:
            named = [(decisions[axis], labels[axis][i]) for axis, i in indices]
            if len(named) == 1:
                return named[0][1][1]
            (a, (left, _)), (b, (right, _)) = named
            return pair_name(a, b, left, right)

        return [
            Row(
                ("rejected", grounded.name, index, i),
                tuple((name(indices), c) for indices, c in terms),
                Sense.AT_MOST,
                rhs,
                grounded.name,
            )
            for i, (terms, rhs) in enumerate(known)
        ]

    def _decisions(self, row: PsiRow) -> list[Hashable] | None:
        """The decisions that are read, in the program's order; None if there are other variables, or many."""
        found: set[Hashable] = set()
        for expression in row.columns.values():
            for name, _ in expression:
                decision = self.bounds.decision_of.get(name)
                if decision is None and name not in self.bounds.decision_of:
                    return None
                found.add(decision)
        if len(found) > MOST_DECISIONS:
            return None
        return sorted(found, key=self.bounds.position_of.__getitem__)

    def _linked(self, a: Hashable, b: Hashable) -> bool:
        """Whether the program has pair variables of two decisions."""
        if (a, b) not in self._pairs:
            first, second = self.program.decisions[a], self.program.decisions[b]
            names = (pair_name(a, b, left, right) for left in first for right in second)
            self._pairs[a, b] = all(name in self.program.variables for name in names)
        return self._pairs[a, b]


def _layout(row: PsiRow, place: Mapping[Name, tuple[int, int]]) -> Layout:
    """The psi row without names: constants, and (column, axis, label, coefficient)."""
    terms = [(j, *place[name], c) for j, expression in row.columns.items() for name, c in expression]
    return tuple(row.constant.items()), tuple(terms)


def _rejected(network: Network, layout: Layout, shape: tuple[int, ...]) -> Bools | None:
    """The network's verdicts on all combinations of labels, one axis per decision; None if too large."""
    if math.prod(shape) * network.d > MOST_NUMBERS:
        return None
    psi = np.zeros((*shape, network.d))
    constant, terms = layout
    for j, value in constant:
        psi[..., j] += value
    for j, axis, i, c in terms:
        np.moveaxis(psi, axis, 0)[i, ..., j] += c
    return ~network.accepts(psi.reshape(-1, network.d)).reshape(shape)


def _forbidden(rejected: Bools, linked: Sequence[bool]) -> Iterator[tuple[Terms, float]]:
    """Rows `terms <= rhs` that every accepted combination satisfies, and no rejected one."""
    if not rejected.any():
        return
    if rejected.ndim == 0:
        yield [], -1.0
    elif rejected.ndim == 1:
        yield [(((0, i),), 1.0) for i in _indices(rejected)], 0.0
    elif rejected.ndim == 2 and linked[0]:
        yield [(((0, i), (1, j)), 1.0) for i, j in np.argwhere(rejected).tolist()], 0.0
    elif rejected.ndim == 2:
        for A, B in rectangles(rejected):
            terms: Terms = [(((0, i),), 1.0) for i in A]
            yield [*terms, *((((1, j),), 1.0) for j in B)], 1.0
    else:
        for b in range(rejected.shape[1]):
            for A, B in rectangles(rejected[:, b]):
                left: Terms = [(((0, i), (1, b)), 1.0) for i in A]
                right: Terms = [(((1, b), (2, j)), 1.0) for j in B]
                yield [*left, *right, (((1, b),), -1.0)], 0.0


def rectangles(rejected: Bools) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Maximal A x B of rejected pairs that contain every rejected pair: one per distinct row or column.

    >>> rectangles(np.array([[True, False], [True, True]]))
    [((0, 1), (0,)), ((1,), (0, 1))]
    """
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], None] = {}
    for own in np.unique(rejected, axis=0):
        if own.any():
            A = (rejected | ~own).all(1)
            found[_indices(A), _indices(own)] = None
    for own in np.unique(rejected.T, axis=0):
        if own.any():
            B = (rejected.T | ~own).all(1)
            found[_indices(own), _indices(B)] = None
    return list(found)


def _indices(members: Bools) -> tuple[int, ...]:
    return tuple(np.flatnonzero(members).tolist())
