"""One cell of the experiment, a subset and a seed: train, learn, choose on dev, decode the test set.

The base model, each constraint and the answers are stages, kept by content (`engine._kept`). The base model
and the constraints learn from the same sentences and from nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

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
from lcons_tasks.experiments.engine._baselines import baseline_scores, predict_baseline, unseen_tokens
from lcons_tasks.experiments.engine._choice import choose
from lcons_tasks.experiments.engine._jobs import Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Coordinate
from lcons_tasks.experiments.engine._rows import TableRow, predict, recipes_of, uses
from lcons_tasks.experiments.engine._sequences import (
    CHOSEN,
    Answers,
    Part,
    constraints,
    facts_of,
    percent_of,
    read_answers,
    write_answers,
)
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.models._word_vectors import WordVectors, find_vectors

# The defaults of the choice on dev (`engine._choice`), among the best on dev of the bundled corpus. A chunker
# that reads POS tags itself needs a smaller weight.
DEFAULT_ROW, WITH_POS = "soft pos-1+2", 0.25
F1 = "chunk f1"

Setting = tuple[TableRow, float]


@dataclass(frozen=True)
class Cell:
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

    def __str__(self) -> str:
        part = "" if self.subset == "first" else f", {self.subset}"
        return f"{100 * self.ratio:g}%, seed {self.seed}{part}"

    @property
    def sample(self) -> tuple[str, float, int]:
        """Equal for the same training sentences."""
        return self.subset, self.ratio, self.seed if self.subset == "nested" else 0

    @property
    def place(self) -> str:
        """The name of the folder of its constraints."""
        return f"{self.subset}-{100 * self.ratio:g}%-seed{self.seed}"

    @property
    def name(self) -> str:
        """The name of the cell in the record and of its file of predictions."""
        return f"{self.base.name}-{self.place}"

    def cost(self, recipe: Recipe | None) -> float:
        """The relative time of learning by a recipe, or of training if `recipe` is None."""
        return self.ratio * (10.0 if recipe is None else (recipe.n or 1))

    def parts(self) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
        """Training and dev sentences."""
        return subset(corpus_and_vectors(self.corpus)[0], self.ratio, self.subset, self.seed)

    def train(self, kept: Stages) -> tuple[Sentence, ...]:
        """The sentences from which the base model and the constraints learn."""
        return self.parts()[0]

    def test(self, kept: Stages) -> tuple[Sentence, ...]:
        """The test sentences."""
        return corpus_and_vectors(self.corpus)[0].test

    def model(self, kept: Stages, tell: Tell) -> Tagger:
        """The cell's chunker, trained now or read from its stage."""
        _, vectors = corpus_and_vectors(self.corpus, self.base.reads_vectors)
        return base_model(self.base, *self.parts(), vectors, self.seed, kept, tell)


def corpus_and_vectors(name: str, with_vectors: bool = False) -> tuple[ChunkCorpus, WordVectors | None]:
    """The corpus, and the word vectors if they are needed, read once per process."""
    return _corpus(name), _vectors() if with_vectors else None


_corpus = lru_cache(maxsize=2)(load_corpus)
_vectors = lru_cache(maxsize=1)(find_vectors)


def answers(cell: Cell, kept: Stages, tell: Tell) -> Answers:
    """The cell's record and answers, computed now or read from their stage."""
    corpus, vectors = corpus_and_vectors(cell.corpus, cell.base.reads_vectors)
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

    def make(folder: Path) -> None:
        _answer(cell, corpus, kept, folder, tell)

    return kept.keep("answers", inputs, make, lambda folder: read_answers(folder, [*map(len, corpus.test)]))


def _answer(cell: Cell, corpus: ChunkCorpus, kept: Stages, folder: Path, tell: Tell) -> None:
    """Computes the answers of a cell and writes them into the folder of their stage."""
    model = cell.model(kept, lambda share, what: tell(0.6 * share, what))
    learnt = constraints(cell, recipes_of(cell.rows), kept, lambda share, what: tell(0.6 + 0.2 * share, what))
    dev, test = Part.of(model, corpus.dev), Part.of(model, corpus.test)
    cut, all_of_dev = part_of(len(corpus.dev), cell.ratio), len(corpus.dev)
    cut_dev, train = Part.of(model, corpus.dev[:cut]), cell.train(kept)
    settings: list[Setting] = [(row, weight) for row in cell.rows for weight in weights_of(row)]
    plain = {row.name: baseline_scores(row, train, cut_dev, kept) for row in cell.rows if row.is_baseline}

    def predicted(setting: Setting, part: Part) -> Ints:
        row, weight = setting
        if row.is_baseline:
            scores = plain[row.name]
            weights = (
                equal_weights(weight, len(scores)) if row.how in DEFAULT_WEIGHTS else [1.0] * len(scores)
            )
            return predict_baseline(scores, weights, part)
        used = uses(row, equal_weights(weight, len(row.recipes)), learnt)
        return predict(row, used, part.batch, part.xs, cell.beam)

    on_dev = []
    for i, setting in enumerate(settings):
        tell(0.8 + 0.15 * i / len(settings), f"dev: {setting[0].name}")
        # All of dev is only for the row that is chosen, which is no baseline.
        part = cut_dev if setting[0].is_baseline else dev
        on_dev.append(part.right(predicted(setting, part)))
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
                tell(0.95, f"test: {settings[i][0].name}")
                on_test[i] = predicted(settings[i], test)
        found[name] = on_test[pick]
        more[name] = {
            "dev": percent_of(on_dev[pick][:cut], dev.lengths[:cut]),
            "whole dev": percent_of(on_dev[pick], dev.lengths[: len(on_dev[pick])]),
            "chosen on whole dev": percent_of(test.right(on_test[whole]), test.lengths),
        }
        choices[name] = {"cut dev": _told(settings[pick]), "whole dev": _told(settings[whole])}
    facts = {
        "model": cell.base.to_dict(),
        "sentences": len(train),
        "dev sentences": cut,
        "parameters": model.parameters,
        "constraints": facts_of(learnt, corpus.dev),
        "rows of": {row.name: [recipe.name for recipe in row.recipes] for row in cell.rows},
        "baselines": {name: sum(one.parameters for one in scores) for name, scores in plain.items()},
        "choices": choices,
    }
    at: dict[str, Coordinate] = {"base": cell.base.name, "subset": cell.subset, "ratio": cell.ratio}
    at["seed"] = cell.seed
    unseen = unseen_tokens(SPLIT_BY, train, corpus.test)
    write_answers(folder, cell, at, facts, test, found, more, F1, list, range(len(corpus.test)), unseen)


def _told(setting: Setting) -> dict[str, Any]:
    return {"row": setting[0].name, "weight": setting[1]}


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
    own = [place for place in weights if settings[group[place]][0].name == DEFAULT_ROW]
    return (own or weights or [0])[0]
