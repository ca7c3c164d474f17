"""The coefficients of a constraint: those of single hidden units as a heat map, and Theorem 1's inequalities.

Theorem 1 has one row per set S of hidden units, with coefficients -sum_{k in S} w_k and bias 1 - sum_{k in S}
b_k. The heat map shows the rows of single units, from which all other rows are computed. Values below zero
push towards forbidden, values above zero towards allowed. The heat map is a table with numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lcons_core import (
    FeatureSpace,
    LearnedConstraint,
    LinearInequalities,
    RectifierNetwork,
    simplify,
    to_inequalities,
)
from lcons_core._arithmetic import many
from lcons_core._theorem import Form, estimate_form, estimate_rows
from lcons_core._types import Floats
from lcons_core.reason._compare import SimplifiedRows
from lcons_tasks.report._document import Table

LEVELS = 5
MOST_VALUES = 60
# With more units than this, cells have room for only one digit.
WIDE = 12
MOST_ROWS = 2**12
LISTED = 15
KEPT = 8
TERMS = 10


@dataclass(frozen=True)
class HeatMap:
    """The heat map of a block of psi: (CSS class, number) of each value and unit."""

    name: str
    units: int
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True)
class InequalitiesView:
    """The number of rows in words, the percentage that simplification keeps, and the rows if they are few."""

    said: str
    share: float | None = None
    table: Table | None = None


def level(value: float, largest: float) -> str:
    """The CSS class of a cell: `a1` to `a5` towards allowed, `f1` to `f5` towards forbidden, empty at zero.

    >>> level(-2.0, 2.0), level(0.1, 2.0), level(0.0, 2.0)
    ('f5', 'a1', '')
    """
    if not value or not largest:
        return ""
    steps = max(1, math.ceil(LEVELS * min(abs(value) / largest, 1.0) - 1e-9))
    return f"{'a' if value > 0 else 'f'}{steps}"


def heat_maps(constraint: LearnedConstraint) -> tuple[list[HeatMap], list[str]]:
    """One heat map per block of psi and one for the biases, and notes on blocks that are left out."""
    maps: list[HeatMap] = []
    notes: list[str] = []
    parts = constraint.network.parts
    for number, part in enumerate(parts, 1):
        name = f"part {number}, " if len(parts) > 1 else ""
        _add_part(constraint.space, part, name, maps, notes)
    return maps, notes


def _add_part(
    space: FeatureSpace, part: RectifierNetwork, name: str, maps: list[HeatMap], notes: list[str]
) -> None:
    largest = float(max(np.abs(part.W).max(), np.abs(1.0 - part.b).max()))
    digits = 2 if part.K <= WIDE else 1

    def cells(values: Floats) -> tuple[tuple[str, str], ...]:
        return tuple(
            (level(float(v), largest), f"{v:.{digits}f}".replace("-", "\N{MINUS SIGN}")) for v in values
        )

    first = 0
    for block in space.blocks:
        coefficients: Floats = 0.0 - part.W[:, first : first + len(block.values)].T
        first += len(block.values)
        if len(block.values) > MOST_VALUES:
            notes.append(f"There is no table of {block.name}, because it has {len(block.values):,} values.")
            continue
        rows = tuple((value, cells(row)) for value, row in zip(block.values, coefficients, strict=True))
        maps.append(HeatMap(f"{name}{block.name}", part.K, rows))
    maps.append(HeatMap(f"{name}bias", part.K, (("bias", cells(1.0 - part.b)),)))


def inequalities_view(constraint: LearnedConstraint) -> InequalitiesView:
    """The numbers of rows before and after simplification, and the rows if they are few."""
    total = estimate_rows(constraint.network).rows
    if total >= MOST_ROWS:
        lifted = estimate_form(constraint.network, Form.LIFTED).rows
        return InequalitiesView(
            f"{many(total)} inequalities (K = {constraint.network.K}): too many to list or simplify. The"
            f" lifted form is equivalent and has {lifted:,} rows with {constraint.network.K:,} additional"
            " variables."
        )
    rows = to_inequalities(constraint.network)
    simple = simplify(constraint)
    return InequalitiesView(
        _counts(simple, total), 100 * len(simple) / total, _listed(constraint.space, rows, simple)
    )


def _counts(simple: SimplifiedRows, total: int) -> str:
    why = [f"{n:,} {reason}" for reason, n in simple.counts().items() if n]
    kind = "the fewest possible" if simple.minimal else "equivalent, but perhaps not the fewest"
    said = f"{total:,} inequalities before, {len(simple):,} after simplification ({kind})."
    if why:
        said += f" Left out, by reason: {', '.join(why)}."
    if simple.rounded:
        said += " The rows are rounded to float64."
    return said


def _listed(space: FeatureSpace, rows: LinearInequalities, simple: SimplifiedRows) -> Table:
    reasons = {dropped.row: str(dropped.reason) for dropped in simple.dropped}
    kept = simple.kept.tolist()
    whole = len(rows) <= LISTED
    shown = list(range(len(rows))) if whole else kept[:KEPT]
    body = tuple(
        (
            str(m + 1),
            _units(rows, m),
            inequality(space, rows.coefficients[m], float(rows.bias[m])),
            reasons.get(m, "kept"),
        )
        for m in shown
    )
    caption = "Inequalities" if whole else f"The first {len(shown)} of {len(kept):,} kept inequalities"
    return Table(caption, ("row", "units S", "inequality", "kept or left out"), body)


def _units(rows: LinearInequalities, m: int) -> str:
    if rows.subsets is None:
        return ""
    return ", ".join(str(k + 1) for k in np.flatnonzero(rows.subsets[m]).tolist())


def inequality(space: FeatureSpace, coefficients: Floats, bias: float, terms: int = TERMS) -> str:
    """An inequality with names; only the largest terms if there are many.

    >>> from lcons_core._space import one_hot
    >>> inequality(FeatureSpace([one_hot("source", ["Person", "Place"])]), np.array([0.0, 2.0]), 1.5)
    '2.00 [source Place] + 1.50 ≥ 0'
    """
    order = np.argsort(-np.abs(coefficients), kind="stable")
    there = [j for j in order.tolist() if coefficients[j]]
    shown = sorted(there[:terms])
    parts = [f"{_number(coefficients[j])} [{' '.join(space.columns[j])}]" for j in shown]
    if len(there) > len(shown):
        parts.append(f"+ … ({len(there) - len(shown)} smaller terms)")
    parts.append(f"{_number(bias)} ≥ 0")
    return " ".join(parts).removeprefix("+ ").replace("\N{MINUS SIGN} ", "\N{MINUS SIGN}", _leading(parts))


def _leading(parts: list[str]) -> int:
    """1 if the first term is negative, because its sign has no space after it; otherwise 0."""
    return int(parts[0].startswith("\N{MINUS SIGN}"))


def _number(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {abs(value):.2f}".replace("-", "\N{MINUS SIGN}")
