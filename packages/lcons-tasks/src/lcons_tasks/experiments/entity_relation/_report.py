"""What an entity-relation run leaves: report, results.json, curve, constraints, predictions, extractor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lcons_core import save
from lcons_tasks.apps._extractor import Extractor
from lcons_tasks.atomic import replacing_folder, write_text
from lcons_tasks.data._passage import Labelled
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.entity_relation import _paper as paper
from lcons_tasks.experiments.entity_relation._cell import (
    LEARNED,
    LEARNED_ALL,
    NONE,
    Filled,
    constraints,
    final_model,
    parts,
    shared,
)
from lcons_tasks.experiments.entity_relation._corpus import ErCorpus
from lcons_tasks.experiments.entity_relation._examples import Changed, changed
from lcons_tasks.experiments.entity_relation._measures import Answer
from lcons_tasks.experiments.entity_relation._render import curve, render
from lcons_tasks.experiments.entity_relation._summary import Gain, Group, claims, gains, groups
from lcons_tasks.experiments.entity_relation._task import Options
from lcons_tasks.report._outputs import run_folder, write_results

CURVE = "curve.svg"


def write_run(folder: Path, options: Options, filled: Sequence[Filled], stages: Stages) -> str:
    """Writes everything into `folder`, results.json last, and returns the report."""
    corpus = shared(options.corpus)
    found = groups(filled)
    first = found[0].cells[0]
    learned = constraints(first.cell, LEARNED, stages)
    test = parts(first.cell).test
    shown = changed(test, first.answers[NONE, NONE], first.answers[LEARNED, LEARNED], learned)
    measured = gains(found, corpus)
    report = render(options, found, corpus, measured, learned, shown)
    with run_folder(folder, [CURVE]):
        with replacing_folder(folder / "constraints") as made:
            _write_constraints(made, filled, stages)
        with replacing_folder(folder / "predictions") as made:
            _write_predictions(made, filled)
        model, _, _ = final_model(first.cell, LEARNED, stages, lambda share, what: None)
        Extractor(model, learned).save(folder / "extractor")
        results = _results(options, found, corpus, measured, shown)
        write_results(folder, report, "er", results, {CURVE: curve(found, corpus)})
    return report


def _cell_name(one: Filled) -> str:
    return f"split-{one.cell.split}-{100 * one.cell.share:g}percent"


def _write_constraints(folder: Path, filled: Sequence[Filled], stages: Stages) -> None:
    for one in filled:
        for name in (LEARNED, LEARNED_ALL):
            target = folder / _cell_name(one) / name
            target.mkdir(parents=True, exist_ok=True)
            for feature, constraint in constraints(one.cell, name, stages).items():
                save(constraint, target / f"{feature}.json")


def _write_predictions(folder: Path, filled: Sequence[Filled]) -> None:
    """A line a test sentence: words, candidates, gold, and the answers without and with constraints."""
    for one in filled:
        lines = [
            json.dumps(_prediction(passage, without, within), ensure_ascii=False)
            for passage, without, within in zip(
                parts(one.cell).test, one.answers[NONE, NONE], one.answers[LEARNED, LEARNED], strict=True
            )
        ]
        write_text(folder / f"{_cell_name(one)}.jsonl", "".join(f"{line}\n" for line in lines))


def _prediction(passage: Labelled, without: Answer, within: Answer) -> dict[str, Any]:
    return {
        "id": passage.id,
        "words": list(passage.passage.words),
        "candidates": [list(span) for span in passage.passage.spans],
        "gold": _labels((passage.entities, passage.relations)),
        "without constraints": _labels(without),
        "with learned constraints": _labels(within),
    }


def _labels(answer: Answer) -> dict[str, Any]:
    entities, relations = answer
    links = [{"source": i, "target": j, "label": label} for (i, j), label in sorted(relations.items())]
    return {"entities": list(entities), "relations": links}


def _results(
    options: Options,
    found: Sequence[Group],
    corpus: ErCorpus,
    measured: Sequence[Gain],
    shown: Sequence[Changed],
) -> dict[str, Any]:
    def cell(one: Filled) -> dict[str, Any]:
        return {"split": one.cell.split, "share": one.cell.share, **one.figures}

    return {
        "corpus": {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "sentences": len(corpus.passages),
        },
        "options": asdict(options),
        "cells": [cell(one) for group in found for one in group.cells],
        "gains": [one.to_dict() for one in measured],
        "claims": [asdict(one) for one in claims(found[0])] if corpus.name == "conll04" else [],
        "paper": {"f1": paper.F1, "C": paper.C},
        "examples": [one.to_dict() for one in shown],
    }
