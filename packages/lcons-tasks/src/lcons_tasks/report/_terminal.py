"""A document in a terminal: what was compared, the headline, and one table, in about twenty lines.

The result is plain text without control characters, such as escapes.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator

from lcons_tasks.report._document import Curve, Document, Figure, Headline, Table, TableCell
from lcons_tasks.report._markdown import claims_line, curve_table, headline_lines
from lcons_tasks.report._templates import cell_text

LINES = 20
MOST_COMPARED = 3
TABLE_LINES = 15
NARROWEST = 12


def to_terminal(document: Document, width: int = 80) -> str:
    """The title, what was compared, the headline with its interval, and one table, in lines of at most
    `width`."""
    width = max(width, 40)
    lines = [document.title, *_wrapped(document.compared, width, MOST_COMPARED)]
    if document.headline is not None:
        lines += ["", *_headline(document.headline, width)]
    if claims_line(document):
        lines += [claims_line(document)]
    table = _table_of(document)
    if table is not None:
        left = min(TABLE_LINES, LINES - len(lines) - 1)
        lines += ["", *_table(table, width, left)]
    return "\n".join(_printable(line)[:width].rstrip() for line in lines) + "\n"


def _wrapped(text: str, width: int, most: int) -> list[str]:
    return textwrap.wrap(text.replace("**", "").replace("`", ""), width, max_lines=most, placeholder=" …")


def _headline(head: Headline, width: int) -> Iterator[str]:
    """The lines of the headline, and bars from 0 to 100 if the figures are percentages."""
    for line in headline_lines(head):
        yield from _wrapped(line, width, 4)
    baseline = {} if head.baseline is None else {head.baseline_is: head.baseline.mean}
    sides = {head.without_is: head.without.mean, **baseline, head.within_is: head.within.mean}
    if not all(0 <= value <= 100 for value in sides.values()):
        return
    names = max(map(len, sides))
    room = min(width - names - 10, 50)
    if room >= NARROWEST:
        for name, value in sides.items():
            bar = "█" * round(room * value / 100)
            yield f"  {name:<{names}} {bar:·<{room}} {value:5.1f}"


def _table_of(document: Document) -> Table | None:
    """The first table with figures, otherwise the first curve as a table, otherwise the first table."""
    blocks = [block for section in document.sections for block in section.blocks]
    for block in blocks:
        if isinstance(block, Table) and any(isinstance(cell, Figure) for row in block.rows for cell in row):
            return block
    for block in blocks:
        if isinstance(block, Curve):
            return curve_table(block)
    return next((block for block in blocks if isinstance(block, Table)), None)


def _table(table: Table, width: int, most: int) -> list[str]:
    """The caption, and the columns and rows that fit; means without spreads."""
    cells = [
        [_printable(name) for name in table.columns],
        *([_short(cell) for cell in row] for row in table.rows),
    ]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]
    widths[0] = min(widths[0], max(NARROWEST, width // 2))
    fitting = [i for i in range(len(widths)) if sum(widths[: i + 1]) + 2 * i <= width] or [0]
    rows = max(0, most - 2)
    shown = cells[: 1 + rows]
    left_out = len(cells) - len(shown)
    if left_out:
        shown, left_out = shown[:-1], left_out + 1
    columns = len(widths) - len(fitting)
    caption = table.caption + (f" (columns only in the report: {columns})" if columns else "")
    lines = [*textwrap.wrap(caption, width, max_lines=1, placeholder=" …")]
    for row in shown:
        padded = [row[i][: widths[i]].rjust(widths[i]) for i in fitting]
        lines.append("  ".join([row[0][: widths[0]].ljust(widths[0]), *padded[1:]]))
    return lines + ([f"(rows only in the report: {left_out})"] if left_out else [])


def _short(cell: TableCell) -> str:
    return f"{cell.mean:.{cell.digits}f}" if isinstance(cell, Figure) else _printable(cell_text(cell))


def _printable(text: str) -> str:
    """A line without control characters.

    >>> _printable("a\\x1b[31mb")
    'a[31mb'
    """
    return "".join(
        " " if c in "\n\t" else c for c in text if c in "\n\t" or unicodedata.category(c)[0] != "C"
    )
