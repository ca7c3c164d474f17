"""Does the base model already obey the constraint, and where it does not, is it wrong there?

Where a prediction is right, gold and prediction violate alike. So

    excess = violations of predictions - violations of gold
           = (prediction rejected, gold accepted) - (gold rejected, wrong prediction accepted)

is how much more often the constraint speaks for gold than against it, where the two differ. It is of use only
if that is above zero; if so, a violation should also be a sign of errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core import Floats, Instance, Ints, PsiRows
from lcons_core.features import ConstraintFeature, SequenceFeature, Tuples
from lcons_tasks.diagnosis._material import parts_of
from lcons_tasks.diagnosis._references import Reference, by_unit
from lcons_tasks.stats import Estimate, Resampler, certain


@dataclass(frozen=True)
class Obedience:
    """What a judge (the constraint or a reference) says of predictions; shares of parts, in percent.

    `for_gold`: prediction rejected, gold accepted. `against_gold`: gold rejected, wrong prediction accepted.
    `false_alarms`: right prediction rejected. Errors are shares of wrong labels inside parts; `lift` is the
    difference of the two, None where nothing or everything is violated. `headroom`: points of accuracy that
    would be won were every wrong label inside a violating part corrected. Labels are tuples or rows where
    these are predicted. All of these are None where predicted and gold parts cannot be laid side by side.
    """

    judge: str
    accuracy: float | None
    violations: Estimate
    gold_violations: Estimate
    excess: Estimate
    for_gold: float | None = None
    against_gold: float | None = None
    false_alarms: float | None = None
    error_if_violated: float | None = None
    error_otherwise: float | None = None
    lift: Estimate | None = None
    headroom: Estimate | None = None


@dataclass(frozen=True, eq=False)
class Wrong:
    """Which labels are wrong (N,); part i covers those from `first` to `stop`, unit u those from `offsets[u]`
    to `offsets[u + 1]`."""

    labels: Floats
    first: Ints
    stop: Ints
    offsets: Ints


@dataclass(frozen=True, eq=False)
class Predicted:
    """Parts of gold and of predictions; `wrong` where each part has one beside it, else None."""

    gold: PsiRows
    found: PsiRows
    wrong: Wrong | None

    @classmethod
    def of_structures(
        cls, feature: ConstraintFeature, held_out: Sequence[Instance], predictions: Sequence[Sequence[Any]]
    ) -> Predicted:
        """`predictions` are the predicted labels or tuples of each structure."""
        gold = parts_of(feature, held_out)
        found = parts_of(feature, predicted_instances(held_out, predictions))
        sizes = [len(y) for y in predictions]
        if sizes != [len(s.y) for s in held_out] or not np.array_equal(gold.owner, found.owner):
            return cls(gold, found, None)
        offsets = np.cumsum([0, *sizes])
        differ = [a != b for s, y in zip(held_out, predictions, strict=True) for a, b in _pairs(s.y, y)]
        counts = np.bincount(gold.owner, minlength=len(sizes))
        spans = [_covered(feature, *one) + o for *one, o in zip(sizes, counts, offsets, strict=False)]
        first, stop = np.concatenate(spans).T
        return cls(gold, found, Wrong(np.array(differ, dtype=np.float64), first, stop, offsets))

    @classmethod
    def of_rows(cls, gold: PsiRows, found: PsiRows, size: int) -> Predicted:
        """Rows of a table of `size`, each beside the one that is right."""
        differ = [a != b for a, b in zip(gold.psi.row_keys(), found.psi.row_keys(), strict=True)]
        each = np.arange(len(gold) + 1)
        offsets = np.searchsorted(gold.owner, np.arange(size + 1))
        return cls(gold, found, Wrong(np.array(differ, dtype=np.float64), each[:-1], each[1:], offsets))


def predicted_instances(held_out: Sequence[Instance], predictions: Sequence[Sequence[Any]]) -> list[Instance]:
    """The held-out structures with predicted y; columns that are of another length are left out."""
    return [
        Instance(s.x if len(y) == len(s.y) else {}, y) for s, y in zip(held_out, predictions, strict=True)
    ]


def obedience(judge: Reference, given: Predicted, draws: Resampler) -> Obedience:
    """What the judge says of the predictions."""

    def share(values: Floats, of: Floats, parts: PsiRows) -> Floats:
        return draws.ratio(by_unit(values, parts, draws.size), by_unit(of, parts, draws.size))

    alarm, gold_alarm = ~judge.accepts(given.found.psi), ~judge.accepts(given.gold.psi)
    every = np.ones(len(alarm))
    violations = share(alarm * every, every, given.found)
    gold_every = np.ones(len(gold_alarm))
    gold_violations = share(gold_alarm * gold_every, gold_every, given.gold)
    shares = certain(violations), certain(gold_violations), certain(violations - gold_violations)
    wrong = given.wrong
    if wrong is None:
        return Obedience(judge.name, None, *shares)
    before = np.concatenate([[0.0], np.cumsum(wrong.labels)])
    errors = (before[wrong.stop] - before[wrong.first]) / np.maximum(wrong.stop - wrong.first, 1)
    inside = share(errors * alarm, alarm * every, given.found)
    outside = share(errors * ~alarm, ~alarm * every, given.found)
    return Obedience(
        judge.name,
        float(100 * (1 - wrong.labels.mean())),
        *shares,
        float(100 * np.mean(alarm & ~gold_alarm)),
        float(100 * np.mean(gold_alarm & ~alarm)),
        float(100 * np.mean(alarm & (errors == 0))),
        None if np.isnan(inside[0]) else float(100 * inside[0]),
        None if np.isnan(outside[0]) else float(100 * outside[0]),
        Estimate.of(inside - outside),
        certain(_headroom(wrong, alarm, draws)),
    )


def _headroom(wrong: Wrong, alarm: Any, draws: Resampler) -> Floats:
    """Wrong labels inside violating parts, each once, as a share of all labels."""
    marks = np.zeros(len(wrong.labels) + 1)
    np.add.at(marks, wrong.first[alarm], 1)
    np.add.at(marks, wrong.stop[alarm], -1)
    caught = np.concatenate([[0.0], np.cumsum(wrong.labels * (np.cumsum(marks)[:-1] > 0))])
    edges = wrong.offsets
    return draws.ratio(caught[edges[1:]] - caught[edges[:-1]], np.diff(edges))


def _pairs(gold: Sequence[Any], found: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Labels or tuples side by side; a tuple may be a list."""
    return [(a, b) if isinstance(a, str) else (tuple(a), tuple(b)) for a, b in zip(gold, found, strict=True)]


def _covered(feature: ConstraintFeature, length: int, parts: int) -> Ints:
    """(parts, 2) the first label and the one after the last of each part of a structure; a part of a feature
    that does not tell covers all of it."""
    if isinstance(feature, SequenceFeature):
        first = np.arange(parts) - (feature.n - 1 if feature.pad else 0)
        return np.stack([first, first + feature.n], axis=1).clip(0, length)
    if isinstance(feature, Tuples):
        return np.stack([np.arange(length), np.arange(length) + 1], axis=1)
    return np.tile([0, length], (parts, 1))
