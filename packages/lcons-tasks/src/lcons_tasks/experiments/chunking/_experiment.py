"""`lcons run chunking`: the cells, how they are filled, and the document of a run.

Paper: Sec. 6 and 6.1, Table 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from lcons_tasks.experiments.chunking._constraints import (
    DECODERS,
    DEFAULT_ROW,
    LARGER_ROW,
    choices,
    rows_of,
)
from lcons_tasks.experiments.chunking._corpus import PARTS, load_corpus
from lcons_tasks.experiments.chunking._model import BASES, BaseModel
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._blocks import percent, render
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._labelling import (
    LabellingCell,
    LabellingExperiment,
    Parts,
    Right,
    Setting,
)
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.experiments.engine._rows import ACCURACY, EXACT, TableRow, recipe
from lcons_tasks.experiments.engine._run import RunOptions, corpus_named, option
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.models._word_vectors import WordVectors, find_vectors
from lcons_tasks.report._document import Claim, Document, TableCell

PAPER = blocks.read_paper(__file__)
WORDS, WORDS_AND_POS = "bilstm", "bilstm+pos"
PAPERS = "conll2000"

# Processor seconds per cell, and additional seconds per training sentence.
_A_CELL, _A_SENTENCE = 20.0, 0.05

# Read once per process.
corpus_of = lru_cache(maxsize=2)(load_corpus)
vectors_found = lru_cache(maxsize=1)(find_vectors)


@dataclass(frozen=True)
class Cell(LabellingCell):
    """A share of a corpus, a seed, a base model, and the rows to fill."""

    corpus: str
    ratio: float
    seed: int
    base: BaseModel
    rows: tuple[TableRow, ...]
    beam: int = 10
    first: bool = False
    spans: ClassVar[str] = "chunk f1"
    coordinates: ClassVar[tuple[str, ...]] = ("ratio", "seed")

    def __str__(self) -> str:
        return f"{100 * self.ratio:g}%, seed {self.seed}"

    @property
    def place(self) -> str:
        return f"{100 * self.ratio:g}%-seed{self.seed}"

    @property
    def vectors(self) -> WordVectors | None:
        """The word vectors that its model reads."""
        return vectors_found() if self.base.reads_vectors else None

    def parts(self, kept: Stages) -> Parts:
        corpus = corpus_of(self.corpus)
        return *corpus.subset(self.ratio), corpus.test

    def model(self, kept: Stages) -> Tagger:
        return self.base.train(*self.parts(kept)[:2], self.vectors, self.seed, kept)

    def choices(self, right: Right) -> dict[str, Setting]:
        return choices(self.rows, "pos" in self.base.columns, right)

    def facts(self, kept: Stages) -> dict[str, Any]:
        train, dev, _ = self.parts(kept)
        return {"sentences": len(train), "dev sentences": len(dev)}

    def about(self, kept: Stages) -> dict[str, Any]:
        corpus, vectors = corpus_of(self.corpus), self.vectors
        facts = {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "sentences": {part: len(getattr(corpus, part)) for part in PARTS},
        }
        return {
            "corpus": facts,
            "vectors": vectors and {"name": vectors.name, "sha256": vectors.sha256},
        }


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run; the defaults are those of a quick run."""

    corpus: str = option(
        "bundled",
        "--corpus",
        "bundled, conll2000, a folder, or auto (conll2000 if found, otherwise bundled).",
        default="auto",
    )
    ratios: tuple[float, ...] = option(
        (1.0,), "--ratio", "Share of the training data, such as 0.01; repeat for several.", least=0, most=1
    )
    seeds: tuple[int, ...] = option(
        (1, 2, 3, 4, 5), "--seed", "Seed of the random numbers; repeat for several.", least=0
    )
    bases: tuple[str, ...] = option(
        (WORDS,), "--base", "Base model; repeat for several.", choices=tuple(BASES)
    )
    constraints: tuple[str, ...] = ("pos:3",)
    hidden: int = 10
    beam: int = 10
    decoders: tuple[str, ...] = option(
        DECODERS, "--decoder", "Rows of the tables; repeat for several.", choices=DECODERS
    )

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """A run of about a minute: the whole mini corpus, or a small part of a large one. With `full`, the
        paper's whole table and additional rows."""
        name = corpus_named(corpus, PAPERS)
        mini = name == "bundled"
        if not full:
            return cls(name) if mini else cls(name, (0.01, 0.05), (1, 2))
        return cls(
            name,
            (0.25, 0.5, 1.0) if mini else tuple(PAPER["ratios"]),
            (1, 2, 3, 4, 5) if mini else (1, 2),
            (WORDS, WORDS_AND_POS),
            ("existence:2", "existence:3", "pos:3", "pos:4"),
        )


class Chunking(LabellingExperiment[Options, Cell]):
    """Label chunks with few labelled sentences, and measure what learned constraints add.

    Uses CoNLL-2000 if `lcons data list` finds it, otherwise a small corpus that comes with lcons. Finished
    stages are kept: a stopped run continues where it stopped, with the same result.

    \b
    Example:
      lcons run chunking --corpus bundled --ratio 0.5 --seed 1 --base linear
    """

    name = "chunking"
    options = Options
    leaves = ("constraints", "predictions", "tagger")

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill."""
        rows = tuple(
            rows_of([recipe(text, options.hidden) for text in options.constraints], options.decoders)
        )
        shown = (options.bases[0], min(options.ratios), options.seeds[0])
        return [
            Cell(
                options.corpus,
                ratio,
                seed,
                BaseModel.tuned(base, options.corpus, ratio),
                rows,
                options.beam,
                (base, ratio, seed) == shown,
            )
            for base in options.bases
            for ratio in options.ratios
            for seed in options.seeds
        ]

    def cost(self, cell: Cell) -> float:
        return _A_CELL + _A_SENTENCE * len(corpus_of(cell.corpus).train) * cell.ratio

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraints, the predictions, and the chunker of the first seed with the most data,
        under the constraints that were chosen on dev."""
        super().leave(folder, options, record, kept)
        cells = [cell for cell in self.cells(options) if cell.base.name == options.bases[0]]
        most = max(cells, key=lambda cell: cell.ratio)
        most.tagger(most.answers(kept).chosen, kept).save(folder / "tagger")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: results by base model, with chunk F1 first."""
        least = min(record.where(base=record.first.at["base"]).by("ratio"))
        by_ratio = sorted(record.cells, key=lambda cell: (cell.at["ratio"] != least, cell.at["ratio"]))
        return render(
            self,
            record.facts["corpus"]["name"],
            options=options,
            record=record,
            soft_rows=(DEFAULT_ROW, LARGER_ROW),
            stated=stated,
            papers_best=_papers_best,
            checked=claims,
            by_ratio=by_ratio,
        )


def stated(groups: Mapping[str, Record]) -> dict[str, dict[str, float]]:
    """The paper's accuracies by group and row; its chunker is a BiLSTM-CRF that reads words."""
    places = {
        where: PAPER["ratios"].index(cells.first.at["ratio"])
        for where, cells in groups.items()
        if cells.first.at["base"] == WORDS and cells.first.at["ratio"] in PAPER["ratios"]
    }
    accuracy: dict[str, list[float]] = PAPER["accuracy"]
    return {where: {row: values[i] for row, values in accuracy.items()} for where, i in places.items()}


def _papers_best(groups: Mapping[str, Record]) -> list[list[TableCell]]:
    """The paper's best row, as a further row of the table of accuracies."""
    figures = stated(groups)
    best = [max(figures[where].values()) if where in figures else None for where in groups]
    return [["paper's best row", *best]] if figures else []


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record as far as it has the rows."""
    checked = blocks.check(record, PAPER["claims"], "ratio")
    ratios = sorted(record.by("ratio"))
    if record.has("pos-3 search", EXACT) and len(ratios) > 1:
        first, last = (
            record.where(ratio=ratio).gain("pos-3 search", EXACT, ACCURACY)
            for ratio in (ratios[0], ratios[-1])
        )
        text = "the gain of constraints (POS n = 3, over exact) shrinks as data grow"
        figures = f"{percent(ratios[0])} {first}, {percent(ratios[-1])} {last}"
        checked.append(Claim(text, first.mean > last.mean, figures))
    return checked


EXPERIMENT = Chunking()
