"""One constraint as a complete program: the points of its space that it accepts, scored by name.

    maximise    sum of scores of the values that hold
    subject to  one value a one-hot block, bounds of counts, what the space requires
                the constraint as rows of Theorem 1, simplified rows, or lifted

A one-hot block is a decision with a binary variable a value (OTHER is one of them), a binary column a binary
variable and a count an integer one; a variable is called by block and value.

Paper: Theorem 1 for the rows. Not in the paper: the lifted form, simplified rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lcons_core.blocks import OTHER, Kind
from lcons_core.constraint import LearnedConstraint
from lcons_core.errors import InvalidInput
from lcons_core.named_rows import Form, Progress, read_form
from lcons_core.simplification import simplify
from lcons_core.space import FeatureSpace
from lcons_decode.ilp.backend import holds
from lcons_decode.ilp.forms import affine, with_constraints
from lcons_decode.ilp.ground import Grounded
from lcons_decode.ilp.indicators import MAX_TERMS
from lcons_decode.ilp.program import Name, Program, Row, Sense
from lcons_decode.ilp.space_program import SpaceProgram, space_program

NAME = "constraint"

Scores = Mapping[str, Mapping[str, float]]


def constraint_program(
    constraint: LearnedConstraint,
    form: Form | str = Form.LIFTED,
    scores: Scores | None = None,
    *,
    max_terms: int = MAX_TERMS,
    progress: Progress | None = None,
) -> Program:
    """The program of a constraint; `scores` are by block and value, 0 where not given.

    >>> from lcons_core.rectifier import RectifierNetwork
    >>> from lcons_core.space import one_hot
    >>> from lcons_decode.ilp.solve import solve
    >>> space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])])
    >>> constraint = LearnedConstraint(RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0]), space)
    >>> scores = {"source": {"Place": 1.5}, "relation": {"Kill": 1.0}}
    >>> solve(constraint_program(constraint, scores=scores)).labels
    {'source': 'Place', 'relation': 'NoRel'}
    """
    form, space = read_form(form), constraint.space
    points = space_program(space, bits=False)
    program = _scored(points.program, space, scores or {})
    if form is Form.SIMPLIFIED:
        return program.extended(rows=_rows(points, constraint, progress))
    grounded = Grounded(NAME, constraint.network, (points.row,), lambda values: points.psi(values)[None])
    full = with_constraints(program, [grounded], form.value, max_terms)
    # Of a file with no other rows than ones that say nothing, CBC (mip 2.0.0) crashes.
    saying = tuple(row for row in full.rows if row.terms or not holds(row.sense, 0.0, row.rhs))
    return replace(full, rows=saying)


def _rows(points: SpaceProgram, constraint: LearnedConstraint, progress: Progress | None) -> list[Row]:
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
                f"scores are by block and value, found {_shown(values)} for {block!r}; write"
                ' {"block": {"value": number}}.'
            )
        for value, score in values.items():
            name = _variable(space, block, value)
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise InvalidInput(f"expected a number for {block} {value}, found {_shown(score)}; give one.")
            variables[name] = replace(variables[name], objective=float(score))
    return replace(program, variables=variables)


def _variable(space: FeatureSpace, block: str, value: str) -> Name:
    found = space.block(block)
    if not (found.kind is Kind.ONE_HOT and found.other and value == OTHER):
        space.column(block, value)  # says which there are
    return (block, value)


def _shown(value: Any) -> str:
    return f"{value!r:.40}"
