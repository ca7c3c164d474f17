"""Sentences in which constraints changed the answer, with the rule that did it.

The rule is found where the change mended most: the window whose margin rose most from the unconstrained
answer to the constrained one; and of its labels and tags only those that its rejection needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, why
from lcons_core._instance import Instance
from lcons_core.features import SequenceFeature
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._labelling import CHOSEN, EXACT, Answers, LabellingCell, constraints
from lcons_tasks.experiments.engine._rows import Row

# Sentences of fewer words say little, and of more are long to read.
SHORTEST, LONGEST = 8, 25


@dataclass(frozen=True)
class Example:
    """Labels before and after, the gold ones, and the rule, in words and with its sum."""

    sentence: int
    words: tuple[str, ...]
    gold: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    rule: str
    why: str

    @property
    def gain(self) -> int:
        """How many more labels are right after."""
        return sum((a == g) - (b == g) for g, b, a in zip(self.gold, self.before, self.after, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def examples(
    sentences: Sequence[Sentence],
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    constraints: Mapping[str, LearnedConstraint],
    most: int = 5,
) -> list[Example]:
    """The clearest corrections, each by another rule, and last a sentence that was made worse, if any was."""
    changed = [i for i, (b, a) in enumerate(zip(before, after, strict=True)) if tuple(b) != tuple(a)]
    readable = [i for i in changed if SHORTEST <= len(before[i]) <= LONGEST]
    gains = {i: _right(after[i], sentences[i]) - _right(before[i], sentences[i]) for i in readable}
    # The fewest words a correction take the least reading; ties go to the earlier sentence.
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
    rule, reason = _rule(sentence, before, after, constraints)
    return Example(i, sentence.words, sentence.labels, tuple(before), tuple(after), rule, reason)


def _rule(
    sentence: Sentence,
    before: Sequence[str],
    after: Sequence[str],
    constraints: Mapping[str, LearnedConstraint],
) -> tuple[str, str]:
    """The smallest forbidden part of the window that was mended most, and the sum that forbids it."""
    most, chosen = 0.0, None
    for constraint in constraints.values():
        feature = constraint.feature
        if not isinstance(feature, SequenceFeature) or len(before) < feature.n:
            continue
        old = feature.psi(Instance(sentence.x, tuple(before)))
        margin, mended = (
            np.atleast_1d(constraint.margin(feature.psi(Instance(sentence.x, tuple(y)))))
            for y in (before, after)
        )
        # What counts of a margin is how far it is below what is allowed.
        rise = np.minimum(mended, 0.0) - np.minimum(margin, 0.0) + 0.01 * (mended - margin)
        if rise.max(initial=0.0) > most:
            worst = int(rise.argmax())
            most, chosen = rise[worst], (constraint, old.dense()[worst], float(margin[worst]))
    if chosen is None:
        return "no single window: the change follows from others, or from a global constraint", ""
    constraint, point, least = chosen
    named = constraint.space.describe(point)
    if least >= 0:
        words = ", ".join(f"{name} {value}" for name, value in named.items())
        return f"disliked (margin {least:.2f}, 1 at best): {words}", str(why(constraint, named))
    for name in list(named):
        rest = {other: value for other, value in named.items() if other != name}
        if rest and why(constraint, rest).forbidden:
            named = rest
    words = ", ".join(f"{name} {value}" for name, value in named.items())
    return f"forbidden: {words}", str(why(constraint, named))


def changes(
    cell: LabellingCell,
    answers: Answers,
    row: Row,
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
