"""The diagnosis of one constraint: its input is checked, every measurement is made, verdicts are drawn.

`divide` returns the part of a file that a constraint was learned from and the part that was held out, as its
provenance records them (`lcons_tasks.own_data.Split`). `diagnose` makes all measurements on these two parts.
Constraint, data and predictions may be of three kinds; if they do not fit together, an error is raised:

| data | constraint | predictions |
|---|---|---|
| label sequences | its feature maps labels to psi | one label per token |
| tuples | its feature maps tuples to psi | tuples for each structure |
| psi vectors | any with the same columns | one vector per valid row |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lcons_core import Instance, InvalidInput, LconsError, LearnedConstraint, Unsupported
from lcons_core._types import Floats, OnProgress
from lcons_core.learn._examples import NEGATIVES, usual_negatives
from lcons_tasks.diagnosis._advice import FEW, with_advice
from lcons_tasks.diagnosis._coverage import coverage, label_warnings
from lcons_tasks.diagnosis._diagnosis import Diagnosis, Score, conclude
from lcons_tasks.diagnosis._given import Examples, Given, Predictions, given_structures, given_tables
from lcons_tasks.diagnosis._obedience import obedience
from lcons_tasks.diagnosis._references import SHUFFLES, Reference, World, chance, measure
from lcons_tasks.own_data._data import FIRST, Data, PsiTable, Structures, recorded_split, split
from lcons_tasks.stats import Estimate, Resampler


def read_given(
    constraint: LearnedConstraint,
    train: Examples,
    held_out: Examples,
    predictions: Predictions | None,
    negatives: str | None,
) -> Given:
    """The checked input of a diagnosis; `negatives`: the stated source, else the recorded, else the usual."""
    source = negatives or _recorded(constraint)
    if source is not None and source not in NEGATIVES:
        raise InvalidInput(f"unknown negatives {source!r}; use one of {', '.join(NEGATIVES)}.")
    tables = [isinstance(one, PsiTable) for one in (train, held_out, predictions) if one is not None]
    if any(tables) and not all(tables):
        raise InvalidInput(
            "expected training data, held-out data and predictions of one kind, found a table of psi vectors"
            " and structures; use the same kind for all of them."
        )
    if isinstance(train, PsiTable) and isinstance(held_out, PsiTable):
        answers = predictions if isinstance(predictions, PsiTable) else None
        if negatives is not None and not train.valid.all():
            raise InvalidInput(
                "expected no argument `negatives` with a table that has invalid rows, found"
                f" {negatives!r}; leave it out, or use a table of valid rows only."
            )
        return given_tables(constraint.space, train, held_out, answers, source)
    assert not isinstance(predictions, PsiTable)
    feature = constraint.feature
    if feature is None:
        raise Unsupported(
            "expected a table of psi vectors (CSV or npz), because this constraint has no feature, found"
            " structures; use the table that it was learned from."
        )
    if len(feature.labels) == 1:
        raise Unsupported(
            f"expected a constraint on at least two labels, found {feature.kind!r} with one label; a"
            " constraint on one label forbids nothing."
        )
    chosen = source or usual_negatives(feature)
    return given_structures(feature, _structures(train), _structures(held_out), predictions, chosen)


def _recorded(constraint: LearnedConstraint) -> str | None:
    """The source of negatives that the constraint was learned from, if its provenance records it."""
    recipe = constraint.provenance.get("recipe")
    stated = recipe.get("negatives") if isinstance(recipe, Mapping) else None
    return stated if isinstance(stated, str) else None


def _structures(data: Examples) -> Structures:
    if isinstance(data, Structures):
        return data
    assert not isinstance(data, PsiTable)
    instances = tuple(one if isinstance(one, Instance) else one.instance for one in data)
    return Structures(instances, any(not isinstance(label, str) for i in instances for label in i.y[:1]))


CONSTRAINT = "the constraint"
# Steps of progress for the original data and for each shuffling.
STEPS = 100


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
    constraint nor the model was trained on: sentences, structures or tables of psi vectors
    (`lcons_tasks.own_data`). `predictions` are the answers of the model on these, without constraints: the
    labels of each sentence, the tuples of each structure, or one vector per valid row. `negatives` is the
    source of negatives of the constraint, as in `lcons_core.Recipe`; by default the source in its
    provenance, or else the paper's for its feature. Invalid rows of a table replace them. `progress` is
    called with (done, total).
    """
    given = read_given(constraint, train, held_out, predictions, negatives)
    labels: tuple[str, ...] = ()
    if not isinstance(train, PsiTable) and not isinstance(held_out, PsiTable):
        labels = label_warnings(_structures(train), _structures(held_out))
    found = _measured(constraint, given, labels, seed, negatives is not None, progress)
    predicted = None if given.predicted is None else given.predicted.found
    return with_advice(found, constraint, predicted, len(given.material.gold))


def _measured(
    constraint: LearnedConstraint,
    given: Given,
    labels: tuple[str, ...],
    seed: int,
    stated: bool,
    progress: OnProgress | None,
) -> Diagnosis:
    """All figures and verdicts; `stated`: the caller stated the source of negatives."""
    material, predicted = given.material, given.predicted
    trained, size = material.sizes
    draws = Resampler(size, seed)
    own = Reference(CONSTRAINT, constraint.network.accepts)
    covered = coverage(
        material, own, None if predicted is None else predicted.found, given.left_out, given.left_out_training
    )
    few = (f"held-out {material.units}: only {size}, so the intervals are unreliable",) if size < FEW else ()
    diagnosis = Diagnosis(
        feature=_described(constraint),
        negatives=given.source,
        seed=seed,
        units=material.units,
        train_size=trained,
        held_out_size=size,
        coverage=covered,
        warnings=(*covered.warnings(), *labels, *few),
        not_asked=given.not_asked,
        obedience=None if predicted is None else obedience(own, predicted, draws),
    )
    try:
        sample = material.sample(seed)
        if sample is not None and not len(sample.corrupted):
            raise InvalidInput("no held-out part can be corrupted, because the space rules out every change")
    except LconsError as error:
        # Negatives that the caller stated must work; recorded or usual ones may not fit these data.
        if stated:
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
    # If even shuffled data are classified without a mistake, there is nothing left to explain.
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
    """above / below in percent, at least -100; None if `below` is not positive."""
    shares = np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
    return Estimate.of(np.maximum(shares, -1.0))


def _described(constraint: LearnedConstraint) -> str:
    """The feature in a few words."""
    feature = constraint.feature
    if feature is None:
        return f"psi of {constraint.space.d:,} columns"
    context = f" of {feature.column}" if feature.kind == "context" else ""
    return f"{feature.kind}{context}" + ("" if feature.n is None else f", n = {feature.n}")


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
