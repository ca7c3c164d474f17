"""Rows and regions in a program: column j of psi is the variable `columns[j]`.

    with_rows      LinearInequalities
    with_region    TrustRegion, with one binary per known point (none for a ball around one point)

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lcons_contrib.oracle._known import TrustRegion
from lcons_core import InvalidInput, LinearInequalities
from lcons_core._types import Floats
from lcons_decode.ilp import Program, Row, Sense, Variable
from lcons_decode.ilp._program import Name

Within = LinearInequalities | TrustRegion


def with_rows(
    program: Program, rows: LinearInequalities, columns: Sequence[Name], name: str = "rows"
) -> Program:
    """The program with the rows, named (name, 0), (name, 1), ...

    >>> program = Program({j: Variable(j, 1.0) for j in range(3)})
    >>> from lcons_contrib.oracle import equality_hull
    >>> with_rows(program, equality_hull([[1, 0, 0], [0, 1, 0]]), range(3)).rows[0].terms
    ((0, 1.0), (1, 1.0))
    """
    _check_columns(name, rows.d, columns)
    return program.extended(
        rows=[
            Row((name, m), _terms(a, columns), Sense.AT_LEAST, float(-r), name)
            for m, (a, r) in enumerate(zip(rows.coefficients, rows.bias, strict=True))
        ]
    )


def with_region(
    program: Program, region: TrustRegion, columns: Sequence[Name], name: str = "region"
) -> Program:
    """The program with the region; the binary of known point i is (name, "near", i)."""
    _check_columns(name, region.d, columns)
    rows = region.rows()
    near: list[Name] = [(name, "near", i) for i in range(rows.A_u.shape[1])]
    return program.extended(
        [Variable(u) for u in near],
        [
            Row((name, m), _terms(a, columns) + _terms(u, near), Sense.AT_LEAST, float(r), name)
            for m, (a, u, r) in enumerate(zip(rows.A_psi, rows.A_u, rows.rhs, strict=True))
        ],
    )


def with_sets(program: Program, sets: Sequence[Within], columns: Sequence[Name]) -> Program:
    """The program with all sets."""
    for i, within in enumerate(sets):
        if isinstance(within, TrustRegion):
            program = with_region(program, within, columns, f"within {i}")
        else:
            program = with_rows(program, within, columns, f"within {i}")
    return program


def _terms(coefficients: Floats, names: Sequence[Name]) -> tuple[tuple[Name, float], ...]:
    return tuple((names[j], float(coefficients[j])) for j in np.flatnonzero(coefficients).tolist())


def _check_columns(name: str, d: int, columns: Sequence[Name]) -> None:
    if len(columns) != d:
        raise InvalidInput(
            f"{name!r} needs {d} columns, found {len(columns)}; pass one variable per column of psi."
        )
