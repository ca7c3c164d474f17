"""A grounded constraint as rows of a program, in one of three forms of the same set.

    ROWS     1 - sum_{k in S} a_k >= -t               for all 2^K - 1 subsets S (Theorem 1)
    LIFTED   s_k >= a_k,  s_k >= 0,  sum_k s_k <= 1 + t      K continuous s per psi row
    CUTS     no rows at first; each rejected solution adds the row of S* = {k : a_k > 0}

t is 0 for a hard constraint. For the hinge, t >= 0 costs `weight * t`: the least t that a form allows is
max(0, sum_k ReLU(a_k) - 1), so the penalty is exact in all three forms. The parts of a conjunction share t,
because its margin is the least of theirs.

A union has one binary off_m per psi row and member, and each row of member m may be broken by up to U if
off_m = 1, where U is the most that the row can be broken, in closed form from the bounds of the variables
(of the indicators of a decision, exactly one is 1):

    row >= -U off_m,     sum_m off_m <= M - 1

Some member then keeps its rows, so the three forms and the hinge stay exact. CUTS adds one row per member.

Paper: Theorem 1 for ROWS. Not in the paper: LIFTED, CUTS, the hinge, unions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

import numpy as np

from lcons_core import (
    AnyNetwork,
    Floats,
    InvalidInput,
    LinearInequalities,
    Network,
    Psi,
    TooLarge,
    Unsupported,
    estimate_rows,
    most_violated,
    to_inequalities,
)
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Values, Variable

MAX_TERMS = 2_000_000
Expression = tuple[tuple[Name, float], ...]


@dataclass(frozen=True)
class PsiRow:
    """One psi row: column j is `constant[j]` (0 if absent) plus the terms of `columns[j]`."""

    constant: Mapping[int, float]
    columns: Mapping[int, Expression]


@dataclass(frozen=True, eq=False)
class Grounded:
    """A constraint in a program: its psi rows, the auxiliary variables and rows they need, and psi.

    `weight` is None for a hard constraint, otherwise the weight of the hinge. `psi` reads the decoded
    structure itself, not the auxiliary variables, so that a verdict on it does not depend on the encoding.
    `positions[i]` is the position at which row i ends in a sequence, None outside sequences.
    """

    name: str
    network: AnyNetwork
    psi_rows: tuple[PsiRow, ...]
    psi: Callable[[Values], Psi]
    variables: tuple[Variable, ...] = ()
    rows: tuple[Row, ...] = ()
    weight: float | None = None
    positions: tuple[int | None, ...] = ()


class Form(StrEnum):
    """How a constraint enters the program; all three have the same solutions."""

    ROWS = "rows"
    LIFTED = "lifted"
    CUTS = "cuts"


@dataclass(frozen=True, eq=False)
class Affine:
    """`coefficients @ variables + constant`, M expressions over named variables."""

    names: tuple[Name, ...]
    coefficients: Floats
    constant: Floats

    def terms(self, m: int, scale: float = 1.0) -> list[tuple[Name, float]]:
        """The terms of expression m that are not zero."""
        row = self.coefficients[m] * scale
        return [(self.names[i], float(row[i])) for i in np.flatnonzero(row)]


def affine(row: PsiRow, W: Floats, b: Floats) -> Affine:
    """`W psi + b` for one psi row, over the program's variables."""
    constant = b.copy()
    for j, value in row.constant.items():
        constant += W[:, j] * value
    terms = [(name, j, c) for j, expression in row.columns.items() for name, c in expression]
    index = {name: i for i, name in enumerate(dict.fromkeys(name for name, _, _ in terms))}
    coefficients = np.zeros((len(W), len(index)))
    if len(index) == len(terms):
        columns, scales = [j for _, j, _ in terms], np.array([c for _, _, c in terms])
        coefficients = W[:, columns] * scales if terms else coefficients
    else:
        for name, j, c in terms:
            coefficients[:, index[name]] += W[:, j] * c
    return Affine(tuple(index), coefficients, constant)


def with_constraints(
    program: Program,
    constraints: Sequence[Grounded],
    form: Form | str = Form.LIFTED,
    max_terms: int = MAX_TERMS,
) -> Program:
    """The program with the constraints as rows of that form; CUTS adds only the variables of hinges."""
    form = read_form(form)
    names = [grounded.name for grounded in constraints]
    if len(set(names)) != len(names):
        raise InvalidInput(f"constraint names must be distinct, found {names}; rename one.")
    _check_size(constraints, form, max_terms)
    variables: list[Variable] = []
    rows: list[Row] = []
    bounds = Bounds(program, constraints)
    for grounded in constraints:
        variables += grounded.variables
        rows += grounded.rows
        if grounded.weight is not None:
            for i in range(len(grounded.psi_rows)):
                slack = _slack(grounded, i)
                variables.append(Variable(slack, -grounded.weight, 0.0, math.inf, Type.CONTINUOUS))
        for i in range(len(grounded.psi_rows)):
            binaries = [member.off for member in _members(grounded, i) if member.off is not None]
            variables += [Variable(off) for off in binaries]
            if binaries:
                terms = tuple((off, 1.0) for off in binaries)
                rows.append(
                    Row(("some", grounded.name, i), terms, Sense.AT_MOST, len(terms) - 1.0, grounded.name)
                )
        if form is Form.LIFTED:
            variables += _lifted_variables(grounded)
            rows += _lifted_rows(grounded, bounds)
        elif form is Form.ROWS:
            rows += _theorem_rows(grounded, bounds)
    return program.extended(variables, rows)


def cuts(grounded: Grounded, index: int, psi: Floats, bounds: Bounds) -> Iterator[Row]:
    """The most violated row of Theorem 1 at psi row `index`, one per member of a union; its name contains the
    subset."""
    for member in _members(grounded, index):
        inequality = most_violated(member.network, psi)
        subset = np.flatnonzero(inequality.subsets[0]).tolist() if inequality.subsets is not None else []
        name = ("row", grounded.name, index, *member.label, *subset)
        yield from _inequality_rows(grounded, index, inequality, [name], member, bounds)


@dataclass(frozen=True)
class _Member:
    """One alternative of a grounded network at one psi row; `off` switches it off (None: it is the only one).
    Its units begin at `unit` and its parts at `part` of all."""

    network: Network
    off: Name | None
    label: tuple[Hashable, ...]
    unit: int
    part: int


def _members(grounded: Grounded, index: int) -> Iterator[_Member]:
    alternatives = grounded.network.alternatives()
    unit = part = 0
    for m, network in enumerate(alternatives):
        several = len(alternatives) > 1
        off = ("off", grounded.name, index, m) if several else None
        yield _Member(network, off, ("member", m) if several else (), unit, part)
        unit, part = unit + network.K, part + len(network.parts)


class Bounds:
    """Upper bounds on expressions over the variables of a program with constraints, never rounded down."""

    def __init__(self, program: Program, constraints: Sequence[Grounded]) -> None:
        self.program = program
        self.variables = dict(program.variables)
        for grounded in constraints:
            self.variables |= {variable.name: variable for variable in grounded.variables}

    @cached_property
    def _decision_of(self) -> dict[Name, Hashable]:
        decisions = self.program.decisions.items()
        return {name: decision for decision, labels in decisions for name in labels.values()}

    def highest(self, terms: Sequence[tuple[Name, float]], constant: float) -> float:
        """At least the largest value of the terms plus the constant; one indicator per decision is 1."""
        total = Fraction(constant)
        chosen: dict[Hashable, dict[Name, float]] = {}
        for name, c in terms:
            variable = self.variables[name]
            if name in self._decision_of:
                chosen.setdefault(self._decision_of[name], {})[name] = c
                continue
            end = variable.high if c > 0 else variable.low
            if not math.isfinite(end):
                raise Unsupported(
                    f"a union needs bounds on all variables, found {name!r} without a bound; bound it."
                )
            total += Fraction(c) * Fraction(end)
        for decision, given in chosen.items():
            indicators = self.program.decisions[decision].values()
            possible = [given.get(name, 0.0) for name in indicators if self.variables[name].high > 0]
            total += Fraction(max(possible, default=0.0))
        found = float(total)
        return found if Fraction(found) >= total else float(np.nextafter(found, np.inf))


def _switch(
    member: _Member, bounds: Bounds, terms: Sequence[tuple[Name, float]], least: float
) -> list[tuple[Name, float]]:
    """The term U off_m that makes `terms >= least` hold wherever the member is off."""
    if member.off is None:
        return []
    most = bounds.highest([(name, -c) for name, c in terms], least)
    return [(member.off, most)] if most > 0 else []


def slack_name(grounded: Grounded, index: int) -> Name:
    """The variable t of psi row `index` of a hinge."""
    return _slack(grounded, index)


def read_form(form: Form | str) -> Form:
    """The form of that name."""
    if form not in tuple(Form):
        raise InvalidInput(f"the form must be one of {', '.join(Form)}, found {form!r}.")
    return Form(form)


def _slack(grounded: Grounded, index: int) -> Name:
    return ("t", grounded.name, index)


def _lifted_variables(grounded: Grounded) -> Iterator[Variable]:
    most = 1.0 if grounded.weight is None else math.inf
    for i in range(len(grounded.psi_rows)):
        for k in range(grounded.network.K):
            yield Variable(("s", grounded.name, i, k), 0.0, 0.0, most, Type.CONTINUOUS)


def _lifted_rows(grounded: Grounded, bounds: Bounds) -> Iterator[Row]:
    for i in range(len(grounded.psi_rows)):
        for member in _members(grounded, i):
            yield from _lifted_member(grounded, i, member, bounds)


def _lifted_member(grounded: Grounded, i: int, member: _Member, bounds: Bounds) -> Iterator[Row]:
    network, group, row = member.network, grounded.name, grounded.psi_rows[i]
    W = np.concatenate([part.W for part in network.parts])
    b = np.concatenate([part.b for part in network.parts])
    stops = np.cumsum([part.K for part in network.parts]).tolist()
    activation = affine(row, W, b)
    s: list[Name] = [("s", group, i, member.unit + k) for k in range(network.K)]
    for k, name in enumerate(s):
        own, rhs = activation.terms(k, -1.0), float(activation.constant[k])
        terms = ((name, 1.0), *own, *_switch(member, bounds, own, rhs))
        yield Row(("unit", group, i, member.unit + k), terms, Sense.AT_LEAST, rhs, group)
    # With coefficients of one, CBC concludes that a hinge is integral, and misses optima. Halves are the
    # same row.
    unit = 1.0 if grounded.weight is None else 0.5
    slack = () if grounded.weight is None else ((_slack(grounded, i), -unit),)
    for p, (first, stop) in enumerate(zip([0, *stops], stops, strict=False)):
        budget = (*((name, unit) for name in s[first:stop]), *slack)
        yield Row(("budget", group, i, member.part + p), budget, Sense.AT_MOST, unit, group)


def _theorem_rows(grounded: Grounded, bounds: Bounds) -> Iterator[Row]:
    systems = [to_inequalities(network) for network in grounded.network.alternatives()]
    for i in range(len(grounded.psi_rows)):
        for member, inequalities in zip(_members(grounded, i), systems, strict=True):
            names = [("row", grounded.name, i, *member.label, m) for m in range(len(inequalities))]
            yield from _inequality_rows(grounded, i, inequalities, names, member, bounds)


def _inequality_rows(
    grounded: Grounded,
    index: int,
    inequalities: LinearInequalities,
    names: Sequence[Name],
    member: _Member,
    bounds: Bounds,
) -> Iterator[Row]:
    values = affine(grounded.psi_rows[index], inequalities.coefficients, inequalities.bias)
    slack = [] if grounded.weight is None else [(_slack(grounded, index), 1.0)]
    for m, name in enumerate(names):
        own, least = values.terms(m), 0.0 - float(values.constant[m])
        terms = (*own, *slack, *_switch(member, bounds, own, least))
        yield Row(name, terms, Sense.AT_LEAST, least, grounded.name)


def _check_size(constraints: Sequence[Grounded], form: Form, max_terms: int) -> None:
    """Raises an error with the size if a form would exceed the limit, before anything is built."""
    for grounded in constraints:
        members = grounded.network.alternatives()
        inequalities = {
            Form.ROWS: sum(estimate_rows(network).rows for network in members),
            Form.LIFTED: sum(network.K + len(network.parts) for network in members),
            Form.CUTS: 0,
        }[form]
        width = sum(len(expression) for row in grounded.psi_rows for expression in row.columns.values())
        if inequalities * width > max_terms:
            advice = "use form='lifted', which is linear in K" if form is Form.ROWS else "use form='cuts'"
            raise TooLarge(
                f"{grounded.name!r} in the form {form.value!r} would be"
                f" {inequalities * len(grounded.psi_rows):,} rows, up to {inequalities * width:,} terms,"
                f" above the limit of {max_terms:,}; {advice}, or raise max_terms."
            )
