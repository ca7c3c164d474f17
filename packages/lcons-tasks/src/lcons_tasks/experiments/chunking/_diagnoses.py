"""Diagnoses: why each hard constraint of a cell helps the chunker or does not. Each is a stage.

Paper: Sec. 6 leaves open why label existence does not help.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcons_core import Recipe
from lcons_tasks.data import hash_sentences
from lcons_tasks.diagnosis import diagnose, predict
from lcons_tasks.experiments.chunking._answers import Cell, corpus_and_vectors
from lcons_tasks.experiments.engine._jobs import Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._rows import recipes_of
from lcons_tasks.experiments.engine._sequences import constraint

Diagnosed = Mapping[str, Any]


def hard_recipes(cell: Cell) -> list[Recipe]:
    """The recipes of the cell's hard constraints."""
    return recipes_of([row for row in cell.rows if row.how != "soft"])


def diagnosis(cell: Cell, recipe: Recipe, kept: Stages, tell: Tell) -> Diagnosed:
    """The diagnosis of one constraint on all dev sentences, as plain data; `report` is its text."""
    corpus, vectors = corpus_and_vectors(cell.corpus, cell.base.reads_vectors)
    train, dev = cell.parts()
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
        model = cell.model(kept, tell)
        learned = constraint(cell, recipe, kept)
        tell(0.3, f"diagnosing {recipe.name}")
        found = diagnose(learned, train, corpus.dev, predict(model, corpus.dev), seed=cell.seed)
        text = json.dumps({**found.to_dict(), "report": str(found)})
        (folder / "diagnosis.json").write_text(text, encoding="utf-8")

    def read(folder: Path) -> Diagnosed:
        found: Diagnosed = json.loads((folder / "diagnosis.json").read_text(encoding="utf-8"))
        return found

    return kept.keep("diagnosis", inputs, make, read)
