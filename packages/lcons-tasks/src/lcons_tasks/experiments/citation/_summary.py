"""Filled cells as figures: means over splits, gains with intervals, and the claims of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

import numpy as np

from lcons_decode._scores import Ints
from lcons_tasks.experiments.citation import _paper as paper
from lcons_tasks.experiments.citation._cell import CHOSEN, Filled
from lcons_tasks.experiments.citation._constraints import C3_ROW, COMBINATIONS, PAPER
from lcons_tasks.experiments.citation._corpus import CitationCorpus
from lcons_tasks.report._text_tables import Claim
from lcons_tasks.stats import Interval, paired_bootstrap


@dataclass(frozen=True)
class Group:
    """A table: the cells of one base model and one number of training references, a split each."""

    base: str
    size: int | None
    cells: tuple[Filled, ...]

    @property
    def rows(self) -> list[str]:
        """The names of the rows, in order."""
        return list(self.cells[0].figures["rows"])

    @property
    def trained_on(self) -> int:
        """How many references it was trained on."""
        return int(self.cells[0].figures["references"]["train"])

    def values(self, row: str, figure: str = "test") -> list[float]:
        """A figure of a row, one a split."""
        return [cell.figures["rows"][row][figure] for cell in self.cells]

    def mean(self, row: str) -> float:
        """The mean test accuracy of a row."""
        return mean(self.values(row))


@dataclass(frozen=True)
class Gain:
    """How much better a row is than another, in points of token accuracy, with its interval."""

    base: str
    trained_on: int
    row: str
    over: str
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def groups(filled: Sequence[Filled]) -> list[Group]:
    """The tables, in the order in which the cells come."""
    found: dict[tuple[str, int | None], list[Filled]] = {}
    for one in filled:
        found.setdefault((one.cell.base.name, one.cell.size), []).append(one)
    return [Group(base, size, tuple(cells)) for (base, size), cells in found.items()]


def gain(group: Group, row: str, over: str, corpus: CitationCorpus) -> Gain:
    """The paired gain of a row over another over all splits.

    A reference may be in the test part of several splits, so references are drawn, each with all that was
    answered for it.
    """
    better, worse, totals = (np.zeros(len(corpus.references), dtype=np.int64) for _ in range(3))
    for cell in group.cells:
        where = list(cell.test)
        better[where] += cell.right(row)
        worse[where] += cell.right(over)
        totals[where] += np.diff(cell.offsets)
    tested: Ints = np.flatnonzero(totals)
    interval = paired_bootstrap([better[tested]], [worse[tested]], totals[tested])
    return Gain(group.base, group.trained_on, row, over, interval)


def gains(group: Group, corpus: CitationCorpus) -> list[Gain]:
    """The gain of every row over exact."""
    return [gain(group, row, "exact", corpus) for row in group.rows if row != "exact"]


def claims(group: Group, corpus: CitationCorpus) -> list[Claim]:
    """What the paper says of its table, checked on ours, as far as the rows are there."""
    found: list[Claim] = []
    has = set(group.rows).__contains__
    singles = [f"{name} search" for name in PAPER if has(f"{name} search")]
    combined = [f"{name} search" for name in COMBINATIONS if has(f"{name} search")]

    def over(rows: Sequence[str], other: str) -> list[Interval]:
        return [gain(group, row, other, corpus).interval for row in rows]

    for other in ("exact", "search"):
        if singles and has(other):
            own = over([*singles, *combined], other)
            text = f"every constrained search beats {other}"
            told = _listed([*singles, *combined], own)
            found.append(Claim(text, all(one.mean > 0 for one in own), told))
    if singles and combined:
        best_single, best_combined = (max(map(group.mean, rows)) for rows in (singles, combined))
        text = "combining constraints helps (the best combination beats the best single feature)"
        found.append(
            Claim(text, best_combined > best_single, f"{best_combined:.2f} against {best_single:.2f}")
        )
    stated = paper.ACCURACY["C3 search"] - paper.ACCURACY["exact"]
    for row in ("C3 search", C3_ROW):
        if has(row):
            own = over([row], "exact")
            name = "all six combined" if row == "C3 search" else "(not in the paper) the combination, soft,"
            found.append(Claim(f"{name} gains {stated:+.1f} over exact", own[0].mean >= stated, str(own[0])))
    if has(CHOSEN):
        ours = group.mean(CHOSEN)
        text = (
            "(not in the paper) learned constraints, some on a list of clue words, reach the hand-crafted"
            f" {paper.HAND_CRAFTED}"
        )
        found.append(Claim(text, ours >= paper.HAND_CRAFTED, f"{ours:.2f}"))
    for name in PAPER:
        rows = [row for row in group.rows if row.partition(" K=")[0] == f"{name} search"]
        if len(rows) > 1:
            figures = {row: group.mean(row) for row in rows}
            spread = max(figures.values()) - min(figures.values())
            told = ", ".join(f"K = {row.partition(' K=')[2] or 10}: {v:.2f}" for row, v in figures.items())
            found.append(Claim(f"K hardly matters ({name}: within half a point)", spread <= 0.5, told))
    return found


def _listed(rows: Sequence[str], intervals: Sequence[Interval]) -> str:
    pairs = zip(rows, intervals, strict=True)
    return ", ".join(f"{row.removesuffix(' search')} {interval.mean:+.2f}" for row, interval in pairs)
