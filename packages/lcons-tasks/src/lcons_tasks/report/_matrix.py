"""The matrix of allowed and forbidden combinations of a small domain, whose points are all enumerated.

For values a and b of two axes, the completions are the points of the domain that have both. The combination
is

    forbidden    if no completion is accepted
    allowed      if every completion is accepted
    depends      otherwise
    impossible   if there is no completion

There is one matrix per pair of one-hot blocks that forbids something by itself (those that forbid most),
and one per binary block, of the pairs of names that both hold. On a long axis, values with the same verdicts
share a row; O has its own, because it is the reference for other labels.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from lcons_core import LearnedConstraint
from lcons_core._blocks import Kind
from lcons_core._schemes import OUTSIDE
from lcons_core._types import Floats

MOST_POINTS, MOST_AXES = 2**21, 30
MOST_MATRICES, MOST_ONE_HOT = 4, 10
# The values of a shorter axis have a row each.
SHORT = 12

Codes = NDArray[np.int8]


class Combination(IntEnum):
    """The verdict on two values together."""

    ALLOWED = 0
    FORBIDDEN = 1
    DEPENDS = 2
    IMPOSSIBLE = 3


# The CSS class and the sign of each verdict; `depends` shows a share instead.
SIGNS = (("y", "\N{CHECK MARK}"), ("x", "\N{MULTIPLICATION SIGN}"), ("d", ""), ("i", ""))


@dataclass(frozen=True, eq=False)
class Matrix:
    """Verdicts (rows, columns), with the shares of accepted completions."""

    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    codes: Codes
    shares: Floats

    def count(self, verdict: Combination) -> int:
        """The number of cells with this verdict."""
        return int((self.codes == verdict).sum())

    @property
    def across_groups(self) -> list[tuple[str, ...]]:
        """The names of the values of each column that is shown."""
        return [tuple(self.columns[c] for c in group) for group in _groups(self.codes.T, self.columns)]

    @property
    def down_groups(self) -> list[tuple[tuple[str, ...], list[tuple[str, str]]]]:
        """The names of the values of each row that is shown, and the (CSS class, sign) of its cells."""
        columns = _groups(self.codes.T, self.columns)
        return [
            (tuple(self.rows[r] for r in rows), [self._sign(rows, group) for group in columns])
            for rows in _groups(self.codes, self.rows)
        ]

    def _sign(self, rows: Sequence[int], columns: Sequence[int]) -> tuple[str, str]:
        code = self.codes[rows[0], columns[0]]
        if code != Combination.DEPENDS:
            return SIGNS[code]
        # 0 and 100 would be other verdicts.
        return "d", str(min(99, max(1, round(100 * float(self.shares[np.ix_(rows, columns)].mean())))))


def _groups(codes: Codes, names: Sequence[str]) -> list[list[int]]:
    """The indices of values with equal verdicts, in order."""
    groups: dict[object, list[int]] = {}
    for i, name in enumerate(names):
        alone = len(names) <= SHORT or name == OUTSIDE
        groups.setdefault(i if alone else codes[i].tobytes(), []).append(i)
    return list(groups.values())


class Verdicts:
    """The verdicts on values of axes, with the shares of accepted completions."""

    def __init__(self, constraint: LearnedConstraint) -> None:
        space = constraint.space
        shape = tuple(len(axis) for axis in space.axes)
        self.possible = np.zeros(shape, dtype=np.bool_)
        self.accepted = np.zeros(shape, dtype=np.bool_)
        for points in space.points():
            where = tuple(points.T)
            self.possible[where] = True
            self.accepted[where] = constraint.verdicts(space, points)

    def of(self, *axes: int) -> tuple[Codes, Floats]:
        """Codes and shares, each with one dimension per axis; `axes` is ascending."""
        others = tuple(axis for axis in range(self.possible.ndim) if axis not in axes)
        total, accepted = self.possible.sum(others), self.accepted.sum(others)
        codes = np.full(total.shape, Combination.DEPENDS, dtype=np.int8)
        codes[accepted == total] = Combination.ALLOWED
        codes[accepted == 0] = Combination.FORBIDDEN
        codes[total == 0] = Combination.IMPOSSIBLE
        return codes, accepted / np.maximum(total, 1)


def matrices(constraint: LearnedConstraint, most: int = MOST_MATRICES) -> tuple[list[Matrix], str]:
    """The matrices to show, and a note on those that are left out.

    >>> from lcons_core import FeatureSpace, RectifierNetwork, one_hot
    >>> space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["No", "Kill"])])
    >>> (matrix,), _ = matrices(LearnedConstraint(RectifierNetwork([[0.0, 2, 0, 2]], [-2.0]), space))
    >>> matrix.count(Combination.FORBIDDEN), matrix.count(Combination.ALLOWED)
    (1, 3)
    """
    space = constraint.space
    if any(block.kind is Kind.REAL for block in space.blocks):
        return [], "There is no matrix of combinations of real values."
    if space.size > MOST_POINTS or len(space.axes) > MOST_AXES:
        return [], f"There is no matrix of combinations, because the domain is large: {space.extent}."
    verdicts, axes = Verdicts(constraint), space.axes
    hot = [i for i, axis in enumerate(axes) if space.block(axis.block).kind is Kind.ONE_HOT]
    pairs = [
        Matrix(axes[i].name, axes[j].name, axes[i].values, axes[j].values, *verdicts.of(i, j))
        for i, j in combinations(hot[-MOST_ONE_HOT:], 2)
    ]
    shares = [matrix.count(Combination.FORBIDDEN) / matrix.codes.size for matrix in pairs]
    strongest = sorted(range(len(pairs)), key=lambda k: (-shares[k], -k))[:most]
    shown = [pairs[k] for k in sorted(strongest) if shares[k]]
    note = f"Pairs of blocks shown: {len(shown)} of {len(pairs)}, which forbid the most by themselves."
    note = note if len(shown) < len(pairs) else ""
    for block in space.blocks:
        if block.kind is Kind.BINARY:
            members = [i for i, axis in enumerate(axes) if axis.block == block.name]
            shown.append(_held_together(verdicts, block.name, block.values, members))
    return shown, note


def _held_together(verdicts: Verdicts, name: str, names: tuple[str, ...], axes: Sequence[int]) -> Matrix:
    """The matrix of two names of a binary block that both hold; on the diagonal, of one name."""
    codes = np.zeros((len(axes), len(axes)), dtype=np.int8)
    shares = np.zeros(codes.shape)
    for a, b in combinations_with_replacement(range(len(axes)), 2):
        # The last cell is where all names hold.
        code, share = (array.flat[-1] for array in verdicts.of(*sorted({axes[a], axes[b]})))
        codes[a, b], shares[a, b] = codes[b, a], shares[b, a] = code, share
    return Matrix(name, name, names, names, codes, shares)
