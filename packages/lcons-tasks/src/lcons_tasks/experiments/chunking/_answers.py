"""One cell of the experiment, a subset and a seed: train, learn, choose on dev, decode the test set.

The base model and the constraints learn from the same sentences and from nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from lcons_core import Recipe
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.chunking._constraints import (
    DEFAULT_WEIGHTS,
    SPLIT_BY,
    equal_weights,
    weights_of,
)
from lcons_tasks.experiments.chunking._corpus import ChunkCorpus, load_corpus, part_of, subset
from lcons_tasks.experiments.chunking._model import BaseModel, base_model
from lcons_tasks.experiments.engine._choice import choose
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._labelling import Answers, Decoding, LabellingCell, Part, percent_of
from lcons_tasks.experiments.engine._record import Coordinate
from lcons_tasks.experiments.engine._rows import CHOSEN, PENALTIES, TableRow
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.models._word_vectors import WordVectors, find_vectors

# The defaults of the choice on dev (`engine._choice`), among the best on dev of the bundled corpus. A chunker
# that reads POS tags itself needs a smaller weight.
DEFAULT_ROW, WITH_POS = "soft pos-1+2", 0.25
F1 = "chunk f1"

Setting = tuple[TableRow, float]


@dataclass(frozen=True)
class Cell(LabellingCell):
    """A subset of a corpus, a seed, a base model, and the rows to fill. The report shows the changes of the
    `first` cell."""

    corpus: str
    subset: str
    ratio: float
    seed: int
    base: BaseModel
    rows: tuple[TableRow, ...]
    beam: int = 10
    first: bool = False
    spans: ClassVar[str] = F1
    split_by: ClassVar[Recipe] = SPLIT_BY

    def __str__(self) -> str:
        part = "" if self.subset == "first" else f", {self.subset}"
        return f"{100 * self.ratio:g}%, seed {self.seed}{part}"

    @property
    def sample(self) -> tuple[str, float, int]:
        return self.subset, self.ratio, self.seed if self.subset == "nested" else 0

    @property
    def place(self) -> str:
        return f"{self.subset}-{100 * self.ratio:g}%-seed{self.seed}"

    @property
    def vectors(self) -> str | None:
        vectors = corpus_and_vectors(self.corpus, self.base.reads_vectors)[1]
        return None if vectors is None else vectors.sha256

    def parts(self, kept: Stages) -> tuple[Sequence[Sentence], Sequence[Sentence], Sequence[Sentence]]:
        corpus = corpus_and_vectors(self.corpus)[0]
        return *subset(corpus, self.ratio, self.subset, self.seed), corpus.test

    def model(self, kept: Stages) -> Tagger:
        vectors = corpus_and_vectors(self.corpus, self.base.reads_vectors)[1]
        return base_model(self.base, *self.parts(kept)[:2], vectors, self.seed, kept)

    def fill(self, kept: Stages) -> Answers:
        return _answers(self, corpus_and_vectors(self.corpus)[0], kept)


def corpus_and_vectors(name: str, with_vectors: bool = False) -> tuple[ChunkCorpus, WordVectors | None]:
    """The corpus, and the word vectors if they are needed, read once per process."""
    return _corpus(name), _vectors() if with_vectors else None


_corpus = lru_cache(maxsize=2)(load_corpus)
_vectors = lru_cache(maxsize=1)(find_vectors)


def _answers(cell: Cell, corpus: ChunkCorpus, kept: Stages) -> Answers:
    """The answers of a cell, under the settings that are chosen on dev."""
    decoding = Decoding(cell, kept)
    dev, test = Part.of(decoding.model, corpus.dev), decoding.test
    cut, all_of_dev = part_of(len(corpus.dev), cell.ratio), len(corpus.dev)
    settings: list[Setting] = [(row, weight) for row in cell.rows for weight in weights_of(row)]

    def predicted(setting: Setting, part: Part) -> Ints:
        row, weight = setting
        parts = len(decoding.baselines[row.name] if row.is_baseline else row.recipes)
        weights = [1.0] * parts if row.how == PENALTIES else equal_weights(weight, parts)
        return decoding.predict(row, weights, part)

    # All of dev is only for the row that is chosen, which is no baseline.
    parts = [decoding.dev if row.is_baseline else dev for row, _ in settings]
    on_dev = [part.right(predicted(setting, part)) for setting, part in zip(settings, parts, strict=True)]
    on_test: dict[int, Ints] = {}
    found: dict[str, Ints] = {}
    more: dict[str, dict[str, float]] = {}
    choices: dict[str, Any] = {}
    for name, group in _groups(settings):
        default = _default(group, settings, cell.base)
        pick, whole = (
            group[choose([on_dev[i][:size] for i in group], default)] for size in (cut, all_of_dev)
        )
        for i in (pick, whole):
            if i not in on_test:
                on_test[i] = predicted(settings[i], test)
        found[name] = on_test[pick]
        more[name] = {
            "dev": percent_of(on_dev[pick][:cut], dev.lengths[:cut]),
            "whole dev": percent_of(on_dev[pick], dev.lengths[: len(on_dev[pick])]),
            "chosen on whole dev": percent_of(test.right(on_test[whole]), test.lengths),
        }
        choices[name] = {
            where: {"row": settings[i][0].name, "weight": settings[i][1]}
            for where, i in (("cut dev", pick), ("whole dev", whole))
        }
    facts = {"sentences": len(decoding.train), "dev sentences": cut, "choices": choices}
    at: dict[str, Coordinate] = {"base": cell.base.name, "subset": cell.subset, "ratio": cell.ratio}
    at["seed"] = cell.seed
    return decoding.answers(at, facts, found, more, range(len(corpus.test)))


def _groups(settings: Sequence[Setting]) -> list[tuple[str, list[int]]]:
    """(row name, indices of its settings) of each row, and last the group from which dev chooses: all
    settings with local constraints, without baselines.

    Training of the chunker stops where dev is best without constraints. So dev favours rows that differ
    little from that: rows without constraints, and rows with global ones, which only select from the beam.
    """
    groups: dict[str, list[int]] = {}
    for i, (row, _) in enumerate(settings):
        groups.setdefault(row.name, []).append(i)
    local = [i for i, (row, _) in enumerate(settings) if row.is_local and not row.is_baseline]
    return [*groups.items(), (CHOSEN, local or list(range(len(settings))))]


def _default(group: Sequence[int], settings: Sequence[Setting], base: BaseModel) -> int:
    """The place of the default among a group's settings: that of the default row if the group has it."""
    scale = WITH_POS if "pos" in base.columns else 1.0
    weights = [
        place
        for place, (row, weight) in enumerate(settings[i] for i in group)
        if weight == scale * DEFAULT_WEIGHTS.get(row.how, 0.0)
    ]
    rows = [place for place in weights if settings[group[place]][0].name == DEFAULT_ROW]
    return (rows or weights or [0])[0]
