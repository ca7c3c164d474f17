"""One cell of the suite, a set with N labelled sentences from one starting point: all its rows.

Each row is a stage of its own (`_model.py`), so a run with more rows uses those of earlier runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.suite._corpus import LabelledSet, load_set
from lcons_tasks.experiments.suite._model import Given, answer
from lcons_tasks.stats import count_right, f1

# Span F1, or token accuracy where labels are no spans.
FIGURE = "figure"


@dataclass(frozen=True)
class Cell:
    """A sample of a set by the number of its labelled sentences and its starting point, and rows."""

    corpus: str
    name: str
    size: int
    start: int
    rows: tuple[str, ...]
    encoder: str = ""

    def __str__(self) -> str:
        return f"{self.name}, N = {self.size}, start {self.start + 1}"

    @property
    def labelled_set(self) -> LabelledSet:
        """The set that the sample is from."""
        return load_set(self.corpus, self.name)


def answers(cell: Cell, kept: Stages) -> Record:
    """The record of a cell."""
    found = cell.labelled_set
    labelled, texts = found.sample(cell.size, cell.start)
    given = Given(labelled, texts, tuple(one.words for one in found.test), cell.encoder)
    gold = [one.labels for one in found.test]
    counts, facts = {}, {}
    for row in cell.rows:
        made = answer(row, given, kept)
        counts[row] = {FIGURE: count_right(gold, made.labels, found.spans)}
        if made.facts:
            facts[row] = made.facts
    at: dict[str, Coordinate] = {"set": cell.name, "size": cell.size, "start": cell.start}
    about = {
        "measure": "span F1" if found.spans else "token accuracy",
        "offset": found.offset(cell.size, cell.start),
        "unlabelled": len(texts),
        "test": len(gold),
        "sha256": found.sha256,
        "fitted": facts,
    }
    name = f"{cell.name}-{cell.size}-{cell.start + 1}"
    rows = {row: {FIGURE: round(float(f1(counts[row][FIGURE].sum(0))), 4)} for row in cell.rows}
    units = tuple(range(len(gold)))
    one = RecordCell(name, at, rows, about, rows_with_counts(counts, cell.rows), units)
    return Record((one,))
