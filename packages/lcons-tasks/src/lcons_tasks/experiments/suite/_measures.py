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


def _drawn_gain(cell: RecordCell, row: str, over: str) -> Floats:
    """(1 + DRAWS,) the gain of a row over another in one cell, and the same of each draw of sentences."""
    ours, theirs = (cell.of(name, FIGURE) for name in (row, over))
    weights = _weights(len(ours))
    drawn = f1(weights @ ours) - f1(weights @ theirs)
    return np.concatenate([[f1(ours.sum(0)) - f1(theirs.sum(0))], drawn])


@dataclass(frozen=True, eq=False)
class Gains:
    """The gains of a row over another in cells, (1 + DRAWS,) each: the gain, and that of each draw."""

    cells: tuple[RecordCell, ...]
    drawn: Sequence[Floats]

    @classmethod
    def of(cls, record: Record, row: str, over: str) -> Gains:
        """The gains of those cells that have both rows."""
        cells = tuple(cell for cell in record.cells if row in cell.rows and over in cell.rows)
        return cls(cells, [_drawn_gain(cell, row, over) for cell in cells])

    def each(self) -> list[Interval]:
        """The gain of each cell, by sentences."""
        return [Interval.of(drawn) for drawn in self.drawn]

    def _means(self) -> dict[tuple[Any, Any], Floats]:
        """The mean gain over starting points of each (set, N)."""
        groups: dict[tuple[Any, Any], list[Floats]] = {}
        for cell, drawn in zip(self.cells, self.drawn, strict=True):
            groups.setdefault((cell.at["set"], cell.at["size"]), []).append(drawn)
        return {key: np.array(group).mean(0) for key, group in groups.items()}

    def by_sample(self) -> Mapping[tuple[Any, Any], Interval]:
        """The mean gain over starting points of each (set, N), by sentences."""
        return {key: Interval.of(drawn) for key, drawn in self._means().items()}

    def mean(self, name: Any = None, size: Any = None) -> Interval | None:
        """The mean over all (set, N), or over those of a set or a size; None if there are none."""
        chosen = np.array(
            [
                drawn
                for key, drawn in self._means().items()
                if name in (None, key[0]) and size in (None, key[1])
            ]
        )
        if not len(chosen):
            return None
        picks = np.random.default_rng(1).integers(0, len(chosen), (DRAWS, len(chosen)))
        means = chosen[:, 1:][picks, np.arange(DRAWS)[:, None]].mean(1)
        return Interval.of(np.concatenate([[chosen[:, 0].mean()], means]))


def better_and_worse(gains: Sequence[Interval]) -> tuple[int, int]:
    """How many gains are significantly above 0, and how many below.

    >>> better_and_worse([Interval(1, 0.5, 2), Interval(0, -1, 1), Interval(-1, -2, -0.1)])
    (1, 1)
    """
    return sum(gain.low > 0 for gain in gains), sum(gain.high < 0 for gain in gains)
