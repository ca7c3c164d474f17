"""The constraints of a run on the page: the rules in words, what they cover, and how often gold labels of
sequences, if there are some, support and break them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lcons_core import LearnedConstraint, explain, load
from lcons_core._types import Ints
from lcons_core.reason._words import Explanation
from lcons_tasks.own_data._examples import parts_of
from lcons_tasks.report._document import Constraints
from lcons_tasks.report._predictions import Answered, read_predictions
from lcons_tasks.report._run import Run

# From this number of points on, a constraint takes seconds to explain.
MANY = 2000
MOST_RULES = 20
# In the words of a rule that does not name all its conditions and values.
SHORTENED = re.compile(" others of | more are ")


@dataclass(frozen=True)
class Limits:
    """Limits of what a page shows per run: `sets` of constraints and as many files of predictions,
    `sentences` per file, and how many constraints on large domains it explains, which takes seconds each."""

    sets: int = 2
    sentences: int = 200
    large: int | None = None


class ConstraintItem(NamedTuple):
    """A constraint of the set with the number `set`, the parts of gold labels that it reads (N, axes), and
    how many it rejects. The page explains it if it is `whole`; other constraints take too long."""

    name: str
    set: int
    set_name: str
    constraint: LearnedConstraint
    whole: bool
    gold: Ints
    rejected: int


class ConstraintsView(NamedTuple):
    """The constraints of the shown sets, and a note on sets that are left out."""

    items: list[ConstraintItem]
    note: str


def constraints_view(run: Run, blocks: Sequence[Constraints], limits: Limits) -> ConstraintsView | None:
    """The constraints of blocks; None if there are none."""
    loaded = {file: load(run.folder / file) for block in blocks for file in block.files}
    sizes = {file: constraint.space.size for file, constraint in loaded.items()}
    large = sorted((size, file) for file, size in sizes.items() if size >= MANY)
    left_out = [] if limits.large is None else [file for _, file in large[limits.large :]]
    items = []
    for number, block in enumerate(blocks):
        predictions = [run.folder / block.predictions] if block.predictions else run.gold
        answers = [sentence for path in predictions for sentence in read_predictions(path)]
        for file in block.files:
            name, constraint, gold = Path(file).stem, loaded[file], gold_parts(loaded[file], answers)
            rejected = int((~constraint.verdicts(constraint.space, gold)).sum()) if len(gold) else 0
            whole = file not in left_out
            items.append(ConstraintItem(name, number, block.name, constraint, whole, gold, rejected))
    sets = len(run.blocks(Constraints))
    note = f"This page shows {len(blocks)} of {sets} sets of constraints." if len(blocks) < sets else ""
    return ConstraintsView(items, note) if items else None


def gold_parts(constraint: LearnedConstraint, sentences: Sequence[Answered]) -> Ints:
    """(N, axes) the parts of gold labels of sequences that a constraint reads."""
    gold = [sentence.instance("gold") for sentence in sentences if sentence.change.gold and sentence.x]
    psi = parts_of(constraint.feature, gold).rows.psi if constraint.feature and gold else ()
    return constraint.space.assignments(psi) if len(psi) else np.zeros((0, 0), dtype=np.int64)


class RulesView(NamedTuple):
    """The strongest rules of a constraint: (words, conditions with all their values if the words shorten
    them, share of what they cover, support and exceptions in gold labels, if there are some) of each."""

    explanation: Explanation
    rows: list[tuple[str, list[tuple[str, str]], str, list[int]]]


def rules_view(constraint: LearnedConstraint, gold: Ints) -> RulesView:
    """The strongest rules of a constraint."""
    explanation, rows = explain(constraint, limit=MOST_RULES), []
    for rule in explanation.rules[:MOST_RULES]:
        values = [(name, ", ".join(names)) for name, names in rule.box.conditions]
        share = f"{100 * rule.covered / (explanation.coverage.total or 1.0):.1f}%"
        boxes = (rule.antecedent, rule.box) if len(gold) else ()
        counts = [int(box.contains(constraint.space, gold).sum()) for box in boxes]
        rows.append((rule.words, values if SHORTENED.search(rule.words) else [], share, counts))
    return RulesView(explanation, rows)
