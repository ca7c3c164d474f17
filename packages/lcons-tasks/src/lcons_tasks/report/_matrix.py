"""The matrix of allowed and forbidden combinations.

| space | matrix |
|---|---|
| one-hot blocks | the values of two blocks; for windows, those pairs of blocks that forbid most |
| binary block | pairs of names that both hold |
| count block | names and their counts |

A long axis shows only values with some forbidden combinations and some others. Values with the same verdicts
share a row. O is always shown, because it is the reference for other labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lcons_core import OUTSIDE, Block, Floats, Kind, LearnedConstraint
from lcons_tasks.report._verdicts import Codes, Combination, Source, axes_of, one_hot_axes, source_of

# The longest axis in a matrix.
LONGEST = 2**12
MOST_MATRICES = 4
MOST_VALUES = 48
MOST_ONE_HOT = 10
# A shorter axis shows all its values.
SHORT = 12
# At most this many names are listed.
LISTED = 3

SIGNS = {
    Combination.ALLOWED: ("y", "\N{CHECK MARK}"),
    Combination.FORBIDDEN: ("x", "\N{MULTIPLICATION SIGN}"),
    Combination.DEPENDS: ("d", "\N{MIDDLE DOT}"),
    Combination.IMPOSSIBLE: ("i", ""),
}


@dataclass(frozen=True, eq=False)
class Matrix:
    """Verdicts (rows, columns), with the shares of accepted completions if they are known."""

    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    codes: Codes
    shares: Floats | None
    how: str
    left_out: int = 0

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
        return 0.0 if self.shares is None else float(np.ptp(self.shares))

    def count(self, verdict: Combination) -> int:
        """The number of cells with this verdict."""
        return int((self.codes == verdict).sum())


def matrices(constraint: LearnedConstraint, most: int = MOST_MATRICES) -> tuple[list[Matrix], int]:
    """The matrices to show, and the number of all pairs of one-hot blocks.

    >>> from lcons_core import RectifierNetwork
    >>> from lcons_core._space import FeatureSpace, one_hot
    >>> space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["No", "Kill"])])
    >>> (found,), _ = matrices(LearnedConstraint(RectifierNetwork([[0.0, 2, 0, 2]], [-2.0]), space))
    >>> found.code("Place", "Kill").name, found.count(Combination.ALLOWED)
    ('FORBIDDEN', 3)
    """
    space = constraint.space
    source = source_of(constraint)
    hot = one_hot_axes(space)[-MOST_ONE_HOT:]
    found = [_pair(constraint, source, i, j) for i, j in combinations(hot, 2)]
    if not found and len(hot) == 1:
        found = [_single(constraint, source, hot)]
    # If no pair forbids anything by itself, the pair whose shares differ most is shown.
    best = sorted(range(len(found)), key=lambda k: (-found[k].forbids, -found[k].spread, -k))
    telling = [k for k in best[:most] if found[k].forbids] or best[:1]
    shown = [found[k] for k in sorted(telling)]
    for block in space.blocks:
        if block.kind is Kind.BINARY:
            shown.append(_together(constraint, source, block))
        if block.whole:
            shown.append(_single(constraint, source, axes_of(space, block.name), block))
    return shown, len(found)


def _pair(constraint: LearnedConstraint, source: Source, i: int, j: int) -> Matrix:
    a, b = constraint.space.axes[i], constraint.space.axes[j]
    found = source.pair(i, j)
    return Matrix(a.name, b.name, a.values, b.values, found.codes, found.shares, source.how)


def _together(constraint: LearnedConstraint, source: Source, block: Block) -> Matrix:
    """The matrix of two names of a binary block that both hold; on the diagonal, of one name."""
    axes = axes_of(constraint.space, block.name)
    kept = _strongest(constraint, axes)
    names = tuple(block.values[axes.index(i)] for i in kept)
    codes = np.zeros((len(kept), len(kept)), dtype=np.int8)
    shares = np.zeros(codes.shape)
    known = True
    for a, i in enumerate(kept):
        for b, j in enumerate(kept[: a + 1]):
            found = source.single(i) if i == j else source.pair(j, i)
            where = (1,) if i == j else (1, 1)
            codes[a, b] = codes[b, a] = found.codes[where]
            known &= found.shares is not None
            if found.shares is not None:
                shares[a, b] = shares[b, a] = found.shares[where]
    left_out = len(axes) - len(kept)
    return Matrix(
        block.name, block.name, names, names, codes, shares if known else None, source.how, left_out
    )


def _single(
    constraint: LearnedConstraint, source: Source, axes: Sequence[int], block: Block | None = None
) -> Matrix:
    """The matrix with one row per axis and one column per value: the verdict on each value by itself."""
    kept = _strongest(constraint, axes)
    found = [source.single(i) for i in kept]
    values = constraint.space.axes[kept[0]].values
    names = tuple(constraint.space.axes[i].name for i in kept)
    if block is not None:
        names = tuple(block.values[axes.index(i)] for i in kept)
    shares = [one.shares for one in found if one.shares is not None]
    return Matrix(
        "",
        "count" if block is not None else "value",
        names,
        values,
        np.stack([one.codes for one in found]),
        np.stack(shares) if len(shares) == len(found) else None,
        source.how,
        len(axes) - len(kept),
    )


def _strongest(constraint: LearnedConstraint, axes: Sequence[int]) -> list[int]:
    """The axes with the largest weights, in order, at most `MOST_VALUES`."""
    if len(axes) <= MOST_VALUES:
        return list(axes)
    W = np.concatenate([part.W for part in constraint.network.parts])
    sizes = np.array([np.abs(constraint.space.axes[i].table(W)).max() for i in axes])
    return sorted(axes[k] for k in np.argsort(-sizes, kind="stable")[:MOST_VALUES])


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
    for axis in constraint.space.axes:
        if len(axis) > LONGEST:
            return [], f"There is no matrix of combinations, because {axis.name} has {len(axis):,} values."
    found, pairs = matrices(constraint)
    hot = sum(constraint.space.block(one.down).kind is Kind.ONE_HOT for one in found if one.down)
    note = f"Pairs of blocks shown: {hot} of {pairs}, which forbid the most combinations by themselves."
    return [matrix_view(one) for one in found], note if hot < pairs else ""


def matrix_view(matrix: Matrix) -> MatrixView:
    """The rows and columns of a matrix to show; only a sentence if there are none."""
    name = f"{matrix.down} \N{MULTIPLICATION SIGN} {matrix.across}" if matrix.down else matrix.across
    forbidden, allowed = (matrix.count(one) for one in (Combination.FORBIDDEN, Combination.ALLOWED))
    counts = f"{forbidden:,} forbidden and {allowed:,} allowed"
    said = f"Of {matrix.codes.size:,} combinations, {counts}; {matrix.how}."
    if len(np.unique(matrix.codes)) == 1 and (matrix.shares is None or forbidden or allowed):
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
    others = matrix.left_out
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
    if code is Combination.DEPENDS and matrix.shares is not None:
        # 0 and 100 would be other verdicts.
        sign = str(min(99, max(1, round(100 * float(matrix.shares[row, column])))))
    return class_, sign
