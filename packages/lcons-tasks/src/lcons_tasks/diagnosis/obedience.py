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

import numpy as np

from lcons_core.errors import Unsupported
from lcons_core.exact import Floats
from lcons_core.features import ConstraintFeature, SequenceFeature
from lcons_core.instance import Instance
from lcons_core.psi import Ints
from lcons_tasks.diagnosis.references import Reference, by_sentence
from lcons_tasks.diagnosis.resampling import Estimate, Resampler, certain
from lcons_tasks.diagnosis.samples import Parts, parts_of


@dataclass(frozen=True)
class Obedience:
    """What a judge (the constraint or a reference) says of predictions; shares of parts, in percent.

    `for_gold`: prediction rejected, gold accepted. `against_gold`: gold rejected, wrong prediction accepted.
    `false_alarms`: right prediction rejected. Errors are shares of wrong labels inside parts; `lift` is the
    difference of the two, None where nothing or everything is violated. `headroom`: points of token accuracy
    that would be won were every wrong label inside a violating part corrected.
    """

    judge: str
    accuracy: float
    violations: Estimate
    gold_violations: Estimate
    excess: Estimate
    for_gold: float
    against_gold: float
    false_alarms: float
    error_if_violated: float | None
    error_otherwise: float | None
    lift: Estimate | None
    headroom: Estimate


@dataclass(frozen=True, eq=False)
class Predicted:
    """Gold and predicted parts side by side, each with the tokens that it covers."""

    gold: Parts
    found: Parts
    wrong: Floats
    first: Ints
    stop: Ints
    offsets: Ints

    @classmethod
    def of(
        cls, feature: ConstraintFeature, held_out: Sequence[Instance], labels: Sequence[Sequence[str]]
    ) -> Predicted:
        """`labels` are the predicted ones of each structure."""
        gold = parts_of(feature, held_out)
        found = parts_of(feature, [Instance(s.x, y) for s, y in zip(held_out, labels, strict=True)])
        if not np.array_equal(gold.owners, found.owners):
            raise Unsupported(
                "the feature makes more parts of some labels than of others; it cannot be compared."
            )
        offsets = np.cumsum([0, *map(len, labels)])
        wrong = [a != b for s, y in zip(held_out, labels, strict=True) for a, b in zip(s.y, y, strict=True)]
        starts = [_covered(feature, len(s.y)) + offset for s, offset in zip(held_out, offsets, strict=False)]
        first, stop = np.concatenate(starts).T
        return cls(gold, found, np.array(wrong, dtype=np.float64), first, stop, offsets)


def obedience(judge: Reference, given: Predicted, draws: Resampler) -> Obedience:
    """What the judge says of the predictions."""
    size = draws.size
    alarm, gold_alarm = ~judge.accepts(given.found.psi), ~judge.accepts(given.gold.psi)
    before = np.concatenate([[0.0], np.cumsum(given.wrong)])
    errors = (before[given.stop] - before[given.first]) / np.maximum(given.stop - given.first, 1)

    def share(values: Floats, of: Floats) -> Floats:
        return draws.ratio(by_sentence(values, given.found, size), by_sentence(of, given.found, size))

    every = np.ones(len(alarm))
    violations, gold_violations = share(alarm * every, every), share(gold_alarm * every, every)
    inside, outside = share(errors * alarm, alarm * every), share(errors * ~alarm, ~alarm * every)
    marks = np.zeros(len(given.wrong) + 1)
    np.add.at(marks, given.first[alarm], 1)
    np.add.at(marks, given.stop[alarm], -1)
    caught = np.concatenate([[0.0], np.cumsum(given.wrong * (np.cumsum(marks)[:-1] > 0))])
    edges = given.offsets
    headroom = draws.ratio(caught[edges[1:]] - caught[edges[:-1]], np.diff(edges))
    return Obedience(
        judge.name,
        float(100 * (1 - given.wrong.mean())),
        certain(violations),
        certain(gold_violations),
        certain(violations - gold_violations),
        float(100 * np.mean(alarm & ~gold_alarm)),
        float(100 * np.mean(gold_alarm & ~alarm)),
        float(100 * np.mean(alarm & (errors == 0))),
        None if np.isnan(inside[0]) else float(100 * inside[0]),
        None if np.isnan(outside[0]) else float(100 * outside[0]),
        Estimate.of(inside - outside),
        certain(headroom),
    )


def _covered(feature: ConstraintFeature, length: int) -> Ints:
    """(parts, 2) the first token and the one after the last of each part of a structure."""
    if not isinstance(feature, SequenceFeature):
        return np.array([[0, length]])
    first = np.arange(feature.window_count(length)) - (feature.n - 1 if feature.pad else 0)
    return np.stack([first, first + feature.n], axis=1).clip(0, length)
