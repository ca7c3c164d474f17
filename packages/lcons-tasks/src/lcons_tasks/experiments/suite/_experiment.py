"""`lcons run suite`: the cells, how they are filled, and the document of a run.

Not in the paper: this experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core import InvalidInput
from lcons_tasks.atomic import write_text
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, option
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.experiments.engine._template import render
from lcons_tasks.experiments.suite._answers import FIGURE, Cell, answers
from lcons_tasks.experiments.suite._corpus import BUNDLED, SUITE, has_suite, load_set, set_names
from lcons_tasks.experiments.suite._measures import Gains, better_and_worse
from lcons_tasks.experiments.suite._model import (
    ALL,
    ALL_ENCODED,
    ENCODED,
    MAIN,
    PLAIN,
    PLAIN_ENCODED,
    ROWS,
    TUNED,
)
from lcons_tasks.report._document import Claim, Curve, Document, Figure, Headline, Table, TableCell

FIGURES = "figures.csv"
SIZES, BUNDLED_SIZES = (25, 50, 100, 200), (50,)
STARTS = 3
# Points that a row is to gain over another, on the mean of all cells; None: it is to lose nothing.
WANTED = {
    (ALL, TUNED): 3.0,
    (ALL, PLAIN): None,
    (ALL_ENCODED, PLAIN): 15.0,
    (ALL_ENCODED, ALL): 5.0,
    (ALL_ENCODED, PLAIN_ENCODED): 2.0,
}

# Processor seconds of a row, and additional seconds per labelled sentence; some rows take longer by a factor.
_A_ROW, _A_SENTENCE = 4.0, 0.04
_TIMES = {ALL: 2.5, PLAIN: 0.1}


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run."""

    corpus: str = option(
        BUNDLED,
        "--corpus",
        "bundled, suite (all sets in the data folder), a folder of sets, or auto (suite if found, otherwise"
        " bundled).",
        default="auto",
    )
    sets: tuple[str, ...] = option((), "--set", "Name of a set; repeat for several. Default: all.")
    sizes: tuple[int, ...] = option(
        BUNDLED_SIZES, "--size", "Number of labelled sentences; repeat for several.", least=2
    )
    starts: int = option(STARTS, "--starts", "Number of starting points in each set.", least=1)
    rows: tuple[str, ...] = option(MAIN, "--row", "Row of the tables; repeat for several.", choices=ROWS)
    encoder: str = option(
        "", "--encoder", "A pretrained encoder: more rows, the base and `fit` with its vectors."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        # Every table compares with these.
        rows = tuple(row for row in ROWS if row in (*MAIN, *self.rows))
        object.__setattr__(self, "rows", (*rows, *(ENCODED if self.encoder else ())))

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """The three main rows, on the bundled corpora in about two minutes; with `full`, all rows."""
        name = (SUITE if has_suite() else BUNDLED) if corpus == "auto" else corpus
        sizes = BUNDLED_SIZES if name == BUNDLED else SIZES
        return cls(name, sizes=sizes, rows=ROWS if full else MAIN)


class Suite(Experiment[Options, Cell]):
    """Measure what `fit` gains on many sets, from few labelled sentences and unlabelled text.

    Uses every set in the folder `suite` of the data folder, each a folder with train.conll and
    test.conll, and CoNLL-2000, Cora and AnyStyle; without it, two small corpora that come with lcons.
    Each row of each sample is kept: a stopped run continues where it stopped, with the same result.

    \b
    Example:
      lcons run suite --corpus bundled --set chunking --size 25 --starts 1
    """

    name = "suite"
    options = Options
    leaves = (FIGURES,)

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill; a set has no cells of sizes that leave nothing in its pool."""
        return [
            Cell(options.corpus, name, size, start, options.rows, options.encoder)
            for name in options.sets or set_names(options.corpus)
            for size in options.sizes
            for start in range(options.starts)
            if size < len(load_set(options.corpus, name).pool)
        ]

    def cost(self, cell: Cell) -> float:
        times = sum(_TIMES.get(row, 1.0) for row in cell.rows)
        return times * (_A_ROW + _A_SENTENCE * cell.size)

    def fill(self, cell: Cell, kept: Stages) -> Record:
        record = answers(cell, kept)
        about = {"name": cell.corpus, "part": "test"}
        return Record(record.cells, {"corpus": about})

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the figure of every row of every sample as a table."""
        lines = ["set,N,start,row,figure"]
        for cell in record.cells:
            where = ",".join(str(cell.at[name]) for name in ("set", "size"))
            for row, found in cell.rows.items():
                lines.append(f"{where},{cell.facts['offset']},{row},{found[FIGURE]:.4f}")
        write_text(folder / FIGURES, "\n".join(lines) + "\n")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: the gains by set and size."""
        if not record.cells:
            raise InvalidInput(
                f"every set needs more sentences than the smallest size {min(options.sizes)}: found none;"
                " choose a smaller one."
            )
        return render(
            self,
            options.corpus,
            options=options,
            record=record,
            main_comparison=_headline,
            gains_table=_gains,
            rows_table=_rows,
            curve_over_sizes=_curve,
            checked=claims,
            sets="; ".join(_about(own) for own in record.by("set").values()),
        )


def _headline(record: Record) -> Headline:
    without, within = (Figure((record.mean(row, FIGURE),)) for row in (TUNED, ALL))
    gain = Gains.of(record, ALL, TUNED).mean()
    return Headline(
        "span F1, mean of all samples",
        without,
        within,
        gain,
        "tuned base model with clusters",
        "all parts of fit",
    )


def _gains(record: Record, over: str, named: str, row: str = ALL) -> Table:
    """The gains of a row by set and size, and how many of them are clear."""
    named_row = "all parts" if row == ALL else row
    gains = Gains.of(record, row, over)
    cells = gains.by_sample()
    sizes = list(dict.fromkeys(size for _, size in cells))
    rows = [
        [name, *(cells.get((name, size)) for size in sizes), gains.mean(sets=[name])]
        for name in dict.fromkeys(name for name, _ in cells)
    ]
    rows.append(["mean", *(gains.mean(sizes=[size]) for size in sizes), gains.mean()])
    head = ("set", *(f"N = {size}" for size in sizes), "mean")
    return blocks.table(f"Gains of {named_row} over {named}, in points", head, rows, _clear(gains, named))


def _clear(found: Gains, named: str) -> str:
    """How many samples are clearly better or worse, and the worst one."""
    each, cells = found.each(), found.by_sample()
    (up, down), (better, worse) = better_and_worse(each), better_and_worse(list(cells.values()))
    (name, size), least = min(cells.items(), key=lambda one: one[1].mean)
    return (
        f"Compared with {named}: of {len(cells)} pairs of a set and an N (mean of starting points), {better}"
        f" are significantly better and {worse} worse; of {len(each)} samples, {up} better and {down} worse."
        f" The worst pair is {name} with N = {size}: {least}."
    )


def _rows(record: Record, legend: str) -> Table:
    """Each row: its mean figure, and its mean gains."""
    rows: list[list[TableCell]] = []
    for row in record.rows:
        gains = [None if row == over else Gains.of(record, row, over).mean() for over in (PLAIN, TUNED)]
        plain = Gains.of(record, row, PLAIN)
        up, down = better_and_worse(plain.each())
        clear = None if row == PLAIN else f"{up} / {down} of {len(plain.cells)}"
        rows.append([row, Figure((record.mean(row, FIGURE),)), *gains, clear])
    head = ("row", "mean figure", "gain over plain", "gain over tuned", "samples better / worse than plain")
    return blocks.table("Rows, means over all samples", head, rows, legend)


def _curve(record: Record) -> Curve | None:
    """Mean figures by N, over those sets that have every N."""
    sizes = {cell.at["size"] for cell in record.cells}
    whole = [own for own in record.by("set").values() if {c.at["size"] for c in own.cells} == sizes]
    return blocks.curve(
        "Mean figure by number of labelled sentences",
        "labelled sentences",
        "mean figure (%)",
        Record.joined(whole),
        lambda cell: float(cell.at["size"] or 0),
        {row: row for row in record.rows if row in (*MAIN, *ENCODED)},
        FIGURE,
    )


def claims(record: Record) -> list[Claim]:
    """What `fit` is to show, checked on the record."""
    found = []
    for (row, over), least in WANTED.items():
        gains = Gains.of(record, row, over)
        mean, cells = gains.mean(), gains.by_sample()
        if mean is None:
            continue
        if least:
            text = f"{row} gains {least:+.0f} over {over}, on the mean of sets and sizes"
            found.append(Claim(f"(ours) {text}", mean.mean >= least, str(mean)))
        low = {key: one for key, one in cells.items() if one.high < 0}
        figures = ", ".join(f"{key[0]} N = {key[1]} {one}" for key, one in low.items())
        text = f"no pair of a set and an N of {row} is significantly below {over}"
        found.append(Claim(f"(ours) {text}", not low, figures or f"none of {len(cells)}"))
    return found


def _about(record: Record) -> str:
    facts: Mapping[str, Any] = record.first.facts
    unlabelled = sorted(set(record.told("unlabelled")))
    text = f"{unlabelled[0]:,}" if len(unlabelled) == 1 else f"{unlabelled[0]:,} to {unlabelled[-1]:,}"
    return (
        f"{record.first.at['set']} ({facts['measure']}, {facts['test']:,} tested, {text} unlabelled, sha256"
        f" {facts['sha256'][:12]})"
    )


EXPERIMENT = Suite()
