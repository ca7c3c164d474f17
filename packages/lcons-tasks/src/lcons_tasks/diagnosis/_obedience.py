"""Does the base model already obey the constraint, and if not, is it wrong where it violates it?

If a prediction is right, gold and prediction violate the constraint equally. So

    excess = violations of predictions - violations of gold

is the share of parts where the constraint supports gold against a wrong prediction, minus the share where it
supports the wrong prediction. The constraint can help only if the excess is above zero; then a violation
should also indicate an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import ne
from typing import Any

import numpy as np

from lcons_core import Instance
from lcons_core._psi import PsiRows
from lcons_core._types import Bools, Floats, Ints
from lcons_core.features import ConstraintFeature, SequenceFeature, Tuples
from lcons_tasks.diagnosis._references import Reference, share_of
from lcons_tasks.own_data._examples import parts_of
from lcons_tasks.stats import Estimate, Resampler, are_spans, certain, count_right

Labels = list[list[Any]]


@dataclass(frozen=True)
class Obedience:
    """The verdict of a judge (the constraint or a reference) on predictions; shares of parts, in percent.

    Errors are shares of wrong labels inside parts; `lift` is the difference of the two, None if nothing or
    everything is violated. `headroom`: the accuracy, in points, that would be gained if every wrong label
    inside a violating part were corrected. If tuples or rows are predicted, they count as the labels. All of
    these and `accuracy` are None if predicted and gold parts cannot be compared one by one. `f1` and
    `headroom_f1`: the same for span F1; None if the labels are not spans (IOB, BIOES, BILOU).
    """

    judge: str
    accuracy: float | None
    violations: Estimate
    gold_violations: Estimate
    excess: Estimate
    error_if_violated: float | None = None
    error_otherwise: float | None = None
    lift: Estimate | None = None
    headroom: Estimate | None = None
    f1: Estimate | None = None
    headroom_f1: Estimate | None = None

    @property
    def headroom_words(self) -> str:
        """The headroom: in span F1 if there are spans, and in accuracy."""
        if self.headroom_f1 is None:
            return f"{self.headroom} points"
        return f"{self.headroom_f1} points of span F1, {self.headroom} of accuracy"


@dataclass(frozen=True, eq=False)
class Predicted:
    """Parts of gold and of predictions; unit u has the labels from `offsets[u]` to `offsets[u + 1]`.

    `wrong` (N,) states which labels are wrong, and `covers` (parts, 2) the first label of each part and the
    one after its last; None if gold and predicted parts cannot be compared one by one. `spans` are the gold
    and predicted labels of each unit if they are spans."""

    gold: PsiRows
    parts: PsiRows
    offsets: Ints
    wrong: Floats | None = None
    covers: Ints | None = None
    spans: tuple[Labels, Labels] | None = None

    @classmethod
    def of_structures(
        cls, feature: ConstraintFeature, held_out: Sequence[Instance], predictions: Sequence[Sequence[Any]]
    ) -> Predicted:
        """`predictions` are the predicted labels or tuples of each structure."""
        answers = [[y if isinstance(y, str) else tuple(y) for y in one] for one in predictions]
        golds = [[y if isinstance(y, str) else tuple(y) for y in one.y] for one in held_out]
        gold, parts = (
            parts_of(feature, some).rows for some in (held_out, predicted_instances(held_out, answers))
        )
        sizes = [len(y) for y in answers]
        offsets = np.cumsum([0, *sizes])
        if sizes != [len(y) for y in golds] or not np.array_equal(gold.owner, parts.owner):
            return cls(gold, parts, offsets)
        wrong = np.array(list(map(ne, chain(*golds), chain(*answers))), dtype=np.float64)
        counts = np.bincount(gold.owner, minlength=len(sizes))
        covers = [_covered(feature, *one) + o for *one, o in zip(sizes, counts, offsets, strict=False)]
        known: set[Any] = set(chain(*golds, *answers))
        are = all(isinstance(label, str) for label in known) and are_spans(known)
        return cls(gold, parts, offsets, wrong, np.concatenate(covers), (golds, answers) if are else None)


def predicted_instances(held_out: Sequence[Instance], predictions: Sequence[Sequence[Any]]) -> list[Instance]:
    """The held-out structures with predicted y; columns of another length are left out."""
    return [
        Instance(s.x if len(y) == len(s.y) else {}, y) for s, y in zip(held_out, predictions, strict=True)
    ]


def obedience(judge: Reference, predicted: Predicted, draws: Resampler) -> Obedience:
    """The verdict of the judge on the predictions."""
    alarm, gold_alarm = ~judge.accepts(predicted.parts.psi), ~judge.accepts(predicted.gold.psi)
    violations = share_of(alarm, predicted.parts, draws)
    gold_violations = share_of(gold_alarm, predicted.gold, draws)
    shares = certain(violations), certain(gold_violations), certain(violations - gold_violations)
    wrong, covers = predicted.wrong, predicted.covers
    if wrong is None or covers is None:
        return Obedience(judge.name, None, *shares)
    first, stop = covers.T
    errors = (_sums(wrong)[stop] - _sums(wrong)[first]) / np.maximum(stop - first, 1)
    inside = share_of(errors * alarm, predicted.parts, draws, alarm)
    outside = share_of(errors * ~alarm, predicted.parts, draws, ~alarm)
    means = [None if np.isnan(share[0]) else float(100 * share[0]) for share in (inside, outside)]
    # The labels inside violating parts, each once.
    marks = np.zeros(len(wrong) + 1)
    np.add.at(marks, first[alarm], 1)
    np.add.at(marks, stop[alarm], -1)
    caught: Bools = np.cumsum(marks)[:-1] > 0
    of_units = np.diff(_sums(wrong * caught)[predicted.offsets])
    headroom = certain(draws.ratio(of_units, np.diff(predicted.offsets)))
    accuracy = float(100 * (1 - wrong.mean()))
    f1, headroom_f1 = _f1(predicted, caught, draws)
    return Obedience(
        judge.name,
        accuracy,
        *shares,
        error_if_violated=means[0],
        error_otherwise=means[1],
        lift=Estimate.of(inside - outside),
        headroom=headroom,
        f1=f1,
        headroom_f1=headroom_f1,
    )


def _sums(values: Floats) -> Floats:
    """(N + 1,) the sums of the first values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _f1(predicted: Predicted, caught: Bools, draws: Resampler) -> tuple[Estimate | None, Estimate | None]:
    """Span F1 of the predictions, and its gain if the labels inside violating parts were those of gold."""
    if predicted.spans is None:
        return None, None
    golds, labels = predicted.spans
    inside = np.split(caught, predicted.offsets[1:-1])
    corrected = [
        [g if bad else y for g, y, bad in zip(*one, strict=True)]
        for one in zip(golds, labels, inside, strict=True)
    ]
    counts = [count_right(golds, side) for side in (labels, corrected)]
    before, after = (draws.ratio(2 * one[:, 0], one[:, 1:].sum(1)) for one in counts)
    return Estimate.of(before), Estimate.of(after - before)


def _covered(feature: ConstraintFeature, length: int, parts: int) -> Ints:
    """(parts, 2) the first label of each part of a structure, and the one after its last. If the feature does
    not state the labels of a part, the part covers the whole structure."""
    if isinstance(feature, SequenceFeature):
        first = np.arange(parts) - (feature.n - 1 if feature.pad else 0)
        return np.stack([first, first + feature.n], axis=1).clip(0, length)
    if isinstance(feature, Tuples):
        return np.stack([np.arange(length), np.arange(length) + 1], axis=1)
    return np.tile([0, length], (parts, 1))
