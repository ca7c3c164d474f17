"""What a citation run leaves: a report, results.json, a curve, constraints, predictions and a parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from lcons_core import LearnedConstraint, save
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.experiments.citation import _paper as paper
from lcons_tasks.experiments.citation._cell import (
    CHOSEN,
    Filled,
    base_model,
    chosen_uses,
    constraint,
    references,
    shared,
)
from lcons_tasks.experiments.citation._constraints import WINDOWS_ROW
from lcons_tasks.experiments.citation._render import curve, render
from lcons_tasks.experiments.citation._summary import Group, claims, gains, groups
from lcons_tasks.experiments.citation._task import Options
from lcons_tasks.experiments.engine._examples import Example, examples
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._rows import Row, recipes_of
from lcons_tasks.report._answer_columns import write_predictions
from lcons_tasks.report._outputs import run_folder, write_results
from lcons_tasks.stats import runs_as_iob2

CURVE = "curve.svg"

# Which base model the parser is, the first of these that was run.
PARSERS = ("reference", "words", "words-brief", "words+pos")


def write_run(folder: Path, options: Options, filled: Sequence[Filled], stages: Stages) -> str:
    """Writes everything into `folder`, results.json last, and returns the report."""
    corpus = shared(options.corpus, stages)
    found = groups(filled)
    shown = _examples(found[0], stages)
    report = render(options, found, corpus, shown)
    picture = curve(found, corpus)
    with run_folder(folder, [CURVE]):
        with replacing_folder(folder / "constraints") as made:
            _write_constraints(made, filled, stages)
        with replacing_folder(folder / "predictions") as made:
            _write_predictions(made, filled, stages)
        _parser(found, stages).save(folder / "parser")
        results = _results(options, found, stages, shown)
        write_results(folder, report, "citation", results, {CURVE: picture})
    return report


def _labels(one: Filled, row: str) -> list[tuple[str, ...]]:
    """The predicted labels of each test reference."""
    names = [one.labels[i] for i in one.predictions[row]]
    return [tuple(names[a:b]) for a, b in pairwise(one.offsets)]


def _constraints(one: Filled, row: Row, stages: Stages) -> dict[str, LearnedConstraint]:
    return {recipe.name: constraint(one.cell, recipe, stages) for recipe in row.recipes}


def _row(one: Filled, name: str) -> Row:
    return {row.name: row for row in one.cell.rows}[name]


def _examples(group: Group, stages: Stages) -> list[Example]:
    one = group.cells[0]
    row = _row(one, one.figures["rows"][CHOSEN]["row"])
    test = references(one.cell, stages).test
    before, after = _labels(one, "exact"), _labels(one, CHOSEN)
    return [
        replace(
            example,
            gold=tuple(runs_as_iob2(example.gold)),
            before=tuple(runs_as_iob2(example.before)),
            after=tuple(runs_as_iob2(example.after)),
        )
        for example in examples(test, before, after, _constraints(one, row, stages))
    ]


def _parser(found: Sequence[Group], stages: Stages) -> ConstrainedTagger:
    """The strongest base model of all training references, first split, under soft windows, which need no
    POS tags; alone where soft rows were not run."""
    whole = {group.base: group for group in found if group.size is None}
    one = whole[next(name for name in PARSERS if name in whole)].cells[0]
    model, _ = base_model(one.cell, stages, lambda share, what: None)
    if WINDOWS_ROW not in one.figures["rows"]:
        return ConstrainedTagger(model, (), "viterbi")
    row = _row(one, WINDOWS_ROW)
    weights = one.figures["rows"][WINDOWS_ROW]["weights"]
    chosen = chosen_uses(row, weights, _constraints(one, row, stages), model.labels)
    return ConstrainedTagger(model, tuple(chosen), "exact" if chosen else "viterbi")


def _cell_name(one: Filled) -> str:
    return f"{one.figures['references']['train']}-split{one.cell.seed}"


def _write_constraints(folder: Path, filled: Sequence[Filled], stages: Stages) -> None:
    for one in filled:
        target = folder / _cell_name(one)
        target.mkdir(parents=True, exist_ok=True)
        for recipe in recipes_of(one.cell.rows):
            save(constraint(one.cell, recipe, stages), target / f"{recipe.name}.json")


def _write_predictions(folder: Path, filled: Sequence[Filled], stages: Stages) -> None:
    for one in filled:
        exact, constrained = _labels(one, "exact"), _labels(one, CHOSEN)
        path = folder / f"{one.cell.base.name}-{_cell_name(one)}.txt"
        write_predictions(path, references(one.cell, stages).test, exact, constrained)


def _results(
    options: Options, found: Sequence[Group], stages: Stages, shown: Sequence[Example]
) -> dict[str, Any]:
    corpus = shared(options.corpus, stages)

    def cell(one: Filled) -> dict[str, Any]:
        described = {"seed": one.cell.seed, "size": one.cell.size, "base": one.cell.base.to_dict()}
        return {**described, **{key: value for key, value in one.figures.items() if key != "labels"}}

    compared = [g for g in found if g.size is None and g.base in ("words", "words-brief")]
    return {
        "corpus": {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "references": len(corpus.references),
            "pos": corpus.tagger,
        },
        "options": asdict(options),
        "cells": [cell(one) for group in found for one in group.cells],
        "gains": [g.to_dict() for group in found for g in gains(group, corpus)],
        "claims": {g.base: [asdict(c) for c in claims(g, corpus)] for g in compared}
        if corpus.name == "cora"
        else {},
        "paper": {"accuracy": paper.ACCURACY, "with pos": paper.WITH_POS, "by K": paper.BY_K},
        "examples": [example.to_dict() for example in shown],
    }
