"""`lcons run citation`: the cells, how they are filled, and the document of a run.

Paper: Sec. 5 and 5.1, Table 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.experiments.citation._answers import Cell, loaded
from lcons_tasks.experiments.citation._constraints import (
    CLUES_ROW,
    COMBINATIONS,
    DECODERS,
    POS_CLUES_ROW,
    WINDOWS_ROW,
    parser_weights,
    rows_of,
)
from lcons_tasks.experiments.citation._constraints import PAPER as PAPER_FEATURES
from lcons_tasks.experiments.citation._corpus import BUNDLED, read_labelled, trained_on
from lcons_tasks.experiments.citation._model import BASES
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, corpus_named, option
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._labelling import changes, leave_files, shared_work
from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell
from lcons_tasks.experiments.engine._rows import ACCURACY, CHOSEN, EXACT, uses
from lcons_tasks.experiments.engine._template import render
from lcons_tasks.report._document import Claim, Curve, Document, Table

PAPER = blocks.read_paper(__file__)
PAPERS = "cora"
CURVE = (5, 10, 20, 50, 100)
CURVE_ROWS = (EXACT, WINDOWS_ROW, POS_CLUES_ROW)

# Processor seconds per cell of the tables, and per cell of a learning curve.
_A_CELL, _OF_CURVE = 25.0, 6.0

# The base model of the parser is the first of these that was run.
PARSERS = ("reference", "words", "words-brief", "words+pos")


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run; the defaults are those of a quick run. `sizes` are the numbers of training
    references of a learning curve, besides all of them; its cells have only the rows of `CURVE_ROWS`."""

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
    sizes: tuple[int, ...] = ()
    beam: int = 50

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """A run of one or two minutes; with `full`, the paper's whole table and additional rows."""
        name = corpus_named(corpus, PAPERS)
        if full:
            bases = ("words", "words-brief", "words+pos", "reference")
            return cls(name, bases=bases, decoders=DECODERS, hidden=(10, 5, 8), sizes=CURVE)
        return cls(name, bases=("words", "words-brief", "reference")) if name == PAPERS else cls(name)


class Citation(Experiment[Options, Cell]):
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
        """The cells to fill: first those of the tables, then those of the learning curves. Only the first
        base model has K other than 10. Sizes of the usual curve that exceed the corpus are left out."""
        whole = trained_on(len(read_labelled(options.corpus)[1]))
        curve = tuple(row for row in rows_of(("exact", "soft")) if row.name in CURVE_ROWS)
        cells = []
        for i, name in enumerate(options.bases):
            rows = tuple(rows_of(options.decoders, options.hidden if i == 0 else ()))
            cells += [
                Cell(options.corpus, seed, None, BASES[name], rows, options.beam, whole, i == k == 0)
                for k, seed in enumerate(options.seeds)
            ]
        return cells + [
            Cell(options.corpus, seed, size, BASES[name], curve, options.beam, size)
            for name in options.bases
            for size in options.sizes
            if size < whole or size not in CURVE
            for seed in options.seeds
        ]

    def cost(self, cell: Cell) -> float:
        return _A_CELL if cell.size is None else _OF_CURVE

    def shared(self, options: Options, kept: Stages) -> list[tuple[str, Callable[[], object]]]:
        loaded(options.corpus, kept)
        return shared_work(self.cells(options), kept)

    def fill(self, cell: Cell, kept: Stages) -> Record:
        record = cell.answers(kept).record
        if cell.first:
            record = record.with_facts(examples=changes(cell, record.first.facts["chosen"], kept))
        corpus = loaded(cell.corpus, kept)
        about = {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "references": len(corpus.references),
            "pos": corpus.tagger,
        }
        return Record(record.cells, {"corpus": about})

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraints, the predictions, and a parser: the strongest base model of the first split
        and all training references, under soft clues, which need no POS tags; without constraints if the run
        has no soft rows."""
        cells = self.cells(options)
        leave_files(folder, cells, kept)
        name = next(name for name in PARSERS if name in options.bases)
        one = next(cell for cell in cells if cell.size is None and cell.base.name == name)
        chosen = [
            use
            for row in one.rows
            if row.name == CLUES_ROW
            for use in uses(row, parser_weights(row, name), one.constraints(row.recipes, kept))
        ]
        parser = ConstrainedTagger(one.model(kept), tuple(chosen), "exact" if chosen else "viterbi")
        parser.save(folder / "parser")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: results by base model, with field F1 first."""
        samples: dict[str, RecordCell] = {}
        for cell in sorted(record.cells, key=lambda cell: cell.at["size"] is not None):
            samples.setdefault(cell.name.removeprefix(f"{cell.at['base']}-"), cell)
        return render(
            self,
            record.facts["corpus"]["name"],
            options=options,
            record=record,
            paper=PAPER,
            stated=stated,
            soft_rows=(WINDOWS_ROW, POS_CLUES_ROW),
            curve_rows=(*CURVE_ROWS, CHOSEN),
            choices=_choices,
            mean=mean,
            gains_over_exact=_gains_over_exact,
            by_size=_by_size,
            fewer=_fewer,
            learning_curve=_curve,
            checked=claims,
            one_per_sample=samples.values(),
        )


def stated(row: str, measure: str, at: Mapping[str, Coordinate]) -> float | None:
    """The paper's figure for a row of a base model; None if it has none."""
    if measure != ACCURACY or at["base"] == "reference":
        return None
    figures: dict[str, float] = PAPER["with pos" if at["base"] == "words+pos" else "accuracy"]
    return figures.get(row)


def _choices(record: Record) -> str:
    """The rows and weights that were chosen on dev."""
    picks = zip(record.told("chosen"), record.told("weights", CHOSEN), strict=True)
    return "; ".join(
        f"{row} ({', '.join(f'{w:g}' for w in weights)})" if weights else row for row, weights in picks
    )


def _gains_over_exact(
    caption: str, records: Mapping[str, Record], rows: Sequence[str], measure: str
) -> Table:
    lines = [
        [row, *(own.gain(row, EXACT, measure) if own.has(row) else None for own in records.values())]
        for row in rows
        if row != EXACT
    ]
    return blocks.table(caption, ("decoder", *records), lines)


def _trained_on(cell: RecordCell) -> int:
    size: int = cell.facts["references"]["train"]
    return size


def _by_size(record: Record) -> dict[str, Record]:
    """The cells by the number of their training references."""
    sizes = sorted(set(map(_trained_on, record.cells)))
    return {
        f"{size:,} references": Record(tuple(c for c in record.cells if _trained_on(c) == size))
        for size in sizes
    }


def _fewer(record: Record, place: str) -> dict[str, Record]:
    """The cells of the learning curve by their places, but not those of all training references."""
    groups = (own for own in _by_size(record).values() if own.first.at["size"] is not None)
    return {place.format(**own.first.at, **own.first.facts): own for own in groups}


def _curve(record: Record) -> Curve:
    lines = {
        f"{name}, {row}": {
            float(_trained_on(one.first)): one.mean(row, ACCURACY) for one in _by_size(own).values()
        }
        for name, own in record.by("base").items()
        for row in (EXACT, CHOSEN)
    }
    caption = f"Token accuracy by number of training references, corpus {record.facts['corpus']['name']}"
    return Curve(caption, "training references", "token accuracy (%)", lines)


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record as far as it has the rows."""
    singles = [f"{name} search" for name in PAPER_FEATURES if record.has(f"{name} search")]
    combined = [f"{name} search" for name in COMBINATIONS if record.has(f"{name} search")]
    beats = [
        {
            "text": f"every constrained search beats {over}",
            "rows": [*singles, *combined],
            "measure": ACCURACY,
            "over": over,
            "above": 0.0,
        }
        for over in ("exact", "search")
        if singles
    ]
    checked = blocks.check(record, beats)
    if singles and combined:
        single, both = (max(record.mean(row, ACCURACY) for row in rows) for rows in (singles, combined))
        text = "combining constraints helps (the best combination beats the best single feature)"
        checked.append(Claim(text, both > single, f"{both:.2f} against {single:.2f}"))
    checked += blocks.check(record, PAPER["claims"])
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
