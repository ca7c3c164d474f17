"""A grounded constraint as rows of a program, in one of several forms of the same set.

    ROWS        1 - sum_{k in S} a_k >= -t               for all 2^K - 1 subsets S (Theorem 1)
    SIMPLIFIED  those of these rows that matter within the bounds of the program (`_reduced.py`)
    LIFTED      s_k >= a_k,  s_k >= 0,  sum_k s_k <= 1 + t      K continuous s per psi row
    CUTS        no rows at first; each rejected solution adds the row of S* = {k : a_k > 0}
    AUTO        the first line of this table that a psi row meets:

| psi row | its form |
|---|---|
| hard, reads one or two decisions, or three that pair variables link | a table (`_combinations.py`) |
| of a network of one unit | ROWS: one row |
| at most `MOST_OPEN` units of a network can be active or not | SIMPLIFIED |
| other | LIFTED, without units that are never active |

Before that, AUTO tries the best solutions without constraints (`_parts.py`). A table is the tightest, and its
size does not depend on K; that of one unit is written only where pair variables make it tighter than its row.
Few rows need no more variables. LIFTED is linear in K.

t is 0 for a hard constraint. For the hinge, t >= 0 costs `weight * t`: the least t that a form allows is
max(0, sum_k ReLU(a_k) - 1), so the penalty is exact in all forms. The parts of a conjunction share t,
because its margin is the least of theirs.

Paper: Theorem 1 for ROWS. Not in the paper: the other forms, the hinge.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lcons_core import (
    Floats,
    InvalidInput,
    LinearInequalities,
    Network,
    TooLarge,
    estimate_rows,
    most_violated,
    to_inequalities,
)
from lcons_decode.ilp._combinations import Combinations
from lcons_decode.ilp._grounded import Affine, Bounds, Grounded, affine
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Variable
from lcons_decode.ilp._reduced import Reduced, open_units, reduce_part, rows_that_matter

MAX_TERMS = 2_000_000
MOST_OPEN = 2


class Form(StrEnum):
    """How a constraint enters the program; all have the same solutions."""

    AUTO = "auto"
    ROWS = "rows"
    SIMPLIFIED = "simplified"
    LIFTED = "lifted"
    CUTS = "cuts"


@dataclass(frozen=True)
class Encoded:
    """A program with constraints in it, and the number of psi rows in each form."""

    program: Program
    forms: Mapping[str, int]


class Context:
    """What the rows of all psi rows have in common: bounds, the limit of terms, the rows of each network."""

    def __init__(self, bounds: Bounds, max_terms: int) -> None:
        self.bounds, self.max_terms = bounds, max_terms
        self._rows: dict[int, LinearInequalities] = {}

    def inequalities(self, network: Network) -> LinearInequalities:
        """The rows of Theorem 1, computed once per network."""
        if id(network) not in self._rows:
            self._rows[id(network)] = to_inequalities(network)
        return self._rows[id(network)]


def with_constraints(
    program: Program,
    constraints: Sequence[Grounded],
    form: Form | str = Form.AUTO,
    max_terms: int = MAX_TERMS,
) -> Program:
    """The program with the constraints as rows of that form; CUTS adds only the variables of hinges."""
    return encode(program, constraints, form, max_terms).program


def encode(
    program: Program,
    constraints: Sequence[Grounded],
    form: Form | str = Form.AUTO,
    max_terms: int = MAX_TERMS,
) -> Encoded:
    """The program with the constraints, and which forms they have in it."""
    form = read_form(form)
    check_names(constraints)
    _check_size(constraints, form, max_terms)
    variables: list[Variable] = []
    rows: list[Row] = []
    forms: Counter[str] = Counter()
    context = Context(Bounds(program, constraints), max_terms)
    bounds, tables = context.bounds, Combinations(context.bounds)
    for grounded in constraints:
        variables += grounded.variables
        rows += grounded.rows
        # One unit is one row.
        given = Form.ROWS if form is Form.AUTO and grounded.network.K == 1 else form
        for i in range(len(grounded.psi_rows)):
            if grounded.weight is not None:
                slack = slack_name(grounded, i)
                variables.append(Variable(slack, -grounded.weight, 0.0, math.inf, Type.CONTINUOUS))
            table = tables.rows(grounded, i) if form is Form.AUTO else None
            if table is not None:
                rows += table
                forms["table"] += 1
                continue
            parts = _parts(grounded, i, bounds if given in (Form.AUTO, Form.SIMPLIFIED) else None)
            own = _chosen(parts) if given is Form.AUTO else given
            variables += _lifted_variables(grounded, i, parts) if own is Form.LIFTED else ()
            rows += _WRITERS[own](grounded, i, parts, context)
            forms[own.value] += 1
    return Encoded(program.extended(variables, rows), dict(forms))


def cut(grounded: Grounded, index: int, psi: Floats) -> Row:
    """The most violated row of Theorem 1 at psi row `index`; its name contains the subset."""
    inequality = most_violated(grounded.network, psi)
    subset = np.flatnonzero(inequality.subsets[0]).tolist() if inequality.subsets is not None else []
    values = affine(grounded.psi_rows[index], inequality.coefficients, inequality.bias)
    [row] = _inequality_rows(grounded, index, values, [("row", grounded.name, index, *subset)])
    return row


def check_names(constraints: Sequence[Grounded]) -> None:
    """Raises an error if two constraints have the same name."""
    names = [grounded.name for grounded in constraints]
    if len(set(names)) != len(names):
        raise InvalidInput(f"constraint names must be distinct, found {names}; rename one.")


def slack_name(grounded: Grounded, index: int) -> Name:
    """The variable t of psi row `index` of a hinge."""
    return ("t", grounded.name, index)


def read_form(form: Form | str) -> Form:
    """The form of that name."""
    if form not in tuple(Form):
        raise InvalidInput(f"the form must be one of {', '.join(Form)}, found {form!r}.")
    return Form(form)


def _parts(grounded: Grounded, index: int, bounds: Bounds | None) -> tuple[Reduced, ...]:
    """The parts of the network with all units or, within `bounds`, with those that can be active at the psi
    row."""
    row, parts = grounded.psi_rows[index], grounded.network.parts
    reduced = (Reduced(part) if bounds is None else reduce_part(part, row, bounds) for part in parts)
    return tuple(part for part in reduced if part is not None)


def _chosen(parts: Sequence[Reduced]) -> Form:
    """The rule of AUTO for a psi row without a table."""
    most = max(map(open_units, parts), default=0)
    return Form.SIMPLIFIED if most <= MOST_OPEN else Form.LIFTED


def _lifted_variables(grounded: Grounded, index: int, parts: Sequence[Reduced]) -> Iterator[Variable]:
    most = 1.0 if grounded.weight is None else math.inf
    for k in range(sum(part.network.K for part in parts)):
        yield Variable(("s", grounded.name, index, k), 0.0, 0.0, most, Type.CONTINUOUS)


def _lifted_rows(grounded: Grounded, index: int, parts: Sequence[Reduced], context: Context) -> Iterator[Row]:
    if not parts:
        return
    group, networks = grounded.name, [part.network for part in parts]
    stops = np.cumsum([network.K for network in networks]).tolist()
    activation = affine(
        grounded.psi_rows[index],
        np.concatenate([network.W for network in networks]),
        np.concatenate([network.b for network in networks]),
    )
    s: list[Name] = [("s", group, index, k) for k in range(stops[-1])]
    for k, name in enumerate(s):
        terms = ((name, 1.0), *activation.terms(k, -1.0))
        yield Row(("unit", group, index, k), terms, Sense.AT_LEAST, float(activation.constant[k]), group)
    # With coefficients of one, CBC concludes that a hinge is integral, and misses optima. Halves are the
    # same row.
    unit = 1.0 if grounded.weight is None else 0.5
    slack = () if grounded.weight is None else ((slack_name(grounded, index), -unit),)
    for p, (first, stop) in enumerate(zip([0, *stops], stops, strict=False)):
        budget = (*((name, unit) for name in s[first:stop]), *slack)
        yield Row(("budget", group, index, p), budget, Sense.AT_MOST, unit, group)


def _theorem_rows(
    grounded: Grounded, index: int, parts: Sequence[Reduced], context: Context
) -> Iterator[Row]:
    rows = context.inequalities(grounded.network)
    values = affine(grounded.psi_rows[index], rows.coefficients, rows.bias)
    names = [("row", grounded.name, index, m) for m in range(len(rows))]
    return _inequality_rows(grounded, index, values, names)


def _simplified_rows(
    grounded: Grounded, index: int, parts: Sequence[Reduced], context: Context
) -> Iterator[Row]:
    row = grounded.psi_rows[index]
    for p, part in enumerate(parts):
        _check_terms(grounded, Form.SIMPLIFIED, 2**part.network.K - 1, len(row.columns), context.max_terms)
        values = rows_that_matter(part, row, context.bounds)
        names = [("row", grounded.name, index, p, m) for m in range(len(values.constant))]
        yield from _inequality_rows(grounded, index, values, names)


def _no_rows(grounded: Grounded, index: int, parts: Sequence[Reduced], context: Context) -> Iterator[Row]:
    return iter(())


_WRITERS: Mapping[Form, Callable[[Grounded, int, Sequence[Reduced], Context], Iterator[Row]]] = {
    Form.ROWS: _theorem_rows,
    Form.SIMPLIFIED: _simplified_rows,
    Form.LIFTED: _lifted_rows,
    Form.CUTS: _no_rows,
}


def _inequality_rows(grounded: Grounded, index: int, values: Affine, names: Sequence[Name]) -> Iterator[Row]:
    slack = [] if grounded.weight is None else [(slack_name(grounded, index), 1.0)]
    for m, name in enumerate(names):
        terms = (*values.terms(m), *slack)
        yield Row(name, terms, Sense.AT_LEAST, 0.0 - float(values.constant[m]), grounded.name)


def _check_size(constraints: Sequence[Grounded], form: Form, max_terms: int) -> None:
    """Raises an error with the size if a form would exceed the limit, before anything is built."""
    for grounded in constraints:
        lifted = grounded.network.K + len(grounded.network.parts)
        inequalities = {
            Form.ROWS: estimate_rows(grounded.network).rows,
            Form.LIFTED: lifted,
            Form.AUTO: lifted,
        }.get(form, 0)
        width = sum(len(expression) for row in grounded.psi_rows for expression in row.columns.values())
        _check_terms(grounded, form, inequalities, width, max_terms)


def _check_terms(grounded: Grounded, form: Form, rows: int, width: int, max_terms: int) -> None:
    if rows * width > max_terms:
        linear = form in (Form.ROWS, Form.SIMPLIFIED)
        advice = "use form='lifted', which is linear in K" if linear else "use form='cuts'"
        raise TooLarge(
            f"{grounded.name!r} in the form {form.value!r} would be {rows * len(grounded.psi_rows):,} rows,"
            f" up to {rows * width:,} terms, above the limit of {max_terms:,}; {advice}, or raise max_terms."
        )
