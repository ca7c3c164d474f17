"""From structures to a constraint in one call: psi, examples, network, constraint.

    structures -> feature -> LabelledExamples -> ConstraintLearner -> LearnedConstraint

Paper: Sec. 3. The two steps are also here by themselves: `make_examples` and `learn_from_examples`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput
from lcons_core._instance import Instance, read_instances
from lcons_core.features import (
    ConstraintFeature,
    Counts,
    Existence,
    NgramContext,
    NgramLabels,
    SequenceFeature,
    Tuples,
)
from lcons_core.learn import _negatives as sources
from lcons_core.learn._examples import Folded, LabelledExamples, positives_of
from lcons_core.learn._negatives import HowMany, NegativeSource
from lcons_core.storage._provenance import hash_psi, record

if TYPE_CHECKING:
    from lcons_core.learn import ConstraintLearner

# Words seen fewer times than this are one OTHER: rarer ones say little about the next text.
OFTEN = 10

FEATURES: dict[str, Callable[..., ConstraintFeature]] = {
    "ngram": NgramLabels.from_instances,
    "context": NgramContext.from_instances,
    "pos": NgramContext.from_instances,
    "punctuation": lambda structures, **options: NgramContext.from_instances(
        structures, **{"column": "word", "word_class": "punctuation", **options}
    ),
    "shape": lambda structures, **options: NgramContext.from_instances(
        structures, **{"column": "word", "word_class": "shape", **options}
    ),
    "word": lambda structures, **options: NgramContext.from_instances(
        structures, **{"column": "word", "least": OFTEN, **options}
    ),
    "existence": Existence.from_instances,
    "counts": Counts.from_instances,
    "tuples": Tuples.from_instances,
    "pairs": Tuples.from_instances,
}

Source = Callable[[Any, Sequence[Instance], Folded, HowMany, int], NegativeSource]

NEGATIVES: dict[str, Source] = {
    "unseen": lambda f, _, p, many, seed: sources.unseen(f.space, p.psi),
    "near": lambda f, _, p, many, seed: sources.near_ngrams(f, p.psi),
    "apart": lambda f, _, p, many, seed: sources.windows_seen_apart(f, p.psi),
    "relabel": lambda f, _, p, many, seed: sources.relabelled(f, p.psi, many, seed),
    "recast": lambda f, _, p, many, seed: sources.joined(
        sources.relabelled(f, p.psi, many, seed), sources.recast(f, p.psi)
    ),
    "flip": lambda f, _, p, many, seed: sources.flipped(f.space, p.psi, many, seed),
    "perturb": lambda f, s, p, many, seed: sources.perturbed_structures(f, s, f.labels, many, seed),
}


def make_feature(structures: Sequence[Any], feature: str, **options: Any) -> ConstraintFeature:
    """The feature of that name, its vocabularies read off the structures."""
    if feature not in FEATURES:
        raise InvalidInput(f"unknown feature {feature!r}; it is one of {', '.join(FEATURES)}.")
    return FEATURES[feature](structures, **options)


def usual_negatives(feature: ConstraintFeature) -> str:
    """The paper's source of negatives for a feature (Appendices C-E)."""
    if isinstance(feature, Existence):
        return "flip"
    if isinstance(feature, Counts):
        return "perturb"
    if isinstance(feature, NgramContext):
        return "apart" if feature.n <= 2 else "relabel"
    return "near" if isinstance(feature, SequenceFeature) and feature.n >= 3 else "unseen"


def make_examples(
    structures: Iterable[Any],
    feature: ConstraintFeature,
    *,
    negatives: str | NegativeSource | None = None,
    many: HowMany = 1,
    min_support: float = 1,
    seed: int = 0,
) -> LabelledExamples:
    """Positives from the structures and negatives from a source: one of `NEGATIVES` by name, or one's own.

    >>> pairs = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))
    >>> valid = [[("Person", "NoRel"), ("Location", "NoRel"), ("Person", "Kill")]]
    >>> examples = make_examples(valid, pairs)
    >>> [examples.space.describe(psi) for psi in examples.negatives.dense()]
    [{'source': 'Location', 'relation': 'Kill'}]
    """
    instances = read_instances(structures, feature.column)
    positives = positives_of(feature, instances, min_support)
    name = negatives or usual_negatives(feature)
    if isinstance(name, str):
        if name not in NEGATIVES:
            raise InvalidInput(f"unknown negatives {name!r}; they are one of {', '.join(NEGATIVES)}.")
        name = NEGATIVES[name](feature, instances, positives, many, seed)
    return LabelledExamples.of(feature.space, positives, name.collect(), min_support)


def learn_from_examples(
    examples: LabelledExamples,
    learner: ConstraintLearner,
    feature: ConstraintFeature | None = None,
    by_frequency: bool = False,
) -> LearnedConstraint:
    """The constraint that a learner finds in labelled examples."""
    psi, y, weights = examples.matrix(by_frequency)
    learner.fit(psi, y, sample_weight=weights)
    settings = {name: value for name, value in learner.get_params().items() if name != "progress"}
    if isinstance(learner.class_weight, Mapping):
        settings["class_weight"] = {str(label): weight for label, weight in learner.class_weight.items()}
    provenance = record(
        seed=learner.seed,
        config=settings,
        data=hash_psi(psi, y, weights),
        examples={"positives": len(examples.positives), "negatives": len(examples.negatives)},
        training_accuracy=float(learner.score(psi, y)),
    )
    return LearnedConstraint(learner.network_, examples.space, feature, provenance)


def learn_constraints(
    structures: Iterable[Any],
    feature: str | ConstraintFeature = "ngram",
    *,
    hidden: int | str = 10,
    seed: int = 0,
    negatives: str | NegativeSource | None = None,
    many: HowMany = 1,
    min_support: float = 1,
    by_frequency: bool = False,
    learner: ConstraintLearner | None = None,
    **options: Any,
) -> LearnedConstraint:
    """The constraint that valid structures obey.

    `structures` are label sequences, (words, labels) or ({"pos": tags}, labels) pairs, or lists of tuples;
    `feature` is one of `FEATURES` by name, made with `options` such as n, or a feature of one's own.

    >>> sentences = [["B-NP", "I-NP", "O"], ["O", "B-NP", "O"], ["B-NP", "B-NP", "I-NP", "I-NP"], ["O", "O"]]
    >>> constraint = learn_constraints(sentences, feature="ngram", n=2, hidden=2)
    >>> constraint.satisfied(["B-NP", "I-NP", "O"]), constraint.satisfied(["O", "I-NP"])
    (True, False)
    """
    from lcons_core.learn import ConstraintLearner

    given = list(structures)
    if isinstance(feature, str):
        feature = make_feature(given, feature, **options)
    elif options:
        raise InvalidInput(
            f"options {', '.join(options)} belong to a feature given by name; set them on the feature."
        )
    examples = make_examples(
        given, feature, negatives=negatives, many=many, min_support=min_support, seed=seed
    )
    chosen = learner or ConstraintLearner(hidden=hidden, seed=seed)
    return learn_from_examples(examples, chosen, feature, by_frequency)
