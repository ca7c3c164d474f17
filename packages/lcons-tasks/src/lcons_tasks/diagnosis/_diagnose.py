"""The diagnosis of one constraint: its input is checked, every measurement is made, verdicts are drawn.

`divide` returns the part of a file that a constraint was learned from and the part that was held out, as its
provenance records them (`lcons_tasks.own_data.Split`). `diagnose` makes all measurements on these two parts.
Data are label sequences, with predictions of one label per token or their scores, or tuples. Structures
without a psi (the feature lacks a label or a value, or a count is out of bounds) are left out, and with them
their predictions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core import Instance, InvalidInput, LconsError, LearnedConstraint, Unsupported
from lcons_core._constraint import as_constraint
from lcons_core._types import Floats, OnProgress
from lcons_core.features import ConstraintFeature
from lcons_core.learn._examples import NEGATIVES, usual_negatives
from lcons_decode import Hard, Scored
from lcons_decode._stream import decode_scored
from lcons_tasks.data import Sentence
from lcons_tasks.diagnosis._choice import FOLDS, choose
from lcons_tasks.diagnosis._diagnosis import Coverage, Diagnosis, Score, against, conclude, missed
from lcons_tasks.diagnosis._material import Material
from lcons_tasks.diagnosis._obedience import Predicted, obedience, predicted_instances
from lcons_tasks.diagnosis._references import (
    SHUFFLES,
    Reference,
    best_of,
    chance,
    measure,
    measured_references,
    seen_in_training,
)
from lcons_tasks.own_data._data import FIRST, Data, Structures, recorded_split, split, structures_of
from lcons_tasks.own_data._examples import check_columns, parts_of
from lcons_tasks.own_data._recommendation import Bound, Gain, recommend
from lcons_tasks.stats import Estimate, Resampler

Examples = Data | Sequence[Sentence] | Sequence[Instance]
Predictions = Sequence[Sequence[Any]] | Sequence[Scored]

CONSTRAINT = "the constraint"
# With fewer held-out units than this, the intervals are not reliable.
FEW = 10
# A warning is printed if more than this share of held-out input is unlike training, in percent.
WORTH_A_WARNING = 10.0
NOT_BESIDE = (
    "whether the base model is wrong where it violates the constraint, because predicted and gold parts"
    " differ in number and cannot be compared one by one"
)


@dataclass(frozen=True, eq=False)
class Readable:
    """The data that the constraint can read; `warnings` state what was left out, and `gain` what folds of the
    scores decided, if there are scores."""

    material: Material
    predicted: Predicted | None
    warnings: tuple[str, ...]
    gain: Gain | None = None


def diagnose(
    constraint: LearnedConstraint,
    train: Examples,
    held_out: Examples,
    predictions: Predictions | None = None,
    seed: int = 0,
    negatives: str | None = None,
    progress: OnProgress | None = None,
) -> Diagnosis:
    """Whether such a constraint exists, whether the learner found it, and whether the base model already
    obeys it.

    `train` are the data that the constraint was learned from; `held_out` are other data, that neither the
    constraint nor the model was trained on: sentences or structures (`lcons_tasks.own_data`). `predictions`
    are the answers of the model on these, without constraints: the labels of each sentence or its scores
    (`lcons_decode.Scored`), or the tuples of each structure. With scores, the advice is the choice of
    `choose`. `negatives` is the source of negatives of the constraint, as in `lcons_core.Recipe`; by default
    the source in its provenance, or else the paper's for its feature. `progress` is called with
    (done, total).
    """
    as_constraint(constraint, "diagnose", "its feature")
    data = _readable(constraint, structures_of(train), structures_of(held_out), predictions, negatives)
    material, predicted = data.material, data.predicted
    draws = Resampler(len(material.held_out), seed)
    judge = Reference(CONSTRAINT, constraint.network.accepts)
    rejected = ~judge.accepts(material.gold.psi)
    seen = seen_in_training(material.learned.psi, material.feature.scope)
    unseen = [
        None if parts is None else float(100 * np.mean(~seen(parts.psi)))
        for parts in (material.gold, None if predicted is None else predicted.parts)
    ]
    beside = predicted is None or predicted.wrong is not None
    diagnosis = Diagnosis(
        feature=_described(material.feature),
        negatives=material.source,
        seed=seed,
        units=material.units,
        train_size=len(material.train),
        held_out_size=len(material.held_out),
        coverage=Coverage(unseen[0] or 0.0, unseen[1], float(100 * np.mean(rejected))),
        warnings=(
            *(
                f"{share:.1f}% of {what} psi are unlike training"
                for what, share in zip(("held-out gold", "predicted"), unseen, strict=True)
                if share is not None and share > WORTH_A_WARNING
            ),
            *data.warnings,
        ),
        not_asked=() if beside else (NOT_BESIDE,),
        obedience=None if predicted is None else obedience(judge, predicted, draws),
    )
    try:
        diagnosis = _measured(diagnosis, judge, data, draws, progress)
    except LconsError as error:
        # Negatives that the caller stated must work; recorded or usual ones may not fit these data.
        if negatives is not None:
            raise
        reason = f"whether such a constraint exists and was found: {str(error).rstrip('.')}"
        diagnosis = replace(diagnosis, not_asked=(reason, *diagnosis.not_asked))
    gold = Bound(int(rejected.sum()), len(rejected))
    advice = recommend(gold, against=against(diagnosis.verdicts), gain=data.gain)
    return replace(diagnosis, use=advice.use, weight=advice.weight, advice=advice.words)


def _measured(
    diagnosis: Diagnosis, judge: Reference, data: Readable, draws: Resampler, progress: OnProgress | None
) -> Diagnosis:
    """The diagnosis with its references and verdicts."""
    material, seed = data.material, diagnosis.seed
    sample = material.sample(seed)
    if sample is None:
        return replace(diagnosis, verdicts=conclude(None, None, None))
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, 1 + SHUFFLES)

    measured = measured_references(material.feature.scope, sample, draws, seed)
    step()
    mixed = chance(material, draws, seed, step)
    mine, best, base = measure(judge, sample, draws), best_of(measured), mixed.balanced
    # If even shuffled data are classified without a mistake, there is nothing left to explain.
    skill = _share(best.balanced - base, 1 - base) or Estimate(0.0, 0.0, 0.0)
    found = _share(mine.balanced - base, best.balanced - base)
    judged = diagnosis.obedience
    if data.predicted is not None and found is not None and missed(found):
        judged = obedience(best.reference, data.predicted, draws)
    shuffling = "shuffled members" if material.tuples else "shuffled labels"
    return replace(
        diagnosis,
        references=tuple(map(Score.of, measured)),
        shuffled=Score.of(mixed),
        constraint=Score.of(mine),
        skill=skill,
        found=found,
        verdicts=conclude(skill, found, judged, shuffling),
    )


def _share(above: Floats, below: Floats) -> Estimate | None:
    """above / below in percent, at least -100; None if `below` is not positive."""
    shares = np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
    return Estimate.of(np.maximum(shares, -1.0))


def _described(feature: ConstraintFeature) -> str:
    """The feature in a few words."""
    context = f" of {feature.column}" if feature.kind == "context" else ""
    return f"{feature.kind}{context}" + ("" if feature.n is None else f", n = {feature.n}")


def _source(constraint: LearnedConstraint, feature: ConstraintFeature, stated: str | None) -> str:
    """The source of negatives: the stated, else the recorded, else the usual."""
    recipe = constraint.provenance.get("recipe")
    recorded = recipe.get("negatives") if isinstance(recipe, Mapping) else None
    source = stated or (recorded if isinstance(recorded, str) else None) or usual_negatives(feature)
    if source not in NEGATIVES:
        raise InvalidInput(f"`negatives` must be one of {', '.join(NEGATIVES)}: got {source!r:.60}.")
    return source


def _readable(
    constraint: LearnedConstraint,
    train: Structures,
    held_out: Structures,
    predictions: Sequence[Any] | None,
    negatives: str | None,
) -> Readable:
    """The structures that the feature can read; `negatives`: the stated source."""
    feature = constraint.feature
    if feature is None or len(feature.labels) == 1:
        raise Unsupported("a diagnosis is of a constraint with a feature, on at least two labels.")
    if train.tuples != held_out.tuples:
        raise InvalidInput("expected data of one kind: got tuples and label sequences.")
    scored = [one for one in predictions or () if isinstance(one, Scored)]
    if scored:
        predictions = [tuple(answer.stats["alone"]) for _, answer in decode_scored(scored)]
    strange = [_unreadable(feature, train), _unreadable(feature, held_out)]
    if predictions is not None:
        sizes = [len(y) for y in predictions]
        if len(sizes) != len(held_out) or not (
            held_out.tuples or sizes == [len(one.y) for one in held_out.instances]
        ):
            raise InvalidInput(
                "expected predictions for each held-out unit, one label per token: got others."
            )
        answers = Structures(tuple(predicted_instances(held_out.instances, predictions)), held_out.tuples)
        others = {i: f"predicted: {why}" for i, why in _unreadable(feature, answers).items()}
        strange[1] = others | strange[1]
    learned, rest = (
        [one for i, one in enumerate(data.instances) if i not in whys and (len(one.y) or data.tuples)]
        for data, whys in zip((train, held_out), strange, strict=True)
    )
    material = Material(feature, learned, rest, _source(constraint, feature, negatives), held_out.tuples)
    warned = [
        *_left_out(held_out, strange[1], f"held-out {material.units}"),
        *_left_out(train, strange[0], f"training {material.units}"),
    ]
    if not len(material.learned) or not len(material.gold):
        first = f" ({warned[0]})" if warned else ""
        raise InvalidInput(
            f"the constraint cannot read the training or the held-out {material.units}{first}."
        )
    if len(rest) < FEW:
        warned.append(f"held-out {material.units}: only {len(rest)}, so the intervals are unreliable")
    predicted = None
    if predictions is not None:
        readable = [
            y for i, y in enumerate(predictions) if i not in strange[1] and (len(y) or held_out.tuples)
        ]
        predicted = Predicted.of_structures(feature, rest, readable)
        if not len(predicted.parts):
            raise InvalidInput("expected predictions that the constraint can judge: got none.")
    gain = None
    if len(scored) >= FOLDS:
        gain = choose(scored, [Hard(constraint, CONSTRAINT)], [one.y for one in held_out.instances]).decided
    return Readable(material, predicted, tuple(warned), gain)


def _unreadable(feature: ConstraintFeature, data: Structures) -> dict[int, str]:
    """The number of each structure that the feature cannot read, and why; empty sequences have no parts."""
    check_columns(data, feature.context_column)
    some = {i: one for i, one in enumerate(data.instances) if len(one.y) or data.tuples}
    # A feature of another package may raise other errors for labels that it lacks.
    new = {
        i: [label for label in one.y if feature.labels and label not in feature.labels]
        for i, one in some.items()
    }
    whys = {i: f"unknown label {labels[0]!r:.60}" for i, labels in new.items() if labels}
    numbers = [i for i in some if i not in whys]
    outside = parts_of(feature, [some[i] for i in numbers]).outside
    return whys | {numbers[i]: why for i, why in outside.items()}


def _left_out(data: Structures, whys: Mapping[int, str], units: str) -> list[str]:
    """A warning about structures that were left out."""
    if not whys:
        return []
    of = sum(1 for one in data.instances if len(one.y) or data.tuples)
    example = f"number {data.numbers()[min(whys)]}: {whys[min(whys)]}"
    return [f"left out: {len(whys):,} of {of:,} {units}, which the constraint cannot read ({example})"]


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
    words, recorded = recorded_split(constraint.provenance)
    if not words:
        return Division(data, None, "the constraint does not record which part of its data was held out")
    part = None if recorded is None else recorded.learned_from[0]
    if part is None or part.which != FIRST:
        return Division(data, None, f"the constraint was learned from {words:.80}")
    train, held_out = split(data, part.share)
    if held_out is None or (len(train), len(data)) != (part.count, part.of):
        return Division(
            data, None, f"the constraint was learned from {words:.80}, but this file has {len(data):,} in all"
        )
    return Division(train, held_out, f"the constraint was learned from {words}")
