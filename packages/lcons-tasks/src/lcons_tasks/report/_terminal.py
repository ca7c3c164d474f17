"""A document in a terminal: what was compared, the headline, and one table, in about twenty lines.

The result is plain text without control characters, such as escapes.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator

from lcons_tasks.report._document import Curve, Document, Figure, Headline, Table
from lcons_tasks.report._templates import cell_text, headline_lines

LINES, MOST_COMPARED, TABLE_LINES = 20, 3, 15
NARROWEST = 12


def to_terminal(document: Document, width: int = 80) -> str:
    """The title, what was compared, the headline with its interval, and one table, in lines of at most
    `width`."""
    width = max(width, 40)
    lines = [document.title, *_wrapped(document.compared, width, MOST_COMPARED)]
    if document.headline is not None:
        lines += ["", *_headline(document.headline, width)]
    if claims := document.claims:
        held = sum(claim.held for claim in claims)
        lines.append(f"Claims of the paper: {held} held, {len(claims) - held} not held")
    if table := _table_of(document):
        lines += ["", *_table(table, width, min(TABLE_LINES, LINES - len(lines) - 1))]
    return "\n".join(_printable(line)[:width].rstrip() for line in lines) + "\n"


def _wrapped(text: str, width: int, most: int) -> list[str]:
    return textwrap.wrap(text.replace("**", "").replace("`", ""), width, max_lines=most, placeholder=" …")


def _headline(head: Headline, width: int) -> Iterator[str]:
    """The lines of the headline, and bars from 0 to 100 if the figures are percentages."""
    for line in headline_lines(head):
        yield from _wrapped(line, width, 4)
    baseline = {} if head.baseline is None else {head.baseline_is: head.baseline.mean}
    sides = {head.without_is: head.without.mean, **baseline, head.within_is: head.within.mean}
    names = max(map(len, sides))
    room = min(width - names - 10, 50)
    if room >= NARROWEST and all(0 <= value <= 100 for value in sides.values()):
        for name, value in sides.items():
            yield f"  {name:<{names}} {'█' * round(room * value / 100):·<{room}} {value:5.1f}"


def _table_of(document: Document) -> Table | None:
    """The first table with figures, otherwise the first curve as a table, otherwise the first table."""
    tables = [block for block in document.blocks if isinstance(block, Table)]
    figures = [t for t in tables if any(isinstance(cell, Figure) for row in t.rows for cell in row)]
    curves = [block.table for block in document.blocks if isinstance(block, Curve)]
    return next(iter([*figures, *curves, *tables]), None)


def _table(table: Table, width: int, most: int) -> Iterator[str]:
    """The caption, and the columns and rows that fit; means without spreads."""
    cells = [[_short(cell) for cell in row] for row in (table.columns, *table.rows[: max(0, most - 2)])]
    left_out = len(table.rows) - len(cells) + 1
    if left_out:
        cells, left_out = cells[:-1], left_out + 1
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widths[0] = min(widths[0], max(NARROWEST, width // 2))
    fitting = [i for i in range(len(widths)) if sum(widths[: i + 1]) + 2 * i <= width] or [0]
    hidden = len(widths) - len(fitting)
    caption = table.caption + (f" (columns only in the report: {hidden})" if hidden else "")
    yield from textwrap.wrap(caption, width, max_lines=1, placeholder=" …")
    for row in cells:
        padded = [row[i][: widths[i]].rjust(widths[i]) for i in fitting]
        yield "  ".join([row[0][: widths[0]].ljust(widths[0]), *padded[1:]])
    if left_out:
        yield f"(rows only in the report: {left_out})"


def _short(cell: object) -> str:
    return f"{cell.mean:.{cell.digits}f}" if isinstance(cell, Figure) else _printable(cell_text(cell))  # type: ignore[arg-type]


def _printable(text: str) -> str:
    """A line without control characters.

    >>> _printable("a\\x1b[31mb")
    'a[31mb'
    """
    return "".join(c for c in " ".join(text.splitlines()) if unicodedata.category(c)[0] != "C")
