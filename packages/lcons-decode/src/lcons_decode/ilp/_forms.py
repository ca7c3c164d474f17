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

A union has one binary off_m per psi row and member, and each row of member m may be broken by up to U if
off_m = 1, where U is the most that the row can be broken, in closed form from the bounds of the variables
(`_grounded.py`):

    row >= -U off_m,     sum_m off_m <= M - 1

Some member then keeps its rows, so the forms and the hinge stay exact. CUTS adds one row per member. A table
needs no binaries.

Paper: Theorem 1 for ROWS. Not in the paper: the other forms, the hinge, unions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lcons_core import (
    Floats,
    InvalidInput,
    LinearInequalities,
    Network,
    RectifierNetwork,
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
            members = list(_members(grounded, i, bounds if given in (Form.AUTO, Form.SIMPLIFIED) else None))
            own = _chosen(members) if given is Form.AUTO else given
            rows += _some_member(grounded, i, members)
            variables += [Variable(member.off) for member in members if member.off is not None]
            for member in members:
                variables += _lifted_variables(grounded, i, member) if own is Form.LIFTED else ()
                rows += _WRITERS[own](grounded, i, member, context)
            forms[own.value] += 1
    return Encoded(program.extended(variables, rows), dict(forms))


def cuts(grounded: Grounded, index: int, psi: Floats, bounds: Bounds) -> Iterator[Row]:
    """The most violated row of Theorem 1 at psi row `index`, one per member of a union; its name contains the
    subset."""
    for member in _members(grounded, index):
        inequality = most_violated(member.network, psi)
        subset = np.flatnonzero(inequality.subsets[0]).tolist() if inequality.subsets is not None else []
        name = ("row", grounded.name, index, *member.label, *subset)
        values = affine(grounded.psi_rows[index], inequality.coefficients, inequality.bias)
        yield from _inequality_rows(grounded, index, values, [name], member, bounds)


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


@dataclass(frozen=True)
class _Member:
    """One alternative of a grounded network at one psi row; `off` switches it off (None: it is the only one).
    Its units begin at `unit` and its parts at `part` of all. `parts` have the units that are written."""

    network: Network
    parts: tuple[Reduced, ...]
    off: Name | None
    label: tuple[Hashable, ...]
    unit: int
    part: int


def _members(grounded: Grounded, index: int, bounds: Bounds | None = None) -> Iterator[_Member]:
    """The members, with all units or, within `bounds`, with those that can be active."""
    alternatives = grounded.network.alternatives()
    several = len(alternatives) > 1
    unit = part = 0
    for m, network in enumerate(alternatives):
        off = ("off", grounded.name, index, m) if several else None
        row = grounded.psi_rows[index]
        parts = [Reduced(own) if bounds is None else reduce_part(own, row, bounds) for own in network.parts]
        kept = tuple(own for own in parts if own is not None)
        yield _Member(network, kept, off, ("member", m) if several else (), unit, part)
        unit, part = unit + network.K, part + len(network.parts)


def _chosen(members: Sequence[_Member]) -> Form:
    """The rule of AUTO for a psi row without a table."""
    most = max((open_units(part) for member in members for part in member.parts), default=0)
    return Form.SIMPLIFIED if most <= MOST_OPEN else Form.LIFTED


def _some_member(grounded: Grounded, index: int, members: Sequence[_Member]) -> Iterator[Row]:
    """At least one member of a union is not off."""
    terms = tuple((member.off, 1.0) for member in members if member.off is not None)
    if terms:
        yield Row(("some", grounded.name, index), terms, Sense.AT_MOST, len(terms) - 1.0, grounded.name)


def _switch(
    member: _Member, bounds: Bounds, terms: Sequence[tuple[Name, float]], least: float
) -> list[tuple[Name, float]]:
    """The term U off_m that makes `terms >= least` hold wherever the member is off."""
    if member.off is None:
        return []
    most = bounds.highest([(name, -c) for name, c in terms], least)
    return [(member.off, most)] if most > 0 else []


def _units(member: _Member) -> RectifierNetwork | None:
    """All units of all parts in one network; None if there are none."""
    networks = [part.network for part in member.parts]
    if not networks:
        return None
    return RectifierNetwork(np.concatenate([n.W for n in networks]), np.concatenate([n.b for n in networks]))


def _lifted_variables(grounded: Grounded, index: int, member: _Member) -> Iterator[Variable]:
    most = 1.0 if grounded.weight is None else math.inf
    for k in range(sum(part.network.K for part in member.parts)):
        yield Variable(("s", grounded.name, index, member.unit + k), 0.0, 0.0, most, Type.CONTINUOUS)


def _lifted_rows(grounded: Grounded, index: int, member: _Member, context: Context) -> Iterator[Row]:
    group, units = grounded.name, _units(member)
    if units is None:
        return
    stops = np.cumsum([part.network.K for part in member.parts]).tolist()
    activation = affine(grounded.psi_rows[index], units.W, units.b)
    s: list[Name] = [("s", group, index, member.unit + k) for k in range(units.K)]
    for k, name in enumerate(s):
        own, rhs = activation.terms(k, -1.0), float(activation.constant[k])
        terms = ((name, 1.0), *own, *_switch(member, context.bounds, own, rhs))
        yield Row(("unit", group, index, member.unit + k), terms, Sense.AT_LEAST, rhs, group)
    # With coefficients of one, CBC concludes that a hinge is integral, and misses optima. Halves are the
    # same row.
    unit = 1.0 if grounded.weight is None else 0.5
    slack = () if grounded.weight is None else ((slack_name(grounded, index), -unit),)
    for p, (first, stop) in enumerate(zip([0, *stops], stops, strict=False)):
        budget = (*((name, unit) for name in s[first:stop]), *slack)
        yield Row(("budget", group, index, member.part + p), budget, Sense.AT_MOST, unit, group)


def _theorem_rows(grounded: Grounded, index: int, member: _Member, context: Context) -> Iterator[Row]:
    rows = context.inequalities(member.network)
    values = affine(grounded.psi_rows[index], rows.coefficients, rows.bias)
    names = [("row", grounded.name, index, *member.label, m) for m in range(len(rows))]
    return _inequality_rows(grounded, index, values, names, member, context.bounds)


def _simplified_rows(grounded: Grounded, index: int, member: _Member, context: Context) -> Iterator[Row]:
    row = grounded.psi_rows[index]
    for p, part in enumerate(member.parts):
        _check_terms(grounded, Form.SIMPLIFIED, 2**part.network.K - 1, len(row.columns), context.max_terms)
        values = rows_that_matter(part, row, context.bounds)
        names = [("row", grounded.name, index, *member.label, p, m) for m in range(len(values.constant))]
        yield from _inequality_rows(grounded, index, values, names, member, context.bounds)


def _no_rows(grounded: Grounded, index: int, member: _Member, context: Context) -> Iterator[Row]:
    return iter(())


_WRITERS: Mapping[Form, Callable[[Grounded, int, _Member, Context], Iterator[Row]]] = {
    Form.ROWS: _theorem_rows,
    Form.SIMPLIFIED: _simplified_rows,
    Form.LIFTED: _lifted_rows,
    Form.CUTS: _no_rows,
}


def _inequality_rows(
    grounded: Grounded, index: int, values: Affine, names: Sequence[Name], member: _Member, bounds: Bounds
) -> Iterator[Row]:
    slack = [] if grounded.weight is None else [(slack_name(grounded, index), 1.0)]
    for m, name in enumerate(names):
        own, least = values.terms(m), 0.0 - float(values.constant[m])
        terms = (*own, *slack, *_switch(member, bounds, own, least))
        yield Row(name, terms, Sense.AT_LEAST, least, grounded.name)


def _check_size(constraints: Sequence[Grounded], form: Form, max_terms: int) -> None:
    """Raises an error with the size if a form would exceed the limit, before anything is built."""
    for grounded in constraints:
        members = grounded.network.alternatives()
        lifted = sum(network.K + len(network.parts) for network in members)
        inequalities = {
            Form.ROWS: sum(estimate_rows(network).rows for network in members),
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
