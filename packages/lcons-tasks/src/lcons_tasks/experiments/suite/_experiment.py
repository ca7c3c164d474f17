"""`lcons run suite`: the cells, how they are filled, and the document of a run.

Not in the paper: this experiment.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lcons_core import InvalidInput
from lcons_tasks.atomic import write_text
from lcons_tasks.experiments.engine._blocks import render
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.experiments.engine._run import Experiment, RunOptions, option
from lcons_tasks.experiments.suite._answers import FIGURE, PLAIN, TUNED, Cell, answers
from lcons_tasks.experiments.suite._corpus import BUNDLED, SUITE, has_suite, load_set, set_names
from lcons_tasks.experiments.suite._measures import Gains, better_and_worse
from lcons_tasks.report._document import Claim, Document, Figure, Headline, TableCell

FIGURES = "figures.csv"
SIZES, BUNDLED_SIZES = (25, 50, 100, 200), (50,)
STARTS = 3

# Processor seconds of a row, and additional seconds per labelled sentence.
_A_ROW, _A_SENTENCE = 6.0, 0.06


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
    encoder: str = option(
        "", "--encoder", "A pretrained encoder: more rows, the base and `fit` with its vectors."
    )

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """The bundled corpora in about two minutes; with `full` and on other corpora, four sizes."""
        name = (SUITE if has_suite() else BUNDLED) if corpus == "auto" else corpus
        return cls(name, sizes=BUNDLED_SIZES if name == BUNDLED and not full else SIZES)


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
            Cell(options.corpus, name, size, start, options.encoder)
            for name in options.sets or set_names(options.corpus)
            for size in options.sizes
            for start in range(options.starts)
            if size < len(load_set(options.corpus, name).pool)
        ]

    def cost(self, cell: Cell) -> float:
        return len(cell.rows) * (_A_ROW + _A_SENTENCE * cell.size)

    def fill(self, cell: Cell, kept: Stages) -> Record:
        return answers(cell, kept)

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the figure of every row of every sample as a table."""
        lines = ["set,N,start,row,figure"]
        for cell in record.cells:
            where = ",".join(str(cell.at[name]) for name in ("set", "size"))
            for row, figures in cell.rows.items():
                lines.append(f"{where},{cell.facts['offset']},{row},{figures[FIGURE]:.4f}")
        write_text(folder / FIGURES, "\n".join(lines) + "\n")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: the gains by set and size."""
        if not record.cells:
            raise InvalidInput(f"`--size` must be smaller than a set: got {min(options.sizes)}.")
        sizes = {cell.at["size"] for cell in record.cells}
        whole = [
            of_set for of_set in record.by("set").values() if {c.at["size"] for c in of_set.cells} == sizes
        ]
        return render(
            self,
            options.corpus,
            options=options,
            record=record,
            whole=Record.joined(whole),
            gains_of=Gains.of,
            better_and_worse=better_and_worse,
            by_set=_by_set,
            rows_of=_rows,
            figure=lambda value: Figure((value,)),
            claim=Claim,
            comparison=Headline,
        )


def _by_set(gains: Gains) -> list[list[TableCell]]:
    """The gains of a row by set and size, with means."""
    samples = gains.by_sample()
    sizes = list(dict.fromkeys(size for _, size in samples))
    rows: list[list[TableCell]] = [
        [name, *(samples.get((name, size)) for size in sizes), gains.mean(name)]
        for name in dict.fromkeys(name for name, _ in samples)
    ]
    return [*rows, ["mean", *(gains.mean(size=size) for size in sizes), gains.mean()]]


def _rows(record: Record) -> list[list[TableCell]]:
    """Each row: its mean figure, its mean gains over plain and tuned, and how many samples are clearly better
    and worse than plain."""
    rows: list[list[TableCell]] = []
    for row in record.rows:
        over_plain, over_tuned = (Gains.of(record, row, over) for over in (PLAIN, TUNED))
        up, down = better_and_worse(over_plain.each())
        rows.append(
            [
                row,
                Figure((record.mean(row, FIGURE),)),
                None if row == PLAIN else over_plain.mean(),
                None if row == TUNED else over_tuned.mean(),
                None if row == PLAIN else f"{up} / {down} of {len(over_plain.cells)}",
            ]
        )
    return rows


EXPERIMENT = Suite()
