"""The LP format: a linear model in readable text.

    Maximize, Subject To, Bounds, Binaries, Generals, End

The reader knows what the writer writes, one `+ number name` a term, not all that the format allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lcons_decode.ilp._model import Column, Model, number
from lcons_decode.ilp._program import Sense

COMMENT = "\\"
_TERMS_A_LINE = 6  # readers limit the length of lines


def write_lp(model: Model) -> Iterator[str]:
    """The lines of a file."""
    yield "Maximize"
    objective = [(x, column.objective) for x, column in model.columns.items() if column.objective]
    yield from _wrapped("obj:", objective or [(next(iter(model.columns)), 0.0)])
    yield "Subject To"
    for name, (terms, sense, rhs) in model.rows.items():
        *lines, last = _wrapped(f"{name}:", list(terms.items()))
        yield from lines
        yield f"{last} {sense.value} {number(rhs)}"
    yield "Bounds"
    for x, column in model.columns.items():
        high = "" if column.high == math.inf else f" <= {number(column.high)}"
        yield f" {number(column.low)} <= {x}{high}"
    # Readers reset the bounds of a binary to 0 and 1, so a fixed one is a general integer.
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
    words = [f"{'-' if c < 0 else '+'} {number(abs(c))} {x}" for x, c in terms]
    lines = [" ".join(words[i : i + _TERMS_A_LINE]) for i in range(0, len(words), _TERMS_A_LINE)]
    return [f" {head} {lines[0]}", *(f"  {line}" for line in lines[1:])]
