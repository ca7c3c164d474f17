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

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lcons_core import FeatureSpace, LearnedConstraint
from lcons_core._blocks import Block, Kind
from lcons_core._schemes import OUTSIDE
from lcons_core._types import Floats

MOST_POINTS = 2**21
MOST_AXES = 30
MOST_MATRICES = 4
MOST_VALUES = 48
MOST_ONE_HOT = 10
# A shorter axis shows all its values.
SHORT = 12
# At most this many names are listed.
LISTED = 3

Codes = NDArray[np.int8]


class Combination(IntEnum):
    """The verdict on two values together."""

    ALLOWED = 0
    FORBIDDEN = 1
    DEPENDS = 2
    IMPOSSIBLE = 3


SIGNS = {
    Combination.ALLOWED: ("y", "\N{CHECK MARK}"),
    Combination.FORBIDDEN: ("x", "\N{MULTIPLICATION SIGN}"),
    Combination.DEPENDS: ("d", ""),
    Combination.IMPOSSIBLE: ("i", ""),
}


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

    @property
    def forbids(self) -> float:
        """The share of cells that are forbidden."""
        return float((self.codes == Combination.FORBIDDEN).mean())

    @property
    def spread(self) -> float:
        """The largest minus the smallest share of accepted completions."""
        return float(np.ptp(self.shares))

    def count(self, verdict: Combination) -> int:
        """The number of cells with this verdict."""
        return int((self.codes == verdict).sum())


def matrices(constraint: LearnedConstraint, most: int = MOST_MATRICES) -> tuple[list[Matrix], int]:
    """The matrices to show, and the number of all pairs of one-hot blocks.

    >>> from lcons_core import RectifierNetwork
    >>> from lcons_core._space import FeatureSpace, one_hot
    >>> space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["No", "Kill"])])
    >>> (matrix,), _ = matrices(LearnedConstraint(RectifierNetwork([[0.0, 2, 0, 2]], [-2.0]), space))
    >>> matrix.code("Place", "Kill").name, matrix.count(Combination.ALLOWED)
    ('FORBIDDEN', 3)
    """
    space = constraint.space
    verdicts = Verdicts(constraint)
    hot = [i for i, axis in enumerate(space.axes) if space.block(axis.block).kind is Kind.ONE_HOT]
    hot = hot[-MOST_ONE_HOT:]
    pairs = [_pair(space, verdicts, i, j) for i, j in combinations(hot, 2)]
    if not pairs and len(hot) == 1:
        pairs = [_single(space, verdicts, hot)]
    # If no pair forbids anything by itself, the pair whose shares differ most is shown.
    best = sorted(range(len(pairs)), key=lambda k: (-pairs[k].forbids, -pairs[k].spread, -k))
    telling = [k for k in best[:most] if pairs[k].forbids] or best[:1]
    shown = [pairs[k] for k in sorted(telling)]
    for block in space.blocks:
        axes = [i for i, axis in enumerate(space.axes) if axis.block == block.name]
        if block.kind is Kind.BINARY:
            shown.append(_together(verdicts, axes, block))
        if block.whole:
            shown.append(_single(space, verdicts, axes, block))
    return shown, len(pairs)


def _pair(space: FeatureSpace, verdicts: Verdicts, i: int, j: int) -> Matrix:
    a, b = space.axes[i], space.axes[j]
    return Matrix(a.name, b.name, a.values, b.values, *verdicts.of(i, j))


def _together(verdicts: Verdicts, axes: Sequence[int], block: Block) -> Matrix:
    """The matrix of two names of a binary block that both hold; on the diagonal, of one name."""
    codes = np.zeros((len(axes), len(axes)), dtype=np.int8)
    shares = np.zeros(codes.shape)
    for a, i in enumerate(axes):
        for b, j in enumerate(axes[: a + 1]):
            pair_codes, pair_shares = verdicts.of(i) if i == j else verdicts.of(j, i)
            # The last cell is where all names hold.
            codes[a, b] = codes[b, a] = pair_codes.flat[-1]
            shares[a, b] = shares[b, a] = pair_shares.flat[-1]
    return Matrix(block.name, block.name, block.values, block.values, codes, shares)


def _single(
    space: FeatureSpace, verdicts: Verdicts, axes: Sequence[int], block: Block | None = None
) -> Matrix:
    """The matrix with one row per axis and one column per value: the verdict on each value by itself."""
    names = tuple(space.axes[i].name for i in axes) if block is None else block.values
    across = "value" if block is None else "count"
    codes, shares = zip(*(verdicts.of(i) for i in axes), strict=True)
    return Matrix("", across, names, space.axes[axes[0]].values, np.stack(codes), np.stack(shares))


@dataclass(frozen=True)
class MatrixView:
    """A matrix on the page: (CSS class, sign) of each cell; without rows if one sentence is enough.

    Values with the same verdicts share a row or a column.
    """

    name: str
    said: str
    columns: tuple[tuple[str, ...], ...] = ()
    rows: tuple[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], ...] = ()


def matrix_views(constraint: LearnedConstraint) -> tuple[list[MatrixView], str]:
    """All matrices of a constraint, and a note on pairs that are left out."""
    for block in constraint.space.blocks:
        if block.kind is Kind.REAL:
            return [], f"There is no matrix of combinations, because the block {block.name} is real."
    space = constraint.space
    if space.size > MOST_POINTS or len(space.axes) > MOST_AXES:
        return [], f"There is no matrix of combinations, because the domain is large: {space.extent}."
    found, pairs = matrices(constraint)
    hot = sum(constraint.space.block(one.down).kind is Kind.ONE_HOT for one in found if one.down)
    note = f"Pairs of blocks shown: {hot} of {pairs}, which forbid the most combinations by themselves."
    return [matrix_view(one) for one in found], note if hot < pairs else ""


def matrix_view(matrix: Matrix) -> MatrixView:
    """The rows and columns of a matrix to show; only a sentence if there are none."""
    name = f"{matrix.down} \N{MULTIPLICATION SIGN} {matrix.across}" if matrix.down else matrix.across
    forbidden, allowed = (matrix.count(one) for one in (Combination.FORBIDDEN, Combination.ALLOWED))
    counts = f"{forbidden:,} forbidden and {allowed:,} allowed"
    said = f"Of {matrix.codes.size:,} combinations, {counts}; every combination was checked."
    if len(np.unique(matrix.codes)) == 1 and (forbidden or allowed):
        return MatrixView(name, said)
    rows, columns = (_telling(matrix, axis) for axis in (0, 1))
    if not len(rows) or not len(columns):
        return MatrixView(name, " ".join([said, *_left_out(matrix, rows, columns)]))
    signs = [[_sign(matrix, int(r), int(c)) for c in columns] for r in rows]
    across = _alike([matrix.columns[c] for c in columns], list(zip(*signs, strict=True)))
    kept = [members[0] for members in across]
    down = _alike([matrix.rows[r] for r in rows], [tuple(own[c] for c in kept) for own in signs])
    return MatrixView(
        name,
        " ".join([said, *_left_out(matrix, rows, columns)]),
        tuple(tuple(matrix.columns[columns[c]] for c in members) for members in across),
        tuple(
            (tuple(matrix.rows[rows[r]] for r in members), tuple(signs[members[0]][c] for c in kept))
            for members in down
        ),
    )


def _telling(matrix: Matrix, axis: int) -> NDArray[np.intp]:
    """The indices of the values of an axis to show; of a long axis, O and those values with some forbidden
    combinations and some others."""
    names = (matrix.rows, matrix.columns)[axis]
    if len(names) <= SHORT:
        return np.arange(len(names))
    codes = matrix.codes if axis == 0 else matrix.codes.T
    forbidden = (codes == Combination.FORBIDDEN).sum(1)
    telling = (forbidden > 0) & (forbidden < (codes != Combination.IMPOSSIBLE).sum(1))
    kept = np.argsort(-forbidden * telling, kind="stable")[: min(MOST_VALUES, telling.sum())]
    outside = [names.index(OUTSIDE)] if len(kept) and OUTSIDE in names else []
    return np.unique(np.array([*kept, *outside], dtype=np.intp))


def _left_out(matrix: Matrix, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> list[str]:
    """Sentences on values that are not shown; they name those that are always forbidden."""
    said = []
    others = 0
    for axis, (names, kept) in enumerate(((matrix.rows, rows), (matrix.columns, columns))):
        codes = matrix.codes if axis == 0 else matrix.codes.T
        never = np.isin(codes, (Combination.FORBIDDEN, Combination.IMPOSSIBLE)).all(1)
        never &= (codes == Combination.FORBIDDEN).any(1)
        hidden = [i for i in range(len(names)) if i not in set(kept.tolist())]
        always = [names[i] for i in hidden if never[i]]
        others += len(hidden) - len(always)
        if always:
            what = (matrix.down, matrix.across)[axis]
            said.append(f"Always forbidden: {f'{what} ' if what else ''}{listed(always, 12)}.")
    if others:
        said.append(f"Left out are {others:,} values with fewer or no forbidden combinations.")
    return said


def _alike(names: Sequence[str], signs: Sequence[tuple[tuple[str, str], ...]]) -> list[list[int]]:
    """Groups of values with the same verdicts, in order; O is a group by itself."""
    found: dict[object, list[int]] = {}
    many = len(names) > SHORT
    for i, (name, own) in enumerate(zip(names, signs, strict=True)):
        found.setdefault(own if many and name != OUTSIDE else i, []).append(i)
    return list(found.values())


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """The first names, and the number of the others.

    >>> listed(["NN", "NNS", "NNP", "VB", "VBD"])
    'NN, NNS, NNP and 2 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _sign(matrix: Matrix, row: int, column: int) -> tuple[str, str]:
    code = Combination(int(matrix.codes[row, column]))
    class_, sign = SIGNS[code]
    if code is Combination.DEPENDS:
        # 0 and 100 would be other verdicts.
        sign = str(min(99, max(1, round(100 * float(matrix.shares[row, column])))))
    return class_, sign
