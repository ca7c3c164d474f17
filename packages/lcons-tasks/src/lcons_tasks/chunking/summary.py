"""Filled cells as figures: means over seeds, gains with intervals, and the claims of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

import numpy as np

from lcons_decode.scores import Ints
from lcons_tasks.chunking import paper
from lcons_tasks.chunking.cell import CHOSEN, Filled
from lcons_tasks.chunking.corpus import ChunkCorpus
from lcons_tasks.metrics import Interval, paired_bootstrap

# Which row's gain over which other is reported.
GAINS = ((CHOSEN, "exact"), (CHOSEN, "search"), ("pos-3 search", "exact"), ("pos-3 search", "search"))


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


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether it held here, and the figures."""

    text: str
    held: bool
    figures: str


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
    ratios = list(group.by_ratio)
    for n in (3, 4):
        row = f"pos-{n} search"
        if {row, "search"} <= set(group.rows):
            differences = {r: group.mean(row, r) - group.mean("search", r) for r in ratios}
            found.append(
                Claim(
                    f"POS-constrained search (n = {n}) beats search at every ratio",
                    all(value > 0 for value in differences.values()),
                    ", ".join(f"{percent(r)} {value:+.2f}" for r, value in differences.items()),
                )
            )
    least = min(ratios)
    for over, stated in (("exact", 4.41), ("search", 5.23)):
        if {"pos-3 search", over} <= set(group.rows) and least == 0.01:
            interval = gain(group, least, "pos-3 search", over, corpus).interval
            text = f"at 1%, POS-constrained search (n = 3) gains {stated:+.2f} over {over}"
            found.append(Claim(text, interval.mean >= stated, str(interval)))
            best = gain(group, least, CHOSEN, over, corpus).interval
            text = f"the same of the decoder chosen on dev: {stated:+.2f} over {over}"
            found.append(Claim(text, best.mean >= stated, str(best)))
    for n in (2, 3):
        row = f"existence-{n} search"
        if {row, "search"} <= set(group.rows):
            intervals = {r: gain(group, r, row, "search", corpus).interval for r in ratios}
            found.append(
                Claim(
                    f"label existence (n = {n}) does not help",
                    all(interval.low <= 0 for interval in intervals.values()),
                    ", ".join(f"{percent(r)} {interval.mean:+.2f}" for r, interval in intervals.items()),
                )
            )
    if "pos-3 search" in group.rows and len(ratios) > 1:
        first, last = (group.mean("pos-3 search", r) - group.mean("exact", r) for r in (least, max(ratios)))
        figures = f"over exact: {percent(least)} {first:+.2f}, {percent(max(ratios))} {last:+.2f}"
        found.append(Claim("the gain of constraints shrinks as data grow", first > last, figures))
    if least == 0.01:
        ours = group.mean(CHOSEN, least)
        text = f"at 1%, constraints do about as well as ELMo ({paper.ELMO['accuracy']})"
        found.append(Claim(text, ours >= paper.ELMO["accuracy"] - 1, f"{ours:.2f} (chosen on dev)"))
    return found


def percent(ratio: float) -> str:
    """A ratio as people write it.

    >>> percent(0.01), percent(0.125)
    ('1%', '12.5%')
    """
    return f"{100 * ratio:g}%"
