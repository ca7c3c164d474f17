"""One constraint as a complete program: the points of its space that it accepts, scored by name.

    maximise    sum of scores of the values that hold
    subject to  one value per one-hot block, bounds of counts, implications of the space
                the constraint as rows of Theorem 1, simplified rows, or lifted

The solutions of the program of a space are its points. A one-hot block is a decision with one binary variable
per value (OTHER is one of the values, but has no column). A binary column is a binary variable. A count is an
integer variable or, in bits, `low + sum_i 2^i bit_i`, at most `high`, so that every solution is a 0/1 point.
A real column is a continuous variable.
`requires` are implications `y[value] <= sum of y[needed values]`. A variable is named by block and value.

Paper: Theorem 1 for the rows. Not in the paper: the points of a space as solutions, the lifted form,
simplified rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core import (
    OTHER,
    Block,
    FeatureSpace,
    Floats,
    Form,
    InvalidInput,
    Kind,
    LearnedConstraint,
    OnProgress,
    as_constraint,
    read_form,
)
from lcons_core.reason import simplify
from lcons_decode.ilp._forms import MAX_TERMS, with_constraints
from lcons_decode.ilp._grounded import Expression, Grounded, PsiRow, affine
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Values, Variable, holds


@dataclass(frozen=True)
class SpaceProgram:
    """A program whose solutions are the points of `space`; `row` is psi over its variables."""

    space: FeatureSpace
    program: Program
    row: PsiRow

    def psi(self, values: Values) -> Floats:
        """(d,) the point of a solution."""
        psi = np.zeros(self.space.d)
        for j, value in self.row.constant.items():
            psi[j] = value
        for j, expression in self.row.columns.items():
            psi[j] += sum(c * values.get(name, 0.0) for name, c in expression)
        return psi


def space_program(space: FeatureSpace, bits: bool = True) -> SpaceProgram:
    """The program of a space, without an objective.

    >>> from lcons_core._space import count
    >>> points = space_program(FeatureSpace([count("number", ["a"], low=1, high=6)]))
    >>> points.row.constant, points.row.columns
    ({0: 1.0}, {0: ((('number', 'a', 0), 1.0), (('number', 'a', 1), 2.0), (('number', 'a', 2), 4.0))})
    """
    variables: dict[Name, Variable] = {}
    decisions: dict[Hashable, dict[str, Name]] = {}
    rows: list[Row] = []
    constant: dict[int, float] = {}
    columns: dict[int, Expression] = {}
    if bits:
        space.check_finite("a program of 0/1 variables", "write its columns as continuous variables")
    for axis in space.corners().axes:
        block = space.block(axis.block)
        if block.kind is Kind.ONE_HOT:
            decisions[axis.name] = {value: (axis.name, value) for value in axis.values}
            for value, j in zip(axis.values, axis.columns.tolist(), strict=True):
                variables[axis.name, value] = Variable((axis.name, value))
                if j >= 0:
                    columns[j] = (((axis.name, value), 1.0),)
            continue
        j = int(axis.columns[0])
        if not bits:
            variables[space.columns[j]] = _whole(block, space.columns[j])
            columns[j] = ((space.columns[j], 1.0),)
            continue
        terms_of_bits = _bits(block, space.columns[j])
        variables |= {name: Variable(name) for name, _ in terms_of_bits}
        columns[j] = terms_of_bits
        if block.whole:
            constant[j] = float(block.low)
            most = float(block.high - block.low)
            rows.append(Row(("most", *space.columns[j]), terms_of_bits, Sense.AT_MOST, most))
    for i, rule in enumerate(space.requires):
        needed = [((rule.needs_block, value), -1.0) for value in dict.fromkeys(rule.needs_values)]
        terms: dict[Name, float] = {}
        for name, c in [((rule.block, rule.value), 1.0), *needed]:
            terms[name] = terms.get(name, 0.0) + c
        rows.append(Row(("requires", i), tuple(terms.items()), Sense.AT_MOST, 0.0))
    return SpaceProgram(space, Program(variables, decisions, tuple(rows)), PsiRow(constant, columns))


def _whole(block: Block, column: tuple[str, str]) -> Variable:
    if block.kind is Kind.BINARY:
        return Variable(column)
    kind = Type.CONTINUOUS if block.kind is Kind.REAL else Type.INTEGER
    return Variable(column, low=float(block.low), high=float(block.high), type=kind)


def _bits(block: Block, column: tuple[str, str]) -> Expression:
    most: int = block.high - block.low if block.whole else 1
    return tuple(((*column, i), float(2**i)) for i in range(most.bit_length()))


NAME = "constraint"

Scores = Mapping[str, Mapping[str, float]]


def constraint_program(
    constraint: LearnedConstraint,
    form: Form | str = Form.LIFTED,
    scores: Scores | None = None,
    *,
    max_terms: int = MAX_TERMS,
    progress: OnProgress | None = None,
) -> Program:
    """The program of a constraint; `scores` are by block and value, and 0 by default.

    >>> from lcons_core._network import RectifierNetwork
    >>> from lcons_core._space import one_hot
    >>> from lcons_decode.ilp._solve import solve
    >>> space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])])
    >>> constraint = LearnedConstraint(RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0]), space)
    >>> scores = {"source": {"Place": 1.5}, "relation": {"Kill": 1.0}}
    >>> solve(constraint_program(constraint, scores=scores)).labels
    {'source': 'Place', 'relation': 'NoRel'}
    """
    as_constraint(constraint, "constraint_program")
    form, space = read_form(form), constraint.space
    points = space_program(space, bits=False)
    program = _scored(points.program, space, scores or {})
    if form is Form.SIMPLIFIED:
        return program.extended(rows=_rows(points, constraint, progress))
    grounded = Grounded(NAME, constraint.network, (points.row,), lambda values: points.psi(values)[None])
    full = with_constraints(program, [grounded], form.value, max_terms)
    # CBC (mip 2.0.0) crashes on a file whose rows all hold trivially.
    saying = tuple(row for row in full.rows if row.terms or not holds(row.sense, 0.0, row.rhs))
    return replace(full, rows=saying)


def _rows(points: SpaceProgram, constraint: LearnedConstraint, progress: OnProgress | None) -> list[Row]:
    simplified = simplify(constraint, progress=progress)
    values = affine(points.row, simplified.rows.coefficients, simplified.rows.bias)
    return [
        Row(
            ("row", NAME, 0, m), tuple(values.terms(i)), Sense.AT_LEAST, 0.0 - float(values.constant[i]), NAME
        )
        for i, m in enumerate(simplified.kept.tolist())
    ]


def _scored(program: Program, space: FeatureSpace, scores: Scores) -> Program:
    """The program with scores as its objective."""
    variables = dict(program.variables)
    for block, values in scores.items():
        if not isinstance(values, Mapping):
            raise InvalidInput(
                f"expected scores by block and value, found {_shown(values)} for {block!r}; write"
                ' {"block": {"value": number}}.'
            )
        for value, score in values.items():
            name = _variable(space, block, value)
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise InvalidInput(
                    f"expected a number for {block} {value}, found {_shown(score)}; write a number."
                )
            variables[name] = replace(variables[name], objective=float(score))
    return replace(program, variables=variables)


def _variable(space: FeatureSpace, block: str, value: str) -> Name:
    found = space.block(block)
    if not (found.kind is Kind.ONE_HOT and found.other and value == OTHER):
        space.column(block, value)  # raises, and lists the names
    return (block, value)


def _shown(value: Any) -> str:
    return f"{value!r:.40}"
