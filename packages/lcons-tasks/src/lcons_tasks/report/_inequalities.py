"""The inequalities of Theorem 1, all of them and those that matter on the domain."""

from __future__ import annotations

import numpy as np

from lcons_core import LearnedConstraint, SimplifiedRows, simplify, to_inequalities
from lcons_core._arithmetic import Floats, many
from lcons_core._inequalities import LinearInequalities, estimate_rows
from lcons_core._space import FeatureSpace
from lcons_tasks.report._html import Html, element, joined
from lcons_tasks.report._tables import data_table

MOST_ROWS = 2**12
LISTED = 15
KEPT = 8
TERMS = 10


def inequalities_view(constraint: LearnedConstraint) -> Html:
    """How many rows there are before and after simplification, and the rows, where they are few."""
    total = estimate_rows(constraint.network).rows
    if total >= MOST_ROWS:
        return element(
            "p",
            f"{many(total)} inequalities (K = {constraint.network.K}), too many to list or simplify; the"
            f" lifted form says the same in {constraint.network.K + len(constraint.network.parts):,} rows"
            f" with {constraint.network.K:,} more variables.",
        )
    rows = to_inequalities(constraint.network)
    simple = simplify(constraint)
    return joined(_counts(simple, total), _listed(constraint.space, rows, simple))


def _counts(simple: SimplifiedRows, total: int) -> Html:
    share = 100 * len(simple) / total
    bar = element("div", element("div", style=f"width:{share:.1f}%"), class_="bar", aria_hidden="true")
    why = [f"{n:,} {reason}" for reason, n in simple.counts().items() if n]
    kind = "no fewer would do" if simple.minimal else "sound, perhaps not the fewest"
    said = f"{total:,} before, {len(simple):,} after simplification ({kind})."
    if why:
        said += f" Left out: {', '.join(why)}."
    if simple.rounded:
        said += " The rows are rounded to float64."
    return joined(element("p", said), bar)


def _listed(space: FeatureSpace, rows: LinearInequalities, simple: SimplifiedRows) -> Html:
    reasons = {
        one.row: str(one.reason) + ("" if one.by is None else f" by {one.by + 1}") for one in simple.dropped
    }
    kept = simple.kept.tolist()
    whole = len(rows) <= LISTED
    shown = list(range(len(rows))) if whole else kept[:KEPT]
    body = [
        [
            str(m + 1),
            _units(rows, m),
            inequality(space, rows.coefficients[m], float(rows.bias[m])),
            reasons.get(m, "kept"),
        ]
        for m in shown
    ]
    caption = (
        "Inequalities" if whole else f"The first {len(shown)} of {len(kept):,} inequalities that are kept"
    )
    return data_table(caption, ["row", "units S", "inequality", "simplified"], body, class_="rows")


def _units(rows: LinearInequalities, m: int) -> str:
    if rows.subsets is None:
        return ""
    return ", ".join(str(k + 1) for k in np.flatnonzero(rows.subsets[m]).tolist())


def inequality(space: FeatureSpace, coefficients: Floats, bias: float, terms: int = TERMS) -> str:
    """A row with names, the largest terms where there are many.

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
    """1 where the first term is negative: its sign stands close to it."""
    return int(parts[0].startswith("\N{MINUS SIGN}"))


def _number(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {abs(value):.2f}".replace("-", "\N{MINUS SIGN}")
