"""A grounded constraint as rows of a program, in one of three forms of the same set.

    ROWS     1 - sum_{k in S} a_k >= -t               for all 2^K - 1 subsets S (Theorem 1)
    LIFTED   s_k >= a_k,  s_k >= 0,  sum_k s_k <= 1 + t      K continuous s per psi row
    CUTS     no rows at first; each rejected solution adds the row of S* = {k : a_k > 0}

t is 0 for a hard constraint. For the hinge, t >= 0 costs `weight * t`: the least t that a form allows is
max(0, sum_k ReLU(a_k) - 1), so the penalty is exact in all three forms. The parts of a conjunction share t,
because its margin is the least of theirs.

Paper: Theorem 1 for ROWS. Not in the paper: LIFTED, CUTS, the hinge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lcons_core import (
    Floats,
    InvalidInput,
    LinearInequalities,
    Network,
    Psi,
    TooLarge,
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
    network: Network
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
    for grounded in constraints:
        variables += grounded.variables
        rows += grounded.rows
        if grounded.weight is not None:
            for i in range(len(grounded.psi_rows)):
                slack = _slack(grounded, i)
                variables.append(Variable(slack, -grounded.weight, 0.0, math.inf, Type.CONTINUOUS))
        if form is Form.LIFTED:
            variables += _lifted_variables(grounded)
            rows += _lifted_rows(grounded)
        elif form is Form.ROWS:
            rows += _theorem_rows(grounded)
    return program.extended(variables, rows)


def cut(grounded: Grounded, index: int, psi: Floats) -> Row:
    """The most violated row of Theorem 1 at psi row `index`; its name contains the subset."""
    inequality = most_violated(grounded.network, psi)
    subset = tuple(np.flatnonzero(inequality.subsets[0]).tolist()) if inequality.subsets is not None else ()
    name = ("row", grounded.name, index, *subset)
    return next(_inequality_rows(grounded, index, inequality, iter([name])))


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


def _lifted_rows(grounded: Grounded) -> Iterator[Row]:
    network, group = grounded.network, grounded.name
    W = np.concatenate([part.W for part in network.parts])
    b = np.concatenate([part.b for part in network.parts])
    stops = np.cumsum([part.K for part in network.parts]).tolist()
    for i, row in enumerate(grounded.psi_rows):
        activation = affine(row, W, b)
        s = [("s", group, i, k) for k in range(network.K)]
        for k, name in enumerate(s):
            terms = ((name, 1.0), *activation.terms(k, -1.0))
            rhs = float(activation.constant[k])
            yield Row(("unit", group, i, k), terms, Sense.AT_LEAST, rhs, group)
        # With coefficients of one, CBC concludes that a hinge is integral, and misses optima. Halves are the
        # same row.
        unit = 1.0 if grounded.weight is None else 0.5
        slack = () if grounded.weight is None else ((_slack(grounded, i), -unit),)
        for p, (first, stop) in enumerate(zip([0, *stops], stops, strict=False)):
            budget = (*((name, unit) for name in s[first:stop]), *slack)
            yield Row(("budget", group, i, p), budget, Sense.AT_MOST, unit, group)


def _theorem_rows(grounded: Grounded) -> Iterator[Row]:
    inequalities = to_inequalities(grounded.network)
    for i in range(len(grounded.psi_rows)):
        names = (("row", grounded.name, i, m) for m in range(len(inequalities)))
        yield from _inequality_rows(grounded, i, inequalities, names)


def _inequality_rows(
    grounded: Grounded, index: int, inequalities: LinearInequalities, names: Iterable[Name]
) -> Iterator[Row]:
    values = affine(grounded.psi_rows[index], inequalities.coefficients, inequalities.bias)
    slack = [] if grounded.weight is None else [(_slack(grounded, index), 1.0)]
    for m, name in zip(range(len(inequalities)), names, strict=True):
        terms = tuple(values.terms(m) + slack)
        yield Row(name, terms, Sense.AT_LEAST, 0.0 - float(values.constant[m]), grounded.name)


def _check_size(constraints: Sequence[Grounded], form: Form, max_terms: int) -> None:
    """Raises an error with the size if a form would exceed the limit, before anything is built."""
    for grounded in constraints:
        network = grounded.network
        inequalities = {
            Form.ROWS: estimate_rows(network).rows,
            Form.LIFTED: network.K + len(network.parts),
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
