"""Filled cells as figures: means over seeds, gains with intervals, and the claims of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

import numpy as np

from lcons_decode._scores import Ints
from lcons_tasks.experiments.chunking import _paper as paper
from lcons_tasks.experiments.chunking._cell import CHOSEN, Filled
from lcons_tasks.experiments.chunking._corpus import ChunkCorpus
from lcons_tasks.report._text_tables import Claim
from lcons_tasks.stats import Interval, paired_bootstrap

# Which row's gain over which other is reported.
GAINS = (
    (CHOSEN, "exact"),
    (CHOSEN, "search"),
    ("pos-3 search", "exact"),
    ("pos-3 search", "search"),
    ("pos-4 search", "search"),
    ("existence-2 search", "search"),
    ("existence-3 search", "search"),
)


@dataclass(frozen=True)
class Group:
    """A table: the cells of one base model and one kind of subset, by ratio and then by seed."""

    base: str
    subset: str
    by_ratio: Mapping[float, tuple[Filled, ...]]

    @property
    def rows(self) -> list[str]:
        """The names of the rows, in order."""
        return list(next(iter(self.by_ratio.values()))[0].figures["rows"])

    def values(self, row: str, ratio: float, figure: str = "test") -> list[float]:
        """A figure of a row at a ratio, one a seed."""
        return [cell.figures["rows"][row][figure] for cell in self.by_ratio[ratio]]

    def mean(self, row: str, ratio: float) -> float:
        """The mean test accuracy of a row at a ratio."""
        return mean(self.values(row, ratio))


@dataclass(frozen=True)
class Gain:
    """How much better a row is than another, in points of token accuracy, with its interval."""

    base: str
    subset: str
    ratio: float
    row: str
    over: str
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def groups(filled: Sequence[Filled]) -> list[Group]:
    """The tables, in the order in which the cells come."""
    found: dict[tuple[str, str], dict[float, list[Filled]]] = {}
    for one in filled:
        by_ratio = found.setdefault((one.cell.base.name, one.cell.subset), {})
        by_ratio.setdefault(one.cell.ratio, []).append(one)
    return [
        Group(base, kind, {ratio: tuple(cells) for ratio, cells in by_ratio.items()})
        for (base, kind), by_ratio in found.items()
    ]


def offsets_of(corpus: ChunkCorpus) -> Ints:
    """Where each test sentence starts among all test tokens."""
    return np.cumsum([0, *(len(sentence) for sentence in corpus.test)])


def gain(group: Group, ratio: float, row: str, over: str, corpus: ChunkCorpus) -> Gain:
    """The paired gain of a row over another, averaged over seeds."""
    offsets = offsets_of(corpus)
    better, worse = ([cell.right(name, offsets) for cell in group.by_ratio[ratio]] for name in (row, over))
    interval = paired_bootstrap(better, worse, np.diff(offsets))
    return Gain(group.base, group.subset, ratio, row, over, interval)


def gains(group: Group, corpus: ChunkCorpus) -> list[Gain]:
    """The gains of `GAINS`, at every ratio."""
    pairs = [pair for pair in GAINS if set(pair) <= set(group.rows)]
    return [gain(group, ratio, *pair, corpus) for ratio in group.by_ratio for pair in pairs]


def claims(group: Group, corpus: ChunkCorpus) -> list[Claim]:
    """What the paper says of its table, checked on ours, as far as the rows are there."""
    found: list[Claim] = []
    least, most = min(group.by_ratio), max(group.by_ratio)

    def intervals(row: str, over: str) -> dict[float, Interval]:
        return {r: gain(group, r, row, over, corpus).interval for r in group.by_ratio}

    for n in (3, 4):
        if f"pos-{n} search" in group.rows and "search" in group.rows:
            own = intervals(f"pos-{n} search", "search")
            text = f"POS-constrained search (n = {n}) beats search at every ratio"
            found.append(Claim(text, all(i.mean > 0 for i in own.values()), _listed(own)))
    for over, stated in (("exact", 4.41), ("search", 5.23)):
        for row in ("pos-3 search", CHOSEN):
            if {row, over} <= set(group.rows) and least == paper.RATIOS[0]:
                interval = gain(group, least, row, over, corpus).interval
                name = (
                    "POS-constrained search (n = 3)"
                    if row != CHOSEN
                    else "(not in the paper) the decoder chosen on dev"
                )
                text = f"at 1%, {name} gains {stated:+.2f} over {over}"
                found.append(Claim(text, interval.mean >= stated, str(interval)))
    for n in (2, 3):
        if f"existence-{n} search" in group.rows and "search" in group.rows:
            own = intervals(f"existence-{n} search", "search")
            text = f"label existence (n = {n}) does not help"
            found.append(Claim(text, all(i.low <= 0 for i in own.values()), _listed(own)))
    if "pos-3 search" in group.rows and least < most:
        own = intervals("pos-3 search", "exact")
        ends = {r: own[r] for r in (least, most)}
        text = "the gain of constraints (POS n = 3, over exact) shrinks as data grow"
        found.append(Claim(text, own[least].mean > own[most].mean, _listed(ends)))
    if "pos-3 search" in group.rows and least == paper.RATIOS[0]:
        elmo = paper.ELMO["accuracy"]
        for row in ("pos-3 search", CHOSEN):
            ours = group.mean(row, least)
            text = f"at 1%, constraints reach ELMo's {elmo} ({row})"
            found.append(Claim(text, ours >= elmo, f"{ours:.2f}"))
    return found


def _listed(intervals: Mapping[float, Interval]) -> str:
    return ", ".join(f"{percent(ratio)} {interval}" for ratio, interval in intervals.items())


def percent(ratio: float) -> str:
    """A ratio as people write it.

    >>> percent(0.01), percent(0.125)
    ('1%', '12.5%')
    """
    return f"{100 * ratio:g}%"
