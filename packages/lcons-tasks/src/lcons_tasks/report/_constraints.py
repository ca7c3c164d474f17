"""The constraints of a run on the page: rules in words, matrix and inequalities of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lcons_core import LearnedConstraint, load
from lcons_core._types import Ints
from lcons_tasks.report._document import Constraints
from lcons_tasks.report._predictions import gold_parts, read_predictions
from lcons_tasks.report._run import Run

# From this number of points on, a constraint takes seconds to explain.
MANY = 2000


@dataclass(frozen=True)
class Limits:
    """Limits of what a page shows per run: `sets` of constraints and as many files of predictions,
    `sentences` per file, and how many constraints on large domains it explains, which takes seconds each."""

    sets: int = 2
    sentences: int = 200
    large: int | None = None


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
    def rejected(self) -> int:
        """The number of parts of the gold labels that the constraint rejects."""
        return (
            0
            if self.gold is None
            else int((~self.constraint.verdicts(self.constraint.space, self.gold)).sum())
        )


@dataclass(frozen=True)
class ConstraintsView:
    """The constraints of the shown sets, and a note on sets that are left out."""

    names: tuple[str, ...]
    items: tuple[ConstraintItem, ...]
    notes: tuple[str, ...]


def constraints_view(run: Run, blocks: Sequence[Constraints], limits: Limits) -> ConstraintsView | None:
    """The constraints of blocks; None if there are none."""
    files = {run.folder / file: load(run.folder / file) for block in blocks for file in block.files}
    large = sorted((p for p in files if files[p].space.size >= MANY), key=lambda p: files[p].space.size)
    skipped = [] if limits.large is None else large[limits.large :]
    items = []
    for number, block in enumerate(blocks):
        gold = run.folder / block.predictions if block.predictions else next(iter(run.gold), None)
        answers = (gold and read_predictions(gold)) or []
        for path in (run.folder / file for file in block.files):
            parts, source = gold_parts(files[path], answers), gold.name if gold else ""
            whole = path not in skipped
            items.append(ConstraintItem(path.stem, number, block.name, files[path], parts, source, whole))
    sets = run.blocks(Constraints)
    note = f"This page shows {len(blocks)} of {len(sets)} sets of constraints."
    names = tuple(block.name for block in blocks)
    return ConstraintsView(names, tuple(items), (note,) * (len(blocks) < len(sets))) if items else None
