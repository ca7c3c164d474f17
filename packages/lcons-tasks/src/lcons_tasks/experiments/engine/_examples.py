"""Sentences in which constraints changed the answer, with the rule that caused the change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lcons_core import Instance, LearnedConstraint
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._rows import TableRow
from lcons_tasks.experiments.engine._sequences import CHOSEN, EXACT, Answers, LabellingCell, constraints
from lcons_tasks.report._reasons import reason

# Shorter sentences show little, longer ones take long to read.
SHORTEST, LONGEST = 8, 25


@dataclass(frozen=True)
class Example:
    """A sentence with its labels before and after, its gold labels, and the rule in words and as a sum."""

    sentence: int
    words: tuple[str, ...]
    gold: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    rule: str
    why: str

    @property
    def gain(self) -> int:
        """The number of correct labels after minus the number before."""
        return sum((a == g) - (b == g) for g, b, a in zip(self.gold, self.before, self.after, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The example as plain data."""
        return asdict(self)


def examples(
    sentences: Sequence[Sentence],
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    constraints: Mapping[str, LearnedConstraint],
    most: int = 5,
) -> list[Example]:
    """The clearest corrections, each by a different rule, and last a sentence with more errors, if there is
    one."""
    changed = [i for i, (b, a) in enumerate(zip(before, after, strict=True)) if tuple(b) != tuple(a)]
    readable = [i for i in changed if SHORTEST <= len(before[i]) <= LONGEST]
    gains = {i: _right(after[i], sentences[i]) - _right(before[i], sentences[i]) for i in readable}
    # Few words per correction are quick to read; ties go to the earlier sentence.
    better = sorted((i for i in gains if gains[i] > 0), key=lambda i: (-gains[i] / len(before[i]), i))
    worse = sorted((i for i in gains if gains[i] < 0), key=lambda i: (gains[i], i))
    found: dict[str, Example] = {}
    for i in better:
        if len(found) < most - bool(worse):
            example = _example(i, sentences[i], before[i], after[i], constraints)
            found.setdefault(example.rule, example)
    return [
        *found.values(),
        *(_example(i, sentences[i], before[i], after[i], constraints) for i in worse[:1]),
    ]


def _right(labels: Sequence[str], sentence: Sentence) -> int:
    return sum(a == b for a, b in zip(labels, sentence.labels, strict=True))


def _example(
    i: int,
    sentence: Sentence,
    before: Sequence[str],
    after: Sequence[str],
    constraints: Mapping[str, LearnedConstraint],
) -> Example:
    rule, why = reason(Instance(sentence.x, tuple(before)), Instance(sentence.x, tuple(after)), constraints)
    return Example(i, sentence.words, sentence.labels, tuple(before), tuple(after), rule, why)


def changes(
    cell: LabellingCell,
    answers: Answers,
    row: TableRow,
    kept: Stages,
    as_iob: Callable[[Sequence[str]], Sequence[str]],
) -> list[dict[str, Any]]:
    """Test sentences that the chosen row changed, with the rule behind each change, as plain data."""
    own = constraints(cell, row.recipes, kept)
    found = examples(cell.test(kept), answers.texts[EXACT], answers.texts[CHOSEN], own)
    sides = ("gold", "before", "after")
    return [
        {**plain, **{side: list(as_iob(plain[side])) for side in sides}}
        for plain in (one.to_dict() for one in found)
    ]
