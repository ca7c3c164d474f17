"""What a run leaves behind: a report to read, results.json, constraints, predictions and a tagger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from lcons_core import LearnedConstraint, save
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.experiments.chunking import _paper as paper
from lcons_tasks.experiments.chunking._cell import CHOSEN, Filled, base_model, constraint, shared
from lcons_tasks.experiments.chunking._constraints import shared as shared_weight
from lcons_tasks.experiments.chunking._corpus import ChunkCorpus
from lcons_tasks.experiments.chunking._diagnoses import Diagnosed
from lcons_tasks.experiments.chunking._render import render
from lcons_tasks.experiments.chunking._summary import Gain, Group, claims, gains, groups, offsets_of, percent
from lcons_tasks.experiments.chunking._task import Options
from lcons_tasks.experiments.engine._examples import Example, examples
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._rows import Row, recipes_of, uses
from lcons_tasks.report._answer_columns import write_predictions
from lcons_tasks.report._outputs import run_folder, write_results


def write_run(
    folder: Path,
    options: Options,
    filled: Sequence[Filled],
    stages: Stages,
    diagnosed: Mapping[str, Diagnosed] | None = None,
) -> str:
    """Writes everything into `folder`, results.json last, and returns the report."""
    corpus, vectors = shared(options.corpus, any(one.cell.base.reads_vectors for one in filled))
    found = groups(filled)
    shown = _examples(found[0], corpus, stages)
    report = render(options, found, corpus, None if vectors is None else vectors.name, shown, diagnosed or {})
    with run_folder(folder):
        with replacing_folder(folder / "constraints") as made:
            _write_constraints(made, filled, stages)
        with replacing_folder(folder / "predictions") as made:
            _write_predictions(made, filled, corpus)
        _tagger(found[0], stages).save(folder / "tagger")
        results = _results(options, found, corpus, None if vectors is None else vectors.name, shown)
        results["diagnoses"] = dict(diagnosed or {})
        write_results(folder, report, "chunking", results, {})
    return report


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
    chosen = uses(row, shared_weight(weight, row), _constraints(one, row, stages))
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
    for one in filled:
        exact, constrained = _labels(one, "exact", corpus), _labels(one, CHOSEN, corpus)
        path = folder / f"{one.cell.base.name}-{_cell_name(one)}.txt"
        write_predictions(path, corpus.test, exact, constrained)


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
        "corpus": {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "sentences": {part: len(getattr(corpus, part)) for part in ("train", "dev", "test")},
        },
        "vectors": vectors,
        "options": asdict(options),
        "cells": [cell(one) for group in found for cells in group.by_ratio.values() for one in cells],
        "gains": [g.to_dict() for g in measured],
        "claims": [asdict(c) for c in claims(found[0], corpus)] if with_paper else [],
        "paper": stated,
        "examples": [example.to_dict() for example in shown],
    }
