"""A document as Markdown that is readable as plain text, with aligned tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lcons_tasks.report._document import Change, Claims, Curve, Document, Figure, Headline, Table, TableCell
from lcons_tasks.report._spans import Link, Side, change_links, change_spans, gain, has_links
from lcons_tasks.report._templates import cell_text, render


def to_markdown(document: Document) -> str:
    """The whole document as Markdown."""
    text = render(
        "report.md",
        document=document,
        headline_lines=headline_lines,
        claims_line=claims_line,
        figure_table=figure_table,
        curve_table=curve_table,
        gain_table=lambda gains: aligned_table(
            ("comparison", "setting", "points [95% interval]"),
            [(one.what, one.where, str(one.interval)) for one in gains],
        ),
        claim_table=lambda claims: aligned_table(
            ("claim", "in this run", "figures"),
            [(one.text, "held" if one.held else "not held", one.figures) for one in claims],
        ),
        has_paper=has_paper,
        aligned_table=aligned_table,
        marked_lines=lambda change: marked_lines(escaped(change)),
    )
    return re.sub("\n{3,}", "\n\n", text).strip() + "\n"


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


def claims_line(document: Document) -> str:
    """How many claims of the paper held; empty if the document has none.

    >>> from lcons_tasks.report._document import Claim, Claims, Section
    >>> claims = Claims((Claim("a", True, ""), Claim("b", False, "")))
    >>> claims_line(Document("", "", "", "", sections=(Section("Claims", (claims,)),)))
    'Claims of the paper: 1 held, 1 not held'
    """
    blocks = [block for section in document.sections for block in section.blocks]
    held = [claim.held for block in blocks if isinstance(block, Claims) for claim in block.claims]
    return f"Claims of the paper: {sum(held)} held, {len(held) - sum(held)} not held" if held else ""


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


def has_paper(table: Table) -> bool:
    """Whether a table has figures of the paper."""
    return any(isinstance(cell, Figure) and cell.paper is not None for row in table.rows for cell in row)


def figure_table(table: Table) -> str:
    """The cells of a table, with the paper's figures in brackets."""
    return aligned_table(table.columns, [[with_paper(cell) for cell in row] for row in table.rows])


def curve_table(curve: Curve) -> Table:
    """The figures of a curve: one row per line, one column per size."""
    sizes = sorted({size for points in curve.lines.values() for size in points})
    rows = [(name, *(points.get(size) for size in sizes)) for name, points in curve.lines.items()]
    return Table(curve.caption, (curve.across, *(f"{size:,g}" for size in sizes)), tuple(rows))


def escaped(change: Change) -> Change:
    """A changed sentence whose words and labels are not markup.

    >>> escaped(Change(("`a*",), ("O",), ("O",))).words
    ('\\\\`a\\\\*',)
    """

    def plain(text: str) -> str:
        return re.sub(r"([\\`*_~\[\]])", r"\\\1", " ".join(text.split()))

    def links(side: tuple[Link, ...] | None) -> tuple[Link, ...]:
        return tuple((i, j, plain(label)) for i, j, label in side or ())

    return replace(
        change,
        words=tuple(map(plain, change.words)),
        before=tuple(map(plain, change.before)),
        after=tuple(map(plain, change.after)),
        gold=None if change.gold is None else tuple(map(plain, change.gold)),
        rule=plain(change.rule),
        why=plain(change.why),
        links_before=links(change.links_before),
        links_after=links(change.links_after),
        links_gold=None if change.links_gold is None else links(change.links_gold),
    )


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
