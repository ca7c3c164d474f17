"""The MPS format, free form: a linear model for every solver.

    ROWS, COLUMNS (with integer markers), RHS, BOUNDS, ENDATA

MPS has no agreed way to say "maximise", so the file minimises the negated objective. The reader knows what
the writer writes: one entry a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from lcons_decode.ilp._model import Column, Model, number
from lcons_decode.ilp._program import Sense

COMMENT = "*"
_OBJECTIVE = "obj"
_MARKERS = {True: " MARKER 'MARKER' 'INTORG'", False: " MARKER 'MARKER' 'INTEND'"}
_SENSES = {"L": Sense.AT_MOST, "G": Sense.AT_LEAST, "E": Sense.EQUAL}
_LETTERS = {sense: letter for letter, sense in _SENSES.items()}


def write_mps(model: Model) -> Iterator[str]:
    """The lines of a file."""
    yield "* minimises the negated objective"
    yield "NAME lcons FREE"
    yield "ROWS"
    yield f" N {_OBJECTIVE}"
    entries = {x: [(_OBJECTIVE, 0.0 - column.objective)] for x, column in model.columns.items()}
    for name, (terms, sense, _) in model.rows.items():
        yield f" {_LETTERS[sense]} {name}"
        for x, c in terms.items():
            entries[x].append((name, c))
    yield "COLUMNS"
    integral = False
    for x, column in model.columns.items():
        if column.integral != integral:
            integral = column.integral
            yield _MARKERS[integral]
        yield from (f" {x} {row} {number(c)}" for row, c in entries[x])
    if integral:
        yield _MARKERS[False]
    yield "RHS"
    yield from (f" rhs {name} {number(rhs)}" for name, (_, _, rhs) in model.rows.items() if rhs)
    yield "BOUNDS"
    for x, column in model.columns.items():
        yield f" LO bnd {x} {number(column.low)}"
        yield f" PL bnd {x}" if column.high == math.inf else f" UP bnd {x} {number(column.high)}"
    yield "ENDATA"


def read_mps(lines: Sequence[str]) -> Model:
    """The model that `write_mps` wrote."""
    section, integral = "", False
    senses: dict[str, Sense] = {}
    terms: dict[str, dict[str, float]] = {}
    rhs: dict[str, float] = {}
    objective: dict[str, float] = {}
    whole: dict[str, bool] = {}
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    for line in lines:
        words = line.split()
        if line and not line.startswith(" "):
            section = words[0]
        elif section == "ROWS" and words[0] in _SENSES:
            senses[words[1]], terms[words[1]] = _SENSES[words[0]], {}
        elif section == "COLUMNS" and words[0] == "MARKER":
            integral = line == _MARKERS[True]
        elif section == "COLUMNS":
            x, row, value = words[0], words[1], float(words[2])
            whole[x] = integral
            if row == _OBJECTIVE:
                objective[x] = 0.0 - value
            else:
                terms[row][x] = value
        elif section == "RHS":
            rhs[words[1]] = float(words[2])
        elif section == "BOUNDS":
            bounds = low if words[0] == "LO" else high
            bounds[words[2]] = math.inf if words[0] == "PL" else float(words[3])
    if section != "ENDATA":
        raise ValueError("the file does not end with ENDATA")
    columns = {x: Column(objective[x], low[x], high[x], integral) for x, integral in whole.items()}
    return Model(columns, {row: (terms[row], sense, rhs.get(row, 0.0)) for row, sense in senses.items()})
