"""A constraint as linear rows over psi and auxiliary variables, the same for all tools and for integer
programs (`lcons_decode.ilp`).

    ROWS        1 - sum_{k in S} a_k >= 0             for all 2^K - 1 subsets S (Theorem 1)
    LIFTED      s_k >= a_k,  0 <= s_k <= 1,  sum_k s_k <= 1       K continuous s
    SIMPLIFIED  the rows of Theorem 1 that matter on the domain of the space, and the equations of the space

with a_k = w_k . psi + b_k. The first two accept the same psi everywhere, integral or not; the third one at
integral psi, and it also adds the equations, so it is used only if psi is known to be a point of the space.

If no form is named, the one of rows and lifted with fewer rows and variables is used: rows for a network of
K <= 3, if they are exact in float64.

Numbers in place of variables are added up as rationals, so a row is rounded at most once.

Paper: Theorem 1 for ROWS. Not in the paper: the other forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from lcons_core._errors import InvalidInput
from lcons_core._network import Conjunction, LinearInequalities
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._theorem import Form, LiftedInequalities, lift, rows_of
from lcons_core.optimisers._tool import Bounds, Row, System
from lcons_core.reason._compare import simplify
from lcons_core.reason._rules import domain_equations

MAX_ROWS = 2**14


def encode(points: PointSet, form: Form | None = None) -> tuple[Form, LiftedInequalities]:
    """The rows of a constraint, as ROWS (without s) or LIFTED; without a form, the shorter one."""
    parts = points.networks()
    if form is None:
        shorter = sum(2**part.K - 1 for part in parts) <= sum(2 * part.K + 1 for part in parts)
        form = Form.ROWS if not parts or (shorter and not points.rounded) else Form.LIFTED
    if form is Form.LIFTED:
        return form, lift(Conjunction(parts))
    return form, as_lifted(rows_of(points, MAX_ROWS))


def build_system(
    points: PointSet, psi: Sequence[Bounds], form: Form | None = None, domain: bool = False
) -> System:
    """The rows of a constraint in a form, or in the shortest one; with `domain`, also the equations."""
    if not domain and form is not Form.SIMPLIFIED:
        return _system(points.d, *encode(points, form))
    if points.space is None:
        raise InvalidInput(f"domain=True and form='simplified' need a space, got {type(points).__name__}.")
    if form is Form.SIMPLIFIED:
        system = _system(points.d, form, as_lifted(simplify(points, points.space).rows))
    else:
        system = _system(points.d, *encode(points, form))
    return replace(system, rows=(*system.rows, *_equation_rows(points.space, psi)))


def fold_constants(system: System, entries: Sequence[Fraction | None]) -> System:
    """The system in which columns of psi that are numbers (not None) are part of the right-hand sides.

    A row without terms either holds and is dropped, or can never hold: then the system gets a variable, from
    0 to 1, that should be 2, because modelling tools refuse rows without variables.
    """
    rows, auxiliaries = [], list(system.auxiliaries)
    values = [*entries, *[None] * len(auxiliaries)]
    for row in system.rows:
        rhs = row.rhs - sum(Fraction(c) * value for j, c in row.terms if (value := values[j]) is not None)
        terms = tuple((j, c) for j, c in row.terms if values[j] is None)
        if not terms and (rhs == 0 or (rhs < 0 and not row.equal)):
            continue
        if not terms:
            terms, rhs = ((system.d + len(auxiliaries), 1.0),), Fraction(2)
            auxiliaries.append(f"never_{row.name}")
        rows.append(row._replace(terms=terms, rhs=rhs))
    return replace(system, rows=tuple(rows), auxiliaries=tuple(auxiliaries))


def as_lifted(rows: LinearInequalities) -> LiftedInequalities:
    return LiftedInequalities(rows.coefficients, np.zeros((len(rows), 0)), 0.0 - rows.bias)


def _system(d: int, form: Form, encoded: LiftedInequalities) -> System:
    K = encoded.K
    rows = []
    for m, (w, s, rhs) in enumerate(zip(encoded.A_psi, encoded.A_s, encoded.rhs, strict=True)):
        name = f"row{m}" if not K else f"unit{m}" if m < K else f"budget{m - K}"
        terms = [(j, float(w[j])) for j in np.flatnonzero(w).tolist()]
        terms += [(d + k, float(s[k])) for k in np.flatnonzero(s).tolist()]
        rows.append(Row(name, tuple(terms), Fraction(rhs)))
    return System(d, form, tuple(rows), tuple(f"s{k}" for k in range(K)))


def _equation_rows(space: FeatureSpace, psi: Sequence[Bounds]) -> Iterator[Row]:
    """The equations of the space, and its bounds where a tool does not have them already."""
    equations = domain_equations(space)
    for m, row in enumerate(equations.rows):
        sign = -1.0 if row.sense == "<=" else 1.0
        terms = ((j, sign * c) for j, c in zip(row.columns, row.coefficients, strict=True))
        yield Row(f"domain{m}", tuple(terms), Fraction(sign * row.rhs), row.sense == "==")
    for j, known in enumerate(psi):
        if known.lower < equations.lower[j]:
            yield Row(f"lower{j}", ((j, 1.0),), Fraction(equations.lower[j]))
        if known.upper > equations.upper[j]:
            yield Row(f"upper{j}", ((j, -1.0),), Fraction(-equations.upper[j]))
