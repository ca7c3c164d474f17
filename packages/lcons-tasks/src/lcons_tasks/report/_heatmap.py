"""The coefficients of a constraint as tables whose cells are coloured by size and sign.

Theorem 1 has a row for every set S of hidden units, with coefficients -sum_{k in S} w_k and bias
1 - sum_{k in S} b_k. Shown are the rows of the single units, of which all others are made: below zero pushes
towards forbidden, above it towards allowed. The numbers stand in the cells, so the picture is a text table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lcons_core import LearnedConstraint
from lcons_core._arithmetic import Floats
from lcons_core._network import RectifierNetwork
from lcons_tasks.report._html import Html, element, joined
from lcons_tasks.report._tables import data_table

LEVELS = 5
MOST_VALUES = 60
# With more units than this, cells have room for one digit only.
WIDE = 12


def level(value: float, largest: float) -> str:
    """The class of a cell: `a1` to `a5` towards allowed, `f1` to `f5` towards forbidden, nothing at zero.

    >>> level(-2.0, 2.0), level(0.1, 2.0), level(0.0, 2.0)
    ('f5', 'a1', '')
    """
    if not value or not largest:
        return ""
    steps = max(1, math.ceil(LEVELS * min(abs(value) / largest, 1.0) - 1e-9))
    return f"{'a' if value > 0 else 'f'}{steps}"


def coefficient_cell(value: float, largest: float, digits: int = 2) -> Html:
    """A coloured cell with its number."""
    number = f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")
    return element("td", number, class_=level(value, largest) or None)


def heat_map(constraint: LearnedConstraint) -> Html:
    """A table a block of psi, a row a value, a column a hidden unit; and one for the biases."""
    parts = constraint.network.parts
    return joined(*(_part(constraint, part, i if len(parts) > 1 else 0) for i, part in enumerate(parts, 1)))


def _part(constraint: LearnedConstraint, part: RectifierNetwork, number: int) -> Html:
    largest = float(max(np.abs(part.W).max(), np.abs(1.0 - part.b).max()))
    digits = 2 if part.K <= WIDE else 1
    units = [("unit", [str(k + 1) for k in range(part.K)])]
    name = f"part {number}, " if number else ""
    tables = []
    notes = []
    first = 0
    for block in constraint.space.blocks:
        own: Floats = 0.0 - part.W[:, first : first + len(block.values)].T
        first += len(block.values)
        kept = _largest(own)
        if len(kept) < len(own):
            notes.append(
                f"Of {len(own):,} values of {block.name}, the {len(kept)} with the largest coefficients are"
                " shown."
            )
        rows = [[block.values[v], *_cells(own[v], largest, digits)] for v in kept]
        tables.append(data_table(f"{name}{block.name}", ["value"], rows, class_="heat", groups=units))
    bias = [["bias", *_cells(1.0 - part.b, largest, digits)]]
    tables.append(data_table(f"{name}bias", [""], bias, class_="heat", groups=units))
    said = element("p", " ".join(notes), class_="note") if notes else None
    return joined(element("div", *tables, class_="heats"), said)


def _cells(values: Floats, largest: float, digits: int) -> list[Html]:
    return [coefficient_cell(float(value), largest, digits) for value in values]


def _largest(coefficients: Floats) -> Sequence[int]:
    """The values to show, in their order: all, or those with the largest coefficients."""
    if len(coefficients) <= MOST_VALUES:
        return range(len(coefficients))
    size = np.abs(coefficients).max(1)
    return sorted(np.argsort(-size, kind="stable")[:MOST_VALUES].tolist())
