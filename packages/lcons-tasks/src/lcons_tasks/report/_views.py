"""What the page shows of the constraints and of the sentences of a run.

Constraints: their rules in words, what these cover, and how often gold labels of sequences, if there are
some, support and break them.

Sentences before and after decoding with constraints: spans are marked with their labels, with a dashed line
if gold has no such span. Words whose label changed are emphasised, and the rule behind the change is printed
below.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lcons_core import LearnedConstraint, explain, load
from lcons_core._types import Ints
from lcons_core.reason._words import Explanation
from lcons_tasks.own_data._examples import parts_of
from lcons_tasks.report._change import SIDES, Reason, Side, change_links, change_spans, is_changed, reason
from lcons_tasks.report._document import Change, Constraints, Sentences
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


def rules_view(constraint: LearnedConstraint, gold: Ints) -> tuple[Explanation, list[Any]]:
    """The strongest rules of a constraint, and of each: (words, conditions with all their values if the words
    shorten them, share of what they cover, support and exceptions in gold labels, if there are some)."""
    explanation, rows = explain(constraint, limit=MOST_RULES), []
    for rule in explanation.rules[:MOST_RULES]:
        values = [(name, ", ".join(names)) for name, names in rule.box.conditions]
        share = f"{100 * rule.covered / (explanation.coverage.total or 1.0):.1f}%"
        boxes = (rule.antecedent, rule.box) if len(gold) else ()
        counts = [int(box.contains(constraint.space, gold).sum()) for box in boxes]
        rows.append((rule.words, values if SHORTENED.search(rule.words) else [], share, counts))
    return explanation, rows


COLOURS = 12
# The most sentences of a file for which rules are computed.
MOST_REASONS = 60


class Mark(NamedTuple):
    """Consecutive words, each with a flag whether its label changed; for a span, its label."""

    words: Sequence[tuple[str, bool]]
    label: str = ""
    wrong: bool = False


class SentenceItem(NamedTuple):
    """A sentence of the file with this number, the names of its labels before and after, and the rule behind
    its change."""

    answer: Answered
    file: int
    sides: tuple[str, str]
    reason: Reason


class SentencesView(NamedTuple):
    """The sentences of some files, the notes above them, and one colour per label."""

    names: list[str]
    notes: list[str]
    items: list[SentenceItem]
    colours: dict[str, int]


def sentences_view(run: Run, blocks: Sequence[Sentences], most: int) -> SentencesView | None:
    """The view of blocks, with at most `most` sentences of each; None if there is nothing to show."""
    items: list[SentenceItem] = []
    notes, counts = [], Counter[str]()
    for number, block in enumerate(blocks):
        answers = [Answered(str(i), change) for i, change in enumerate(block.changes, 1)]
        if block.file is not None:
            answers = read_predictions(run.folder / block.file)
        changed = {i for i, answer in enumerate(answers) if is_changed(answer.change)}
        first = sorted(range(len(answers)), key=lambda i: i not in changed)[:most]
        shown, left_out = [answers[i] for i in sorted(first)], len(answers) - len(first)
        note = f"{block.name}: {len(changed):,} of {len(answers):,} sentences changed"
        notes.append(note + (f" ({left_out:,} sentences are not on this page)" if left_out else ""))
        reasons = _reasons(run, block, shown)
        items += [SentenceItem(answer, number, block.sides, next(reasons)) for answer in shown]
        for change, side in product((answer.change for answer in answers), SIDES):
            counts.update(label for label, _, _ in change_spans(change, side))
            counts.update(label for _, _, label in change_links(change, side))
    # The most frequent labels have different colours.
    ordered = sorted(counts, key=lambda label: (-counts[label], label))
    colours = {label: i % COLOURS for i, label in enumerate(ordered)}
    return SentencesView([block.name for block in blocks], notes, items, colours) if items else None


def _reasons(run: Run, block: Sentences, shown: Sequence[Answered]) -> Iterator[Reason]:
    """The rule behind each change: from the document, otherwise by the constraints of the run."""
    known = {(c.words, c.before, c.after): (c.rule, c.why) for c in block.changes}
    constraints = {path.stem: load(path) for path in run.constraints}
    left = MOST_REASONS if constraints else 0
    for answer in shown:
        change = answer.change
        because = known.get((change.words, change.before, change.after))
        if because is None and left and is_changed(change):
            left -= 1
            because = reason(answer.instance("before"), answer.instance("after"), constraints)
        yield because or ("", "")


def marked(change: Change, side: Side, against: Side) -> Iterator[Mark]:
    """The words of a side, with one mark per span; a mark is wrong if `against` has no such span."""
    moved = [a != b and side != "gold" for a, b in zip(change.before, change.after, strict=True)]
    words = list(zip(change.words, moved, strict=True))
    right, end = set(change_spans(change, against)), len(words)
    at = 0
    for label, first, after in (*change_spans(change, side), ("", end, end)):
        if first > at:
            yield Mark(words[at:first])
        if label:
            yield Mark(words[first:after], label, (label, first, after) not in right)
        at = after
