"""`Recipe`: one description, as data, of how a constraint is learned.

    structures -> feature -> LabelledExamples -> ConstraintLearner -> LearnedConstraint
                  ----------------------- Recipe ------------------------

Paper: Sec. 3, and the hyper-parameters of Appendices B-E (`GRIDS`).

Not in the paper: `evidence` (`_evidence.py`); `caution`; positives weighted by their number of occurrences
(`by_frequency`); several or all changes as negatives (`many`); and `hidden="doubled"`: K = 1, 2, 4, ... until
all examples are right.
Cross-validation cannot choose K with `unseen` negatives: a held-out combination cannot be predicted from the
others, and the network that rejects the fewest points wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from lcons_core._constraint import LearnedConstraint
from lcons_core._document import hash_psi, record
from lcons_core._errors import InvalidInput
from lcons_core._instance import WORD, read_instances
from lcons_core._psi import PsiRows
from lcons_core.features import (
    ConstraintFeature,
    Counts,
    Existence,
    NgramContext,
    NgramLabels,
    Scope,
    SequenceFeature,
    Tuples,
    feature_from_dict,
)
from lcons_core.learn._estimator import ConstraintLearner, accept_everything
from lcons_core.learn._evidence import EVIDENCE, sort_negatives
from lcons_core.learn._examples import LabelledExamples, positives_of
from lcons_core.learn._negatives import (
    HowMany,
    NegativeSource,
    checked_negatives,
    negative_source,
    usual_negatives,
)
from lcons_core.learn._settings import Progress

# Words that occur fewer times than this are OTHER: rare words help little on new text.
OFTEN = 10
DOUBLED = "doubled"
DOUBLINGS = (1, 2, 4, 8, 16, 32)
BALANCED = "balanced"
AUTO = "auto"


class NamedFeature(NamedTuple):
    """A feature by name: its kind, the options that it accepts, and its presets."""

    kind: type[ConstraintFeature]
    options: tuple[str, ...]
    preset: Mapping[str, Any] = MappingProxyType({})


_CONTEXT = ("n", "pad", "column", "word_class", "least")
_POS = NamedFeature(NgramContext, _CONTEXT)
_TUPLES = NamedFeature(Tuples, ("names",))

FEATURES: Mapping[str, NamedFeature] = MappingProxyType(
    {
        "ngram": NamedFeature(NgramLabels, ("n", "pad")),
        "context": _POS,
        "pos": _POS,
        "punctuation": NamedFeature(NgramContext, _CONTEXT, {"column": WORD, "word_class": "punctuation"}),
        "shape": NamedFeature(NgramContext, _CONTEXT, {"column": WORD, "word_class": "shape"}),
        "word": NamedFeature(NgramContext, _CONTEXT, {"column": WORD, "least": OFTEN}),
        "existence": NamedFeature(Existence, ("n",)),
        "counts": NamedFeature(Counts, ("spans", "high")),
        "tuples": _TUPLES,
        "pairs": _TUPLES,
    }
)
OPTIONS = ("n", "pad", "column", "word_class", "least", "spans", "high", "names")

Before = Callable[[LabelledExamples, ConstraintLearner], None]


@dataclass(frozen=True)
class Recipe:
    """The feature, the examples and the training of a constraint; plain data unless `feature` is an object.

    The feature:
    feature: a name in `FEATURES`, or a feature object; None: n-grams for sequences, pairs for tuples.
    n, pad, column, word_class, least, spans, high, names: options of a feature given by name.

    The examples:
    negatives, many: a name in `NEGATIVES`, and the number per positive; None: the paper's for the feature.
    min_support: positives that occur fewer times are dropped.
    evidence: windows of labels are forbidden only if chance would have shown them this many times, or what
    they contain (`_evidence.py`); None: all negatives are; "auto": 3 for windows of labels, else None.
    by_frequency: the weight of a positive is its number of occurrences instead of 1.
    caution: the total weight of positives divided by that of negatives; with a larger one, less is rejected.
    class_weight: "balanced", (weight of an invalid, of a valid example), or None; not together with caution.

    The training, as in `ConstraintLearner`:
    hidden, learning_rate, decay: of several values, cross-validation with `folds` folds chooses one; hidden
    may also be "doubled" (see the module).
    epochs, restarts, temperature, patience, batch_size, penalty, robust, seed. By default (None) there is no
    penalty: made negatives are not wrong, and those held out cannot be predicted from the others.

    `name` is the name of the constraint in files and tables.

    >>> pairs = [[("Person", "NoRel"), ("Location", "NoRel"), ("Person", "Kill")]]
    >>> recipe = Recipe("pairs", names=("source", "relation"), hidden=2)
    >>> recipe.learn(pairs).satisfied([("Location", "Kill")]), recipe == Recipe.from_dict(recipe.to_dict())
    (False, True)
    """

    feature: str | ConstraintFeature | None = None
    n: int | None = None
    pad: bool = False
    column: str | None = None
    word_class: str | None = None
    least: int | None = None
    spans: bool = False
    high: int | None = None
    names: tuple[str, ...] = ()
    negatives: str | None = None
    many: HowMany = 1
    min_support: float = 1
    evidence: float | str | None = None
    by_frequency: bool = False
    caution: float = 1.0
    class_weight: str | tuple[float, float] | None = BALANCED
    hidden: int | tuple[int, ...] | str = 10
    restarts: int | str = "auto"
    learning_rate: float | tuple[float, ...] = 0.03
    decay: float | tuple[float, ...] = 0.0
    epochs: int = 1000
    folds: int = 5
    temperature: float = 4.0
    patience: int = 10
    batch_size: int | None = None
    penalty: float | tuple[float, ...] | str | None = None
    robust: bool = False
    seed: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        for several in ("hidden", "learning_rate", "decay", "penalty", "names", "class_weight"):
            value = getattr(self, several)
            if isinstance(value, list | np.ndarray):
                object.__setattr__(self, several, tuple(value))
        if isinstance(self.feature, str) and self.feature not in FEATURES:
            raise InvalidInput(f"unknown feature {self.feature!r}; use one of {', '.join(FEATURES)}.")
        if self.negatives is not None:
            checked_negatives(self.negatives)
        if not (math.isfinite(self.caution) and self.caution > 0):
            raise InvalidInput(
                f"expected a caution above 0, found {self.caution}; 1 gives both sides the same weight."
            )
        if self.caution != 1 and self.class_weight != BALANCED:
            raise InvalidInput("expected a caution or a class_weight, found both; omit one of them.")
        if not (math.isfinite(self.min_support) and self.min_support >= 0):
            raise InvalidInput(
                f"expected a min_support of 0 or more, found {self.min_support}; 1 keeps all positives."
            )
        if self.evidence not in (None, AUTO):
            number = isinstance(self.evidence, int | float) and math.isfinite(self.evidence)
            if not (number and float(self.evidence or 0) > 0):
                raise InvalidInput(
                    f'expected an evidence above 0, "auto" or None, found {self.evidence!r}; 3 is usual.'
                )

    @property
    def is_global(self) -> bool:
        """Whether the feature is about whole structures, not about parts of them."""
        feature = FEATURES[self.feature].kind if isinstance(self.feature, str) else self.feature
        return feature is not None and feature.scope is Scope.GLOBAL

    def options(self) -> dict[str, Any]:
        """The given options of the feature, and its presets; raises `InvalidInput` for an option that the
        feature does not have."""
        stated = {name: getattr(self, name) for name in OPTIONS if getattr(self, name)}
        if not isinstance(self.feature, str):
            if stated:
                raise InvalidInput(
                    f"options {', '.join(stated)} need a feature given by name, found a feature object; set"
                    " them in the feature."
                )
            return {}
        takes = FEATURES[self.feature]
        for name in (name for name in stated if name not in takes.options):
            having = [one for one in FEATURES if name in FEATURES[one].options]
            raise InvalidInput(
                f"expected no {name!r} with the feature {self.feature!r}, found {stated[name]!r}; omit it,"
                f" or choose {', '.join(having)}."
            )
        return {**takes.preset, **stated}

    def complete(self, structures: Sequence[Any]) -> tuple[Recipe, ConstraintFeature]:
        """(the recipe with names of feature and negatives, the feature with vocabularies of structures)."""
        recipe = self
        if self.feature is None:
            first = next((label for one in read_instances(structures, WORD) for label in one.y), "")
            recipe = replace(self, feature="ngram" if isinstance(first, str) else "pairs")
        options, feature = recipe.options(), recipe.feature
        if isinstance(feature, str):
            feature = FEATURES[feature].kind.from_instances(structures, **options)
        assert feature is not None
        negatives = self.negatives or usual_negatives(feature)
        return replace(recipe, negatives=negatives, evidence=self._evidence(feature)), feature

    def _evidence(self, feature: ConstraintFeature) -> float | None:
        windows = isinstance(feature, SequenceFeature)
        if self.evidence is None or self.evidence == AUTO:
            return EVIDENCE if windows and self.evidence == AUTO else None
        if not windows:
            raise InvalidInput(
                f"expected no evidence with the feature {feature.kind!r}, found {self.evidence}; omit it:"
                " only windows of labels are counted."
            )
        return float(self.evidence)

    def source(
        self, feature: ConstraintFeature, structures: Iterable[Any], positives: PsiRows
    ) -> NegativeSource:
        """The source of the negatives."""
        instances = read_instances(structures, feature.column)
        name = self.negatives or usual_negatives(feature)
        return negative_source(name, feature, instances, positives, self.many, self.seed)

    def examples(self, structures: Iterable[Any]) -> LabelledExamples:
        """Positives from the structures and negatives from the source."""
        given = list(structures)
        recipe, feature = self.complete(given)
        return recipe._examples(given, feature)

    def _examples(
        self, structures: Iterable[Any], feature: ConstraintFeature, source: NegativeSource | None = None
    ) -> LabelledExamples:
        instances = read_instances(structures, feature.column)
        positives = positives_of(feature, instances, self.min_support)
        made = source or self.source(feature, instances, positives)
        examples = LabelledExamples.of(feature.space, positives, made.collect(), self.min_support)
        least = self._evidence(feature)
        if least is None:
            return examples
        assert isinstance(feature, SequenceFeature)
        return sort_negatives(feature, instances, examples, least)[0]

    def learner(self, examples: LabelledExamples | None = None) -> ConstraintLearner:
        """The learner; with a caution the examples are needed, because weights depend on their numbers."""
        weights: Any = self.class_weight
        if isinstance(weights, tuple):
            weights = {False: weights[0], True: weights[1]}
        elif self.caution != 1:
            if examples is None:
                raise InvalidInput("a recipe with a caution needs the examples to make a learner; pass them.")
            _, y, weight = examples.matrix(self.by_frequency)
            weights = {False: 1.0, True: float(self.caution * weight[~y].sum() / weight[y].sum())}
        return ConstraintLearner(
            self.hidden,
            seed=self.seed,
            restarts=self.restarts,
            learning_rate=self.learning_rate,
            decay=self.decay,
            epochs=self.epochs,
            class_weight=weights,
            cv=self.folds,
            temperature=self.temperature,
            patience=self.patience,
            batch_size=self.batch_size,
            penalty=0.0 if self.penalty is None else self.penalty,
            robust=self.robust,
        )

    def learn(
        self, structures: Iterable[Any], *, progress: Callable[[Progress], None] | None = None
    ) -> LearnedConstraint:
        """The constraint learned from valid structures; its provenance contains the recipe."""
        given = list(structures)
        recipe, feature = self.complete(given)
        return recipe.learn_examples(recipe._examples(given, feature), feature, progress=progress).constraint

    def learn_examples(
        self,
        examples: LabelledExamples,
        feature: ConstraintFeature | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        before: Before | None = None,
    ) -> Fitted:
        """The constraint learned from labelled examples; `before` is called with the examples and the learner
        before each training. With doubled K, the smallest K that is right on all examples, else the best."""
        if self.hidden != DOUBLED:
            learner = self.learner(examples)
            learner.progress = progress
            if before is not None:
                before(examples, learner)
            found = learn_from_examples(examples, learner, feature, self.by_frequency)
            return Fitted(replace(found, provenance={**found.provenance, "recipe": self.to_dict()}), learner)
        best: tuple[float, Fitted] | None = None
        tried: list[tuple[int, float]] = []
        for K in DOUBLINGS:
            one = replace(self, hidden=K).learn_examples(examples, feature, progress=progress, before=before)
            tried.append((K, _right(examples, one.learner, self.caution)))
            if best is None or tried[-1][1] > best[0]:
                best = tried[-1][1], one
            if tried[-1][1] == 1:
                break
        assert best is not None
        kept = best[1].constraint
        kept = replace(kept, provenance={**kept.provenance, "recipe": self.to_dict()})
        return Fitted(kept, best[1].learner, tuple(tried))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for files."""
        plain = {field.name: _listed(getattr(self, field.name)) for field in fields(self)}
        if self.feature is not None and not isinstance(self.feature, str):
            plain["feature"] = _listed(self.feature.to_dict())
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """The recipe that `to_dict` described; missing fields have their defaults."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise InvalidInput(
                f"expected a recipe of {', '.join(sorted(known))}, found {unknown[0]!r}; omit it, or use the"
                " version of lcons that wrote it."
            )
        given = dict(data)
        if isinstance(given.get("feature"), Mapping):
            given["feature"] = feature_from_dict(given["feature"])
        return cls(**given)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A constraint and the learner that found it. With doubled K, also (K, share of the examples that are
    right) for each K that was tried, with the weights of the recipe."""

    constraint: LearnedConstraint
    learner: ConstraintLearner
    tried: tuple[tuple[int, float], ...] = ()


def make_examples(
    structures: Iterable[Any],
    feature: ConstraintFeature,
    *,
    negatives: str | NegativeSource | None = None,
    many: HowMany = 1,
    min_support: float = 1,
    seed: int = 0,
) -> LabelledExamples:
    """Positives from the structures and negatives from a source: a name in `NEGATIVES`, or a source object.

    >>> pairs = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))
    >>> valid = [[("Person", "NoRel"), ("Location", "NoRel"), ("Person", "Kill")]]
    >>> examples = make_examples(valid, pairs)
    >>> [examples.space.describe(psi) for psi in examples.negatives.psi.dense()]
    [{'source': 'Location', 'relation': 'Kill'}]
    """
    own, name = (negatives, None) if isinstance(negatives, NegativeSource) else (None, negatives)
    recipe = Recipe(feature, negatives=name, many=many, min_support=min_support, seed=seed)
    return recipe._examples(structures, feature, own)


def learn_from_examples(
    examples: LabelledExamples,
    learner: ConstraintLearner,
    feature: ConstraintFeature | None = None,
    by_frequency: bool = False,
) -> LearnedConstraint:
    """The constraint that a learner learns from labelled examples; without negatives, it forbids nothing."""
    psi, y, weights = examples.matrix(by_frequency)
    if len(examples.negatives):
        learner.fit(psi, y, sample_weight=weights, valid=True)
    else:
        accept_everything(learner, psi.d)
    settings = {
        name: _listed(value)
        for name, value in learner.get_params().items()
        if name not in ("progress", "valid") and not (name in ("penalty", "robust") and not value)
    }
    provenance = record(
        seed=learner.seed,
        config=settings,
        data=hash_psi(psi, y, weights),
        examples={
            "positives": len(examples.positives),
            "negatives": len(examples.negatives),
            **({"undecided": len(examples.undecided)} if len(examples.undecided) else {}),
        },
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
    evidence: float | str | None = AUTO,
    by_frequency: bool = False,
    learner: ConstraintLearner | None = None,
    **options: Any,
) -> LearnedConstraint:
    """The constraint learned from valid structures by a `Recipe` with these arguments.

    `structures` are label sequences, (words, labels) or ({"pos": tags}, labels) pairs, or lists of tuples;
    `feature` is a name in `FEATURES`, with `options` such as n, or a feature object. All other fields of a
    recipe are options, too. `negatives` may be a source object, and a `learner` object replaces the training
    settings. Windows of labels that chance would have shown fewer than three times are not forbidden, unless
    `evidence` is another number, or None: then all negatives are forbidden. A source object needs none.

    >>> sentences = [["B-NP", "I-NP", "O"], ["O", "B-NP", "O"], ["B-NP", "B-NP", "I-NP", "I-NP"], ["O", "O"]]
    >>> constraint = learn_constraints(sentences, feature="ngram", n=2, hidden=2, evidence=None)
    >>> constraint.satisfied(["B-NP", "I-NP", "O"]), constraint.satisfied(["O", "I-NP"])
    (True, False)
    >>> [learn_constraints(times * sentences).satisfied(["O", "I-NP"]) for times in (1, 9)]
    [True, False]
    """
    own, name = (negatives, None) if isinstance(negatives, NegativeSource) else (None, negatives)
    given = list(structures)
    if own is not None and evidence == AUTO:
        # The vectors of a source object are meant to be invalid.
        evidence = None
    recipe = Recipe(
        feature,
        hidden=hidden,
        seed=seed,
        negatives=name,
        many=many,
        min_support=min_support,
        evidence=evidence,
        by_frequency=by_frequency,
        **options,
    )
    recipe, made = recipe.complete(given)
    examples = recipe._examples(given, made, own)
    if own is not None:
        # A source object has other vectors than any source by name.
        recipe = replace(recipe, negatives=None)
    if learner is None:
        return recipe.learn_examples(examples, made).constraint
    penalty = learner.penalty
    if penalty == AUTO:
        # As in a recipe.
        learner.penalty = 0.0
    try:
        found = learn_from_examples(examples, learner, made, by_frequency)
        recipe = _trained_by(recipe, learner)
    finally:
        learner.penalty = penalty
    return replace(found, provenance={**found.provenance, "recipe": recipe.to_dict()})


def learned_from(constraint: LearnedConstraint, structures: Iterable[Any]) -> bool:
    """Whether a constraint was learned from exactly these structures, by the recipe and the hash of the data
    in its provenance; False if these do not tell.

    >>> pairs = [[("Person", "NoRel"), ("Location", "NoRel"), ("Person", "Kill")]]
    >>> constraint = learn_constraints(pairs, "pairs", hidden=1)
    >>> learned_from(constraint, pairs), learned_from(constraint, [[("Person", "NoRel")]])
    (True, False)
    """
    recorded, feature = constraint.provenance, constraint.feature
    how, counts = recorded.get("recipe"), recorded.get("examples")
    if feature is None or not (isinstance(how, Mapping) and isinstance(counts, Mapping)):
        return False
    try:
        recipe, given = Recipe.from_dict(how), list(structures)
    except (InvalidInput, TypeError):
        # The recipe of another version, or none.
        return False
    number = len(positives_of(feature, given, recipe.min_support))
    if recipe.negatives is None or number != counts.get("positives"):
        return False
    psi, y, weights = recipe._examples(given, feature).matrix(recipe.by_frequency)
    return hash_psi(psi, y, weights) == recorded.get("data")


def _trained_by(recipe: Recipe, learner: ConstraintLearner) -> Recipe:
    """The recipe with the settings of a learner."""
    settings = {**learner.get_params(), "folds": learner.cv, "caution": 1.0}
    for name in ("cv", "progress", "seed", "valid"):
        settings.pop(name)
    settings["penalty"] = learner.penalty or None
    if isinstance(learner.class_weight, Mapping):
        settings["class_weight"] = tuple(learner.class_weight.get(label, 1.0) for label in (False, True))
    return replace(recipe, **settings)


def _right(examples: LabelledExamples, learner: ConstraintLearner, caution: float) -> float:
    """The share of the examples that are right; in total, valid ones have `caution` times the weight."""
    psi, valid, _ = examples.matrix()
    right = learner.predict(psi) == valid
    if right.all():
        return 1.0
    return float((caution * np.mean(right[valid]) + np.mean(right[~valid])) / (caution + 1))


def _listed(value: Any) -> Any:
    """Plain data with lists instead of tuples and strings as keys, as in files."""
    if isinstance(value, Mapping):
        return {str(name): _listed(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value
