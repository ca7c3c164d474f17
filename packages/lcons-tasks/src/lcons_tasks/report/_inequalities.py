"""The inequalities of a constraint (Theorem 1) in words: how many there are, and those that are needed.

Theorem 1 has one row per set S of hidden units, with coefficients -sum_{k in S} w_k and bias 1 - sum_{k in S}
b_k. Simplification leaves out the rows that are not needed at any point of the domain.
"""

from __future__ import annotations

import numpy as np

from lcons_core import FeatureSpace, LearnedConstraint, simplify, to_inequalities
from lcons_core._arithmetic import many
from lcons_core._theorem import Form, estimate_form, estimate_rows
from lcons_core._types import Floats
from lcons_tasks.report._document import Table

MOST_ROWS = 2**12
LISTED, TERMS = 15, 10


def inequalities_view(constraint: LearnedConstraint) -> tuple[str, Table | None]:
    """The number of rows in words; and the first that simplification keeps, if they are few."""
    network, total = constraint.network, estimate_rows(constraint.network).rows
    if total >= MOST_ROWS:
        lifted = estimate_form(network, Form.LIFTED).rows
        return (
            f"{many(total)} inequalities (K = {network.K}): too many to list or simplify. The lifted form is"
            f" equivalent and has {lifted:,} rows with {network.K:,} additional variables."
        ), None
    simple, rows = simplify(constraint), to_inequalities(network)
    fewest = "the fewest possible" if simple.minimal else "equivalent, but perhaps not the fewest"
    text = f"{total:,} inequalities before, {len(simple):,} after simplification ({fewest})."
    body = tuple(
        (
            str(m + 1),
            "" if rows.subsets is None else ", ".join(str(k + 1) for k in np.flatnonzero(rows.subsets[m])),
            inequality(constraint.space, rows.coefficients[m], float(rows.bias[m])),
        )
        for m in simple.kept[:LISTED].tolist()
    )
    caption = f"{f'The first {LISTED} of {len(simple):,}' if len(simple) > LISTED else 'The'} inequalities"
    return text, Table(f"{caption} that are kept", ("row", "units S", "inequality"), body)


def inequality(space: FeatureSpace, coefficients: Floats, bias: float) -> str:
    """An inequality with names; only the largest terms if there are many.

    >>> from lcons_core._space import one_hot
    >>> inequality(FeatureSpace([one_hot("source", ["Person", "Place"])]), np.array([0.0, 2.0]), 1.5)
    '2.00 [source Place] + 1.50 ≥ 0'
    """
    order = [j for j in np.argsort(-np.abs(coefficients), kind="stable").tolist() if coefficients[j]]
    terms = [f"{coefficients[j]:+.2f} [{' '.join(space.columns[j])}]" for j in sorted(order[:TERMS])]
    if len(order) > TERMS:
        terms.append(f"+… ({len(order) - TERMS} smaller terms)")
    first, *rest = [*terms, f"{bias:+.2f} ≥ 0"]
    text = " ".join([first.removeprefix("+"), *(f"{term[0]} {term[1:]}" for term in rest)])
    return text.replace("-", "\N{MINUS SIGN}")
