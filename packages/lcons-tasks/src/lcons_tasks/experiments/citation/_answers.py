"""One cell of the experiment, a split and a base model: train, learn, choose weights on dev, decode the test.

The base model and the constraints learn from the same references and from nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from lcons_core import Recipe
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.citation._constraints import POS_CLUES_ROW, SPLIT_BY, default_weights
from lcons_tasks.experiments.citation._corpus import CitationCorpus, Split, load_corpus, split
from lcons_tasks.experiments.citation._model import BaseModel, base_model
from lcons_tasks.experiments.engine._choice import Weights, choose, choose_weights
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._labelling import Answers, Decoding, LabellingCell
from lcons_tasks.experiments.engine._rows import CHOSEN, EXACT, PENALTIES, TableRow
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.stats import runs_as_iob2

F1, WHOLE = "field f1", "whole"


@dataclass(frozen=True)
class Cell(LabellingCell):
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
    spans: ClassVar[str] = F1
    split_by: ClassVar[Recipe] = SPLIT_BY

    def __str__(self) -> str:
        return f"split {self.seed}" + ("" if self.size is None else f", {self.size} references")

    @staticmethod
    def as_iob(labels: Sequence[str]) -> Sequence[str]:
        return runs_as_iob2(labels)

    @property
    def sample(self) -> tuple[int, int | None]:
        return self.seed, self.size

    @property
    def place(self) -> str:
        return f"{self.trained_on}-split{self.seed}"

    def split(self, kept: Stages) -> Split:
        """The indices of its references in the corpus."""
        return split(loaded(self.corpus, kept), self.seed, self.size)

    def parts(self, kept: Stages) -> tuple[Sequence[Sentence], Sequence[Sentence], Sequence[Sentence]]:
        references, indices = loaded(self.corpus, kept).references, self.split(kept)
        train, dev, test = (
            [references[i] for i in part] for part in (indices.train, indices.dev, indices.test)
        )
        return train, dev, test

    def model(self, kept: Stages) -> Tagger:
        return base_model(self.base, self.parts(kept)[0], kept)[0]

    def fill(self, kept: Stages) -> Answers:
        return _answers(self, kept)


@lru_cache(maxsize=2)
def loaded(name: str, kept: Stages) -> CitationCorpus:
    """The corpus, read once per process."""
    return load_corpus(name, kept)


def _answers(cell: Cell, kept: Stages) -> Answers:
    """The answers of a cell, with the weights that are chosen on dev."""
    decoding = Decoding(cell, kept)
    dev, test = decoding.dev, decoding.test
    found: dict[str, Ints] = {}
    on_dev: dict[str, Ints] = {}
    chosen: dict[str, list[float]] = {}
    for row in cell.rows:

        def right(weights: Weights, row: TableRow = row) -> Ints:
            return dev.right(decoding.predict(row, weights, dev))

        weights: Weights = ()
        if row.how == "soft" or row.is_baseline:
            weights = default_weights(row, cell.base.name)
            if row.how != PENALTIES:
                weights = choose_weights(right, weights)
            if row.how == "soft" and not row.designed:
                on_dev[row.name] = right(weights)
        found[row.name] = decoding.predict(row, weights, test)
        chosen[row.name] = list(weights)
    pick = _chosen_row(on_dev)
    found[CHOSEN], chosen[CHOSEN] = found[pick], chosen[pick]
    more = {row: {WHOLE: float(100 * (test.right(y) == test.lengths).mean())} for row, y in found.items()}
    sizes = {"train": len(decoding.train), "dev": len(dev.sentences), "test": len(test.sentences)}
    facts: dict[str, Any] = {
        "references": sizes,
        "training": dict(base_model(cell.base, decoding.train, kept)[1]),
        "weights": chosen,
        "chosen": pick,
    }
    at = {"base": cell.base.name, "size": cell.size, "seed": cell.seed}
    return decoding.answers(at, facts, found, more, cell.split(kept).test)


def _chosen_row(on_dev: Mapping[str, Ints]) -> str:
    """The soft row that is chosen on dev: windows of clues and POS tags, unless another is clearly better;
    `exact` if there is no soft row."""
    names = list(on_dev)
    if not names:
        return EXACT
    default = names.index(POS_CLUES_ROW) if POS_CLUES_ROW in names else len(names) - 1
    return names[choose([on_dev[name] for name in names], default)]
