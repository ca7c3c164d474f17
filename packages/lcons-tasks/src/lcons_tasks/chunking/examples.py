"""Sentences in which constraints changed the answer, with the rule that did it.

The rule is found in the unconstrained answer: the window that a constraint rejects most clearly, and of its
labels and tags only those that the rejection needs (dropping any more would leave something allowed).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, why
from lcons_core.features import SequenceFeature
from lcons_core.instance import Instance
from lcons_tasks.corpus import Sentence

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
        after = sum(a == g for a, g in zip(self.after, self.gold, strict=True))
        return after - sum(b == g for b, g in zip(self.before, self.gold, strict=True))

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
    gains = {i: _gain(sentences[i].labels, before[i], after[i]) for i in readable}
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


def _example(
    i: int,
    sentence: Sentence,
    before: Sequence[str],
    after: Sequence[str],
    constraints: Mapping[str, LearnedConstraint],
) -> Example:
    rule, reason = _rule(sentence, before, after, constraints)
    return Example(i, sentence.words, sentence.labels, tuple(before), tuple(after), rule, reason)


def _gain(gold: Sequence[str], before: Sequence[str], after: Sequence[str]) -> int:
    return sum((a == g) - (b == g) for g, b, a in zip(gold, before, after, strict=True))


def _rule(
    sentence: Sentence,
    before: Sequence[str],
    after: Sequence[str],
    constraints: Mapping[str, LearnedConstraint],
) -> tuple[str, str]:
    """The smallest forbidden part of the most clearly rejected window, and the sum that forbids it."""
    least, chosen = np.inf, None
    for constraint in constraints.values():
        feature = constraint.feature
        if not isinstance(feature, SequenceFeature) or len(before) < feature.n:
            continue
        psi = feature.psi(Instance(sentence.x, tuple(before)))
        margins = np.atleast_1d(constraint.margin(psi))
        touched = [
            any(before[t] != after[t] for t, _ in feature.label_terms(len(before), w))
            for w in range(len(margins))
        ]
        margins = np.where(touched, margins, np.inf)
        if margins.min() < least:
            least, chosen = margins.min(), (constraint, psi.dense()[int(margins.argmin())])
    if chosen is None:
        return "a global constraint", ""
    constraint, point = chosen
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
