"""Rows as text, in the layout of the paper's coefficient tables.

A column per value of psi under its block's name, then the bias; a row per inequality `... >= 0`.

Paper: the tables of Appendix C.
"""

from __future__ import annotations

from lcons_core.domain import check_width
from lcons_core.space import FeatureSpace
from lcons_core.theorem1 import LinearInequalities

BIAS = "bias"


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
    blocks = [(block.name, list(block.values)) for block in space.blocks] + [("", [BIAS])]
    numbers = [
        [f"{value:.{decimals}f}" for value in (*coefficients, bias)]
        for coefficients, bias in zip(rows.coefficients, rows.bias, strict=True)
    ]
    widths = [
        max(len(cell) for cell in column)
        for column in zip(*([value for _, values in blocks for value in values], *numbers), strict=True)
    ]
    lines, first = ["" for _ in range(2 + len(numbers))], 0
    for name, values in blocks:
        span = slice(first, first + len(values))
        body = [
            "  ".join(cell.rjust(width) for cell, width in zip(cells, widths[span], strict=True))
            for cells in (values, *(row[span] for row in numbers))
        ]
        width = max(len(name), len(body[0]))
        separator = " | " if first else ""
        for i, text in enumerate([name.ljust(width), *(line.rjust(width) for line in body)]):
            lines[i] += separator + text
        first = span.stop
    return "\n".join(line.rstrip() for line in lines)
