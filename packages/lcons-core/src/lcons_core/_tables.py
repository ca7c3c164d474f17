"""The inequalities of a constraint with the names of their columns: as text, JSON and CSV.

| form | one row | columns |
|---|---|---|
| rows | `coefficients . psi + bias >= 0`, all 2^K - 1 of Theorem 1 | psi by block and value, bias |
| simplified | the same, only rows that matter on the domain | the same |
| lifted | `A_psi . psi + A_s . s >= rhs` for some s >= 0 | psi by block and value, s, rhs |

Text has the layout of the paper's coefficient tables: one column per value of psi under the name of its
block, then the bias; one line per inequality. Rows and the lifted form are valid for every psi; simplified
rows only together with the equations of the space (`reason/_rules.py`), which are part of the JSON. Reading
the numbers of JSON and CSV returns the same floats.

Paper: Tables 9-11 in Appendix C.4 list rows.
Not in the paper: simplified rows and the lifted form.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lcons_core._constraint import LearnedConstraint, as_constraint
from lcons_core._network import LinearInequalities
from lcons_core._pointset import check_width
from lcons_core._space import FeatureSpace
from lcons_core._theorem import Form, check_form_size, lift, read_form, to_inequalities
from lcons_core._types import Floats, OnProgress
from lcons_core.reason._compare import simplify
from lcons_core.reason._rules import domain_equations

BIAS = "bias"

Columns = tuple[str, Sequence[str]]


def rows_table(rows: LinearInequalities, space: FeatureSpace, decimals: int = 2) -> str:
    """The coefficients as text, after two header lines.

    >>> from lcons_core._space import one_hot
    >>> space = FeatureSpace([one_hot("source", ["Person", "Location"]), one_hot("relation", ["Kill"])])
    >>> print(rows_table(LinearInequalities([[1.0, -1.5, -2.0]], [0.25]), space))
    source           | relation |
    Person  Location |     Kill | bias
      1.00     -1.50 |    -2.00 | 0.25
    """
    check_width(rows, space)
    blocks = [(block.name, block.values) for block in space.blocks] + [("", (BIAS,))]
    numbers = np.column_stack([rows.coefficients, rows.bias])
    return "\n".join(table_lines(blocks, numbers, decimals))


def table_lines(blocks: Sequence[Columns], numbers: Floats, decimals: int = 2) -> Iterator[str]:
    """The lines of a table: names of blocks, their values, then one line per row of `numbers` (M, width)."""
    # The longest number of a column is its smallest or its largest one.
    extremes = [numbers.min(0), numbers.max(0)] if len(numbers) else []
    blocks = [(_one_line(name), [*map(_one_line, values)]) for name, values in blocks]
    names = [value for _, values in blocks for value in values]
    cells = [names, *([f"{value:.{decimals}f}" for value in row] for row in extremes)]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    stops = np.cumsum([len(values) for _, values in blocks]).tolist()
    spans = [slice(stop - len(values), stop) for stop, (_, values) in zip(stops, blocks, strict=True)]
    padding = [
        max(len(name), sum(widths[span]) + 2 * (len(values) - 1))
        for span, (name, values) in zip(spans, blocks, strict=True)
    ]

    def line(row: Sequence[str]) -> str:
        padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        bodies = ["  ".join(padded[span]) for span in spans]
        return " | ".join(body.rjust(w) for body, w in zip(bodies, padding, strict=True)).rstrip()

    yield " | ".join(name.ljust(w) for (name, _), w in zip(blocks, padding, strict=True)).rstrip()
    yield line(names)
    for row in numbers:
        yield line([f"{value:.{decimals}f}" for value in row.tolist()])


MAX_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class NamedRows:
    """`arrays`, next to each other, are the columns that `blocks` names; `about` is plain data on the rows.

    `rounded`: the subset sums of the weights are not exact in float64, so the rows are rounded.
    """

    form: Form
    meaning: str
    space: FeatureSpace
    blocks: tuple[Columns, ...]
    arrays: dict[str, Floats]
    subsets: Sequence[Sequence[int]] | None = None
    rounded: bool = False
    about: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def text(self, decimals: int = 2) -> Iterator[str]:
        """Lines in the layout of the paper's tables."""
        yield from table_lines(self.blocks, np.column_stack(list(self.arrays.values())), decimals)

    def csv(self) -> Iterator[str]:
        """Lines of CSV: one column `block=value` per column of psi, the other columns, then hidden units."""
        named = [f"{block}={value}" if block else value for block, values in self.blocks for value in values]
        # A spreadsheet reads a cell that begins so as a formula.
        named = [f"'{name}" if name.startswith(("=", "+", "-", "@")) else name for name in named]
        yield _csv_line([*map(_one_line, named), *(["units"] if self.subsets is not None else [])])
        for m in range(len(self)):
            numbers = np.concatenate([np.atleast_1d(array[m]) for array in self.arrays.values()]).tolist()
            units = [] if self.subsets is None else [" ".join(map(str, self.subsets[m]))]
            yield _csv_line([*map(repr, numbers), *units])

    def json(self) -> Iterator[str]:
        """Lines of one JSON object, with one line per row of numbers."""
        head = {
            "form": str(self.form),
            "meaning": self.meaning,
            "columns": [list(column) for column in self.space.columns],
            "rounded": self.rounded,
            **self.about,
            "domain": _domain(self.space),
        }
        yield "{"
        for name, value in head.items():
            yield f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},"
        pieces: dict[str, Any] = {**self.arrays}
        if self.subsets is not None:
            pieces["units"] = self.subsets
        for i, (name, value) in enumerate(pieces.items()):
            yield f"  {json.dumps(name)}: ["
            for m, row in enumerate(value):
                listed = row.tolist() if isinstance(row, np.ndarray | np.generic) else row
                yield f"    {json.dumps(listed)}{',' if m < len(value) - 1 else ''}"
            yield "  ]" + ("," if i < len(pieces) - 1 else "")
        yield "}"


def named_rows(
    constraint: LearnedConstraint,
    form: Form | str = Form.ROWS,
    *,
    max_bytes: int = MAX_BYTES,
    progress: OnProgress | None = None,
) -> NamedRows:
    """The inequalities of a constraint in one form; raises `TooLarge` above `max_bytes`.

    >>> from lcons_core import RectifierNetwork, one_hot
    >>> space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])])
    >>> constraint = LearnedConstraint(RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0]), space)
    >>> print("\\n".join(named_rows(constraint, "lifted").text()))
    source         | relation        | s     |
    Person   Place |    NoRel   Kill |    s0 |   rhs
      0.00   -2.00 |     0.00  -2.00 |  1.00 | -2.00
      0.00    0.00 |     0.00   0.00 | -1.00 | -1.00
    """
    as_constraint(constraint, "named_rows")
    form, network = read_form(form), constraint.network
    check_form_size(network, form, max_bytes)
    space = constraint.space
    blocks: tuple[Columns, ...] = tuple((block.name, block.values) for block in space.blocks)
    if form is Form.LIFTED:
        lifted = lift(network)
        units = tuple(f"s{k}" for k in range(lifted.K))
        arrays = {"A_psi": lifted.A_psi, "A_s": lifted.A_s, "rhs": lifted.rhs}
        meaning = "psi is allowed iff A_psi @ psi + A_s @ s >= rhs for some s >= 0"
        return NamedRows(form, meaning, space, (*blocks, ("s", units), ("", ("rhs",))), arrays)
    rounded = network.rounded
    about: dict[str, Any] = {}
    meaning = "psi is allowed iff coefficients @ psi + bias >= 0 for every row"
    if form is Form.ROWS:
        rows = to_inequalities(network, max_bytes)
    else:
        simplified = simplify(constraint, progress=progress)
        rows, rounded = simplified.rows, simplified.rounded
        dropped = {str(reason): number for reason, number in simplified.counts().items()}
        about = {"minimal": simplified.minimal, "kept": simplified.kept.tolist(), "dropped": dropped}
        meaning = f"a psi of the domain {meaning.removeprefix('psi ')}"
    arrays = {"coefficients": rows.coefficients, "bias": rows.bias}
    subsets = None if rows.subsets is None else [np.flatnonzero(subset).tolist() for subset in rows.subsets]
    return NamedRows(form, meaning, space, (*blocks, ("", (BIAS,))), arrays, subsets, rounded, about)


def _domain(space: FeatureSpace) -> dict[str, Any]:
    equations = domain_equations(space)
    return {
        "equations": [
            {
                "meaning": row.meaning,
                "columns": list(row.columns),
                "coefficients": list(row.coefficients),
                "sense": row.sense,
                "rhs": row.rhs,
            }
            for row in equations.rows
        ],
        "lower": equations.lower.tolist(),
        "upper": equations.upper.tolist(),
        "integral": True if space.integral else equations.integral.tolist(),
    }


def _one_line(name: str) -> str:
    """A name in which line breaks are written as \\n and \\r."""
    return name.replace("\r", "\\r").replace("\n", "\\n")


def _csv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()
