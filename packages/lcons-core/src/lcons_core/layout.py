"""Rows as text, in the layout of the paper's coefficient tables.

A column per value of psi under its block's name, then the bias; a row per inequality `... >= 0`.

Paper: the tables of Appendix C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lcons_core.domain import check_width
from lcons_core.exact import Floats
from lcons_core.space import FeatureSpace
from lcons_core.theorem1 import LinearInequalities

BIAS = "bias"

Columns = tuple[str, Sequence[str]]


def rows_table(rows: LinearInequalities, space: FeatureSpace, decimals: int = 2) -> str:
    """The coefficients, two header lines first.

    >>> from lcons_core.space import one_hot
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
    """The lines of a table: the blocks' names, their values, then a line a row of `numbers` (M, width)."""
    # The longest number of a column is its least or its largest one.
    extremes = [numbers.min(0), numbers.max(0)] if len(numbers) else []
    names = [value for _, values in blocks for value in values]
    cells = [names, *([f"{value:.{decimals}f}" for value in row] for row in extremes)]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    spans, padding, first = [], [], 0
    for name, values in blocks:
        spans.append(slice(first, first + len(values)))
        first += len(values)
        width = sum(widths[spans[-1]]) + 2 * (len(values) - 1)
        padding.append(max(len(name), width))

    def line(row: Sequence[str]) -> str:
        padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        bodies = ["  ".join(padded[span]) for span in spans]
        return " | ".join(body.rjust(w) for body, w in zip(bodies, padding, strict=True)).rstrip()

    yield " | ".join(name.ljust(w) for (name, _), w in zip(blocks, padding, strict=True)).rstrip()
    yield line(names)
    for row in numbers:
        yield line([f"{value:.{decimals}f}" for value in row.tolist()])
