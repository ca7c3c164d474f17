"""A constraint as linear rows over psi and auxiliary variables, the same for all tools.

    ROWS        1 - sum_{k in S} a_k >= 0             for all 2^K - 1 subsets S (Theorem 1)
    LIFTED      s_k >= a_k,  0 <= s_k <= 1,  sum_k s_k <= 1       K continuous s
    SIMPLIFIED  the rows of Theorem 1 that matter on the domain of the space, and the equations of the space

with a_k = w_k . psi + b_k. The first two accept the same psi everywhere, integral or not; the third one at
integral psi, and it also adds the equations, so it is used only where psi is said to be a point of the space.

If no form is named, each network of a conjunction has the shorter of rows and lifted (rows for K <= 3, if
they are exact in float64); and if psi is a point of the space, all of them together have simplified rows if
these are fewer. The size is the number of rows and auxiliary variables.

Numbers in place of variables are added up as rationals, so a row is rounded at most once.

Paper: Theorem 1 for ROWS. Not in the paper: the other forms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._inequalities import LinearInequalities
from lcons_core._network import RectifierNetwork
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._tables import Form
from lcons_core._theorem1 import lift
from lcons_core._types import Floats
from lcons_core.reason._compare import simplify
from lcons_core.reason._rules import domain_equations

MAX_ROWS = 2**14
SIMPLIFIED_ROWS = 2**10  # more rows than this are not simplified unless asked for


@dataclass(frozen=True)
class Bounds:
    """What a tool knows about one entry of psi; an expression may have any value."""

    lower: float = -math.inf
    upper: float = math.inf
    integral: bool = False


@dataclass(frozen=True)
class Auxiliary:
    """A variable that a form adds."""

    name: str
    bounds: Bounds


@dataclass(frozen=True)
class Row:
    """`sum of c * column j >= rhs` (`==` if `equal`) over terms (j, c); columns: psi, then auxiliaries."""

    name: str
    terms: tuple[tuple[int, float], ...]
    rhs: Fraction
    equal: bool = False


@dataclass(frozen=True)
class System:
    """`rows` over d columns of psi and `auxiliaries`: they hold for some auxiliaries iff psi is accepted."""

    d: int
    forms: tuple[Form, ...]
    rows: tuple[Row, ...]
    auxiliaries: tuple[Auxiliary, ...] = ()

    @property
    def size(self) -> int:
        """The number of rows and auxiliary variables."""
        return len(self.rows) + len(self.auxiliaries)


def build_system(
    points: PointSet, psi: Sequence[Bounds], form: Form | None = None, domain: bool = False
) -> System:
    """The rows of a constraint in a form, or in the shortest one; with `domain`, also the equations."""
    if form is Form.SIMPLIFIED:
        return _simplified(points, psi)
    system = _by_part(points, form)
    if not domain:
        return system
    equations = _equation_rows(_space(points), psi)
    system = replace(system, rows=(*system.rows, *equations))
    if form is None and _worth_simplifying(points, psi):
        return min(system, _simplified(points, psi), key=lambda either: either.size)
    return system


def fold_constants(system: System, entries: Sequence[Fraction | None]) -> System:
    """The system in which columns of psi that are numbers (not None) are part of the right-hand sides.

    A row without terms either holds and is dropped, or can never hold: then the system gets a variable that
    is fixed to 0 and should be 1, because modelling tools refuse rows without variables.
    """
    rows, auxiliaries = [], list(system.auxiliaries)
    for row in system.rows:
        known = [entries[j] if j < system.d else None for j, _ in row.terms]
        pairs = list(zip(row.terms, known, strict=True))
        rhs = row.rhs - sum(Fraction(c) * value for (_, c), value in pairs if value is not None)
        terms = tuple(term for term, value in pairs if value is None)
        if not terms:
            if rhs == 0 or (rhs < 0 and not row.equal):
                continue
            terms, rhs = ((system.d + len(auxiliaries), 1.0),), Fraction(1)
            auxiliaries.append(Auxiliary(f"never_{row.name}", Bounds(0.0, 0.0)))
        rows.append(replace(row, terms=terms, rhs=rhs))
    return replace(system, rows=tuple(rows), auxiliaries=tuple(auxiliaries))


def _by_part(points: PointSet, form: Form | None) -> System:
    """Rows or lifted; without a form, the shorter one for each network of a conjunction."""
    networks = points.networks()
    if not networks:
        if form is Form.LIFTED:
            raise Unsupported(
                f"the lifted form needs the hidden units of a network, but {type(points).__name__} has only"
                " rows; use form='rows'."
            )
        return System(points.d, (Form.ROWS,), tuple(_rows(points.inequalities(MAX_ROWS), "row")))
    rows: list[Row] = []
    auxiliaries: list[Auxiliary] = []
    forms: list[Form] = []
    for p, part in enumerate(networks):
        chosen = form or _shorter(part)
        label = f"{p}_" if len(networks) > 1 else ""
        if chosen is Form.ROWS:
            rows += _rows(_theorem_rows(part), f"{label}row")
        else:
            rows += _lifted_rows(part, points.d + len(auxiliaries), label)
            auxiliaries += (Auxiliary(f"{label}s{k}", Bounds(0.0, 1.0)) for k in range(part.K))
        forms.append(chosen)
    return System(points.d, tuple(dict.fromkeys(forms)), tuple(rows), tuple(auxiliaries))


def _shorter(part: RectifierNetwork) -> Form:
    """2^K - 1 rows, or K + 1 rows and K variables; rows only if they are exact."""
    return Form.ROWS if 2**part.K - 1 <= 2 * part.K + 1 and not part.rounded else Form.LIFTED


def _theorem_rows(part: RectifierNetwork) -> LinearInequalities:
    if 2**part.K - 1 > MAX_ROWS:
        raise TooLarge(
            f"the form 'rows' of a network with K = {part.K} has 2^{part.K} - 1 rows, above the limit of"
            f" {MAX_ROWS:,}; use form='lifted', which has K + 1 rows."
        )
    return part.inequalities()


def _lifted_rows(part: RectifierNetwork, first: int, label: str) -> Iterator[Row]:
    """The rows of `lift`; s_k is column `first + k`."""
    lifted = lift(part)
    for m, (on_psi, on_s, rhs) in enumerate(zip(lifted.A_psi, lifted.A_s, lifted.rhs, strict=True)):
        name = f"{label}unit{m}" if m < part.K else f"{label}budget"
        yield Row(name, (*_terms(on_psi), *_terms(on_s, first)), Fraction(rhs))


def _rows(inequalities: LinearInequalities, name: str) -> Iterator[Row]:
    pairs = zip(inequalities.coefficients, inequalities.bias, strict=True)
    for m, (coefficients, bias) in enumerate(pairs):
        yield Row(f"{name}{m}", tuple(_terms(coefficients)), -Fraction(bias))


def _simplified(points: PointSet, psi: Sequence[Bounds]) -> System:
    space = _space(points)
    rows = simplify(points, space).rows
    return System(points.d, (Form.SIMPLIFIED,), (*_rows(rows, "row"), *_equation_rows(space, psi)))


def _worth_simplifying(points: PointSet, psi: Sequence[Bounds]) -> bool:
    rows = sum(2**part.K - 1 for part in points.networks())
    exact = not points.rounded and all(entry.integral for entry in psi)
    return exact and 0 < rows <= SIMPLIFIED_ROWS


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


def _space(points: PointSet) -> FeatureSpace:
    if points.space is None:
        raise InvalidInput(
            f"domain=True and form='simplified' need a space, but {type(points).__name__} has none; pass"
            " LearnedConstraint(network, space)."
        )
    return points.space


def _terms(coefficients: Floats, first: int = 0) -> Iterator[tuple[int, float]]:
    return ((first + int(j), float(coefficients[j])) for j in np.flatnonzero(coefficients))


def read_constant(entry: Any) -> Fraction:
    """A number in place of a variable, exactly."""
    value = entry.item() if isinstance(entry, np.generic) else entry
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"the numbers in psi must be finite and real, found {entry!r}; pass 0 for an absent column."
        ) from None
