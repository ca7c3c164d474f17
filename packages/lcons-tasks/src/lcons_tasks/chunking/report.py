"""What a run leaves behind: a report to read, results.json, constraints, predictions and a tagger.

The report is Markdown that reads as text. results.json holds no times and no paths: the same run gives the
same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from lcons_core import LearnedConstraint, save
from lcons_core.errors import LconsError
from lcons_core.files.provenance import versions
from lcons_tasks.atomic import replacing
from lcons_tasks.chunking import paper
from lcons_tasks.chunking.cell import CHOSEN, Filled, base_model, constraint, recipes_of, shared
from lcons_tasks.chunking.corpus import ChunkCorpus
from lcons_tasks.chunking.decoders import Row, uses
from lcons_tasks.chunking.diagnoses import Diagnosed, diagnosis_table
from lcons_tasks.chunking.examples import Example, examples
from lcons_tasks.chunking.summary import Claim, Gain, Group, claims, gains, groups, offsets_of, percent
from lcons_tasks.chunking.task import Options
from lcons_tasks.corpus import Columns, Sentence, write_columns
from lcons_tasks.experiment.stages import Stages
from lcons_tasks.experiment.tables import mean_spread, table
from lcons_tasks.metrics import chunks
from lcons_tasks.tagging.constrained_tagger import ConstrainedTagger

PREDICTIONS = Columns(
    ("word", "pos", "gold", "exact", "constrained"),
    "word",
    "constrained",
    {"pos": "pos", "gold": "gold", "exact": "exact"},
)


def write_run(
    folder: Path,
    options: Options,
    filled: Sequence[Filled],
    stages: Stages,
    diagnosed: Mapping[str, Diagnosed] | None = None,
) -> str:
    """Writes everything into `folder`, results.json last, and returns the report."""
    corpus, vectors = shared(options.corpus)
    found = groups(filled)
    shown = _examples(found[0], corpus, stages)
    report = render(options, found, corpus, None if vectors is None else vectors.name, shown, diagnosed or {})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_constraints(folder / "constraints", filled, stages)
        _write_predictions(folder / "predictions", filled, corpus)
        _tagger(found[0], stages).save(folder / "tagger")
        _write_text(folder / "report.md", report)
        results = _results(options, found, corpus, None if vectors is None else vectors.name, shown)
        results["diagnoses"] = dict(diagnosed or {})
        _write_text(folder / "results.json", json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise LconsError(
            f"cannot write into {str(folder)!r}: {error.strerror or error}; name another folder with --out."
        ) from None
    return report


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
    compare_with_paper = corpus.name == "conll2000"
    for group in found:
        parts += _group(group, corpus, compare_with_paper and group.base == "bilstm")
    first = found[0]
    if compare_with_paper and first.base == "bilstm":
        parts += ["## Claims of the paper", _claims(claims(first, corpus))]
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
        parts += [_example(example) for example in shown]
    return "\n\n".join(parts) + "\n"


def _group(group: Group, corpus: ChunkCorpus, with_paper: bool) -> list[str]:
    ratios = list(group.by_ratio)
    head = ["", *(f"{percent(r)} ({group.by_ratio[r][0].figures['sentences']})" for r in ratios)]
    subset = "first sentences" if group.subset == "first" else "nested samples by seed"
    title = f"## {group.base}, {subset}"
    text = [title, "What constraints reject of held-out gold (all dev sentences), before any decoding:"]
    text.append(_rejections(group))
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


def _claims(found: Sequence[Claim]) -> str:
    rows = [[claim.text, "held" if claim.held else "not held", claim.figures] for claim in found]
    return table(["claim", "here", "figures"], rows)


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


def _example(example: Example) -> str:
    verdict = f"{example.gain:+d} right"
    lines = [
        f"- before: {bracketed(example.words, example.before)}",
        f"  after:  {bracketed(example.words, example.after)}  ({verdict})",
    ]
    if example.after != example.gold:
        lines.append(f"  gold:   {bracketed(example.words, example.gold)}")
    lines.append(f"  {example.rule}")
    if example.why:
        lines.append(f"  {example.why}")
    return "\n".join(lines)


def bracketed(words: Sequence[str], labels: Sequence[str]) -> str:
    """A sentence with its chunks in brackets.

    >>> bracketed(["the", "dog", "barks", "."], ["B-NP", "I-NP", "B-VP", "O"])
    '[NP the dog] [VP barks] .'
    """
    starts = {first: (kind, last) for kind, first, last in chunks(labels)}
    pieces, t = [], 0
    while t < len(words):
        kind, last = starts.get(t, ("", t + 1))
        text = " ".join(words[t:last])
        pieces.append(f"[{kind} {text}]" if kind else text)
        t = last
    return " ".join(pieces)


def _labels(one: Filled, row: str, corpus: ChunkCorpus) -> list[tuple[str, ...]]:
    """The predicted labels of each test sentence."""
    names = [one.labels[i] for i in one.predictions[row]]
    offsets = offsets_of(corpus)
    return [tuple(names[a:b]) for a, b in pairwise(offsets)]


def _chosen(one: Filled) -> tuple[Row, float]:
    """The row and weight that dev chose in a cell."""
    pick = one.figures["rows"][CHOSEN]
    return {row.name: row for row in one.cell.rows}[pick["row"]], pick["weight"]


def _constraints(one: Filled, row: Row, stages: Stages) -> dict[str, LearnedConstraint]:
    return {recipe.name: constraint(one.cell, recipe, stages) for recipe in row.recipes}


def _examples(group: Group, corpus: ChunkCorpus, stages: Stages) -> list[Example]:
    one = group.by_ratio[min(group.by_ratio)][0]
    row, _ = _chosen(one)
    before, after = _labels(one, "exact", corpus), _labels(one, CHOSEN, corpus)
    return examples(corpus.test, before, after, _constraints(one, row, stages))


def _tagger(group: Group, stages: Stages) -> ConstrainedTagger:
    """The chunker of the most data, first seed, with the constraints that dev chose."""
    one = group.by_ratio[max(group.by_ratio)][0]
    row, weight = _chosen(one)
    chosen = uses(row, weight, _constraints(one, row, stages))
    decoder = {"viterbi": "viterbi", "beam": "beam"}.get(row.how, "exact")
    model = base_model(one.cell, stages, lambda share, what: None)
    return ConstrainedTagger(model, tuple(chosen), decoder, one.cell.beam)


def _cell_name(one: Filled) -> str:
    return f"{one.cell.subset}-{percent(one.cell.ratio)}-seed{one.cell.seed}"


def _write_constraints(folder: Path, filled: Sequence[Filled], stages: Stages) -> None:
    for one in filled:
        target = folder / _cell_name(one)
        target.mkdir(parents=True, exist_ok=True)
        for recipe in recipes_of(one.cell.rows):
            save(constraint(one.cell, recipe, stages), target / f"{recipe.name}.json")


def _write_predictions(folder: Path, filled: Sequence[Filled], corpus: ChunkCorpus) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for one in filled:
        exact, constrained = _labels(one, "exact", corpus), _labels(one, CHOSEN, corpus)
        sentences = (
            Sentence(s.words, c, {"pos": s.columns["pos"], "gold": s.labels, "exact": e})
            for s, e, c in zip(corpus.test, exact, constrained, strict=True)
        )
        write_columns(folder / f"{one.cell.base.name}-{_cell_name(one)}.txt", sentences, PREDICTIONS)


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def _results(
    options: Options,
    found: Sequence[Group],
    corpus: ChunkCorpus,
    vectors: str | None,
    shown: Sequence[Example],
) -> dict[str, Any]:
    def cell(one: Filled) -> dict[str, Any]:
        own = one.cell
        described = {"subset": own.subset, "ratio": own.ratio, "seed": own.seed, "base": own.base.to_dict()}
        return {**described, **{key: value for key, value in one.figures.items() if key != "labels"}}

    with_paper = corpus.name == "conll2000" and found[0].base == "bilstm"
    measured: list[Gain] = [g for group in found for g in gains(group, corpus)]
    stated: Mapping[str, Any] = {"ratios": paper.RATIOS, "accuracy": paper.ACCURACY, "elmo": paper.ELMO}
    return {
        "format": 1,
        "task": "chunking",
        "corpus": {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "sentences": {part: len(getattr(corpus, part)) for part in ("train", "dev", "test")},
        },
        "vectors": vectors,
        "options": asdict(options),
        "versions": versions(["lcons-decode", "lcons-tasks"]),
        "cells": [cell(one) for group in found for cells in group.by_ratio.values() for one in cells],
        "gains": [g.to_dict() for g in measured],
        "claims": [asdict(c) for c in claims(found[0], corpus)] if with_paper else [],
        "paper": stated,
        "examples": [example.to_dict() for example in shown],
    }
