"""A document as text: as Markdown with aligned tables, and in a terminal.

The terminal shows what was compared, the headline, and one table, in about twenty lines without control
characters, such as escapes.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from lcons_tasks.report._change import Side, change_spans, gain, has_links, linked
from lcons_tasks.report._document import Change, Curve, Document, Figure, Headline, Table, TableCell
from lcons_tasks.report._templates import cell_text, escaped, headline_lines, plain, render


def to_markdown(document: Document) -> str:
    """The whole document as Markdown."""

    def table_of(head: Sequence[str], rows: Iterable[Sequence[TableCell]]) -> Markup:
        cells = [[escaped(with_paper(cell)) for cell in row] for row in (head, *rows)]
        return Markup(aligned_table(cells[0], cells[1:]))  # noqa: S704

    text = render(
        "report.md",
        document=document,
        table_of=table_of,
        has_paper=has_paper,
        marked=lambda change: Markup("\n").join(map(plain, marked_lines(change))),
    )
    return re.sub("\n{3,}", "\n\n", text).strip() + "\n"


def with_paper(cell: TableCell) -> str:
    """The text of a cell with the paper's figure in brackets."""
    if not isinstance(cell, Figure) or cell.paper is None:
        return cell_text(cell)
    return f"{cell_text(cell)} ({cell.paper:.{cell.digits}f})"


def aligned_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with padded columns: the first is aligned to the left, the others to the right.

    >>> print(aligned_table(["", "1%"], [["exact", "82.11"]]))
    |       |    1% |
    |-------|------:|
    | exact | 82.11 |
    """
    cells = [[" ".join(str(cell).split()).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        " | ".join(
            cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    rule = "|".join("-" * (w + 1) + ":" if i else "-" * (w + 2) for i, w in enumerate(widths))
    return "\n".join([f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:])])


def has_paper(table: Table) -> bool:
    """Whether a table has figures of the paper."""
    return any(isinstance(cell, Figure) and cell.paper is not None for row in table.rows for cell in row)


def marked_lines(change: Change) -> list[str]:
    """A changed sentence as lines: before, after, gold where it differs, and the rule.

    >>> marked_lines(Change(("New", "York"), ("O", "B-LOC"), ("B-LOC", "I-LOC"), ("B-LOC", "I-LOC")))
    ['- before: New [LOC York]', '  after:  [LOC New York]  (+2 correct)']
    """
    after, gold = bracketed(change, "after"), "" if change.gold is None else bracketed(change, "gold")
    lines = [f"- before: {bracketed(change, 'before')}", f"  after:  {after}"]
    if gold:
        lines[-1] += f"  ({gain(change):+d} correct)"
        lines += [f"  gold:   {gold}"] if gold != after else []
    return [*lines, *(f"  {line}" for line in (change.rule, change.why) if line)]


def bracketed(change: Change, side: Side) -> str:
    """A sentence with its spans in brackets and its links at the end.

    >>> labels = ("B-Person", "O", "O", "B-Location")
    >>> change = Change(("Ann", "lives", "in", "Oslo"), labels, labels, links_after=((0, 3, "LiveIn"),))
    >>> bracketed(change, "after")
    '[Person Ann] lives in [Location Oslo] | Ann LiveIn Oslo'
    """
    words, spans = list(change.words), change_spans(change, side)
    for kind, first, after in spans:
        words[first] = f"[{kind} {words[first]}"
        words[after - 1] += "]"
    links = [" ".join(parts) for *parts, _ in linked(change, side, side)]
    relations = f" | {'; '.join(links) or 'no relation'}" if has_links(change) else ""
    return " ".join([*" ".join(words).split(), *relations.split()])


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
