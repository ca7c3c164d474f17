"""The coefficients of a constraint: those of single hidden units as a heat map, and Theorem 1's inequalities.

Theorem 1 has one row per set S of hidden units, with coefficients -sum_{k in S} w_k and bias 1 - sum_{k in S}
b_k. The heat map shows the rows of single units, from which all other rows are computed. Values below zero
push towards forbidden, values above zero towards allowed. The heat map is a table with numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lcons_core import FeatureSpace, LearnedConstraint, LinearInequalities, simplify, to_inequalities
from lcons_core._arithmetic import many
from lcons_core._theorem import Form, estimate_form, estimate_rows
from lcons_core._types import Floats
from lcons_core.reason._compare import SimplifiedRows
from lcons_tasks.report._document import Table

LEVELS = 5
MOST_VALUES = 60
MOST_ROWS = 2**12
LISTED = 15
KEPT = 8
TERMS = 10


@dataclass(frozen=True)
class HeatMap:
    """The coefficients of each value of a block of psi, by unit; `largest` is that of all blocks. A block
    with too many values has none: `left_out` is their number."""

    name: str
    units: int
    largest: float
    rows: tuple[tuple[str, list[float]], ...] = ()
    left_out: int = 0


@dataclass(frozen=True)
class InequalitiesView:
    """The number of rows in words; if they are few, the rows and the percentage that simplification keeps."""

    text: str
    share: float = 0.0
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


def heat_maps(constraint: LearnedConstraint) -> Iterator[HeatMap]:
    """One heat map per block of psi and one for the biases, of every part of the network."""
    parts = constraint.network.parts
    for number, part in enumerate(parts, 1):
        prefix = f"part {number}, " if len(parts) > 1 else ""
        bias = 1.0 - part.b
        largest = float(max(np.abs(part.W).max(), np.abs(bias).max()))
        first = 0
        for block in constraint.space.blocks:
            coefficients = 0.0 - part.W[:, first : first + len(block.values)].T
            first += len(block.values)
            few = len(block.values) <= MOST_VALUES
            rows = tuple(zip(block.values, coefficients.tolist(), strict=True)) if few else ()
            yield HeatMap(prefix + block.name, part.K, largest, rows, 0 if few else len(block.values))
        yield HeatMap(f"{prefix}bias", part.K, largest, (("bias", bias.tolist()),))


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
    simple = simplify(constraint)
    table = _listed(constraint.space, to_inequalities(constraint.network), simple)
    return InequalitiesView(_counts(simple, total), 100 * len(simple) / total, table)


def _counts(simple: SimplifiedRows, total: int) -> str:
    kind = "the fewest possible" if simple.minimal else "equivalent, but perhaps not the fewest"
    text = f"{total:,} inequalities before, {len(simple):,} after simplification ({kind})."
    reasons = [f"{number:,} {reason}" for reason, number in simple.counts().items() if number]
    if reasons:
        text += f" Left out, by reason: {', '.join(reasons)}."
    return text + " The rows are rounded to float64." * bool(simple.rounded)


def _listed(space: FeatureSpace, rows: LinearInequalities, simple: SimplifiedRows) -> Table:
    reasons = {dropped.row: str(dropped.reason) for dropped in simple.dropped}
    kept = simple.kept.tolist()
    whole = len(rows) <= LISTED
    shown = range(len(rows)) if whole else kept[:KEPT]
    body = tuple(
        (
            str(m + 1),
            "" if rows.subsets is None else ", ".join(str(k + 1) for k in np.flatnonzero(rows.subsets[m])),
            inequality(space, rows.coefficients[m], float(rows.bias[m])),
            reasons.get(m, "kept"),
        )
        for m in shown
    )
    caption = "Inequalities" if whole else f"The first {len(shown)} of {len(kept):,} kept inequalities"
    return Table(caption, ("row", "units S", "inequality", "kept or left out"), body)


def inequality(space: FeatureSpace, coefficients: Floats, bias: float) -> str:
    """An inequality with names; only the largest terms if there are many.

    >>> from lcons_core._space import one_hot
    >>> inequality(FeatureSpace([one_hot("source", ["Person", "Place"])]), np.array([0.0, 2.0]), 1.5)
    '2.00 [source Place] + 1.50 ≥ 0'
    """
    order = [j for j in np.argsort(-np.abs(coefficients), kind="stable").tolist() if coefficients[j]]
    terms = [f"{_signed(coefficients[j])} [{' '.join(space.columns[j])}]" for j in sorted(order[:TERMS])]
    if len(order) > TERMS:
        terms.append(f"+… ({len(order) - TERMS} smaller terms)")
    first, *rest = [*terms, f"{_signed(bias)} ≥ 0"]
    return " ".join([first.removeprefix("+"), *(f"{term[0]} {term[1:]}" for term in rest)])


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")
