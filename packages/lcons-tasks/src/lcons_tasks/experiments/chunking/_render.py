"""The report of a run as text: Markdown that reads as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lcons_tasks.experiments.chunking import _paper as paper
from lcons_tasks.experiments.chunking._cell import (
    CHOSEN,
    DEFAULT_ROW,
    DEFAULT_WEIGHT,
    DEFAULT_WEIGHT_WITH_POS,
)
from lcons_tasks.experiments.chunking._corpus import ChunkCorpus
from lcons_tasks.experiments.chunking._diagnoses import Diagnosed, diagnosis_table
from lcons_tasks.experiments.chunking._summary import Group, claims, gains, percent
from lcons_tasks.experiments.chunking._task import Options
from lcons_tasks.experiments.engine._examples import Example, shown_example
from lcons_tasks.report._text_tables import claims_table, mean_spread, table

CHOICES = (
    "What was chosen how: the chunker's learning rate and decay by `--tune` on dev, cut by the ratio; its"
    " shape and patience and the recipes of constraints once, on dev sentences, for all ratios; the soft"
    f" weights, and the row `{CHOSEN}`, on dev, cut by the ratio, in each cell: `{DEFAULT_ROW}` with weight"
    f" {DEFAULT_WEIGHT:g} ({DEFAULT_WEIGHT_WITH_POS:g} where the chunker reads POS tags) stands unless"
    " another decoder under local constraints beats it by more than one standard error. The row `chosen on"
    " whole dev` does the same with all of dev. Nothing was chosen on test sentences."
)


def render(
    options: Options,
    found: Sequence[Group],
    corpus: ChunkCorpus,
    vectors: str | None,
    shown: Sequence[Example],
    diagnosed: Mapping[str, Diagnosed],
) -> str:
    """The report as text."""
    sizes = f"{len(corpus.train):,} training, {len(corpus.dev):,} dev and {len(corpus.test):,} test sentences"
    parts = [
        "# Chunking with learned constraints",
        f"Corpus: **{corpus.name}**, {corpus.what}; {sizes}; sha256 {corpus.sha256[:12]}.\n"
        f"Word vectors: {vectors or 'none, words are learned from the training sentences'}.\n"
        f"Seeds: {', '.join(map(str, options.seeds))}; beam {options.beam}; figures are token accuracies on"
        " the whole test set, mean ± standard deviation over seeds.",
    ]
    parts.append(CHOICES)
    compare_with_paper = corpus.name == "conll2000"
    for group in found:
        is_papers = group.base == "bilstm" and group.subset == "first"
        parts += _group(group, corpus, compare_with_paper and is_papers)
    first = found[0]
    if compare_with_paper and first.base == "bilstm":
        parts += ["## Claims of the paper", claims_table(claims(first, corpus))]
    if diagnosed:
        smallest = percent(min(first.by_ratio))
        parts += [
            f"## Why a constraint helps or does not ({smallest} of the data, seed {options.seeds[0]})",
            "On all dev sentences, in percent: how well the constraint tells gold from corrupted labels,"
            " beside the best of a look-up and networks up to K = 64; how often the chunker's own answers and"
            " the gold labels violate it; the points to be won were all violating parts corrected.",
            diagnosis_table(diagnosed),
        ]
    parts += ["## Size", _parameters(first)]
    if shown:
        smallest = percent(min(first.by_ratio))
        parts += [f"## Sentences that changed ({smallest} of the data, seed {options.seeds[0]})"]
        parts += [shown_example(example) for example in shown]
    return "\n\n".join(parts) + "\n"


def _group(group: Group, corpus: ChunkCorpus, with_paper: bool) -> list[str]:
    ratios = list(group.by_ratio)
    head = ["", *(f"{percent(r)} ({group.by_ratio[r][0].figures['sentences']})" for r in ratios)]
    subset = "first sentences" if group.subset == "first" else "nested samples by seed"
    title = f"## {group.base}, {subset}"
    text = [title, "What constraints reject of held-out gold (all dev sentences), before any decoding:"]
    text.append(_rejections(group))
    unknown = [
        max(c["rejected gold"]["unknown"] for c in group.by_ratio[r][0].figures["constraints"].values())
        for r in ratios
        if group.by_ratio[r][0].figures["constraints"]
    ]
    if any(unknown):
        counts = ", ".join(f"{percent(r)} {n}" for r, n in zip(ratios, unknown, strict=False))
        text.append(f"Dev sentences with labels that training never saw are left out there: {counts}.")
    text.append("Token accuracy" + (", with the paper's figure in brackets:" if with_paper else ":"))
    rows = []
    for row in group.rows:
        cells = []
        for r in ratios:
            stated = paper.figure(row, r) if with_paper else None
            cells.append(mean_spread(group.values(row, r)) + ("" if stated is None else f" ({stated:.2f})"))
        rows.append([row, *cells])
    whole = [
        mean_spread([c.figures["rows"][CHOSEN]["chosen on whole dev"]["test"] for c in group.by_ratio[r]])
        for r in ratios
    ]
    rows.append(["chosen on whole dev", *whole])
    if with_paper:
        bests = [paper.best(r) for r in ratios]
        rows.append(["paper's best row", *("" if b is None else f"{b:.2f}" for b in bests)])
    text.append(table(head, rows))
    text.append("Chunk F1:")
    f1 = [[row, *(mean_spread(group.values(row, r, "chunk f1")) for r in ratios)] for row in group.rows]
    text.append(table(head, f1))
    text.append(_choices(group))
    measured = gains(group, corpus)
    text.append(
        "Gains in points of token accuracy, with 95% intervals (paired bootstrap over test sentences):"
    )
    pairs = list(dict.fromkeys((g.row, g.over) for g in measured))
    text.append(
        table(
            ["", *map(percent, ratios)],
            [
                [f"{row} over {over}", *(str(g.interval) for g in measured if (g.row, g.over) == (row, over))]
                for row, over in pairs
            ],
        )
    )
    return text


def _rejections(group: Group) -> str:
    ratios = list(group.by_ratio)
    names = list(group.by_ratio[ratios[0]][0].figures["constraints"])
    rows = []
    for name in names:
        cells = []
        for r in ratios:
            found = [cell.figures["constraints"][name]["rejected gold"] for cell in group.by_ratio[r]]
            parts, sentences = ([one[key] for one in found] for key in ("parts", "sentences"))
            cells.append(f"{mean_spread(parts, 1)}% / {mean_spread(sentences, 0)}%")
        rows.append([name, *cells])
    return table(["parts / sentences", *map(percent, ratios)], rows)


def _choices(group: Group) -> str:
    """Which row and weight dev chose."""
    told = []
    for ratio, cells in group.by_ratio.items():
        picks = [cell.figures["rows"][CHOSEN] for cell in cells]
        told.append(f"{percent(ratio)}: " + "; ".join(f"{p['row']}, weight {p['weight']:g}" for p in picks))
    return "Chosen on dev (cut by the ratio), a seed each: " + " · ".join(told) + "."


def _parameters(group: Group) -> str:
    rows = []
    for ratio, cells in group.by_ratio.items():
        figures = cells[0].figures
        base, constraints = figures["parameters"], figures["constraints"]
        chosen = figures["rows"][CHOSEN]["row"]
        used = {row.name: row for row in cells[0].cell.rows}[chosen]
        extra = sum(constraints[recipe.name]["parameters"] for recipe in used.recipes)
        one = next((f"{name}: {c['parameters']:,}" for name, c in constraints.items() if name == "pos-3"), "")
        rows.append(
            [percent(ratio), f"{base['trained']:,}", f"{base['in all']:,}", one, f"{chosen}: {extra:,}"]
        )
    head = ["parameters", "chunker, trained", "in all", "one hard constraint", "constraints chosen on dev"]
    said = (
        f"The paper: ELMo takes the chunker from {paper.GLOVE['trained']:,} trained parameters to"
        f" {paper.ELMO['trained']:,} ({paper.ELMO['in all']:,} in all); constraints add about 1,000."
    )
    return table(head, rows) + "\n\n" + said
