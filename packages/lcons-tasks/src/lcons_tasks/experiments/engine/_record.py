"""A record: the results of an experiment of any task as one long table.

    (cell, row, measure) -> value          and, for each test unit,  right and total
                                           or                        right, predicted and gold (for F1)

A cell is one setting of the experiment and has coordinates (base model, ratio, seed, ...). The rows of a cell
are compared with each other (decoders under constraints). Units are test sentences, references or programs.
Counts are stored per unit, so paired intervals of any two rows can be computed later.

A record is immutable: `where` and `by` select cells, `joined` concatenates records. In results.json

    {"cells": [{"name": ..., "at": {coordinate: value}, facts ..., "rows": {row: {measure: value}}}], ...}

and the counts are arrays (rows, units, columns) in counts.npz, named `cell|measure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import getitem
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from lcons_decode.kernels._arrays import Ints
from lcons_tasks.atomic import replacing
from lcons_tasks.report._document import Figure
from lcons_tasks.stats import Interval, bootstrap_f1, paired_bootstrap

COUNTS = "counts.npz"

Coordinate = str | int | float | bool | None


@dataclass(frozen=True, eq=False)
class RecordCell:
    """A cell: its name, its coordinates `at`, the values of its rows, and other facts as plain data.

    `counts` are arrays (rows, units, columns) by measure, with rows in the order of `rows`; `units` are the
    indices of the test units in their corpus.
    """

    name: str
    at: Mapping[str, Coordinate]
    rows: Mapping[str, Mapping[str, float]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, Ints] = field(default_factory=dict)
    units: tuple[int, ...] = ()

    def of(self, row: str, measure: str) -> Ints:
        """(units, columns): the counts of a row."""
        counts: Ints = self.counts[measure][list(self.rows).index(row)]
        return counts

    def to_dict(self) -> dict[str, Any]:
        """The cell as plain data, without counts."""
        return {"name": self.name, "at": dict(self.at), **self.facts, "rows": self.rows}


@dataclass(frozen=True, eq=False)
class Record:
    """Cells, and facts that all of them share, such as the corpus."""

    cells: tuple[RecordCell, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def joined(cls, records: Iterable[Record]) -> Record:
        """The cells of several records, in order."""
        found = list(records)
        facts = {name: value for one in found for name, value in one.facts.items()}
        return cls(tuple(cell for one in found for cell in one.cells), facts)

    @property
    def first(self) -> RecordCell:
        """The first cell."""
        return self.cells[0]

    @property
    def rows(self) -> list[str]:
        """The names of all rows, in order."""
        return list(dict.fromkeys(row for cell in self.cells for row in cell.rows))

    def has(self, *rows: str) -> bool:
        """Whether the first cell has all these rows."""
        return bool(self.cells) and set(rows) <= set(self.first.rows)

    def where(self, **at: Coordinate) -> Record:
        """The cells with these coordinates."""
        found = (c for c in self.cells if all(c.at.get(name) == value for name, value in at.items()))
        return replace(self, cells=tuple(found))

    def by(self, *names: str) -> dict[Any, Record]:
        """The cells by the values of coordinates (a tuple if several are named), in order."""
        groups: dict[Any, list[RecordCell]] = {}
        for cell in self.cells:
            key = tuple(cell.at.get(name) for name in names)
            groups.setdefault(key if len(names) > 1 else key[0], []).append(cell)
        return {key: replace(self, cells=tuple(cells)) for key, cells in groups.items()}

    def values(self, row: str, measure: str) -> tuple[float, ...]:
        """The values of a row, one per cell that has it."""
        return tuple(cell.rows[row][measure] for cell in self.cells if measure in cell.rows.get(row, {}))

    def mean(self, row: str, measure: str) -> float:
        """The mean of a measure over cells."""
        return mean(self.values(row, measure))

    def figure(self, row: str, measure: str, paper: float | None = None, digits: int = 2) -> Figure | None:
        """The values as a figure; None if no cell has the row."""
        values = self.values(row, measure)
        return Figure(values, paper, digits) if values else None

    def told(self, *path: str) -> list[Any]:
        """The fact at a path, one value per cell.

        >>> cell = RecordCell("a", {}, {}, {"references": {"train": 10}})
        >>> Record((cell,)).told("references", "train")
        [10]
        """
        return [reduce(getitem, path, cell.facts) for cell in self.cells]

    def gain(self, row: str, over: str, measure: str) -> Interval:
        """The paired gain of a row over another, with its interval over test units.

        If all cells test the same units, the gain is averaged over cells. Otherwise a unit may be tested in
        several cells: the bootstrap draws units, each with its answers in all cells.
        """
        ours, theirs = (self._laid_out(name, measure) for name in (row, over))
        if ours.shape[2] == 3:
            tested = np.flatnonzero(ours.sum((0, 2)) + theirs.sum((0, 2)))
            return bootstrap_f1(list(ours[:, tested]), list(theirs[:, tested]))
        totals = ours[..., 1]
        if not (totals == totals[0]).all():
            ours, theirs = ours.sum(0, keepdims=True), theirs.sum(0, keepdims=True)
        return paired_bootstrap(list(ours[..., 0]), list(theirs[..., 0]), ours[0, :, 1])

    def _laid_out(self, row: str, measure: str) -> Ints:
        """(cells, units of all cells in order, columns), 0 if a cell does not test a unit."""
        units = sorted({unit for cell in self.cells for unit in cell.units})
        place = {unit: i for i, unit in enumerate(units)}
        columns = self.first.of(row, measure).shape[1]
        counts = np.zeros((len(self.cells), len(units), columns), dtype=np.int64)
        for k, cell in enumerate(self.cells):
            counts[k, [place[unit] for unit in cell.units]] = cell.of(row, measure)
        return counts

    def to_dict(self) -> dict[str, Any]:
        """The record as plain data, without counts."""
        return {**self.facts, "cells": [cell.to_dict() for cell in self.cells]}

    def save_counts(self, folder: Path) -> None:
        """Writes counts.npz; equal records have equal bytes."""
        arrays: dict[str, Any] = {}
        for cell in self.cells:
            if cell.counts:
                arrays[f"{cell.name}|"] = np.array(cell.units, dtype=np.int32)
            for measure, counts in cell.counts.items():
                arrays[f"{cell.name}|{measure}"] = counts.astype(np.int32)
        with replacing(folder / COUNTS) as file:
            np.savez_compressed(file, **arrays)


def rows_with_counts(found: Mapping[str, Mapping[str, Ints]], rows: Sequence[str]) -> dict[str, Ints]:
    """Arrays (rows, units, columns) by measure, from arrays (units, columns) by row and measure."""
    measures = dict.fromkeys(measure for row in rows for measure in found[row])
    return {measure: np.stack([found[row][measure] for row in rows]) for measure in measures}
