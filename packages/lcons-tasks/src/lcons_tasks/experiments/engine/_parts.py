"""Sentences of dev or test with the model's scores, and how right an answer is on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core import LearnedConstraint
from lcons_decode import ChainBatch
from lcons_decode._scores import Ints
from lcons_tasks.data import Sentence
from lcons_tasks.models._tagger import Tagger


@dataclass(frozen=True, eq=False)
class Part:
    """Sentences with the model's scores and the gold labels as its indices (-1: unknown)."""

    batch: ChainBatch
    xs: list[dict[str, tuple[str, ...]]]
    gold: Ints

    @classmethod
    def of(cls, model: Tagger, sentences: Sequence[Sentence]) -> Part:
        xs = [sentence.x for sentence in sentences]
        index = {label: i for i, label in enumerate(model.labels)}
        gold = [index.get(label, -1) for sentence in sentences for label in sentence.labels]
        return cls(model.scores(xs), xs, np.array(gold, dtype=np.int64))

    def right(self, found: Ints) -> Ints:
        return right_counts(found, self.gold, self.batch.offsets)


def right_counts(found: Ints, gold: Ints, offsets: Ints) -> Ints:
    """Right labels a sentence."""
    right = np.concatenate([[0], np.cumsum(found == gold)])
    return right[offsets[1:]] - right[offsets[:-1]]


def percent(right: Ints, total: Ints) -> float:
    return float(100 * right.sum() / total.sum())


def rejected_gold(constraint: LearnedConstraint, sentences: Sequence[Sentence]) -> dict[str, float]:
    """How much of the gold labelling of held-out sentences a constraint rejects, in percent of its parts
    and of sentences; `unknown` are sentences with a label that it has never seen, which are left out."""
    known = set(constraint.labels)
    parts = broken = sentences_broken = kept = 0
    feature = constraint.feature
    assert feature is not None
    for sentence in sentences:
        if not known.issuperset(sentence.labels):
            continue
        verdicts = constraint.network.accepts(feature.psi(sentence.instance))
        kept += 1
        parts += len(verdicts)
        broken += int((~verdicts).sum())
        sentences_broken += bool((~verdicts).any())
    return {
        "parts": 100 * broken / max(parts, 1),
        "sentences": 100 * sentences_broken / max(kept, 1),
        "unknown": len(sentences) - kept,
    }


def size_of(learned: LearnedConstraint) -> int:
    """How many numbers a constraint's networks have."""
    return sum(part.W.size + part.b.size for part in learned.network.parts)
