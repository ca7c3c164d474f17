"""The diagnosis of one constraint: its input is checked, every measurement is made, verdicts are drawn.

`divide` returns the part of a file that a constraint was learned from and the part that was held out, as its
provenance records them (`lcons_tasks.own_data.Split`). `diagnose` makes all measurements on these two parts.
Data are label sequences, with predictions of one label per token or their scores. Sentences without a psi
(the feature lacks a label or a value, or a count is out of bounds) are left out, with their predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core import Instance, InvalidInput, LconsError, LearnedConstraint, Unsupported
from lcons_core._constraint import as_constraint
from lcons_core._types import Floats, OnProgress
from lcons_core.features import ConstraintFeature
from lcons_core.learn._examples import usual_negatives
from lcons_decode import Hard, Scored
from lcons_decode._stream import decode_scored
from lcons_tasks.data import Sentence
from lcons_tasks.diagnosis._choice import FOLDS, choose
from lcons_tasks.diagnosis._diagnosis import Diagnosis, Score, against, conclude, missed
from lcons_tasks.diagnosis._material import Material
from lcons_tasks.diagnosis._obedience import Predicted, obedience
from lcons_tasks.diagnosis._references import (
    Reference,
    best_of,
    chance,
    measure,
    measured_references,
    seen_in_training,
)
from lcons_tasks.own_data._data import Data, Structures, recorded_split, split
from lcons_tasks.own_data._examples import check_columns, parts_of
from lcons_tasks.own_data._recommendation import Bound, recommend
from lcons_tasks.own_data._summary import described
from lcons_tasks.stats import Estimate, Resampler

Examples = Data | Sequence[Sentence] | Sequence[Instance]
Predictions = Sequence[Sequence[str]] | Sequence[Scored]

CONSTRAINT = "the constraint"
# With fewer held-out sentences than this, the intervals are not reliable.
FEW = 10
# A warning is printed if more than this share of held-out input is unlike training, in percent.
WORTH_A_WARNING = 10.0


def diagnose(
    constraint: LearnedConstraint,
    train: Examples,
    held_out: Examples,
    predictions: Predictions | None = None,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Diagnosis:
    """Whether such a constraint exists, whether the learner found it, and whether the base model already
    obeys it.

    `train` are the data that the constraint was learned from; `held_out` are other data, that neither the
    constraint nor the model was trained on: sentences or structures (`lcons_tasks.own_data`). `predictions`
    are the answers of the model on these, without constraints: the labels of each sentence or its scores
    (`lcons_decode.Scored`). With scores, the advice is the choice of `choose`. `progress` is called with
    (done, total).
    """
    feature = as_constraint(constraint, "diagnose", "its feature").feature
    data, gold = Structures.of(train), Structures.of(held_out)
    if feature is None or len(feature.labels) == 1 or data.tuples or gold.tuples:
        raise Unsupported("a diagnosis is of a constraint on label sequences of at least two labels.")
    scored = [sequence for sequence in predictions or () if isinstance(sequence, Scored)]
    if scored:
        predictions = [answer.stats["alone"] for _, answer in decode_scored(scored)]
    material, predicted, left_out = _readable(feature, data, gold, predictions)
    draws = Resampler(len(material.held_out), seed)
    reference = judge = Reference(CONSTRAINT, constraint.network.accepts)
    rejected = ~judge.accepts(material.gold.psi)
    seen = seen_in_training(material.learned.psi, feature.scope)
    coverage = {"unseen_psi": float(100 * np.mean(~seen(material.gold.psi)))}
    if predicted is not None:
        coverage["unseen_predicted"] = float(100 * np.mean(~seen(predicted.parts.psi)))
    names = {"unseen_psi": "held-out gold", "unseen_predicted": "predicted"}
    warned = [
        f"{share:.1f}% of {names[name]} psi are unlike training"
        for name, share in coverage.items()
        if share > WORTH_A_WARNING
    ]
    try:
        figures, judge = _measured(reference, material, draws, seed, progress)
    except LconsError as error:
        reason = f"whether such a constraint exists and was found: {str(error).rstrip('.')}"
        figures = {"not_asked": (reason,)}
    judged, obeyed = (
        None if predicted is None else obedience(judging, predicted, draws) for judging in (judge, reference)
    )
    verdicts: tuple[str, ...] = ()
    if "not_asked" not in figures:
        verdicts = conclude(figures.get("skill"), figures.get("found"), judged)
    advice = recommend(Bound(int(rejected.sum()), len(rejected)), against=against(verdicts))
    if len(scored) >= FOLDS:
        labels = [instance.y for instance in gold.instances]
        advice = choose(scored, [Hard(constraint, CONSTRAINT)], labels).recommendation
    return Diagnosis(
        feature=described(constraint),
        negatives=usual_negatives(feature),
        seed=seed,
        train_size=len(material.train),
        held_out_size=len(material.held_out),
        coverage={**coverage, "rejected": float(100 * np.mean(rejected))},
        warnings=(*warned, *left_out),
        verdicts=verdicts,
        obedience=obeyed,
        judged=judged,
        use=advice.use,
        weight=advice.weight,
        advice=advice.words,
        **figures,
    )


def _measured(
    constraint: Reference, material: Material, draws: Resampler, seed: int, progress: OnProgress | None
) -> tuple[dict[str, Any], Reference]:
    """The figures of a diagnosis by its references, and who judges obedience."""
    sample = material.sample(seed)
    if sample is None:
        return {}, constraint
    measured = measured_references(material.feature.scope, sample, draws, seed)
    mixed = chance(material, draws, seed, progress)
    mine, best, base = measure(constraint, sample, draws), best_of(measured), mixed.balanced
    found = _share(mine.balanced - base, best.balanced - base)
    figures = {
        "references": tuple(map(Score.of, measured)),
        "shuffled": Score.of(mixed),
        "constraint": Score.of(mine),
        # If even shuffled data are classified without a mistake, there is nothing left to explain.
        "skill": _share(best.balanced - base, 1 - base) or Estimate(0.0, 0.0, 0.0),
        "found": found,
    }
    return figures, best.reference if missed(found) else constraint


def _share(above: Floats, below: Floats) -> Estimate | None:
    """above / below in percent, at least -100; None if `below` is not positive."""
    shares = np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
    return Estimate.of(np.maximum(shares, -1.0))


def _readable(
    feature: ConstraintFeature, train: Structures, held_out: Structures, predictions: Sequence[Any] | None
) -> tuple[Material, Predicted | None, list[str]]:
    """The sentences and predictions that the feature can read, and warnings about the others."""
    answers: list[Instance] = []
    if predictions is not None:
        if [len(y) for y in predictions] != [len(instance.y) for instance in held_out.instances]:
            raise InvalidInput("`predictions` needs one label per token of each held-out sentence.")
        both = zip(held_out.instances, predictions, strict=True)
        answers = [Instance(instance.x, tuple(y)) for instance, y in both]
    for data in (train, held_out):
        check_columns(data, feature.context_column)
    new = {i: f"predicted: {why}" for i, why in parts_of(feature, answers).outside.items()}
    outside = {
        "held-out": (held_out, new | parts_of(feature, held_out.instances).outside),
        "training": (train, parts_of(feature, train.instances).outside),
    }
    rest, learned = (
        [instance for i, instance in enumerate(data.instances) if i not in whys]
        for data, whys in outside.values()
    )
    warned = [
        f"left out: {len(whys):,} of {len(data):,} {which} sentences, which the constraint cannot read"
        f" (number {data.numbers()[min(whys)]}: {whys[min(whys)]})"
        for which, (data, whys) in outside.items()
        if whys
    ]
    material = Material(feature, learned, rest)
    if not len(material.learned) or not len(material.gold):
        raise InvalidInput(f"the constraint can read no training or no held-out sentence. {''.join(warned)}")
    if len(rest) < FEW:
        warned.append(f"held-out sentences: only {len(rest)}, so the intervals are unreliable")
    readable = [instance for i, instance in enumerate(answers) if i not in outside["held-out"][1]]
    return material, Predicted.of(feature, rest, readable) if predictions is not None else None, warned


@dataclass(frozen=True, eq=False)
class Division:
    """The part that was learned from, and the part that was held out (None if the provenance records no such
    part); `why` is what the provenance records, in words."""

    train: Data
    held_out: Data | None
    why: str


def divide(constraint: LearnedConstraint, data: Data) -> Division:
    """The parts of the file that a constraint was learned from.

    >>> from lcons_core import iob2
    >>> from lcons_tasks.own_data import Structures
    >>> divide(iob2(["B-X", "I-X", "O"]), Structures.of([(["a"], ["O"])])).why
    'the constraint does not record which part of its data was held out'
    """
    recorded = recorded_split(constraint.provenance)
    if recorded is None:
        return Division(data, None, "the constraint does not record which part of its data was held out")
    why = f"the constraint was learned from {recorded.learned_from}"
    if not recorded.share:
        return Division(data, None, why)
    train, held_out = split(data, recorded.share)
    if held_out is None or (len(train), len(data)) != (recorded.count, recorded.of):
        return Division(data, None, f"{why}, but this file has {len(data):,} in all")
    return Division(train, held_out, why)
