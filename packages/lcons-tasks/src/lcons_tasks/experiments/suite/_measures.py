"""Gains over the cells of the suite, with intervals.

    gain(set, N)   = mean over starting points of figure(row) - figure(over)
    mean gain      = mean over (set, N) of gain(set, N)

The interval of one gain draws test sentences, the same for both rows and all starting points. That of a mean
over (set, N) also draws these: it says what to expect of other sets. All cells of a set
draw the same sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lcons_core._types import Floats
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.suite._answers import FIGURE
from lcons_tasks.stats import DRAWS, Interval, drawn_weights, f1


@lru_cache(maxsize=16)
def _weights(n: int) -> Floats:
    """(DRAWS, n): how often each sentence is drawn."""
    return np.concatenate(list(drawn_weights(n)))


def drawn_gain(cell: RecordCell, row: str, over: str) -> tuple[float, Floats]:
    """The gain of a row over another in one cell, and the same of each draw of sentences (DRAWS,)."""
    ours, theirs = (cell.of(name, FIGURE) for name in (row, over))
    weights = _weights(len(ours))
    drawn = f1(weights @ ours) - f1(weights @ theirs)
    return float(f1(ours.sum(0)) - f1(theirs.sum(0))), drawn


def _interval(mean: float, drawn: Floats) -> Interval:
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Interval(mean, float(low), float(high))


@dataclass(frozen=True, eq=False)
class Gains:
    """The gain of a row over another in each cell of a record: values (cells,), and draws (cells, DRAWS)."""

    cells: tuple[RecordCell, ...]
    values: Floats
    drawn: Floats

    @classmethod
    def of(cls, record: Record, row: str, over: str) -> Gains:
        """The gains of those cells that have both rows."""
        cells = tuple(cell for cell in record.cells if row in cell.rows and over in cell.rows)
        found = [drawn_gain(cell, row, over) for cell in cells]
        drawn = np.array([own for _, own in found]).reshape(-1, DRAWS)
        return cls(cells, np.array([value for value, _ in found]), drawn)

    def each(self) -> list[Interval]:
        """The gain of each cell, by sentences."""
        return [_interval(float(v), d) for v, d in zip(self.values, self.drawn, strict=True)]

    def _groups(self) -> dict[tuple[Any, Any], list[int]]:
        found: dict[tuple[Any, Any], list[int]] = {}
        for i, cell in enumerate(self.cells):
            found.setdefault((cell.at["set"], cell.at["size"]), []).append(i)
        return found

    def by_sample(self) -> Mapping[tuple[Any, Any], Interval]:
        """The mean gain over starting points of each (set, N), by sentences."""
        return {
            key: _interval(float(self.values[own].mean()), self.drawn[own].mean(0))
            for key, own in self._groups().items()
        }

    def mean(self, sets: Sequence[Any] | None = None, sizes: Sequence[Any] | None = None) -> Interval | None:
        """The mean over all (set, N), or over those of some sets or sizes; None if there are none."""
        chosen = [
            own
            for (name, size), own in self._groups().items()
            if (sets is None or name in sets) and (sizes is None or size in sizes)
        ]
        if not chosen:
            return None
        values = np.array([self.values[own].mean() for own in chosen])
        drawn = np.array([self.drawn[own].mean(0) for own in chosen])
        picks = np.random.default_rng(1).integers(0, len(chosen), (DRAWS, len(chosen)))
        means = drawn[picks, np.arange(DRAWS)[:, None]].mean(1)
        return _interval(float(values.mean()), means)


def better_and_worse(found: Sequence[Interval]) -> tuple[int, int]:
    """How many gains are significantly above 0, and how many below.

    >>> better_and_worse([Interval(1, 0.5, 2), Interval(0, -1, 1), Interval(-1, -2, -0.1)])
    (1, 1)
    """
    return sum(one.low > 0 for one in found), sum(one.high < 0 for one in found)
