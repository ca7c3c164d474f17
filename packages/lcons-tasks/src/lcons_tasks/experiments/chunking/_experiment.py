"""`lcons run chunking`: the cells, how they are filled, and the document of a run.

Paper: Sec. 6 and 6.1, Table 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.experiments.chunking._answers import (
    DEFAULT_ROW,
    Cell,
    corpus_and_vectors,
)
from lcons_tasks.experiments.chunking._constraints import (
    DECODERS,
    equal_weights,
    rows_of,
)
from lcons_tasks.experiments.chunking._corpus import PARTS, SUBSETS
from lcons_tasks.experiments.chunking._model import BASES, tuned
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._blocks import percent
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, corpus_named, option
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._labelling import changes, leave_files, shared_work
from lcons_tasks.experiments.engine._recipes import recipe
from lcons_tasks.experiments.engine._record import Coordinate, Record
from lcons_tasks.experiments.engine._rows import ACCURACY, CHOSEN, EXACT, uses
from lcons_tasks.experiments.engine._template import render
from lcons_tasks.report._document import Claim, Curve, Document, TableCell

PAPER = blocks.read_paper(__file__)
BEST = "paper's best row"
WORDS, WORDS_AND_POS = "bilstm", "bilstm+pos"
PAPERS = "conll2000"

# Processor seconds per cell, and additional seconds per training sentence.
_A_CELL, _A_SENTENCE = 20.0, 0.05

# Pairs of rows: the report has the gain of the first over the second.
GAINS = (
    (CHOSEN, "exact"),
    (CHOSEN, "search"),
    ("pos-3 search", "exact"),
    ("pos-3 search", "search"),
    ("pos-4 search", "search"),
    ("existence-2 search", "search"),
    ("existence-3 search", "search"),
)
# The soft rows that are compared with their baselines.
COMPARED = (DEFAULT_ROW, "soft pos-1+2+3")
IN_CURVE = (EXACT, "search", "pos-3 search", CHOSEN)


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run; the defaults are those of a quick run. `lean`: base models after the first one
    use only the first kind of subset."""

    corpus: str = option(
        "bundled",
        "--corpus",
        "bundled, conll2000, a folder, or auto (conll2000 if found, otherwise bundled).",
        default="auto",
    )
    ratios: tuple[float, ...] = option(
        (1.0,), "--ratio", "Share of the training data, such as 0.01; repeat for several.", least=0, most=1
    )
    subsets: tuple[str, ...] = ("first",)
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
    lean: bool = False

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """A run of about a minute: the whole mini corpus, or a small part of a large one. With `full`, the
        paper's whole table and additional rows."""
        name = corpus_named(corpus, PAPERS)
        mini = name == "bundled"
        if not full:
            return cls(name) if mini else cls(name, (0.01, 0.05), seeds=(1, 2))
        return cls(
            name,
            (0.25, 0.5, 1.0) if mini else tuple(PAPER["ratios"]),
            SUBSETS,
            (1, 2, 3, 4, 5) if mini else (1, 2),
            (WORDS, WORDS_AND_POS),
            ("existence:2", "existence:3", "pos:3", "pos:4"),
            lean=True,
        )


class Chunking(Experiment[Options, Cell]):
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
        """The cells to fill. All kinds of subsets have the same sample at ratio 1, so it is used once."""
        hard = [recipe(text, options.hidden) for text in options.constraints]
        rows, least = tuple(rows_of(hard, options.decoders)), min(options.ratios)
        shown = (options.subsets[0], options.bases[0], least, options.seeds[0])
        return [
            Cell(
                options.corpus,
                kind,
                ratio,
                seed,
                tuned(base, options.corpus, ratio),
                rows,
                options.beam,
                (kind, base, ratio, seed) == shown,
            )
            for kind in options.subsets
            for base in options.bases
            for ratio in options.ratios
            for seed in options.seeds
            if kind == options.subsets[0] or (ratio < 1 and not (options.lean and base != options.bases[0]))
        ]

    def cost(self, cell: Cell) -> float:
        return _A_CELL + _A_SENTENCE * len(corpus_and_vectors(cell.corpus)[0].train) * cell.ratio

    def shared(self, options: Options, kept: Stages) -> list[tuple[str, Callable[[], object]]]:
        cells = self.cells(options)
        corpus_and_vectors(options.corpus, any(cell.base.reads_vectors for cell in cells))
        return shared_work(cells, kept)

    def fill(self, cell: Cell, kept: Stages) -> Record:
        record = cell.answers(kept).record
        if cell.first:
            record = record.with_facts(examples=changes(cell, _pick(record)["row"], kept))
        corpus, vectors = corpus_and_vectors(cell.corpus, cell.base.reads_vectors)
        about = {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "sentences": {part: len(getattr(corpus, part)) for part in PARTS},
        }
        facts = {"corpus": about, "vectors": None if vectors is None else vectors.name}
        return Record(record.cells, facts)

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraints, the predictions, and the chunker of the first seed with the most data,
        under the constraints that were chosen on dev."""
        cells = self.cells(options)
        leave_files(folder, cells, kept)
        first = cells[0].base.name, cells[0].subset
        most = max((c for c in cells if (c.base.name, c.subset) == first), key=lambda cell: cell.ratio)
        pick = _pick(most.answers(kept).record)
        row = next(row for row in most.rows if row.name == pick["row"])
        weights = equal_weights(pick["weight"], len(row.recipes))
        chosen = uses(row, weights, most.constraints(row.recipes, kept))
        decoder = {"viterbi": "viterbi", "beam": "beam"}.get(row.how, "exact")
        ConstrainedTagger(most.model(kept), tuple(chosen), decoder, most.beam).save(folder / "tagger")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: results by base model and subset, with chunk F1 first."""
        least = min(record.where(**_first_part(record)).by("ratio"))
        by_ratio = sorted(record.cells, key=lambda cell: (cell.at["ratio"] != least, cell.at["ratio"]))
        samples = {cell.name.removeprefix(f"{cell.at['base']}-"): cell for cell in reversed(by_ratio)}
        return render(
            self,
            record.facts["corpus"]["name"],
            options=options,
            record=record,
            paper=PAPER,
            compared=GAINS,
            soft_rows=COMPARED,
            stated=stated,
            more_rows=_more_rows,
            learning_curve=_curve,
            checked=claims,
            one_per_sample=[cell for cell in by_ratio if cell in samples.values()],
        )


def _first_part(record: Record) -> dict[str, Coordinate]:
    """The coordinates of the first base model and subset."""
    return {name: record.first.at[name] for name in ("base", "subset")}


def _pick(record: Record) -> Mapping[str, Any]:
    """The row and weight that were chosen on dev in a cell."""
    choice: Mapping[str, Any] = record.first.facts["choices"][CHOSEN]["cut dev"]
    return choice


def stated(row: str, measure: str, at: Mapping[str, Coordinate]) -> float | None:
    """The paper's figure; its chunker is a BiLSTM-CRF trained on the first sentences."""
    if (at["base"], at["subset"]) != (WORDS, "first") or at["ratio"] not in PAPER["ratios"]:
        return None
    accuracy: dict[str, list[float]] = PAPER["accuracy"]
    place = PAPER["ratios"].index(at["ratio"])
    return (
        max(values[place] for values in accuracy.values())
        if row == BEST
        else (accuracy[row][place] if row in accuracy else None)
    )


def _more_rows(record: Record, papers: bool) -> list[list[TableCell]]:
    """Further rows of the table of accuracies: a choice on all of dev, and the paper's best row."""
    ratios = record.by("ratio").values()
    rows: list[list[TableCell]] = [
        ["chosen on whole dev", *(cells.figure(CHOSEN, "chosen on whole dev") for cells in ratios)]
    ]
    best = [stated(BEST, ACCURACY, cells.first.at) for cells in ratios]
    return [*rows, [BEST, *best]] if papers and any(best) else rows


def _curve(record: Record, papers: bool) -> Curve | None:
    more: dict[str, dict[float, float]] = {}
    for row in (EXACT, "pos-3 search") if papers else ():
        for cells in record.by("ratio").values():
            value = stated(row, ACCURACY, {**cells.first.at, "base": WORDS, "subset": "first"})
            if value is not None:
                more.setdefault(f"the paper, {row}", {})[float(cells.first.facts["sentences"])] = value
    return blocks.curve(
        f"Token accuracy by number of training sentences, corpus {record.facts['corpus']['name']}",
        "training sentences",
        "token accuracy (%)",
        record,
        lambda cell: cell.facts["sentences"],
        {row: row for row in IN_CURVE},
        ACCURACY,
        more,
    )


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record as far as it has the rows."""
    checked = blocks.check(record, PAPER["claims"], "ratio")
    ratios = sorted(record.by("ratio"))
    if record.has("pos-3 search", EXACT) and len(ratios) > 1:
        ends = {
            r: record.where(ratio=r).gain("pos-3 search", EXACT, ACCURACY) for r in (ratios[0], ratios[-1])
        }
        text = "the gain of constraints (POS n = 3, over exact) shrinks as data grow"
        figures = ", ".join(f"{percent(ratio)} {interval}" for ratio, interval in ends.items())
        checked.append(Claim(text, ends[ratios[0]].mean > ends[ratios[-1]].mean, figures))
    return checked


EXPERIMENT = Chunking()
