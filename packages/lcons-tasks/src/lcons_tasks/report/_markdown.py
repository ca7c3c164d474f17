"""A document as Markdown that is readable as plain text, with aligned tables.

The text of a table cell is defined here for all renderings: a mean with its spread, and the paper's figure in
brackets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import stdev
from typing import Any

from lcons_tasks.report._document import (
    Block,
    Change,
    Claims,
    Constraints,
    Curve,
    Document,
    Facts,
    Figure,
    Gains,
    Headline,
    Listing,
    Picture,
    Sentences,
    Table,
    TableCell,
    Text,
)
from lcons_tasks.report._spans import Side, change_links, change_spans, gain, has_links


def to_markdown(document: Document) -> str:
    """The whole document as Markdown."""
    parts = [f"# {document.title}", document.compared]
    if document.headline is not None:
        parts += headline_lines(document.headline, bold=True)
    if document.paper_corpus is not None:
        parts.append(paper_note(document.paper_corpus))
    for section in document.sections:
        if section.blocks:
            parts += [f"## {section.title}", *(text for block in section.blocks for text in _block(block))]
    if document.next_command:
        parts.append(f"Next, with your own data: `{document.next_command}`")
    if document.provenance:
        parts += ["## Provenance", aligned_table(["package", "version"], list(document.provenance.items()))]
    return "\n\n".join(part for part in parts if part) + "\n"


def paper_note(corpus: str) -> str:
    """The note on the paper's figures if they are for another corpus."""
    return (
        f"The paper's figures were measured on {corpus}, not on the data of this run: use them for"
        " orientation, not for comparison."
    )


def headline_lines(head: Headline, bold: bool = False) -> list[str]:
    """The headline; with a baseline, also the gain over it, and the verdicts in one sentence.

    >>> from lcons_tasks.stats import Interval
    >>> gain = Interval(3.1, 1.0, 5.2)
    >>> headline_lines(Headline("F1", Figure((57.7,)), Figure((60.8,)), gain, "before", "after"))
    ['F1: 57.7 before, 60.8 after; gain [95% interval] +3.10 [+1.00, +5.20], better']
    """
    measure = f"**{head.measure}**" if bold else head.measure
    gain = "" if head.gain is None else f"; gain [95% interval] {head.gain}, {head.verdict}"
    line = (
        f"{measure}: {head.without.mean:.1f} {head.without_is}, {head.within.mean:.1f} {head.within_is}{gain}"
    )
    return [text for text in (line, baseline_line(head), head.sentence) if text]


def baseline_line(head: Headline) -> str:
    """The best plain baseline and the gain over it; empty without a baseline.

    >>> from lcons_tasks.stats import Interval
    >>> figures = [Figure((value,)) for value in (57.7, 60.8, 61.0)]
    >>> over = Interval(-0.7, -1.0, -0.4)
    >>> baseline_line(Headline("F1", *figures[:2], None, baseline=figures[2], gain_over_baseline=over))
    'Best plain baseline, look-up table: 61.0; gain over it [95% interval] -0.70 [-1.00, -0.40], worse'
    """
    if head.baseline is None:
        return ""
    over = head.gain_over_baseline
    gain = "" if over is None else f"; gain over it [95% interval] {over}, {head.baseline_verdict}"
    return f"Best plain baseline, {head.baseline_is}: {head.baseline.mean:.1f}{gain}"


def mean_spread(values: Sequence[float], digits: int = 2) -> str:
    """The mean of values, and their standard deviation if there are several.

    >>> mean_spread([86.0, 87.0]), mean_spread([86.0])
    ('86.50 ± 0.71', '86.00')
    """
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{sum(values) / len(values):.{digits}f}{spread}"


def cell_text(cell: TableCell) -> str:
    """The text of a cell without the paper's figure.

    >>> cell_text(12000), cell_text(0.5), cell_text(None), cell_text(Figure((1.0,), paper=2.0))
    ('12,000', '0.50', '', '1.00')
    """
    if cell is None:
        return ""
    if isinstance(cell, Figure):
        return mean_spread(cell.values, cell.digits)
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def with_paper(cell: TableCell) -> str:
    """The text of a cell with the paper's figure in brackets."""
    if not isinstance(cell, Figure) or cell.paper is None:
        return cell_text(cell)
    return f"{cell_text(cell)} ({cell.paper:.{cell.digits}f})"


def aligned_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with padded columns: the first is aligned to the left, the others to the right.

    >>> print(aligned_table(["", "1%"], [["exact", "82.11"]]))
    |       |    1% |
    |-------|------:|
    | exact | 82.11 |
    """
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        " | ".join(
            cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    rule = "|".join("-" * (w + 1) + ":" if i else "-" * (w + 2) for i, w in enumerate(widths))
    return "\n".join([f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:])])


def _block(block: Block) -> Iterator[str]:
    yield from _RENDERED[type(block)](block)


def _table(table: Table) -> Iterator[str]:
    stated = any(isinstance(cell, Figure) and cell.paper is not None for row in table.rows for cell in row)
    beside = ", with the paper's figures in brackets" if stated else ""
    yield f"{table.caption}{beside}:"
    yield aligned_table(table.columns, [[with_paper(cell) for cell in row] for row in table.rows])
    yield table.note


def _gains(gains: Gains) -> Iterator[str]:
    yield f"{gains.caption}:"
    yield aligned_table(
        ["comparison", "setting", "points [95% interval]"],
        [[one.what, one.where, str(one.interval)] for one in gains.gains],
    )


def _curve(curve: Curve) -> Iterator[str]:
    yield f"{curve.caption} (columns: {curve.across}; figures: {curve.up}):"
    sizes = sorted({size for points in curve.lines.values() for size in points})
    yield aligned_table(
        [curve.across, *(f"{size:,g}" for size in sizes)],
        [
            [name, *(f"{points[size]:.2f}" if size in points else "" for size in sizes)]
            for name, points in curve.lines.items()
        ],
    )


def _claims(claims: Claims) -> Iterator[str]:
    rows = [[one.text, "held" if one.held else "not held", one.figures] for one in claims.claims]
    yield aligned_table(["claim", "in this run", "figures"], rows)


def _facts(facts: Facts) -> Iterator[str]:
    yield f"{facts.caption}:"
    yield "\n".join(f"- {name}: {what}" for name, what in facts.facts)


def _constraints(constraints: Constraints) -> Iterator[str]:
    files = ", ".join(f"`{file}`" for file in constraints.files)
    yield f"Constraint files of {constraints.name}: {files}."


def _sentences(sentences: Sentences) -> Iterator[str]:
    where = f"; all predictions are in `{sentences.file}`" if sentences.file else ""
    if sentences.changes or where:
        what = "Changes" if sentences.changes else "No examples of changes"
        yield f"{what} in {sentences.name}{where}{':' if sentences.changes else '.'}"
    yield "\n".join(line for one in sentences.changes for line in marked_lines(one))


def marked_lines(one: Change) -> list[str]:
    """A changed sentence as lines: before, after, gold where it differs, and the rule.

    >>> marked_lines(Change(("New", "York"), ("O", "B-LOC"), ("B-LOC", "I-LOC"), ("B-LOC", "I-LOC")))
    ['- before: New [LOC York]', '  after:  [LOC New York]  (+2 correct)']
    """
    after, gold = bracketed(one, "after"), "" if one.gold is None else bracketed(one, "gold")
    lines = [f"- before: {bracketed(one, 'before')}", f"  after:  {after}"]
    if gold:
        lines[-1] += f"  ({gain(one):+d} correct)"
        lines += [f"  gold:   {gold}"] if gold != after else []
    return [*lines, *(f"  {said}" for said in (one.rule, one.why) if said)]


def bracketed(one: Change, side: Side) -> str:
    """A sentence with its spans in brackets and its links at the end.

    >>> labels = ("B-Person", "O", "O", "B-Location")
    >>> change = Change(("Ann", "lives", "in", "Oslo"), labels, labels, links_after=((0, 3, "LiveIn"),))
    >>> bracketed(change, "after")
    '[Person Ann] lives in [Location Oslo] | Ann LiveIn Oslo'
    """
    words, found = list(one.words), change_spans(one, side)
    texts = {first: " ".join(one.words[first:after]) for _, first, after in found}
    for kind, first, after in found:
        words[first] = f"[{kind} {words[first]}"
        words[after - 1] += "]"
    if not has_links(one):
        return " ".join(words)
    links = change_links(one, side)
    named = [f"{texts.get(i, one.words[i])} {label} {texts.get(j, one.words[j])}" for i, j, label in links]
    return f"{' '.join(words)} | {'; '.join(named) or 'no relation'}"


_RENDERED: dict[type, Callable[[Any], Iterator[str]]] = {
    Text: lambda one: iter([one.text]),
    Listing: lambda one: iter(["\n".join("- " + item.replace("\n", "\n  ") for item in one.items)]),
    Table: _table,
    Gains: _gains,
    Curve: _curve,
    Claims: _claims,
    Facts: _facts,
    Picture: lambda one: iter([f"![{one.name}]({one.file})"]),
    Constraints: _constraints,
    Sentences: _sentences,
}
