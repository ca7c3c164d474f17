"""Tables as aligned text, which is also Markdown.

What the paper says of its tables, checked on ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table with its columns padded to one width: the first to the left, the others to the right.

    >>> print(table(["", "1%"], [["exact", "82.11"]]))
    |       |    1% |
    |-------|------:|
    | exact | 82.11 |
    """
    cells = [list(map(str, row)) for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "| "
        + " | ".join(_padded(cell, w, i) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        + " |"
        for row in cells
    ]
    rule = (
        "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    )
    return "\n".join([lines[0], rule, *lines[1:]])


def mean_spread(values: Sequence[float], digits: int = 2) -> str:
    """The mean of runs, and their standard deviation where there are several.

    >>> mean_spread([86.0, 87.0]), mean_spread([86.0])
    ('86.50 ± 0.71', '86.00')
    """
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean(values):.{digits}f}{spread}"


def _padded(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether it held here, and the figures."""

    text: str
    held: bool
    figures: str


def claims_table(found: Sequence[Claim]) -> str:
    """A line a claim."""
    rows = [[claim.text, "held" if claim.held else "not held", claim.figures] for claim in found]
    return table(["claim", "here", "figures"], rows)
