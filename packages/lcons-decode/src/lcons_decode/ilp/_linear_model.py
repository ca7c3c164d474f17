"""A linear model with short names, as LP and MPS files hold it.

LP is readable text: Maximize, Subject To, Bounds, Binaries, Generals, End. MPS, in free form, works with
every solver: ROWS, COLUMNS (with integer markers), RHS, BOUNDS, ENDATA. MPS has no standard way to maximise,
so the file minimises the negated objective.

The readers accept only what the writers write: one `+ number name` per term of LP and one entry per line of
MPS.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lcons_decode.ilp._program import Sense

_TERMS_A_LINE = 6  # readers limit the length of lines
_OBJECTIVE = "obj"
_MARKERS = {True: " MARKER 'MARKER' 'INTORG'", False: " MARKER 'MARKER' 'INTEND'"}
_SENSES = {"L": Sense.AT_MOST, "G": Sense.AT_LEAST, "E": Sense.EQUAL}
_LETTERS = {sense: letter for letter, sense in _SENSES.items()}


@dataclass(frozen=True)
class Column:
    """A variable: its coefficient in the objective, which is maximised, its bounds, and if it is integral."""

    objective: float
    low: float
    high: float
    integral: bool


@dataclass(frozen=True)
class Model:
    """Columns and rows (terms, sense, right-hand side) by short name; rows have at least one term."""

    columns: Mapping[str, Column]
    rows: Mapping[str, tuple[Mapping[str, float], Sense, float]]


def _number(value: float) -> str:
    """The shortest text that is read back as the same float; whole numbers have no decimal point."""
    return repr(float(value) + 0.0).removesuffix(".0")


def write_lp(model: Model) -> Iterator[str]:
    """The lines of a file."""
    yield "Maximize"
    objective = [(x, column.objective) for x, column in model.columns.items() if column.objective]
    yield from _wrapped("obj:", objective or [(next(iter(model.columns)), 0.0)])
    yield "Subject To"
    for name, (terms, sense, rhs) in model.rows.items():
        *lines, last = _wrapped(f"{name}:", list(terms.items()))
        yield from lines
        yield f"{last} {sense.value} {_number(rhs)}"
    yield "Bounds"
    for x, column in model.columns.items():
        high = "" if column.high == math.inf else f" <= {_number(column.high)}"
        yield f" {_number(column.low)} <= {x}{high}"
    # Readers reset the bounds of a binary to 0 and 1, so a fixed one is written as a general integer.
    integral = [x for x, column in model.columns.items() if column.integral]
    binary = [x for x in integral if (model.columns[x].low, model.columns[x].high) == (0.0, 1.0)]
    for section, names in (("Binaries", binary), ("Generals", [x for x in integral if x not in set(binary)])):
        if names:
            yield section
            yield from (" " + " ".join(names[i : i + 12]) for i in range(0, len(names), 12))
    yield "End"


def read_lp(lines: Sequence[str]) -> Model:
    """The model that `write_lp` wrote."""
    sections: dict[str, list[str]] = {}
    section = ""
    for line in lines:
        if line and not line.startswith(" "):
            section = line.strip()
            sections[section] = []
        elif line.strip():
            sections[section].append(line)
    if section != "End":
        raise ValueError("the file does not end with End")
    words = " ".join(sections["Maximize"]).split()
    objective = dict(_terms(words[1:]))
    integral = set(" ".join([*sections.get("Binaries", ()), *sections.get("Generals", ())]).split())
    columns = {}
    for line in sections["Bounds"]:
        low, _, x, *high = line.split()
        bound = float(high[1]) if high else math.inf
        columns[x] = Column(objective.get(x, 0.0), float(low), bound, x in integral)
    rows = {}
    words = " ".join(sections["Subject To"]).split()
    starts = [i for i, word in enumerate(words) if word.endswith(":")]
    for first, stop in pairwise([*starts, len(words)]):
        *body, sense, rhs = words[first + 1 : stop]
        rows[words[first][:-1]] = (dict(_terms(body)), Sense(sense), float(rhs))
    return Model(columns, rows)


def _terms(words: Sequence[str]) -> Iterator[tuple[str, float]]:
    for sign, value, x in zip(words[::3], words[1::3], words[2::3], strict=True):
        yield x, float(sign + value)


def _wrapped(head: str, terms: Sequence[tuple[str, float]]) -> list[str]:
    words = [f"{'-' if c < 0 else '+'} {_number(abs(c))} {x}" for x, c in terms]
    lines = [" ".join(words[i : i + _TERMS_A_LINE]) for i in range(0, len(words), _TERMS_A_LINE)]
    return [f" {head} {lines[0]}", *(f"  {line}" for line in lines[1:])]


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
        yield from (f" {x} {row} {_number(c)}" for row, c in entries[x])
    if integral:
        yield _MARKERS[False]
    yield "RHS"
    yield from (f" rhs {name} {_number(rhs)}" for name, (_, _, rhs) in model.rows.items() if rhs)
    yield "BOUNDS"
    for x, column in model.columns.items():
        yield f" LO bnd {x} {_number(column.low)}"
        yield f" PL bnd {x}" if column.high == math.inf else f" UP bnd {x} {_number(column.high)}"
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
