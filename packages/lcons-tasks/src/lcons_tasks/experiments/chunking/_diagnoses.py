"""Why each hard constraint of a cell helps the chunker, or does not: a stage like the others.

Paper: Sec. 6 leaves open why label existence does not help.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lcons_core import Recipe
from lcons_tasks.data import hash_sentences
from lcons_tasks.diagnosis import diagnose, predict
from lcons_tasks.experiments.chunking._cell import Cell, base_model, constraint, shared
from lcons_tasks.experiments.chunking._corpus import subset
from lcons_tasks.experiments.engine._jobs import Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._rows import recipes_of
from lcons_tasks.report._text_tables import table

_CODE = (
    "lcons_core",
    "lcons_decode",
    "lcons_tasks.diagnosis",
    "lcons_tasks.models",
    "lcons_tasks.experiments.engine._recipes",
)

NOT_FOUND = "not found by the learner"

Diagnosed = Mapping[str, Any]


def hard_recipes(cell: Cell) -> list[Recipe]:
    """The recipes that the cell uses as hard constraints."""
    return recipes_of([row for row in cell.rows if row.how != "soft"])


def diagnosis(cell: Cell, recipe: Recipe, stages: Stages, tell: Tell) -> Diagnosed:
    """The diagnosis of one constraint on all dev sentences, as plain data with its `report`."""
    corpus, vectors = shared(cell.corpus, cell.base.reads_vectors)
    train, dev = subset(corpus, cell.ratio, cell.subset, cell.seed)
    inputs = {
        "train": hash_sentences(train),
        "dev": hash_sentences(dev),
        "held out": hash_sentences(corpus.dev),
        "seed": cell.seed,
        "base": cell.base.to_dict(),
        "vectors": None if vectors is None else vectors.sha256,
        "recipe": recipe.to_dict(),
    }

    def make(folder: Path) -> None:
        model = base_model(cell, stages, tell)
        learned = constraint(cell, recipe, stages)
        tell(0.3, f"diagnosing {recipe.name}")
        found = diagnose(learned, train, corpus.dev, predict(model, corpus.dev), seed=cell.seed)
        text = json.dumps({**found.to_dict(), "report": str(found)})
        (folder / "diagnosis.json").write_text(text, encoding="utf-8")

    def read(folder: Path) -> Diagnosed:
        found: Diagnosed = json.loads((folder / "diagnosis.json").read_text(encoding="utf-8"))
        return found

    return stages.keep("diagnosis", inputs, _CODE, make, read)


def diagnosis_table(found: Mapping[str, Diagnosed]) -> str:
    """A line a constraint: the verdicts, and the figures behind them, by the judge that they go by."""
    head = [
        "constraint",
        "verdict",
        "learned / best",
        "judge",
        "answers violate",
        "gold violates",
        "headroom",
    ]
    rows: list[Sequence[str]] = []
    for name, one in found.items():
        verdicts = [verdict["name"] for verdict in one["verdicts"]]
        own, best = one["constraint"], max(one["references"], key=_accuracy, default=None)
        learned = f"{_accuracy(own):.1f} / {_accuracy(best):.1f}" if own and best else "-"
        # Where the learner failed, the best reference judges the chunker's answers.
        judged = one["reference_obedience" if NOT_FOUND in verdicts else "obedience"]
        figures = ["-"] * 4
        if judged:
            shares = [_interval(judged[key]) for key in ("violations", "gold_violations", "headroom")]
            figures = [judged["judge"], *shares]
        rows.append([name, ", ".join(verdicts), learned, *figures])
    return table(head, rows)


def _accuracy(score: Mapping[str, Any]) -> float:
    return float(score["balanced_accuracy"]["value"])


def _interval(estimate: Mapping[str, float]) -> str:
    return f"{estimate['value']:.1f} [{estimate['low']:.1f}, {estimate['high']:.1f}]"
