"""Does the base model already obey the constraint, and if not, is it wrong where it violates it?

If a prediction is right, gold and prediction violate the constraint equally. So

    excess = violations of predictions - violations of gold
           = (prediction rejected, gold accepted) - (gold rejected, wrong prediction accepted)

is the share of parts where the constraint supports gold against a wrong prediction, minus the share where it
supports the wrong prediction. The constraint can help only if the excess is above zero; then a violation
should also indicate an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core import Instance
from lcons_core._psi import PsiRows
from lcons_core._types import Bools, Floats, Ints
from lcons_core.features import ConstraintFeature, SequenceFeature, Tuples
from lcons_tasks.diagnosis._material import parts_of
from lcons_tasks.diagnosis._references import Reference, by_unit
from lcons_tasks.stats import Estimate, Resampler, are_spans, certain, count_right

Labels = list[tuple[str, ...]]


@dataclass(frozen=True)
class Obedience:
    """The verdict of a judge (the constraint or a reference) on predictions; shares of parts, in percent.

    `for_gold`: prediction rejected, gold accepted. `against_gold`: gold rejected, wrong prediction accepted.
    `false_alarms`: right prediction rejected. Errors are shares of wrong labels inside parts; `lift` is the
    difference of the two, None if nothing or everything is violated. `headroom`: the accuracy, in points,
    that would be gained if every wrong label inside a violating part were corrected. If tuples or rows are
    predicted, they count as the labels. All of these are None if predicted and gold parts cannot be compared
    one by one. `f1` and `headroom_f1`: span F1 of the predictions, and what it would gain by the same
    corrections; None if the labels are not spans (IOB, BIOES, BILOU).
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
    f1: Estimate | None = None
    headroom_f1: Estimate | None = None


@dataclass(frozen=True, eq=False)
class Wrong:
    """Which labels are wrong (N,); part i covers the labels from `first` to `stop`, and unit u those from
    `offsets[u]` to `offsets[u + 1]`."""

    labels: Floats
    first: Ints
    stop: Ints
    offsets: Ints


@dataclass(frozen=True, eq=False)
class Predicted:
    """Parts of gold and of predictions; `wrong` is None if they cannot be compared one by one. `spans` are
    the gold and predicted labels of each unit if they are spans."""

    gold: PsiRows
    found: PsiRows
    wrong: Wrong | None
    spans: tuple[Labels, Labels] | None = None

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
        wrong = Wrong(np.array(differ, dtype=np.float64), first, stop, offsets)
        golds = [tuple(s.y) for s in held_out]
        both = {label for y in (*golds, *predictions) for label in y}
        if not all(isinstance(label, str) for label in both) or not are_spans(both):
            return cls(gold, found, wrong)
        return cls(gold, found, wrong, (golds, [tuple(y) for y in predictions]))

    @classmethod
    def of_rows(cls, gold: PsiRows, found: PsiRows, size: int) -> Predicted:
        """Rows of a table of `size` rows, each compared with the gold row."""
        differ = [a != b for a, b in zip(gold.psi.row_keys(), found.psi.row_keys(), strict=True)]
        each = np.arange(len(gold) + 1)
        offsets = np.searchsorted(gold.owner, np.arange(size + 1))
        return cls(gold, found, Wrong(np.array(differ, dtype=np.float64), each[:-1], each[1:], offsets))


def predicted_instances(held_out: Sequence[Instance], predictions: Sequence[Sequence[Any]]) -> list[Instance]:
    """The held-out structures with predicted y; columns of another length are left out."""
    return [
        Instance(s.x if len(y) == len(s.y) else {}, y) for s, y in zip(held_out, predictions, strict=True)
    ]


def obedience(judge: Reference, given: Predicted, draws: Resampler) -> Obedience:
    """The verdict of the judge on the predictions."""

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
        *_f1(given, alarm, draws),
    )


def _inside(wrong: Wrong, alarm: Any) -> Bools:
    """(N,) which labels are inside violating parts."""
    marks = np.zeros(len(wrong.labels) + 1)
    np.add.at(marks, wrong.first[alarm], 1)
    np.add.at(marks, wrong.stop[alarm], -1)
    return np.asarray(np.cumsum(marks)[:-1] > 0)


def _headroom(wrong: Wrong, alarm: Any, draws: Resampler) -> Floats:
    """The share of wrong labels inside violating parts, each counted once, among all labels."""
    caught = np.concatenate([[0.0], np.cumsum(wrong.labels * _inside(wrong, alarm))])
    edges = wrong.offsets
    return draws.ratio(caught[edges[1:]] - caught[edges[:-1]], np.diff(edges))


def _f1(given: Predicted, alarm: Any, draws: Resampler) -> tuple[Estimate | None, Estimate | None]:
    """Span F1 of the predictions, and its gain if the labels inside violating parts were those of gold."""
    if given.spans is None or given.wrong is None:
        return None, None
    golds, found = given.spans
    inside = np.split(_inside(given.wrong, alarm), given.wrong.offsets[1:-1])
    corrected = [
        tuple(g if bad else y for g, y, bad in zip(*one, strict=True))
        for one in zip(golds, found, inside, strict=True)
    ]
    before, after = (_f1_draws(golds, side, draws) for side in (found, corrected))
    return Estimate.of(before), Estimate.of(after - before)


def _f1_draws(golds: Labels, found: Labels, draws: Resampler) -> Floats:
    counts = count_right(golds, found)
    return draws.ratio(2 * counts[:, 0], counts[:, 1:].sum(1))


def _pairs(gold: Sequence[Any], found: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pairs of gold and predicted labels or tuples; a tuple may be a list."""
    return [(a, b) if isinstance(a, str) else (tuple(a), tuple(b)) for a, b in zip(gold, found, strict=True)]


def _covered(feature: ConstraintFeature, length: int, parts: int) -> Ints:
    """(parts, 2) the first label of each part of a structure, and the one after its last. If the feature does
    not state the labels of a part, the part covers the whole structure."""
    if isinstance(feature, SequenceFeature):
        first = np.arange(parts) - (feature.n - 1 if feature.pad else 0)
        return np.stack([first, first + feature.n], axis=1).clip(0, length)
    if isinstance(feature, Tuples):
        return np.stack([np.arange(length), np.arange(length) + 1], axis=1)
    return np.tile([0, length], (parts, 1))
