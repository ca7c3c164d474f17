"""Filled cells as figures: means over splits, gains with intervals, and the claims of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

import numpy as np

from lcons_decode._scores import Ints
from lcons_tasks.experiments.entity_relation import _paper as paper
from lcons_tasks.experiments.entity_relation._cell import DESIGNED, LEARNED, LEARNED_ALL, NONE, Filled
from lcons_tasks.experiments.entity_relation._corpus import ErCorpus
from lcons_tasks.experiments.entity_relation._measures import PARTS
from lcons_tasks.report._text_tables import Claim
from lcons_tasks.stats import Interval, bootstrap_f1

Sets = tuple[str, str]


@dataclass(frozen=True)
class Group:
    """The cells of one share of the training data, on seeded splits; or one published split."""

    name: str
    share: float
    cells: tuple[Filled, ...]

    def values(self, sets: Sets, figure: str) -> list[float]:
        """A figure of (trained, tested) sets, one a split."""
        return [cell.figures["grid"]["|".join(sets)][figure] for cell in self.cells]

    def mean(self, sets: Sets, figure: str) -> float:
        """Its mean over splits."""
        return mean(self.values(sets, figure))

    @property
    def trained_on(self) -> int:
        """How many sentences it was trained on, on average."""
        return round(mean(cell.figures["sentences"]["train"] for cell in self.cells))


@dataclass(frozen=True)
class Gain:
    """How much better (trained, tested) sets are than others, in points of F1, with its interval."""

    group: str
    trained_on: int
    figure: str
    sets: Sets
    over: Sets
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def groups(filled: Sequence[Filled]) -> list[Group]:
    """Seeded splits by share, all data first; then published splits."""
    found: dict[tuple[str, float], list[Filled]] = {}
    for one in filled:
        name = "seeded splits" if one.cell.seeded else one.cell.split
        found.setdefault((name, one.cell.share), []).append(one)
    return [Group(name, share, tuple(cells)) for (name, share), cells in found.items()]


def gain(group: Group, figure: str, sets: Sets, over: Sets, corpus: ErCorpus) -> Gain:
    """The paired gain in micro F1 of an entity or relation figure.

    A sentence may be in the test part of several splits, so sentences are drawn, each with all that was
    answered for it.
    """
    better, worse = (_counts(group, which, figure, corpus) for which in (sets, over))
    tested = np.flatnonzero(better.sum((0, 2)) + worse.sum((0, 2)))
    interval = bootstrap_f1(list(better[:, tested]), list(worse[:, tested]))
    return Gain(group.name, group.trained_on, figure, sets, over, interval)


def gains(found: Sequence[Group], corpus: ErCorpus) -> list[Gain]:
    """What constraints add: learned ones in training and prediction over none in either."""
    return [
        gain(group, figure, (LEARNED, LEARNED), (NONE, NONE), corpus)
        for group in found
        for figure in ("entity f1", "relation f1")
    ]


def recovered(cell: Filled, name: str) -> bool:
    """Whether all three learned constraints of a set are proved equal to the designed ones."""
    return all(one["outcome"] == "equal" for one in cell.figures["certificates"][name].values())


def claims(group: Group) -> list[Claim]:
    """What the paper says of its table, checked on ours."""
    cells = group.cells
    found = []
    for name, text in (
        (LEARNED, "learned constraints recover the designed ones exactly (two pairs of candidates)"),
        (LEARNED_ALL, "the same from all combinations that occur, as in the paper"),
    ):
        equal = sum(recovered(cell, name) for cell in cells)
        found.append(Claim(text, equal == len(cells), f"in {equal} of {len(cells)} splits"))
    same = sum(recovered(cell, LEARNED) and not cell.figures["differ"][LEARNED] for cell in cells)
    text = "models with learned and designed constraints differ only by solver ties (here: not at all)"
    found.append(Claim(text, same == len(cells), f"identical predictions in {same} of {len(cells)} splits"))
    for figure in ("entity f1", "relation f1"):
        ours, stated = group.mean((DESIGNED, DESIGNED), figure), paper.F1[DESIGNED][figure]
        text = f"(ours) {figure.replace('f1', 'F1')} with designed constraints reaches the paper's {stated}"
        found.append(Claim(text, ours >= stated, f"{ours:.2f}"))
    return found


def _counts(group: Group, sets: Sets, figure: str, corpus: ErCorpus) -> Ints:
    """(splits, passages of the corpus, 3)."""
    part = PARTS[figure.removesuffix(" f1")]
    counts = np.zeros((len(group.cells), len(corpus.passages), 3), dtype=np.int64)
    for k, cell in enumerate(group.cells):
        counts[k, list(cell.test)] = cell.counts[sets][:, part].sum(1)
    return counts
