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

import numpy as np

from lcons_core import Instance, InvalidInput
from lcons_core._psi import PsiRows
from lcons_core._types import Floats, Ints
from lcons_core.features import ConstraintFeature, SequenceFeature
from lcons_tasks.diagnosis._references import Reference, share_of
from lcons_tasks.own_data._examples import parts_of
from lcons_tasks.stats import Estimate, Resampler, certain


@dataclass(frozen=True)
class Obedience:
    """The verdict of a judge (the constraint or a reference) on predictions; shares of parts, in percent.

    Errors are shares of wrong labels inside parts; `lift` is the difference of the two, None if nothing or
    everything is violated. `headroom`: the accuracy, in points, that would be gained if every wrong label
    inside a violating part were corrected.
    """

    judge: str
    accuracy: float
    violations: Estimate
    gold_violations: Estimate
    excess: Estimate
    error_if_violated: float | None
    error_otherwise: float | None
    lift: Estimate | None
    headroom: Estimate


@dataclass(frozen=True, eq=False)
class Predicted:
    """Parts of gold and of predictions; unit u has the labels from `offsets[u]` to `offsets[u + 1]`.

    `wrong` (N,) states which labels are wrong, and `covers` (parts, 2) the first label of each part and the
    one after its last."""

    gold: PsiRows
    parts: PsiRows
    offsets: Ints
    wrong: Floats
    covers: Ints

    @classmethod
    def of(
        cls, feature: ConstraintFeature, gold: Sequence[Instance], answers: Sequence[Instance]
    ) -> Predicted:
        """The parts of structures with gold y, and of the same structures with predicted y."""
        rows, predicted = (parts_of(feature, some).rows for some in (gold, answers))
        if not len(predicted) or not np.array_equal(rows.owner, predicted.owner):
            raise InvalidInput("expected predictions that the constraint can judge: got none.")
        sides = (chain.from_iterable(instance.y for instance in some) for some in (gold, answers))
        wrong = np.array(list(map(ne, *sides)), dtype=np.float64)
        sizes = [len(instance.y) for instance in gold]
        offsets, counts = np.cumsum([0, *sizes]), np.bincount(rows.owner, minlength=len(sizes))
        places = zip(sizes, counts, offsets, strict=False)
        covers = [_covered(feature, length, parts) + offset for length, parts, offset in places]
        return cls(rows, predicted, offsets, wrong, np.concatenate(covers))


def obedience(judge: Reference, predicted: Predicted, draws: Resampler) -> Obedience:
    """The verdict of the judge on the predictions."""
    alarm, gold_alarm = ~judge.accepts(predicted.parts.psi), ~judge.accepts(predicted.gold.psi)
    violations = share_of(alarm, predicted.parts, draws)
    gold_violations = share_of(gold_alarm, predicted.gold, draws)
    wrong, (first, stop) = predicted.wrong, predicted.covers.T
    errors = (_sums(wrong)[stop] - _sums(wrong)[first]) / np.maximum(stop - first, 1)
    inside = share_of(errors * alarm, predicted.parts, draws, alarm)
    outside = share_of(errors * ~alarm, predicted.parts, draws, ~alarm)
    # The labels inside violating parts, each once.
    marks = np.zeros(len(wrong) + 1)
    np.add.at(marks, first[alarm], 1)
    np.add.at(marks, stop[alarm], -1)
    corrected = np.diff(_sums(wrong * (np.cumsum(marks)[:-1] > 0))[predicted.offsets])
    return Obedience(
        judge.name,
        float(100 * (1 - wrong.mean())),
        certain(violations),
        certain(gold_violations),
        certain(violations - gold_violations),
        _percent(inside),
        _percent(outside),
        lift=Estimate.of(inside - outside),
        headroom=certain(draws.ratio(corrected, np.diff(predicted.offsets))),
    )


def _percent(share: Floats) -> float | None:
    return None if np.isnan(share[0]) else float(100 * share[0])


def _sums(values: Floats) -> Floats:
    """(N + 1,) the sums of the first values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _covered(feature: ConstraintFeature, length: int, parts: int) -> Ints:
    """(parts, 2) the first label of each part of a structure, and the one after its last. If the feature does
    not state the labels of a part, the part covers the whole structure."""
    if isinstance(feature, SequenceFeature):
        first = np.arange(parts) - (feature.n - 1 if feature.pad else 0)
        return np.stack([first, first + feature.n], axis=1).clip(0, length)
    return np.tile([0, length], (parts, 1))
