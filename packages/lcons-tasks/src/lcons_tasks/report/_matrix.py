"""The matrix of allowed and forbidden combinations, as tables.

| space | matrix |
|---|---|
| one-hot blocks | two blocks against each other; of windows, the pairs that forbid most by themselves |
| binary block | two names that both hold |
| count block | a name and its count |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lcons_core import LearnedConstraint
from lcons_core._arithmetic import Floats
from lcons_core._blocks import Block, Kind
from lcons_tasks.report._html import Html, element, joined
from lcons_tasks.report._tables import captioned, scrolled
from lcons_tasks.report._verdicts import Codes, Source, Verdict, axes_of, one_hot_axes, source_of

MOST_MATRICES = 4
MOST_VALUES = 48
MOST_ONE_HOT = 10

SIGNS = {
    Verdict.ALLOWED: ("y", "\N{CHECK MARK}"),
    Verdict.FORBIDDEN: ("x", "\N{MULTIPLICATION SIGN}"),
    Verdict.DEPENDS: ("d", "\N{MIDDLE DOT}"),
    Verdict.IMPOSSIBLE: ("i", ""),
}


@dataclass(frozen=True, eq=False)
class Matrix:
    """Verdicts (rows, columns), with the share of completions that are accepted where it is known."""

    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    codes: Codes
    shares: Floats | None
    how: str
    left_out: int = 0

    def code(self, row: str, column: str) -> Verdict:
        """The verdict of two values, by name."""
        return Verdict(int(self.codes[self.rows.index(row), self.columns.index(column)]))

    @property
    def forbids(self) -> float:
        """The share of cells that are forbidden."""
        return float((self.codes == Verdict.FORBIDDEN).mean())

    def count(self, verdict: Verdict) -> int:
        """How many cells have a verdict."""
        return int((self.codes == verdict).sum())


def matrices(constraint: LearnedConstraint, most: int = MOST_MATRICES) -> tuple[list[Matrix], int]:
    """The matrices to show, and how many pairs of one-hot blocks there are in all.

    >>> from lcons_core import RectifierNetwork
    >>> from lcons_core._space import FeatureSpace, one_hot
    >>> space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["No", "Kill"])])
    >>> (found,), _ = matrices(LearnedConstraint(RectifierNetwork([[0.0, 2, 0, 2]], [-2.0]), space))
    >>> found.code("Place", "Kill").name, found.count(Verdict.ALLOWED)
    ('FORBIDDEN', 3)
    """
    space = constraint.space
    source = source_of(constraint)
    hot = one_hot_axes(space)[-MOST_ONE_HOT:]
    found = [_pair(constraint, source, i, j) for i, j in combinations(hot, 2)]
    if not found and len(hot) == 1:
        found = [_single(constraint, source, hot)]
    best = sorted(range(len(found)), key=lambda k: (-found[k].forbids, -k))[:most]
    shown = [found[k] for k in sorted(best)]
    for block in space.blocks:
        if block.kind is Kind.BINARY:
            shown.append(_together(constraint, source, block))
        if block.kind is Kind.COUNT:
            shown.append(_single(constraint, source, axes_of(space, block.name), block))
    return [_trimmed(one) for one in shown], len(found)


def _pair(constraint: LearnedConstraint, source: Source, i: int, j: int) -> Matrix:
    a, b = constraint.space.axes[i], constraint.space.axes[j]
    found = source.pair(i, j)
    return Matrix(a.name, b.name, a.values, b.values, found.codes, found.shares, source.how)


def _together(constraint: LearnedConstraint, source: Source, block: Block) -> Matrix:
    """Two names of a binary block that both hold; on the diagonal, one that holds."""
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
    """A row an axis, a column a value: what becomes of each value alone."""
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
    """The axes with the largest weights, in their order, as many as can be shown."""
    if len(axes) <= MOST_VALUES:
        return list(axes)
    W = np.concatenate([part.W for part in constraint.network.parts])
    sizes = np.array([np.abs(constraint.space.axes[i].table(W)).max() for i in axes])
    return sorted(axes[k] for k in np.argsort(-sizes, kind="stable")[:MOST_VALUES])


def _trimmed(matrix: Matrix) -> Matrix:
    """Without values that no combination of which is forbidden, and with at most as many as can be shown."""
    rows, columns = (_kept(matrix.codes, axis) for axis in (0, 1))
    left_out = len(matrix.rows) - len(rows) + len(matrix.columns) - len(columns)
    return replace(
        matrix,
        rows=tuple(matrix.rows[i] for i in rows),
        columns=tuple(matrix.columns[j] for j in columns),
        codes=matrix.codes[np.ix_(rows, columns)],
        shares=None if matrix.shares is None else matrix.shares[np.ix_(rows, columns)],
        left_out=matrix.left_out + left_out,
    )


def _kept(codes: Codes, axis: int) -> NDArray[np.intp]:
    forbidden = (codes == Verdict.FORBIDDEN).sum(1 - axis)
    if len(forbidden) <= MOST_VALUES:
        return np.arange(len(forbidden))
    return np.sort(np.argsort(-forbidden, kind="stable")[:MOST_VALUES])


def matrix_table(matrix: Matrix) -> Html:
    """The matrix as a table: a sign in every cell, or the percentage of completions that are accepted; where
    there would be nothing but dots, a sentence."""
    names = f"{matrix.down} \N{MULTIPLICATION SIGN} {matrix.across}" if matrix.down else matrix.across
    said = _counts(matrix)
    if matrix.shares is None and not matrix.count(Verdict.FORBIDDEN) + matrix.count(Verdict.ALLOWED):
        return element("p", element("b", names), f": {said}", class_="note")
    head = element(
        "tr",
        element("td"),
        *(element("th", element("span", name), scope="col") for name in matrix.columns),
    )
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            *(_cell(matrix, r, c) for c in range(len(matrix.columns))),
        )
        for r, name in enumerate(matrix.rows)
    ]
    table = element(
        "table",
        captioned(element("b", names), element("span", said, class_="note")),
        element("thead", head),
        element("tbody", *rows),
        class_="matrix",
    )
    return scrolled(names, table)


def _counts(matrix: Matrix) -> str:
    forbidden, allowed = matrix.count(Verdict.FORBIDDEN), matrix.count(Verdict.ALLOWED)
    said = f"{forbidden:,} forbidden, {allowed:,} allowed of {matrix.codes.size:,}; {matrix.how}."
    if matrix.left_out:
        which = " of which less is forbidden" if forbidden else ""
        said += f" {matrix.left_out:,} values{which} are left out."
    return said


def _cell(matrix: Matrix, row: int, column: int) -> Html:
    code = Verdict(int(matrix.codes[row, column]))
    class_, sign = SIGNS[code]
    if code is Verdict.DEPENDS and matrix.shares is not None:
        # 0 and 100 are other verdicts.
        sign = str(min(99, max(1, round(100 * float(matrix.shares[row, column])))))
    return element("td", sign, class_=class_)


def matrix_view(constraint: LearnedConstraint) -> Html:
    """All matrices of a constraint, with the meaning of their signs."""
    found, pairs = matrices(constraint)
    notes = []
    if pairs > MOST_MATRICES:
        notes.append(f"Of {pairs} pairs of blocks, the {MOST_MATRICES} that forbid most by themselves.")
    return joined(
        element("p", *notes, class_="note") if notes else None,
        element("div", *(matrix_table(one) for one in found), class_="heats"),
    )


LEGEND = joined(
    element("span", "\N{MULTIPLICATION SIGN}", class_="key x"),
    " forbidden, whatever the rest is; ",
    element("span", "\N{CHECK MARK}", class_="key y"),
    " allowed, whatever the rest is; ",
    element("span", "37", class_="key d"),
    " depends on the rest: so many percent of completions are allowed, or ",
    element("span", "\N{MIDDLE DOT}", class_="key d"),
    " not counted; empty: cannot occur.",
)
