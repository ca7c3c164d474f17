"""`diagnose`: every measurement of one constraint, on one division into training and held-out data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lcons_core import LearnedConstraint
from lcons_core.errors import InvalidInput, LconsError
from lcons_core.exact import Floats
from lcons_tasks.diagnosis.coverage import coverage
from lcons_tasks.diagnosis.figures import Diagnosis, Score
from lcons_tasks.diagnosis.fitting import read_given
from lcons_tasks.diagnosis.given import Examples, Predictions
from lcons_tasks.diagnosis.obedience import obedience
from lcons_tasks.diagnosis.references import Reference, measure
from lcons_tasks.diagnosis.resampling import Estimate, Resampler
from lcons_tasks.diagnosis.verdicts import conclude
from lcons_tasks.diagnosis.worlds import SHUFFLES, World, chance

CONSTRAINT = "the constraint"
# With fewer held-out units than this the intervals are a guess.
FEW = 10
# Steps of progress for the data as they are and for each shuffling.
STEPS = 100

Progress = Callable[[int, int], None]


def diagnose(
    constraint: LearnedConstraint,
    train: Examples,
    held_out: Examples,
    predictions: Predictions | None = None,
    seed: int = 0,
    negatives: str | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Whether such a constraint exists, the learner found it, and the base model obeys it already.

    `train` are the data that the constraint was learned from; `held_out` are others, of which neither it nor
    the model learned: sentences, structures or tables of psi vectors (`lcons_tasks.labelled`). `predictions`
    are the model's answers to these, without constraints: the labels of each sentence, the tuples of each
    structure, or a vector for each valid row. `negatives` is the source that the constraint learned from, as
    in `lcons_core.make_examples`: that of its recipe where its provenance has one, else the paper's for its
    feature; invalid rows of a table come first. `progress` is told (done, total).
    """
    given = read_given(constraint, train, held_out, predictions, negatives)
    material, predicted = given.material, given.predicted
    trained, size = material.sizes
    draws = Resampler(size, seed)
    own = Reference(CONSTRAINT, constraint.network.accepts)
    covered = coverage(
        material, own, None if predicted is None else predicted.found, given.left_out, given.left_out_training
    )
    few = (f"held-out {material.units}: only {size}, so the intervals are a guess",) if size < FEW else ()
    diagnosis = Diagnosis(
        feature=_described(constraint),
        negatives=given.source,
        seed=seed,
        units=material.units,
        train_size=trained,
        held_out_size=size,
        coverage=covered,
        warnings=(*covered.warnings(), *few),
        not_asked=given.not_asked,
        obedience=None if predicted is None else obedience(own, predicted, draws),
    )
    try:
        sample = material.sample(seed)
        if sample is not None and not len(sample.corrupted):
            raise InvalidInput("no held-out part can be corrupted, as the space rules out every change")
    except LconsError as error:
        # What was asked for must be there; what was only recorded or usual may not fit these data.
        if negatives is not None:
            raise
        reason = f"whether such a constraint exists and was found: {str(error).rstrip('.')}"
        return replace(diagnosis, not_asked=(reason, *given.not_asked))
    if sample is None:
        return replace(diagnosis, verdicts=conclude(None, None, None, None))

    def tell(worlds: float) -> None:
        if progress is not None:
            progress(int(STEPS * worlds), STEPS * (1 + SHUFFLES))

    real = World.of(material.scope, sample, draws, seed, tell)
    mixed = chance(material, draws, seed, lambda share: tell(1 + SHUFFLES * share))
    mine, best, base = measure(own, sample, draws), real.best.balanced, mixed.best.balanced
    # Where even shuffled data are told without a mistake, there is nothing left to explain.
    skill = _share(best - base, 1 - base) or Estimate(0.0, 0.0, 0.0)
    found = _share(mine.balanced - base, best - base)
    by_reference = None if predicted is None else obedience(real.reference, predicted, draws)
    return replace(
        diagnosis,
        references=tuple(map(Score.of, real.measured)),
        shuffled=Score.of(mixed.best),
        constraint=Score.of(mine),
        beyond_seen=None if real.beyond is None else Score.of(real.beyond),
        beyond_seen_shuffled=None if mixed.beyond is None else Score.of(mixed.beyond),
        skill=skill,
        found=found,
        reference_obedience=by_reference,
        verdicts=conclude(skill, found, diagnosis.obedience, by_reference, material.shuffling),
    )


def _share(above: Floats, below: Floats) -> Estimate | None:
    """above / below in percent, -100 where it is less; None where below is not positive."""
    shares = np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
    return Estimate.of(np.maximum(shares, -1.0))


def _described(constraint: LearnedConstraint) -> str:
    """The feature in a few words."""
    feature = constraint.feature
    if feature is None:
        return f"psi of {constraint.space.d:,} columns"
    n = getattr(feature, "n", None)
    context = f" of {feature.column}" if feature.kind == "context" else ""
    return f"{feature.kind}{context}" + ("" if n is None else f", n = {n}")
