"""The constraints of a run on the page: rules in words, matrix, heat map and inequalities of each.

The number of shown constraints is limited, because explaining them is most of the work for a page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lcons_core import LearnedConstraint, load
from lcons_core._types import Ints
from lcons_core.reason._search import ENUMERATION_LIMIT
from lcons_tasks.report._document import Constraints
from lcons_tasks.report._predictions import gold_parts, read_predictions
from lcons_tasks.report._run import Run

# Measured seconds to explain a constraint: with a domain too large to enumerate, with many points, with few.
LARGE, MANY_POINTS, SMALL = 2.5, 1.5, 0.1
MANY = 2000


@dataclass(frozen=True)
class Limits:
    """Limits of what a page shows per run: `sets` of constraints and as many files of predictions,
    `sentences` per file, and the estimated `seconds` to explain its constraints."""

    sets: int = 2
    sentences: int = 200
    seconds: float = math.inf


@dataclass(frozen=True)
class ConstraintItem:
    """A constraint of the set with the number `set`, and the parts of the gold labels that it checks. The
    page explains it if it is `whole`; other constraints take too long."""

    name: str
    set: int
    set_name: str
    constraint: LearnedConstraint
    gold: Ints | None
    gold_file: str
    whole: bool

    @property
    def described(self) -> str:
        """One line on the size of the constraint."""
        network, space, feature = self.constraint.network, self.constraint.space, self.constraint.feature
        kind = "" if feature is None else f"{self.constraint.scope} {feature.kind}, "
        return f"{self.set_name}; {kind}K = {network.K}, {space.d:,} columns, {space.extent}"

    @property
    def rejected(self) -> int:
        """The number of parts of the gold labels that the constraint rejects."""
        return (
            0
            if self.gold is None
            else int((~self.constraint.verdicts(self.constraint.space, self.gold)).sum())
        )

    @property
    def rejects(self) -> str:
        """A sentence on the gold labels that the constraint rejects; empty without gold labels."""
        if self.gold is None or not len(self.gold):
            return ""
        share = 100 * self.rejected / len(self.gold)
        return f"Rejects {self.rejected:,} of {len(self.gold):,} parts of the gold labels ({share:.1f}%)."


@dataclass(frozen=True)
class ConstraintsView:
    """The constraints of the shown sets, and a note on sets that are left out."""

    names: tuple[str, ...]
    items: tuple[ConstraintItem, ...]
    notes: tuple[str, ...]


def constraints_view(run: Run, blocks: Sequence[Constraints], limits: Limits) -> ConstraintsView | None:
    """The constraints of blocks; None if there are none."""
    known = {run.folder / file: load(run.folder / file) for block in blocks for file in block.files}
    whole = _explained(known, limits.seconds)
    items = []
    for number, block in enumerate(blocks):
        gold = run.folder / block.predictions if block.predictions else next(iter(run.gold), None)
        answers = (gold and read_predictions(gold)) or []
        for path in (run.folder / file for file in block.files):
            parts = gold_parts(known[path], answers)
            file = gold.name if gold else ""
            items.append(
                ConstraintItem(path.stem, number, block.name, known[path], parts, file, path in whole)
            )
    sets = run.blocks(Constraints)
    note = f"This page shows {len(blocks)} of {len(sets)} sets of constraints."
    names = tuple(block.name for block in blocks)
    notes = (note,) if len(blocks) < len(sets) else ()
    return ConstraintsView(names, tuple(items), notes) if items else None


def _explained(constraints: dict[Path, LearnedConstraint], most: float) -> set[Path]:
    """The constraint files that a page explains: the quickest first, until the time is used up."""
    explained: set[Path] = set()
    left = most
    for path in sorted(constraints, key=lambda path: seconds_of(constraints[path])):
        left -= seconds_of(constraints[path])
        if left >= 0:
            explained.add(path)
    return explained


def seconds_of(constraint: LearnedConstraint) -> float:
    """The estimated seconds to explain a constraint."""
    size = constraint.space.size if constraint.space.integral else math.inf
    return LARGE if size > ENUMERATION_LIMIT else MANY_POINTS if size >= MANY else SMALL
