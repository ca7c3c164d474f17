"""One cell of the experiment: a subset and a seed; train, learn, choose on dev, decode the test set.

Each stage is kept by content (`experiment.stages`): the base model, each constraint, and the answers. The
base model and the constraints learn from the same sentences and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import LearnedConstraint, Recipe, load, save
from lcons_decode._scores import Ints
from lcons_tasks.data import hash_sentences
from lcons_tasks.experiments.chunking._constraints import shared as shared_weight
from lcons_tasks.experiments.chunking._constraints import weights_of
from lcons_tasks.experiments.chunking._corpus import ChunkCorpus, load_corpus, part_of, subset
from lcons_tasks.experiments.chunking._model import BaseModel
from lcons_tasks.experiments.engine._choice import choose
from lcons_tasks.experiments.engine._jobs import Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._parts import Part, percent, rejected_gold, right_counts, size_of
from lcons_tasks.experiments.engine._recipes import learn
from lcons_tasks.experiments.engine._rows import Row, predict, recipes_of, uses
from lcons_tasks.models._tagger import Tagger, load_tagger
from lcons_tasks.models._word_vectors import WordVectors, find_vectors
from lcons_tasks.stats import chunk_f1

# What stands unless dev speaks against it (`choice.py`): among the best on the bundled corpus's dev. A
# chunker that reads POS tags itself needs less of what they say.
DEFAULT_ROW, DEFAULT_WEIGHT, DEFAULT_WEIGHT_WITH_POS = "soft pos-1+2", 16.0, 4.0
CHOSEN = "chosen on dev"

_MODEL_CODE = ("lcons_tasks.models", "lcons_tasks.experiments.chunking._model", "lcons_decode")
_CONSTRAINT_CODE = ("lcons_core", "lcons_tasks.experiments.engine._recipes")
_ANSWER_CODE = (
    *_MODEL_CODE,
    *_CONSTRAINT_CODE,
    "lcons_decode",
    "lcons_tasks.stats",
    "lcons_tasks.experiments.chunking._corpus",
    "lcons_tasks.experiments.engine._choice",
    "lcons_tasks.experiments.engine._parts",
    "lcons_tasks.experiments.engine._rows",
    "lcons_tasks.experiments.chunking._constraints",
    "lcons_tasks.experiments.chunking._cell",
)


@dataclass(frozen=True)
class Cell:
    """A subset of a corpus, a seed, a base model, and the rows to fill."""

    corpus: str
    subset: str
    ratio: float
    seed: int
    base: BaseModel
    rows: tuple[Row, ...]
    beam: int = 10


@dataclass(frozen=True, eq=False)
class Filled:
    """A cell's figures (plain data) and the predicted test labels of each row, as indices of `labels`."""

    cell: Cell
    figures: Mapping[str, Any]
    labels: tuple[str, ...]
    predictions: Mapping[str, Ints]
    gold: Ints

    def right(self, row: str, offsets: Ints) -> Ints:
        """Right labels a test sentence."""
        return right_counts(self.predictions[row], self.gold, offsets)


def fill(cell: Cell, stages: Stages, tell: Tell) -> Filled:
    """The cell's figures, from the stages that are kept or computed now."""
    corpus, vectors = shared(cell.corpus, cell.base.reads_vectors)
    inputs = {
        "corpus": corpus.sha256,
        "subset": cell.subset,
        "ratio": cell.ratio,
        "seed": cell.seed,
        "base": cell.base.to_dict(),
        "vectors": None if vectors is None else vectors.sha256,
        "rows": [[row.name, row.how, [recipe.to_dict() for recipe in row.recipes]] for row in cell.rows],
        "beam": cell.beam,
    }
    read = lambda folder: _read(cell, folder)  # noqa: E731
    return stages.keep(
        "answers",
        inputs,
        _ANSWER_CODE,
        lambda folder: _answer(cell, corpus, vectors, stages, folder, tell),
        read,
    )


def base_model(cell: Cell, stages: Stages, tell: Tell) -> Tagger:
    """The cell's chunker, trained or read."""
    corpus, vectors = shared(cell.corpus, cell.base.reads_vectors)
    train, dev = subset(corpus, cell.ratio, cell.subset, cell.seed)
    inputs = {
        "train": hash_sentences(train),
        "dev": hash_sentences(dev),
        "seed": cell.seed,
        "base": cell.base.to_dict(),
        "vectors": None if vectors is None else vectors.sha256,
    }

    def make(folder: Path) -> None:
        cell.base.train(train, dev, vectors, cell.seed, tell).save(folder / "model.npz")

    return stages.keep("base", inputs, _MODEL_CODE, make, lambda folder: load_tagger(folder / "model.npz"))


def constraint(cell: Cell, recipe: Recipe, stages: Stages) -> LearnedConstraint:
    """A constraint of the cell, learned or read."""
    corpus, _ = shared(cell.corpus)
    train, _ = subset(corpus, cell.ratio, cell.subset, cell.seed)
    inputs = {"train": hash_sentences(train), "seed": cell.seed, "recipe": recipe.to_dict()}

    def make(folder: Path) -> None:
        save(learn(recipe, train, cell.seed), folder / "constraint.json")

    return stages.keep("constraint", inputs, _CONSTRAINT_CODE, make, lambda f: load(f / "constraint.json"))


def shared(name: str, with_vectors: bool = False) -> tuple[ChunkCorpus, WordVectors | None]:
    """The corpus, and the word vectors where they are needed, read once a process."""
    return _corpus(name), _vectors() if with_vectors else None


_corpus = lru_cache(maxsize=2)(load_corpus)
_vectors = lru_cache(maxsize=1)(find_vectors)


def _answer(
    cell: Cell,
    corpus: ChunkCorpus,
    vectors: WordVectors | None,
    stages: Stages,
    folder: Path,
    tell: Tell,
) -> None:
    """Fills the stage's folder."""
    model = base_model(cell, stages, lambda share, what: tell(0.6 * share, what))
    recipes = recipes_of(cell.rows)
    constraints = {}
    for i, recipe in enumerate(recipes):
        tell(0.6 + 0.2 * i / len(recipes), f"learning {recipe.name}")
        constraints[recipe.name] = constraint(cell, recipe, stages)
    dev, test = Part.of(model, corpus.dev), Part.of(model, corpus.test)
    cut = part_of(len(corpus.dev), cell.ratio)
    settings: list[tuple[Row, float]] = [(row, weight) for row in cell.rows for weight in weights_of(row)]
    on_dev = []
    for i, (row, weight) in enumerate(settings):
        tell(0.8 + 0.15 * i / len(settings), f"dev: {row.name}")
        used = uses(row, shared_weight(weight, row), constraints)
        on_dev.append(dev.right(predict(row, used, dev.batch, dev.xs, cell.beam)))
    found: dict[tuple[str, float], Ints] = {}

    def on_test(row: Row, weight: float) -> Ints:
        if (row.name, weight) not in found:
            tell(0.95, f"test: {row.name}")
            used = uses(row, shared_weight(weight, row), constraints)
            found[row.name, weight] = predict(row, used, test.batch, test.xs, cell.beam)
        return found[row.name, weight]

    gold = [sentence.labels for sentence in corpus.test]
    figures: dict[str, Any] = {}
    predictions: dict[str, NDArray[np.int16]] = {}
    sizes, lengths = np.diff(dev.batch.offsets), np.diff(test.batch.offsets)
    for name, group in _groups(settings):
        default = _default(group, settings, cell.base)
        picks = {
            size: group[choose([on_dev[i][:size] for i in group], default)] for size in (cut, len(on_dev[0]))
        }
        pick, whole = picks[cut], picks[len(on_dev[0])]
        answer = on_test(*settings[pick])
        labels = _split([model.labels[i] for i in answer], lengths)
        row, weight = settings[pick]
        figures[name] = {
            "row": row.name,
            "weight": weight,
            "dev": percent(on_dev[pick][:cut], sizes[:cut]),
            "whole dev": percent(on_dev[pick], sizes),
            "test": percent(test.right(answer), lengths),
            "chunk f1": 100 * chunk_f1(gold, labels).f1,
            "chosen on whole dev": {
                "row": settings[whole][0].name,
                "weight": settings[whole][1],
                "test": percent(test.right(on_test(*settings[whole])), lengths),
            },
        }
        predictions[name] = answer.astype(np.int16)
    result = {
        "labels": list(model.labels),
        "sentences": len(subset(corpus, cell.ratio, cell.subset, cell.seed)[0]),
        "dev sentences": cut,
        "parameters": model.parameters,
        "constraints": {
            name: {"parameters": size_of(learned), "rejected gold": rejected_gold(learned, corpus.dev)}
            for name, learned in constraints.items()
        },
        "rows": figures,
    }
    np.savez_compressed(folder / "predictions.npz", gold=test.gold.astype(np.int16), **predictions)  # type: ignore[arg-type]
    (folder / "figures.json").write_text(json.dumps(result), encoding="utf-8")


def _groups(settings: Sequence[tuple[Row, float]]) -> list[tuple[str, list[int]]]:
    """Rows by name with the indices of their settings, and last the choice among the locally constrained.

    The chunker stopped training where dev was best without constraints, so dev flatters what hardly differs
    from that: rows without constraints, and with global ones, which only pick from the last beam.
    """
    groups: dict[str, list[int]] = {}
    for i, (row, _) in enumerate(settings):
        groups.setdefault(row.name, []).append(i)
    local = [i for i, (row, _) in enumerate(settings) if row.is_local]
    return [*groups.items(), (CHOSEN, local or list(range(len(settings))))]


def _default(group: Sequence[int], settings: Sequence[tuple[Row, float]], base: BaseModel) -> int:
    """Where the default is among a group's settings: the default row's where that is there."""
    weight = DEFAULT_WEIGHT_WITH_POS if "pos" in base.columns else DEFAULT_WEIGHT
    weights = [place for place, i in enumerate(group) if settings[i][1] == weight]
    own = [place for place in weights if settings[group[place]][0].name == DEFAULT_ROW]
    return (own or weights or [0])[0]


def _split(labels: Sequence[str], lengths: Ints) -> list[Sequence[str]]:
    edges = np.cumsum([0, *lengths.tolist()])
    return [labels[a:b] for a, b in pairwise(edges)]


def _read(cell: Cell, folder: Path) -> Filled:
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    with np.load(folder / "predictions.npz", allow_pickle=False) as arrays:
        predictions = {name: arrays[name].astype(np.int64) for name in arrays.files}
    gold = predictions.pop("gold")
    return Filled(cell, figures, tuple(figures["labels"]), predictions, gold)
