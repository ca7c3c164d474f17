"""The matrix of allowed and forbidden combinations of a small domain, whose points are all enumerated.

For values a and b of two axes, the completions are the points of the domain that have both. The combination
is

    forbidden    if no completion is accepted
    allowed      if every completion is accepted
    depends      otherwise
    impossible   if there is no completion

| space | matrix |
|---|---|
| one-hot blocks | the values of two blocks; for windows, those pairs of blocks that forbid most |
| binary block | pairs of names that both hold |
| count block | names and their counts |

A long axis shows only values with some forbidden combinations and some others. Values with the same verdicts
share a row. O is always shown, because it is the reference for other labels.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lcons_core import LearnedConstraint
from lcons_core._blocks import Kind
from lcons_core._schemes import OUTSIDE
from lcons_core._types import Floats

MOST_POINTS, MOST_AXES = 2**21, 30
MOST_MATRICES, MOST_VALUES, MOST_ONE_HOT = 4, 48, 10
# A shorter axis shows all its values.
SHORT = 12

Codes = NDArray[np.int8]


class Combination(IntEnum):
    """The verdict on two values together."""

    ALLOWED = 0
    FORBIDDEN = 1
    DEPENDS = 2
    IMPOSSIBLE = 3


# The CSS class and the sign of each verdict.
SIGNS = (("y", "\N{CHECK MARK}"), ("x", "\N{MULTIPLICATION SIGN}"), ("d", ""), ("i", ""))


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


@dataclass(frozen=True, eq=False)
class Matrix:
    """Verdicts (rows, columns), with the shares of accepted completions."""

    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    codes: Codes
    shares: Floats

    def code(self, row: str, column: str) -> Combination:
        """The verdict on two values, by name."""
        return Combination(int(self.codes[self.rows.index(row), self.columns.index(column)]))

    def count(self, verdict: Combination) -> int:
        """The number of cells with this verdict."""
        return int((self.codes == verdict).sum())


def matrices(constraint: LearnedConstraint, most: int = MOST_MATRICES) -> tuple[list[Matrix], int, int]:
    """The matrices to show, the number of pairs of one-hot blocks among them, and that of all such pairs.

    >>> from lcons_core import RectifierNetwork
    >>> from lcons_core._space import FeatureSpace, one_hot
    >>> space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["No", "Kill"])])
    >>> (matrix,), *_ = matrices(LearnedConstraint(RectifierNetwork([[0.0, 2, 0, 2]], [-2.0]), space))
    >>> matrix.code("Place", "Kill").name, matrix.count(Combination.ALLOWED)
    ('FORBIDDEN', 3)
    """
    space, verdicts = constraint.space, Verdicts(constraint)
    hot = [i for i, axis in enumerate(space.axes) if space.block(axis.block).kind is Kind.ONE_HOT]
    pairs = []
    for i, j in combinations(hot[-MOST_ONE_HOT:], 2):
        a, b = space.axes[i], space.axes[j]
        pairs.append(Matrix(a.name, b.name, a.values, b.values, *verdicts.of(i, j)))
    # If no pair forbids anything by itself, the pair whose shares differ most is shown.
    forbids = [one.count(Combination.FORBIDDEN) / one.codes.size for one in pairs]
    best = sorted(range(len(pairs)), key=lambda k: (-forbids[k], -float(np.ptp(pairs[k].shares)), -k))
    telling = sorted([k for k in best[:most] if forbids[k]] or best[:1])
    shown = [pairs[k] for k in telling]
    for block in space.blocks:
        axes = [i for i, axis in enumerate(space.axes) if axis.block == block.name]
        if block.kind is Kind.BINARY:
            shown.append(_together(verdicts, axes, block.name, block.values))
        if block.whole or hot == axes:
            codes, shares = zip(*(verdicts.of(i) for i in axes), strict=True)
            names = tuple(space.axes[i].name for i in axes) if hot == axes else block.values
            values, across = space.axes[axes[0]].values, "value" if hot == axes else "count"
            shown.append(Matrix("", across, names, values, np.stack(codes), np.stack(shares)))
    return shown, len(telling), len(pairs)


def _together(verdicts: Verdicts, axes: Sequence[int], name: str, values: tuple[str, ...]) -> Matrix:
    """The matrix of two names of a binary block that both hold; on the diagonal, of one name."""
    codes = np.zeros((len(axes), len(axes)), dtype=np.int8)
    shares = np.zeros(codes.shape)
    for a, i in enumerate(axes):
        for b, j in enumerate(axes[: a + 1]):
            pair_codes, pair_shares = verdicts.of(i) if i == j else verdicts.of(j, i)
            # The last cell is where all names hold.
            codes[a, b] = codes[b, a] = pair_codes.flat[-1]
            shares[a, b] = shares[b, a] = pair_shares.flat[-1]
    return Matrix(name, name, values, values, codes, shares)


Names = tuple[str, ...]


@dataclass(frozen=True)
class MatrixView:
    """A matrix on the page: (CSS class, sign) of each cell; without rows if one sentence is enough.

    Values with the same verdicts share a row or a column; `always` are names that are always forbidden, and
    `others` is the number of other values that are left out.
    """

    matrix: Matrix
    always: tuple[tuple[str, Names], ...] = ()
    others: int = 0
    columns: tuple[Names, ...] = ()
    rows: tuple[tuple[Names, tuple[tuple[str, str], ...]], ...] = ()


def matrix_views(constraint: LearnedConstraint) -> tuple[list[MatrixView], str]:
    """All matrices of a constraint, and a note on pairs that are left out."""
    space = constraint.space
    if any(block.kind is Kind.REAL for block in space.blocks):
        return [], "There is no matrix of combinations of real values."
    if space.size > MOST_POINTS or len(space.axes) > MOST_AXES:
        return [], f"There is no matrix of combinations, because the domain is large: {space.extent}."
    shown, hot, pairs = matrices(constraint)
    note = f"Pairs of blocks shown: {hot} of {pairs}, which forbid the most combinations by themselves."
    return [matrix_view(one) for one in shown], note if hot < pairs else ""


def matrix_view(matrix: Matrix) -> MatrixView:
    """The rows and columns of a matrix to show; only a sentence if there are none."""
    if matrix.codes.size in map(matrix.count, (Combination.FORBIDDEN, Combination.ALLOWED)):
        return MatrixView(matrix)
    rows, columns = _telling(matrix.codes, matrix.rows), _telling(matrix.codes.T, matrix.columns)
    always = []
    others = len(matrix.rows) + len(matrix.columns) - len(rows) - len(columns)
    for what, names, codes, kept in (
        (matrix.down, matrix.rows, matrix.codes, rows),
        (matrix.across, matrix.columns, matrix.codes.T, columns),
    ):
        never = np.isin(codes, (Combination.FORBIDDEN, Combination.IMPOSSIBLE)).all(1)
        never &= (codes == Combination.FORBIDDEN).any(1)
        if hidden := tuple(names[i] for i in np.flatnonzero(never) if i not in kept):
            always.append((what, hidden))
            others -= len(hidden)
    signs = [[_sign(matrix, r, c) for c in columns] for r in rows]
    across = list(_alike([matrix.columns[c] for c in columns], list(zip(*signs, strict=True))))
    firsts = [members[0] for members in across]
    down = _alike([matrix.rows[r] for r in rows], [tuple(own[c] for c in firsts) for own in signs])
    return MatrixView(
        matrix,
        tuple(always),
        others,
        tuple(tuple(matrix.columns[columns[c]] for c in members) for members in across),
        tuple(
            (tuple(matrix.rows[rows[r]] for r in members), tuple(signs[members[0]][c] for c in firsts))
            for members in down
            if firsts
        ),
    )


def _telling(codes: Codes, names: Names) -> list[int]:
    """The indices of the values of an axis to show; of a long axis, O and those values with some forbidden
    combinations and some others."""
    if len(names) <= SHORT:
        return list(range(len(names)))
    forbidden = (codes == Combination.FORBIDDEN).sum(1)
    telling = (forbidden > 0) & (forbidden < (codes != Combination.IMPOSSIBLE).sum(1))
    most = np.argsort(-forbidden * telling, kind="stable")[: min(MOST_VALUES, telling.sum())].tolist()
    return sorted({*most, *([names.index(OUTSIDE)] if most and OUTSIDE in names else [])})


def _alike(names: Sequence[str], signs: Sequence[tuple[tuple[str, str], ...]]) -> Iterator[list[int]]:
    """Groups of values with the same verdicts, in order; O is a group by itself."""
    groups: dict[object, list[int]] = {}
    for i, (name, own) in enumerate(zip(names, signs, strict=True)):
        groups.setdefault(own if len(names) > SHORT and name != OUTSIDE else i, []).append(i)
    return iter(groups.values())


def _sign(matrix: Matrix, row: int, column: int) -> tuple[str, str]:
    if matrix.codes[row, column] == Combination.DEPENDS:
        # 0 and 100 would be other verdicts.
        return "d", str(min(99, max(1, round(100 * float(matrix.shares[row, column])))))
    return SIGNS[matrix.codes[row, column]]
