"""`lcons run citation`: the cells, how they are filled, and the document of a run.

Paper: Sec. 5 and 5.1, Table 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from lcons_tasks.experiments.citation._constraints import (
    CLUES_ROW,
    COMBINATIONS,
    DECODERS,
    POS_CLUES_ROW,
    WINDOWS_ROW,
    choices,
    parser_weights,
    rows_of,
)
from lcons_tasks.experiments.citation._constraints import PAPER as PAPER_FEATURES
from lcons_tasks.experiments.citation._corpus import BUNDLED, load_corpus
from lcons_tasks.experiments.citation._model import BASES, BaseModel
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._blocks import render
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._labelling import (
    LabellingCell,
    LabellingExperiment,
    Parts,
    Right,
    Setting,
)
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.experiments.engine._rows import ACCURACY, EXACT, TableRow
from lcons_tasks.experiments.engine._run import RunOptions, corpus_named, option
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.report._document import Claim, Document
from lcons_tasks.stats import runs_as_iob2

PAPER = blocks.read_paper(__file__)
PAPERS = "cora"
# The paper's accuracies by base model and row.
STATED: dict[str, dict[str, float]] = {
    "words": PAPER["accuracy"],
    "words-brief": PAPER["accuracy"],
    "words+pos": PAPER["with pos"],
}

# Processor seconds per cell.
_A_CELL = 25.0

# The base model of the parser is the first of these that was run.
PARSERS = ("reference", "words", "words-brief", "words+pos")

# Read once per process.
corpus_of = lru_cache(maxsize=2)(load_corpus)


@dataclass(frozen=True)
class Cell(LabellingCell):
    """A split of a corpus by seed, a base model, and the rows to fill."""

    corpus: str
    seed: int
    base: BaseModel
    rows: tuple[TableRow, ...]
    beam: int = 50
    first: bool = False
    spans: ClassVar[str] = "field f1"

    def __str__(self) -> str:
        return f"split {self.seed}"

    @staticmethod
    def as_iob(labels: Sequence[str]) -> Sequence[str]:
        return runs_as_iob2(labels)

    @property
    def place(self) -> str:
        return f"split{self.seed}"

    def parts(self, kept: Stages) -> Parts:
        corpus = corpus_of(self.corpus, kept)
        train, dev, test = ([corpus.references[i] for i in part] for part in corpus.split(self.seed))
        return train, dev, test

    def units(self, kept: Stages) -> Sequence[int]:
        return corpus_of(self.corpus, kept).split(self.seed)[2]

    def model(self, kept: Stages) -> Tagger:
        return self.base.train(self.parts(kept)[0], kept)

    def choices(self, right: Right) -> dict[str, Setting]:
        return choices(self.rows, self.base.name, right)

    def facts(self, kept: Stages) -> dict[str, Any]:
        sizes = zip(("train", "dev", "test"), map(len, self.parts(kept)), strict=True)
        return {"references": dict(sizes)}

    def about(self, kept: Stages) -> dict[str, Any]:
        corpus = corpus_of(self.corpus, kept)
        facts = {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "references": len(corpus.references),
            "pos": corpus.tagger,
        }
        return {"corpus": facts}


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run; the defaults are those of a quick run."""

    corpus: str = option(
        BUNDLED,
        "--corpus",
        "bundled, cora, anystyle, a file, or auto (cora if found, otherwise bundled).",
        default="auto",
    )
    seeds: tuple[int, ...] = option(
        (1, 2, 3, 4, 5), "--seed", "Seed of a split; repeat for several.", least=0
    )
    bases: tuple[str, ...] = option(
        ("words", "reference"), "--base", "Base model; repeat for several.", choices=tuple(BASES)
    )
    decoders: tuple[str, ...] = option(
        ("exact", "search", "constrained-search", "soft", "baselines"),
        "--decoder",
        "Rows of the tables; repeat for several.",
        choices=DECODERS,
    )
    hidden: tuple[int, ...] = (10,)
    beam: int = 50

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """A run of one or two minutes; with `full`, the paper's whole table and additional rows."""
        name = corpus_named(corpus, PAPERS)
        if full:
            bases = ("words", "words-brief", "words+pos", "reference")
            return cls(name, bases=bases, decoders=DECODERS, hidden=(10, 5, 8))
        return cls(name, bases=("words", "words-brief", "reference")) if name == PAPERS else cls(name)


class Citation(LabellingExperiment[Options, Cell]):
    """Label the fields of bibliographic references, and measure what learned constraints add.

    Uses Cora if `lcons data list` finds it, otherwise a small corpus that comes with lcons. Finished stages
    are kept: a stopped run continues where it stopped, with the same result. Also writes a parser for `lcons
    parse`.

    \b
    Example:
      lcons run citation --corpus bundled --seed 1 --base words --decoder soft
    """

    name = "citation"
    options = Options
    leaves = ("constraints", "predictions", "parser")

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill. Only the first base model has K other than 10."""
        return [
            Cell(
                options.corpus,
                seed,
                BASES[name],
                tuple(rows_of(options.decoders, options.hidden if name == options.bases[0] else ())),
                options.beam,
                (name, seed) == (options.bases[0], options.seeds[0]),
            )
            for name in options.bases
            for seed in options.seeds
        ]

    def cost(self, cell: Cell) -> float:
        return _A_CELL

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraints, the predictions, and a parser: the strongest base model of the first split
        and all training references, under soft clues, which need no POS tags; without constraints if the run
        has no soft rows."""
        super().leave(folder, options, record, kept)
        name = next(name for name in PARSERS if name in options.bases)
        cell = next(cell for cell in self.cells(options) if cell.base.name == name)
        rows = {row.name: row for row in cell.rows}
        row = rows.get(CLUES_ROW, rows[EXACT])
        cell.tagger((row, parser_weights(row, name)), kept).save(folder / "parser")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: results by base model, with field F1 first."""
        return render(
            self,
            record.facts["corpus"]["name"],
            options=options,
            record=record,
            paper=PAPER,
            stated=STATED,
            soft_rows=(WINDOWS_ROW, POS_CLUES_ROW),
            checked=claims,
        )


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record as far as it has the rows."""
    singles = [f"{name} search" for name in PAPER_FEATURES if record.has(f"{name} search")]
    combined = [f"{name} search" for name in COMBINATIONS if record.has(f"{name} search")]
    checked = blocks.check(record, PAPER["claims"])
    if singles and combined:
        single, both = (max(record.mean(row, ACCURACY) for row in rows) for rows in (singles, combined))
        text = "combining constraints helps (the best combination beats the best single feature)"
        checked.append(Claim(text, both > single, f"{both:.2f} against {single:.2f}"))
    for row in singles:
        figures = {
            other.partition(" K=")[2] or "10": record.mean(other, ACCURACY)
            for other in record.rows
            if other.partition(" K=")[0] == row
        }
        if len(figures) > 1:
            spread = max(figures.values()) - min(figures.values())
            shown = ", ".join(f"K = {K}: {value:.2f}" for K, value in figures.items())
            name = row.removesuffix(" search")
            checked.append(Claim(f"K hardly matters ({name}: within half a point)", spread <= 0.5, shown))
    return checked


EXPERIMENT = Citation()
