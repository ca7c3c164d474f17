"""`diagnose`: every measurement of one constraint, on one division into training and held-out sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lcons_core import LearnedConstraint
from lcons_core.errors import InvalidInput, Unsupported
from lcons_core.exact import Floats
from lcons_core.features import ConstraintFeature, Scope
from lcons_core.instance import Instance
from lcons_core.learn import NEGATIVES, usual_negatives
from lcons_decode import viterbi_batch
from lcons_tasks.corpus import Sentence
from lcons_tasks.diagnosis.coverage import coverage
from lcons_tasks.diagnosis.figures import Diagnosis, Score
from lcons_tasks.diagnosis.obedience import Predicted, obedience
from lcons_tasks.diagnosis.references import Measured, Reference, best_of, measure, references
from lcons_tasks.diagnosis.resampling import Estimate, Resampler
from lcons_tasks.diagnosis.samples import Sample, draw_sample, parts_of, shuffled
from lcons_tasks.diagnosis.verdicts import conclude
from lcons_tasks.models.tagger import Tagger

# Where there is no constraint, the labels as they are beat all of five shufflings in one case of six, and by
# the margin of `verdicts.EXISTS` far more seldom.
SHUFFLES = 5
CONSTRAINT = "the constraint"
BEYOND = "beyond what was seen"


def predict(model: Tagger, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
    """The labels that a model gives sentences without any constraint, exactly."""
    return [tuple(found.y) for found in viterbi_batch(model.scores([s.x for s in sentences]))]


def diagnose(
    constraint: LearnedConstraint,
    train: Sequence[Sentence],
    held_out: Sequence[Sentence],
    predictions: Sequence[Sequence[str]] | None = None,
    seed: int = 0,
    negatives: str | None = None,
) -> Diagnosis:
    """Whether such a constraint exists, the learner found it, and the base model obeys it already.

    `train` are the sentences that the constraint was learned from; `held_out` are others, of which neither it
    nor the model learned. `predictions` are the model's labels of these, without constraints (`predict`).
    `negatives` is the source that the constraint learned from, as in `lcons_core.make_examples`: that of its
    recipe where its provenance has one, else the paper's for its feature.
    """
    feature = _sequence_feature(constraint)
    recipe = constraint.provenance.get("recipe")
    stated = recipe.get("negatives") if isinstance(recipe, Mapping) else None
    source = negatives or stated or usual_negatives(feature)
    if source not in NEGATIVES:
        raise InvalidInput(f"unknown negatives {source!r}; they are one of {', '.join(NEGATIVES)}.")
    given = _Given.of(feature, train, held_out, predictions)
    if not len(parts_of(feature, given.held_out)):
        raise InvalidInput(
            "expected held-out sentences that the constraint says something about, found none long enough;"
            " give longer ones."
        )
    draws = Resampler(len(given.held_out), seed)
    own = Reference(CONSTRAINT, constraint.network.accepts)
    covered = coverage(feature, own, given.train, given.held_out, given.unknown)
    diagnosis = Diagnosis(
        feature=_described(feature),
        negatives=source,
        seed=seed,
        train_sentences=len(given.train),
        held_out_sentences=len(given.held_out),
        coverage=covered,
        warnings=covered.warnings(),
    )
    predicted = None
    if given.predictions is not None:
        predicted = Predicted.of(feature, given.held_out, given.predictions)
        diagnosis = replace(diagnosis, obedience=obedience(own, predicted, draws))
    sample = draw_sample(feature, given.train, given.held_out, source, seed)
    if sample is None:
        return replace(diagnosis, verdicts=conclude(None, None, None, None))
    real = _World.of(feature.scope, sample, draws, seed)
    chance = _chance(feature, given, source, draws, seed)
    mine, best, base = measure(own, sample, draws), real.best.balanced, chance.best.balanced
    skill, found = _share(best - base, 1 - base), _share(mine.balanced - base, best - base)
    by_reference = None if predicted is None else obedience(real.reference, predicted, draws)
    return replace(
        diagnosis,
        references=tuple(map(Score.of, real.measured)),
        shuffled=Score.of(chance.best),
        constraint=Score.of(mine),
        beyond_seen=None if real.beyond is None else Score.of(real.beyond),
        beyond_seen_shuffled=None if chance.beyond is None else Score.of(chance.beyond),
        skill=skill,
        found=found,
        reference_obedience=by_reference,
        verdicts=conclude(skill, found, diagnosis.obedience, by_reference),
    )


@dataclass(frozen=True, eq=False)
class _Given:
    """What is left of the data without empty sentences and unknown labels; `unknown`: held out, training."""

    train: list[Instance]
    held_out: list[Instance]
    predictions: list[Sequence[str]] | None
    unknown: tuple[int, int]

    @classmethod
    def of(
        cls,
        feature: ConstraintFeature,
        train: Sequence[Sentence],
        held_out: Sequence[Sentence],
        predictions: Sequence[Sequence[str]] | None,
    ) -> _Given:
        known = set(_labels(feature))
        labels = [s.labels for s in held_out] if predictions is None else list(predictions)
        if [len(y) for y in labels] != [len(s) for s in held_out]:
            raise InvalidInput(
                "expected one predicted label a token of each held-out sentence, found other lengths; predict"
                " these very sentences."
            )
        pairs = [(s, y) for s, y in zip(held_out, labels, strict=True) if len(s)]
        kept = [(s, y) for s, y in pairs if known.issuperset(s.labels) and known.issuperset(y)]
        learned = [s for s in train if len(s)]
        usable = [s for s in learned if known.issuperset(s.labels)]
        if not kept or not usable:
            raise InvalidInput(
                "expected training and held-out sentences with labels of the constraint, found"
                f" {len(usable)} and {len(kept)}; give the data that belong to it."
            )
        return cls(
            [s.instance for s in usable],
            [s.instance for s, _ in kept],
            None if predictions is None else [y for _, y in kept],
            (len(pairs) - len(kept), len(learned) - len(usable)),
        )


@dataclass(frozen=True, eq=False)
class _World:
    """References measured on one labelling of the sentences, as it is or shuffled.

    `beyond` is the best network on the corrupted psi within what training saw; None if local or without any.
    """

    measured: list[Measured]
    best: Measured
    reference: Reference
    beyond: Measured | None

    @classmethod
    def of(cls, scope: Scope, sample: Sample, draws: Resampler, seed: int) -> _World:
        made = references(sample.examples, scope, seed)
        measured = [measure(reference, sample, draws) for reference in made]
        best = best_of(measured)
        seen, *networks = made
        within = seen.accepts(sample.corrupted.psi)
        beyond = None
        if scope is Scope.GLOBAL and within.any():
            rest = replace(sample, corrupted=sample.corrupted.take(within))
            beyond = replace(best_of([measure(network, rest, draws) for network in networks]), name=BEYOND)
        return cls(measured, best, made[measured.index(best)], beyond)


def _chance(feature: ConstraintFeature, given: _Given, source: str, draws: Resampler, seed: int) -> _World:
    """The most that references reach on shuffled labels; a toss where all that could be negative is gold."""
    worlds = []
    for i in range(SHUFFLES):
        rng = np.random.default_rng((seed, i))
        train, held_out = shuffled(given.train, rng), shuffled(given.held_out, rng)
        sample = draw_sample(feature, train, held_out, source, seed + 1 + i)
        if sample is not None:
            worlds.append(_World.of(feature.scope, sample, draws, seed + 1 + i))
    if not worlds:
        half = np.full(draws.length, 0.5)
        toss = Measured("shuffled: all is gold", half, half, half)
        return _World([toss], toss, Reference(toss.name, lambda psi: np.ones(len(psi), dtype=np.bool_)), None)
    top = max(worlds, key=lambda world: float(world.best.balanced[0]))
    inner = [world.beyond for world in worlds if world.beyond is not None]
    return replace(
        top,
        best=replace(top.best, name=f"shuffled: {top.best.name}"),
        beyond=replace(best_of(inner), name=f"shuffled: {BEYOND}") if inner else None,
    )


def _share(above: Floats, below: Floats) -> Estimate | None:
    """above / below in percent, -100 where it is less; None where below is not positive."""
    shares = np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
    return Estimate.of(np.maximum(shares, -1.0))


def _labels(feature: ConstraintFeature) -> tuple[str, ...]:
    labels: tuple[str, ...] = getattr(feature, "labels", ())
    return labels


def _sequence_feature(constraint: LearnedConstraint) -> ConstraintFeature:
    feature = constraint.feature
    if feature is None or len(_labels(feature)) < 2:
        kind = "none" if feature is None else f"the feature {feature.kind!r}"
        raise Unsupported(
            f"expected a constraint with a feature of label sequences of at least two labels, found {kind};"
            " diagnose a constraint that was learned from label sequences."
        )
    return feature


def _described(feature: ConstraintFeature) -> str:
    n = getattr(feature, "n", None)
    context = f" of {feature.column}" if feature.kind == "context" else ""
    return f"{feature.kind}{context}" + ("" if n is None else f", n = {n}")
