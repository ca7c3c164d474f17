"""Sentences before and after decoding with constraints, as the page shows them.

Spans are marked with their labels, with a dashed line if gold has no such span. Words whose label changed are
emphasised, and the rule behind the change is printed below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from lcons_core import load
from lcons_tasks.report._document import Change, Sentences
from lcons_tasks.report._predictions import Answered, read_predictions
from lcons_tasks.report._reasons import Reason, reason
from lcons_tasks.report._run import Run
from lcons_tasks.report._spans import SIDES, Side, change_links, change_spans, is_changed

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


def linked(change: Change, side: Side, against: Side) -> Iterator[tuple[str, str, str, bool]]:
    """(source, label, target, whether `against` has no such relation) of the relations of a side."""
    texts = {first: " ".join(change.words[first:after]) for _, first, after in change_spans(change, side)}
    right = change_links(change, against)
    for i, j, label in change_links(change, side):
        yield texts.get(i, change.words[i]), label, texts.get(j, change.words[j]), (i, j, label) not in right
