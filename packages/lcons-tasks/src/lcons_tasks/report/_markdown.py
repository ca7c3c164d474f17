"""A document as Markdown that is readable as plain text, with aligned tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from lcons_tasks.report._document import Change, Document, Figure, Table, TableCell
from lcons_tasks.report._spans import Side, change_links, change_spans, gain, has_links
from lcons_tasks.report._templates import cell_text, escaped, plain, render


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
    texts = {first: " ".join(change.words[first:after]) for _, first, after in spans}
    for kind, first, after in spans:
        words[first] = f"[{kind} {words[first]}"
        words[after - 1] += "]"
    links = [
        f"{texts.get(i, change.words[i])} {label} {texts.get(j, change.words[j])}"
        for i, j, label in change_links(change, side)
    ]
    relations = f" | {'; '.join(links) or 'no relation'}" if has_links(change) else ""
    return " ".join([*" ".join(words).split(), *relations.split()])
