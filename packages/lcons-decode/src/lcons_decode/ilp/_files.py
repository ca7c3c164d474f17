"""One constraint as a complete LP or MPS model: the points of its space that it accepts, scored by name.

    maximise    sum of scores of the values that hold
    subject to  the equations of the space: one value per one-hot block, implications
                the constraint as rows of Theorem 1, simplified rows, or lifted

A column of psi is a binary, integer (a count) or continuous (a real number) variable. Both formats restrict
names: column 3, relation Kill, is x3_relation_Kill, and a comment holds its names as they are. Every number
is read back as the same float. MPS, in free form, has no standard way to maximise, so the file minimises the
negated objective. The writers of python-mip and HiGHS round numbers, so they are not used.

Paper: Theorem 1 for the rows. Not in the paper: the points of a space as solutions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from lcons_core import FeatureSpace, InvalidInput, LearnedConstraint
from lcons_core._constraint import as_constraint
from lcons_core._theorem import Form
from lcons_core.optimisers._system import build_system, fold_constants
from lcons_core.optimisers._tool import Bounds, Row
from lcons_core.reason._rules import domain_equations

Scores = Mapping[str, Mapping[str, float]]
Columns = Mapping[str, tuple[float, Bounds]]  # name -> coefficient in the objective, and bounds
TERMS_PER_LINE = 6  # readers limit the length of lines
LONGEST_NAME, LONGEST_COMMENT = 40, 400


def constraint_model(
    constraint: LearnedConstraint, target: str, form: Form = Form.LIFTED, scores: Scores | None = None
) -> tuple[list[str], int, int]:
    """The lines of a constraint as "lp" or "mps", and its numbers of variables and rows; `scores` are by
    block and value, and 0 by default."""
    as_constraint(constraint, "constraint_model")
    space, equations = constraint.space, domain_equations(constraint.space)
    ends = zip(equations.lower.tolist(), equations.upper.tolist(), equations.integral.tolist(), strict=True)
    bounds = [Bounds(*known) for known in ends]
    system = fold_constants(build_system(constraint, bounds, form, domain=True), [None] * space.d)
    objective, names = (
        _objective(space, scores or {}),
        [_name(j, *column) for j, column in enumerate(space.columns)],
    )
    columns = {name: (objective.get(j, 0.0), bounds[j]) for j, name in enumerate(names)}
    columns |= {name: (0.0, Bounds(0.0, 1.0)) for name in system.auxiliaries}
    mark, write = {"lp": ("\\", _lp), "mps": ("*", _mps)}[target]
    pairs = zip(names, space.columns, strict=True)
    comments = [f"{mark} {name}: {json.dumps(' '.join(column))[:LONGEST_COMMENT]}" for name, column in pairs]
    return [*comments, *write(columns, system.rows)], len(columns), len(system.rows)


def _objective(space: FeatureSpace, scores: Scores) -> dict[int, float]:
    """The scores by column."""
    objective = {}
    for block, values in scores.items():
        for value, score in values.items() if isinstance(values, Mapping) else [("", values)]:
            number = isinstance(score, int | float) and not isinstance(score, bool)
            if not isinstance(values, Mapping) or not number or not abs(score) < 2.0**200:
                raise InvalidInput(
                    f'scores are {{"block": {{"value": number}}}} with finite numbers, found {score!r:.40}.'
                )
            objective[space.column(block, value)] = float(score)
    return objective


def _name(j: int, block: str, value: str) -> str:
    """The number of a column, and the part of its name that the formats allow."""
    allowed = re.sub(r"[^A-Za-z0-9]+", "_", f"{block} {value}").strip("_")
    return f"x{j}_{allowed[:LONGEST_NAME]}".rstrip("_")


def _number(value: float | Fraction) -> str:
    """The shortest text that is read back as the same float; whole numbers have no decimal point."""
    return repr(float(value) + 0.0).removesuffix(".0")


def _lp(columns: Columns, rows: Sequence[Row]) -> Iterator[str]:
    names = list(columns)
    yield "Maximize"
    scored = [(j, objective) for j, (objective, _) in enumerate(columns.values()) if objective]
    yield from _wrapped("obj:", scored or [(0, 0.0)], names)
    yield "Subject To"
    for row in rows:
        *lines, last = _wrapped(f"{row.name}:", row.terms, names)
        yield from [*lines, f"{last} {'=' if row.equal else '>='} {_number(row.rhs)}"]
    yield "Bounds"
    for name, (_, bounds) in columns.items():
        yield f" {_number(bounds.lower)} <= {name} <= {_number(bounds.upper)}"
    yield from ["Generals", *(f" {name}" for name, (_, bounds) in columns.items() if bounds.integral), "End"]


def _wrapped(head: str, terms: Sequence[tuple[int, float]], names: Sequence[str]) -> list[str]:
    words = [f"{'-' if c < 0 else '+'} {_number(abs(c))} {names[j]}" for j, c in terms]
    lines = [" ".join(words[i : i + TERMS_PER_LINE]) for i in range(0, len(words), TERMS_PER_LINE)]
    return [f" {head} {lines[0]}", *(f"  {line}" for line in lines[1:])]


def _mps(columns: Columns, rows: Sequence[Row]) -> Iterator[str]:
    yield from ["* minimises the negated objective", "NAME lcons FREE", "ROWS", " N obj"]
    yield from (f" {'E' if row.equal else 'G'} {row.name}" for row in rows)
    names = list(columns)
    entries = {name: [f" {name} obj {_number(-objective)}"] for name, (objective, _) in columns.items()}
    for row in rows:
        for name, c in ((names[j], c) for j, c in row.terms):
            entries[name].append(f" {name} {row.name} {_number(c)}")
    whole = [name for name, (_, bounds) in columns.items() if bounds.integral]
    yield from [
        "COLUMNS",
        " MARKER 'MARKER' 'INTORG'",
        *(line for name in whole for line in entries.pop(name)),
    ]
    yield from [" MARKER 'MARKER' 'INTEND'", *(line for lines in entries.values() for line in lines), "RHS"]
    yield from (f" rhs {row.name} {_number(row.rhs)}" for row in rows if row.rhs)
    yield "BOUNDS"
    for name, (_, bounds) in columns.items():
        yield from [f" LO bnd {name} {_number(bounds.lower)}", f" UP bnd {name} {_number(bounds.upper)}"]
    yield "ENDATA"
