"""The report of a citation run as text: Markdown that reads as it is."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from lcons_tasks.experiments.citation import _paper as paper
from lcons_tasks.experiments.citation._cell import CHOSEN
from lcons_tasks.experiments.citation._constraints import POS_CLUES_ROW
from lcons_tasks.experiments.citation._corpus import CitationCorpus
from lcons_tasks.experiments.citation._summary import Group, claims, gain, gains
from lcons_tasks.experiments.citation._task import CURVE_ROWS, Options
from lcons_tasks.experiments.engine._examples import Example, shown_example
from lcons_tasks.report._plot import line_chart
from lcons_tasks.report._text_tables import claims_table, mean_spread, table

CHOICES = (
    "What was chosen how: passes, C and features of the base models, the recipes of constraints and their"
    " default weights once, for all splits, on dev references of Cora and of the bundled corpus; the splits"
    " of a corpus share its references, so what is dev in one is test in another, and figures on test"
    " references were in sight. In each cell, the weights"
    " of soft rows on its dev references, the default standing unless another beats it by more than one"
    f" standard error; and the row `{CHOSEN}` among the soft rows likewise, with `{POS_CLUES_ROW}` as the"
    " default."
)
BASES = (
    "`words-brief` is `words` stopped after 25 passes, set by eye, where it is about as strong as the paper's"
    f" {paper.ACCURACY['exact']} (86.9 on dev references of Cora): a stronger model leaves less to"
    " constraints, so gains compare like with like there only."
)


def render(options: Options, found: Sequence[Group], corpus: CitationCorpus, shown: Sequence[Example]) -> str:
    """The report as text."""
    whole = [group for group in found if group.size is None]
    sizes = whole[0].cells[0].figures["references"]
    parts = [
        "# Citation fields with learned constraints",
        f"Corpus: **{corpus.name}**, {corpus.what}; {len(corpus.references):,} references, split by seed into"
        f" {sizes['train']} for training, {sizes['dev']} for dev and {sizes['test']} for test; sha256"
        f" {corpus.sha256[:12]}. POS tags: {corpus.tagger}.\n"
        f"Splits: {', '.join(map(str, options.seeds))}; beam {options.beam}; figures are token accuracies on"
        " the test references, mean ± standard deviation over splits; gains are paired by split and pooled"
        " over all tested tokens.",
        CHOICES,
    ]
    if any(group.base == "words-brief" for group in whole):
        parts.append(BASES)
    with_paper = corpus.name == "cora"
    for group in whole:
        parts += _group(group, corpus, with_paper)
        if with_paper and group.base in ("words", "words-brief"):
            parts += [f"Claims of the paper, with `{group.base}`:", claims_table(claims(group, corpus))]
    curves = [group for group in found if group.size is not None]
    if curves:
        parts += ["## With fewer training references", _curve(found, corpus)]
        parts.append("The same as a picture: `curve.svg`.")
    if shown:
        parts.append(f"## References that changed ({whole[0].base}, split {options.seeds[0]})")
        parts += [shown_example(example) for example in shown]
    return "\n\n".join(parts) + "\n"


def curve(found: Sequence[Group], corpus: CitationCorpus) -> str | None:
    """The learning curves as an SVG; None where only one size was run."""
    lines: dict[str, dict[float, float]] = {}
    for group in sorted(found, key=lambda group: group.trained_on):
        for row in ("exact", CHOSEN):
            lines.setdefault(f"{group.base}, {row}", {})[group.trained_on] = group.mean(row)
    several = {name: points for name, points in lines.items() if len(points) > 1}
    if not several:
        return None
    title = f"Token accuracy by training references ({corpus.name})"
    return line_chart(title, "training references", "token accuracy (%)", several)


def _group(group: Group, corpus: CitationCorpus, with_paper: bool) -> list[str]:
    trained = [cell.figures["training"] for cell in group.cells]
    passes, gap = (mean(one[key] for one in trained) for key in ("passes", "gap"))
    text = [
        f"## {group.base}",
        f"Trained for {passes:.0f} passes; at most {gap:.3f} above the least objective (duality gap), in"
        " errors a reference on average.",
    ]
    measured = {g.row: g.interval for g in gains(group, corpus)}
    head = ["", "token accuracy", "gain over exact [95%]", "field F1", "whole references"]
    rows = []
    for row in group.rows:
        figures = [mean_spread(group.values(row)), str(measured.get(row, ""))]
        figures += [mean_spread(group.values(row, figure), 1) for figure in ("field f1", "whole")]
        if with_paper:
            stated = paper.figure(group.base, row)
            figures.append("" if stated is None else f"{stated:.1f}")
        rows.append([row, *figures])
    text.append(table([*head, "the paper"] if with_paper else head, rows))
    text.append(
        "Field F1 counts whole fields with exact borders; whole references those without any error."
        " Intervals: paired bootstrap over references."
    )
    text.append(_choices(group))
    text += [
        "What constraints reject of held-out gold (dev references), before any decoding:",
        _rejections(group),
    ]
    return text


def _choices(group: Group) -> str:
    """Which row and weights dev chose."""
    picks = [cell.figures["rows"][CHOSEN] for cell in group.cells]
    told = (
        f"{p['row']} ({', '.join(f'{w:g}' for w in p['weights'])})" if p["weights"] else p["row"]
        for p in picks
    )
    return "Chosen on dev, with its weights, a split each: " + "; ".join(told) + "."


def _rejections(group: Group) -> str:
    rows = []
    for name in group.cells[0].figures["constraints"]:
        found = [cell.figures["constraints"][name]["rejected gold"] for cell in group.cells]
        parts, whole = (mean_spread([one[key] for one in found], 1) for key in ("parts", "sentences"))
        rows.append([name, f"{parts}%", f"{whole}%"])
    return table(["", "parts", "references"], rows)


def _curve(found: Sequence[Group], corpus: CitationCorpus) -> str:
    sizes = sorted({group.trained_on for group in found})
    rows = []
    for base in dict.fromkeys(group.base for group in found):
        own = {group.trained_on: group for group in found if group.base == base}
        for row in (*CURVE_ROWS, CHOSEN):
            cells = [
                mean_spread(own[s].values(row)) if s in own and row in own[s].rows else "" for s in sizes
            ]
            rows.append([f"{base}, {row}", *cells])
        cells = [str(gain(own[s], CHOSEN, "exact", corpus).interval) if s in own else "" for s in sizes]
        rows.append([f"{base}, gain of {CHOSEN}", *cells])
    return table(["training references", *map(str, sizes)], rows)
