"""The cells of the task, how one is filled, and its document; the template beside it is the report."""

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from lcons_core import LearnedConstraint, compare, iob2, learn_constraints, save
from lcons_core.features import NgramLabels
from lcons_tasks.experiments.engine import Experiment, RunOptions
from lcons_tasks.experiments.engine._blocks import render
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._run import option
from lcons_tasks.report._document import Document

LABELS = ("B-X", "I-X", "B-Y", "I-Y", "O")
ROW, DESIGNED, ACCEPTED = "learned", "as designed", "held-out accepted"


@dataclass(frozen=True)
class Options(RunOptions):
    """Samples by seed, how many of their sequences are learned from, and K."""

    seeds: tuple[int, ...] = option((1, 2), "--seed", "Which sample; several.", least=0)
    sizes: tuple[int, ...] = option((5, 300), "--size", "How many sequences; several.")
    hidden: int = option(4, "--hidden", "Hidden units.", "-K", default=4)


@dataclass(frozen=True)
class Cell:
    """A sample by seed, how many of its sequences are learned from, and K."""

    seed: int
    size: int
    hidden: int

    def __str__(self) -> str:
        return f"{self.size} sequences (seed {self.seed})"


def sequences(seed: int, size: int) -> list[list[str]]:
    """Random valid sequences; the first of a larger sample are the smaller one."""
    rng, scheme, found = np.random.default_rng(seed), iob2(LABELS), []
    while len(found) < size:
        y = [LABELS[i] for i in rng.integers(0, len(LABELS), rng.integers(1, 5))]
        if scheme.satisfied(y):
            found.append(y)
    return found


def constraint(cell: Cell, kept: Stages) -> LearnedConstraint:
    """The constraint of a cell, learned or read."""
    return kept.keep("iob2", asdict(cell), partial(learned, cell))


def learned(cell: Cell) -> LearnedConstraint:
    """The constraint of a cell."""
    bigrams = NgramLabels(LABELS, n=2, pad=True)
    examples = sequences(cell.seed, cell.size)
    return learn_constraints(examples, bigrams, hidden=cell.hidden, seed=cell.seed, evidence=None)


class FromExamples(Experiment[Options, Cell]):
    """From how many sequences IOB2 is learned."""

    name = "iob2"
    options = Options
    leaves = ("constraints",)

    def cells(self, options: Options) -> list[Cell]:
        return [Cell(seed, size, options.hidden) for size in options.sizes for seed in options.seeds]

    def fill(self, cell: Cell, kept: Stages) -> Record:
        learned = constraint(cell, kept)
        found = compare(learned, iob2(LABELS))
        right = [[int(learned.satisfied(y)), 1] for y in sequences(1_000 + cell.seed, 100)]
        values = {
            DESIGNED: 100 * (1 - (found.only_a + found.only_b) / found.points),
            ACCEPTED: float(np.mean(right, axis=0)[0] * 100),
        }
        at = {"size": cell.size, "seed": cell.seed}
        counts = {ACCEPTED: np.array([right])}
        units = tuple(range(len(right)))
        return Record((RecordCell(f"{cell.size}-{cell.seed}", at, {ROW: values}, {}, counts, units),))

    def document(self, options: Options, record: Record) -> Document:
        return render(self, "drawn", record=record, measures=(DESIGNED, ACCEPTED))

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        (folder / "constraints").mkdir(exist_ok=True)
        for cell in self.cells(options):
            save(constraint(cell, kept), folder / f"constraints/{cell.size}-{cell.seed}.json")


EXPERIMENT = FromExamples()
