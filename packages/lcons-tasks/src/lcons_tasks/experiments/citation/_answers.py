"""One cell of the experiment, a split, a size and a base model: train, learn, choose weights, decode.

Weights are chosen on dev references, and test references are decoded. The base model, each constraint and the
answers are stages, kept by content (`engine._kept`). The base model and the constraints learn from the same
references and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lcons_core import LearnedConstraint, Recipe
from lcons_decode import Hard, Soft
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.citation._constraints import (
    ONCE,
    POS_CLUES_ROW,
    SPLIT_BY,
    default_weights,
    designed,
)
from lcons_tasks.experiments.citation._corpus import CitationCorpus, Split, load_corpus, split
from lcons_tasks.experiments.citation._model import BaseModel, base_model
from lcons_tasks.experiments.engine._baselines import baseline_scores, predict_baseline, unseen_tokens
from lcons_tasks.experiments.engine._choice import Weights, choose, choose_weights
from lcons_tasks.experiments.engine._jobs import Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._rows import PENALTIES, TableRow, predict, recipes_of, uses
from lcons_tasks.experiments.engine._sequences import (
    CHOSEN,
    EXACT,
    Answers,
    Part,
    constraints,
    facts_of,
    read_answers,
    write_answers,
)
from lcons_tasks.experiments.engine._window_decoder import WindowScores
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.stats import runs_as_iob2

F1, WHOLE = "field f1", "whole"


@dataclass(frozen=True)
class Cell:
    """A split of a corpus by seed, the number of training references, a base model, and the rows to fill. The
    report shows the changes of the `first` cell."""

    corpus: str
    seed: int
    size: int | None
    base: BaseModel
    rows: tuple[TableRow, ...]
    beam: int = 50
    trained_on: int = 0
    first: bool = False

    def __str__(self) -> str:
        return f"split {self.seed}" + ("" if self.size is None else f", {self.size} references")

    @property
    def sample(self) -> tuple[int, int | None]:
        """Equal for the same training references."""
        return self.seed, self.size

    @property
    def place(self) -> str:
        """The name of the folder of its constraints."""
        return f"{self.trained_on}-split{self.seed}"

    @property
    def name(self) -> str:
        """The name of the cell in the record and of its file of predictions."""
        return f"{self.base.name}-{self.place}"

    def cost(self, recipe: Recipe | None) -> float:
        """The relative time of any work: always the same."""
        return 1.0

    def split(self, kept: Stages) -> Split:
        """The indices of its references in the corpus."""
        return split(loaded(self.corpus, kept), self.seed, self.size)

    def references(self, indices: Sequence[int], kept: Stages) -> tuple[Sentence, ...]:
        """The references of the corpus at these indices."""
        corpus = loaded(self.corpus, kept)
        return tuple(corpus.references[i] for i in indices)

    def train(self, kept: Stages) -> tuple[Sentence, ...]:
        """The references from which the base model and the constraints learn."""
        return self.references(self.split(kept).train, kept)

    def test(self, kept: Stages) -> tuple[Sentence, ...]:
        """The test references."""
        return self.references(self.split(kept).test, kept)

    def model(self, kept: Stages, tell: Tell) -> Tagger:
        """The cell's model, trained now or read from its stage."""
        return base_model(self.base, self.train(kept), kept, tell)[0]


@lru_cache(maxsize=2)
def loaded(name: str, kept: Stages) -> CitationCorpus:
    """The corpus, read once per process."""
    return load_corpus(name, kept)


def chosen_uses(
    row: TableRow, weights: Sequence[float], learnt: Mapping[str, LearnedConstraint], labels: Sequence[str]
) -> list[Hard | Soft]:
    """The constraints of a row for the decoder: the hand-written ones if the row is `designed`."""
    if not row.designed:
        return uses(row, weights, learnt)
    rules = designed(labels)
    if row.how != "soft":
        return [Hard(rule, name) for name, rule in rules]
    local = ((name, rule) for name, rule in rules if name != ONCE)
    return [Soft(rule, weights[0], name) for name, rule in local if weights[0]]


def answers(cell: Cell, kept: Stages, tell: Tell) -> Answers:
    """The cell's record and answers, computed now or read from their stage."""
    inputs = {
        "corpus": loaded(cell.corpus, kept).sha256,
        "seed": cell.seed,
        "size": cell.size,
        "base": cell.base.to_dict(),
        "rows": [[r.name, r.how, r.designed, [recipe.to_dict() for recipe in r.recipes]] for r in cell.rows],
        "beam": cell.beam,
    }

    def make(folder: Path) -> None:
        _answer(cell, kept, folder, tell)

    return kept.keep(
        "citation", inputs, make, lambda folder: read_answers(folder, [*map(len, cell.test(kept))])
    )


def _answer(cell: Cell, kept: Stages, folder: Path, tell: Tell) -> None:
    """Computes the answers of a cell and writes them into the folder of their stage."""
    indices = cell.split(kept)
    on_dev_of = cell.references(indices.dev, kept)
    train = cell.train(kept)
    model, training = base_model(cell.base, train, kept, lambda share, what: tell(0.3 * share, what))
    learnt = constraints(cell, recipes_of(cell.rows), kept, lambda share, what: tell(0.3 + 0.2 * share, what))
    dev, test = Part.of(model, on_dev_of), Part.of(model, cell.test(kept))
    found: dict[str, Ints] = {}
    on_dev: dict[str, Ints] = {}
    chosen: dict[str, list[float]] = {}
    sizes: dict[str, int] = {}
    for i, row in enumerate(cell.rows):
        tell(0.5 + 0.5 * i / len(cell.rows), row.name)

        plain = baseline_scores(row, train, dev, kept) if row.is_baseline else []
        if row.is_baseline:
            sizes[row.name] = sum(one.parameters for one in plain)

        def answer(
            part: Part, weights: Weights, row: TableRow = row, plain: Sequence[WindowScores] = plain
        ) -> Ints:
            if row.is_baseline:
                return predict_baseline(plain, weights, part)
            used = chosen_uses(row, weights, learnt, model.labels)
            return predict(row, used, part.batch, part.xs, cell.beam)

        def right(weights: Weights, answer: Callable[[Part, Weights], Ints] = answer) -> Ints:
            return dev.right(answer(dev, weights))

        weights: Weights = ()
        if row.how == "soft" or row.is_baseline:
            weights = default_weights(row, cell.base.name)
            if row.how != PENALTIES:
                weights = choose_weights(right, weights)
            if row.how == "soft" and not row.designed:
                on_dev[row.name] = right(weights)
        found[row.name] = answer(test, weights)
        chosen[row.name] = list(weights)
    pick = _chosen_row(on_dev)
    found[CHOSEN], chosen[CHOSEN] = found[pick], chosen[pick]
    lengths = test.lengths
    more = {row: {WHOLE: float(100 * (test.right(one) == lengths).mean())} for row, one in found.items()}
    facts: dict[str, Any] = {
        "model": cell.base.to_dict(),
        "references": {"train": len(train), "dev": len(on_dev_of), "test": len(test.sentences)},
        "training": dict(training),
        "parameters": model.parameters,
        "constraints": facts_of(learnt, on_dev_of),
        "rows of": {row.name: [recipe.name for recipe in row.recipes] for row in cell.rows},
        "baselines": sizes,
        "weights": chosen,
        "chosen": pick,
    }
    at = {"base": cell.base.name, "size": cell.size, "seed": cell.seed}
    unseen = unseen_tokens(SPLIT_BY, train, test.sentences)
    write_answers(folder, cell, at, facts, test, found, more, F1, runs_as_iob2, indices.test, unseen)


def _chosen_row(on_dev: Mapping[str, Ints]) -> str:
    """The soft row that is chosen on dev: windows of clues and POS tags, unless another is clearly better;
    `exact` if there is no soft row."""
    names = list(on_dev)
    if not names:
        return EXACT
    default = names.index(POS_CLUES_ROW) if POS_CLUES_ROW in names else len(names) - 1
    return names[choose([on_dev[name] for name in names], default)]
