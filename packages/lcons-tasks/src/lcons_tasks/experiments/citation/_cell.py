"""One cell of the experiment: a split, a size, a base model; train, learn, weigh on dev, decode the test set.

Each stage is kept by content (`experiment.stages`): the base model, each constraint, and the answers. The
base model and the constraints learn from the same references and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import LearnedConstraint, Recipe, load, save
from lcons_decode import Hard, Soft
from lcons_decode._scores import Ints
from lcons_tasks.data import Sentence, hash_sentences
from lcons_tasks.experiments.citation._constraints import ONCE, POS_CLUES_ROW, default_weights, designed
from lcons_tasks.experiments.citation._corpus import CitationCorpus, load_corpus, split
from lcons_tasks.experiments.citation._model import BaseModel
from lcons_tasks.experiments.engine._choice import Weights, choose, choose_weights
from lcons_tasks.experiments.engine._jobs import Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._parts import Part, percent, rejected_gold, right_counts, size_of
from lcons_tasks.experiments.engine._recipes import learn
from lcons_tasks.experiments.engine._rows import Row, predict, recipes_of, uses
from lcons_tasks.models._tagger import Tagger, load_tagger
from lcons_tasks.stats import chunk_f1, runs_as_iob2

CHOSEN = "chosen on dev"

_MODEL_CODE = (
    "lcons_core.features._ngrams",
    "lcons_decode",
    "lcons_tasks.models",
    "lcons_tasks.experiments.citation._model",
    "lcons_tasks.data.text._clues",
)
_CONSTRAINT_CODE = ("lcons_core", "lcons_tasks.experiments.engine._recipes")
_ANSWER_CODE = (
    *_MODEL_CODE,
    *_CONSTRAINT_CODE,
    "lcons_tasks.stats",
    "lcons_tasks.experiments.engine._choice",
    "lcons_tasks.experiments.engine._parts",
    "lcons_tasks.experiments.engine._rows",
    "lcons_tasks.experiments.citation._cell",
    "lcons_tasks.experiments.citation._corpus",
    "lcons_tasks.experiments.citation._constraints",
    "lcons_tasks.experiments.citation._constraints",
)


@dataclass(frozen=True)
class Cell:
    """A split of a corpus by seed, how many training references, a base model, and the rows to fill."""

    corpus: str
    seed: int
    size: int | None
    base: BaseModel
    rows: tuple[Row, ...]
    beam: int = 50


@dataclass(frozen=True, eq=False)
class Filled:
    """A cell's figures (plain data), and the predicted labels of each row's test tokens, as indices of
    `labels`; `test` are the indices of the test references in the corpus."""

    cell: Cell
    figures: Mapping[str, Any]
    labels: tuple[str, ...]
    predictions: Mapping[str, Ints]
    gold: Ints
    test: tuple[int, ...]
    offsets: Ints

    def right(self, row: str) -> Ints:
        """Right labels a test reference."""
        return right_counts(self.predictions[row], self.gold, self.offsets)


def fill(cell: Cell, stages: Stages, tell: Tell) -> Filled:
    """The cell's figures, from the stages that are kept or computed now."""
    corpus = shared(cell.corpus, stages)
    inputs = {
        "corpus": corpus.sha256,
        "seed": cell.seed,
        "size": cell.size,
        "base": cell.base.to_dict(),
        "rows": [[r.name, r.how, r.designed, [recipe.to_dict() for recipe in r.recipes]] for r in cell.rows],
        "beam": cell.beam,
    }

    def make(folder: Path) -> None:
        _answer(cell, corpus, stages, folder, tell)

    return stages.keep("citation", inputs, _ANSWER_CODE, make, lambda folder: _read(cell, corpus, folder))


def base_model(cell: Cell, stages: Stages, tell: Tell) -> tuple[Tagger, Mapping[str, Any]]:
    """The cell's model, trained or read, and how its training went."""
    train = references(cell, stages).train

    def make(folder: Path) -> None:
        model, trained = cell.base.train(train, tell)
        model.save(folder / "model.npz")
        last = trained.history[-1]
        told = {"passes": last.passes, "objective": last.objective, "gap": last.gap}
        (folder / "training.json").write_text(json.dumps(told), encoding="utf-8")

    def read(folder: Path) -> tuple[Tagger, Mapping[str, Any]]:
        told = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        return load_tagger(folder / "model.npz"), told

    inputs = {"train": hash_sentences(train), "base": cell.base.to_dict()}
    return stages.keep("svm", inputs, _MODEL_CODE, make, read)


def constraint(cell: Cell, recipe: Recipe, stages: Stages) -> LearnedConstraint:
    """A constraint of the cell, learned or read."""
    train = references(cell, stages).train
    inputs = {"train": hash_sentences(train), "seed": cell.seed, "recipe": recipe.to_dict()}

    def make(folder: Path) -> None:
        save(learn(recipe, train, cell.seed), folder / "constraint.json")

    return stages.keep("constraint", inputs, _CONSTRAINT_CODE, make, lambda f: load(f / "constraint.json"))


@dataclass(frozen=True, eq=False)
class References:
    """The references of a cell's split."""

    train: tuple[Sentence, ...]
    dev: tuple[Sentence, ...]
    test: tuple[Sentence, ...]


def references(cell: Cell, stages: Stages) -> References:
    """The references that a cell trains on, chooses on and is tested on."""
    corpus = shared(cell.corpus, stages)
    indices = split(corpus, cell.seed, cell.size)
    train, dev, test = (
        tuple(corpus.references[i] for i in part) for part in (indices.train, indices.dev, indices.test)
    )
    return References(train, dev, test)


@lru_cache(maxsize=2)
def shared(name: str, stages: Stages) -> CitationCorpus:
    """The corpus, read once a process."""
    return load_corpus(name, stages)


def chosen_uses(
    row: Row, weights: Sequence[float], constraints: Mapping[str, LearnedConstraint], labels: Sequence[str]
) -> list[Hard | Soft]:
    """The row's constraints as a decoder takes them, hand-written ones where it says so."""
    if not row.designed:
        return uses(row, weights, constraints)
    rules = designed(labels)
    if row.how != "soft":
        return [Hard(rule, name) for name, rule in rules]
    local = ((name, rule) for name, rule in rules if name != ONCE)
    return [Soft(rule, weights[0], name) for name, rule in local if weights[0]]


def _answer(cell: Cell, corpus: CitationCorpus, stages: Stages, folder: Path, tell: Tell) -> None:
    """Fills the stage's folder."""
    parts = references(cell, stages)
    model, training = base_model(cell, stages, lambda share, what: tell(0.3 * share, what))
    recipes = recipes_of(cell.rows)
    constraints = {}
    for i, recipe in enumerate(recipes):
        tell(0.3 + 0.2 * i / len(recipes), f"learning {recipe.name}")
        constraints[recipe.name] = constraint(cell, recipe, stages)
    dev, test = Part.of(model, parts.dev), Part.of(model, parts.test)
    gold = [runs_as_iob2(reference.labels) for reference in parts.test]
    rows: dict[str, Any] = {}
    predictions: dict[str, NDArray[np.int16]] = {}
    on_dev: dict[str, Ints] = {}
    for i, row in enumerate(cell.rows):
        tell(0.5 + 0.5 * i / len(cell.rows), row.name)

        def answer(part: Part, weights: Weights, row: Row = row) -> Ints:
            used = chosen_uses(row, weights, constraints, model.labels)
            return predict(row, used, part.batch, part.xs, cell.beam)

        def right(weights: Weights, answer: Callable[[Part, Weights], Ints] = answer) -> Ints:
            return dev.right(answer(dev, weights))

        weights: Weights = ()
        if row.how == "soft":
            weights = choose_weights(right, default_weights(row, cell.base.name))
            if not row.designed:
                on_dev[row.name] = right(weights)
        found = answer(test, weights)
        predictions[row.name] = found.astype(np.int16)
        rows[row.name] = {**_figures(found, test, gold, model.labels), "weights": list(weights)}
    pick = _chosen_row(on_dev)
    rows[CHOSEN] = {**rows[pick], "row": pick}
    predictions[CHOSEN] = predictions[pick]
    result = {
        "labels": list(model.labels),
        "references": {"train": len(parts.train), "dev": len(parts.dev), "test": len(parts.test)},
        "training": dict(training),
        "parameters": model.parameters,
        "constraints": {
            name: {"parameters": size_of(learned), "rejected gold": rejected_gold(learned, parts.dev)}
            for name, learned in constraints.items()
        },
        "rows": rows,
    }
    np.savez_compressed(folder / "predictions.npz", gold=test.gold.astype(np.int16), **predictions)  # type: ignore[arg-type]
    (folder / "figures.json").write_text(json.dumps(result), encoding="utf-8")


def _chosen_row(on_dev: Mapping[str, Ints]) -> str:
    """The soft row that dev chooses: windows of clues and POS tags unless another is clearly better; exact
    where there is no soft row."""
    names = list(on_dev)
    if not names:
        return "exact"
    default = names.index(POS_CLUES_ROW) if POS_CLUES_ROW in names else len(names) - 1
    return names[choose([on_dev[name] for name in names], default)]


def _figures(
    found: Ints, test: Part, gold: Sequence[Sequence[str]], labels: Sequence[str]
) -> dict[str, float]:
    """Token accuracy, F1 of whole fields, and the share of references without an error."""
    offsets = test.batch.offsets
    right, lengths = test.right(found), np.diff(offsets)
    answers = [runs_as_iob2([labels[i] for i in found[a:b]]) for a, b in pairwise(offsets)]
    return {
        "test": percent(right, lengths),
        "field f1": 100 * chunk_f1(gold, answers).f1,
        "whole": float(100 * (right == lengths).mean()),
    }


def _read(cell: Cell, corpus: CitationCorpus, folder: Path) -> Filled:
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    with np.load(folder / "predictions.npz", allow_pickle=False) as arrays:
        predictions = {name: arrays[name].astype(np.int64) for name in arrays.files}
    gold = predictions.pop("gold")
    test = split(corpus, cell.seed, cell.size).test
    offsets = np.cumsum([0, *(len(corpus.references[i]) for i in test)])
    return Filled(cell, figures, tuple(figures["labels"]), predictions, gold, test, offsets)
