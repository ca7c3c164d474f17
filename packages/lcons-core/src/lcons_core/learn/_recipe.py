"""`Recipe`: one description, as data, of how a constraint is learned.

    structures -> feature -> LabelledExamples -> ConstraintLearner -> LearnedConstraint
                  ----------------------- Recipe ------------------------

Paper: Sec. 3, and the hyper-parameters of Appendices B-E (`GRID`).

Not in the paper: `evidence` (`_evidence.py`); `caution`; positives weighted by their number of occurrences
(`by_frequency`); several or all changes as negatives (`many`); and `hidden="doubled"`: K = 1, 2, 4, ... until
all examples are right.
Cross-validation cannot choose K with `unseen` negatives: a held-out combination cannot be predicted from the
others, and the network that rejects the fewest points wins.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from lcons_core._constraint import LearnedConstraint
from lcons_core._document import hash_psi, record
from lcons_core._errors import InvalidInput
from lcons_core._instance import WORD, Instance, read_instances
from lcons_core._psi import PsiRows
from lcons_core.features._feature import ConstraintFeature, Scope
from lcons_core.features._kinds import Counts, Existence, Tuples, feature_from_dict
from lcons_core.features._ngrams import NgramContext, NgramLabels, SequenceFeature
from lcons_core.learn._estimator import AUTO, ConstraintLearner, Progress
from lcons_core.learn._evidence import EVIDENCE, sort_negatives
from lcons_core.learn._examples import (
    NEGATIVES,
    VALID,
    HowMany,
    LabelledExamples,
    NegativeSource,
    canonical,
    negative_source,
    positives_of,
    usual_negatives,
)

# Words that occur fewer times than this are OTHER: rare words help little on new text.
OFTEN = 10
DOUBLED = "doubled"
DOUBLINGS = (1, 2, 4, 8, 16, 32)
BALANCED = "balanced"


class NamedFeature(NamedTuple):
    """A feature by name: its kind, and its preset options."""

    kind: type[ConstraintFeature]
    preset: Mapping[str, Any] = MappingProxyType({})


FEATURES: Mapping[str, NamedFeature] = MappingProxyType(
    {
        "ngram": NamedFeature(NgramLabels),
        "context": NamedFeature(NgramContext),
        "pos": NamedFeature(NgramContext),
        "punctuation": NamedFeature(NgramContext, {"column": WORD, "word_class": "punctuation"}),
        "shape": NamedFeature(NgramContext, {"column": WORD, "word_class": "shape"}),
        "word": NamedFeature(NgramContext, {"column": WORD, "least": OFTEN}),
        "existence": NamedFeature(Existence),
        "counts": NamedFeature(Counts),
        "tuples": NamedFeature(Tuples),
        "pairs": NamedFeature(Tuples),
    }
)
OPTIONS = ("n", "pad", "column", "word_class", "least", "spans", "high", "names")


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
    epochs, restarts, patience, penalty, robust, seed. By default (None) there is no
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
    patience: int = 10
    penalty: float | tuple[float, ...] | str | None = None
    robust: bool = False
    seed: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, list | np.ndarray):
                object.__setattr__(self, name, tuple(value))
        if isinstance(self.feature, str) and self.feature not in FEATURES:
            raise InvalidInput(f"unknown feature {self.feature!r}; use one of {', '.join(FEATURES)}.")
        if self.negatives is not None and self.negatives not in NEGATIVES:
            raise InvalidInput(f"unknown negatives {self.negatives!r}; use one of {', '.join(NEGATIVES)}.")
        if not 0 < self.caution < math.inf:
            raise InvalidInput(f"expected a caution above 0, found {self.caution}.")
        if self.caution != 1 and self.class_weight != BALANCED:
            raise InvalidInput("expected a caution or a class_weight, found both; omit one of them.")
        if not 0 <= self.min_support < math.inf:
            raise InvalidInput(f"expected a min_support of 0 or more, found {self.min_support}.")
        number = EVIDENCE if self.evidence in (None, AUTO) else self.evidence
        if not (isinstance(number, int | float) and 0 < number < math.inf):
            raise InvalidInput(f'expected an evidence above 0, "auto" or None, found {self.evidence!r}.')

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
                raise InvalidInput(f"a feature object takes no options, found {', '.join(stated)}.")
            return {}
        kind, preset = FEATURES[self.feature]
        for name in stated:
            if name not in inspect.signature(kind.from_instances).parameters:
                raise InvalidInput(f"the feature {self.feature!r} has no option {name!r}; omit it.")
        return {**preset, **stated}

    def complete(self, structures: Sequence[Any]) -> tuple[Recipe, ConstraintFeature]:
        """(the recipe with names of feature and negatives and with the number of its evidence, the feature
        with vocabularies of structures)."""
        recipe = self
        if self.feature is None:
            labels = (label for instance in read_instances(structures, WORD) for label in instance.y)
            recipe = replace(self, feature="ngram" if isinstance(next(labels, ""), str) else "pairs")
        options, feature = recipe.options(), recipe.feature
        if isinstance(feature, str):
            feature = FEATURES[feature].kind.from_instances(structures, **options)
        assert feature is not None
        windows, least = isinstance(feature, SequenceFeature), self.evidence
        if least == AUTO:
            least = EVIDENCE if windows else None
        if least is not None and not windows:
            raise InvalidInput(f"only windows of labels have evidence, found the feature {feature.kind!r}.")
        evidence = None if least is None else float(least)
        return replace(
            recipe, negatives=self.negatives or usual_negatives(feature), evidence=evidence
        ), feature

    def source(
        self, feature: ConstraintFeature, instances: Sequence[Instance], positives: PsiRows
    ) -> NegativeSource:
        """The source of the negatives."""
        name = self.negatives or usual_negatives(feature)
        return negative_source(name, feature, instances, positives, self.many, self.seed)

    def examples(self, structures: Iterable[Any]) -> LabelledExamples:
        """Positives from the structures and negatives from the source."""
        listed = list(structures)
        recipe, feature = self.complete(listed)
        return recipe._examples(listed, feature)

    def _examples(self, structures: Sequence[Any], feature: ConstraintFeature) -> LabelledExamples:
        """The examples of a complete recipe."""
        instances = read_instances(structures, feature.column)
        positives = positives_of(feature, instances, self.min_support)
        negatives = self.source(feature, instances, positives).collect()
        examples = LabelledExamples.of(feature.space, positives, negatives)
        if not (isinstance(feature, SequenceFeature) and isinstance(self.evidence, float)):
            return examples
        return sort_negatives(feature, [feature.values(i) for i in instances], examples, self.evidence)[0]

    def learner(self, examples: LabelledExamples | None = None) -> ConstraintLearner:
        """The learner; with a caution the examples are needed, because weights depend on their numbers."""
        weights: Any = self.class_weight
        if isinstance(weights, tuple):
            weights = {False: weights[0], True: weights[1]}
        elif self.caution != 1:
            if examples is None:
                raise InvalidInput("a recipe with a caution needs the examples to make a learner; pass them.")
            _, y, weight = examples.matrix(self.by_frequency)
            invalid = weight[~y].sum() or 1.0
            weights = {False: 1.0, True: float(self.caution * invalid / weight[y].sum())}
        names = {field.name for field in fields(ConstraintLearner)} & {field.name for field in fields(self)}
        settings = {name: getattr(self, name) for name in names}
        penalty = 0.0 if self.penalty is None else self.penalty
        return ConstraintLearner(
            **{**settings, "cv": self.folds, "class_weight": weights, "penalty": penalty}
        )

    def learn(
        self,
        structures: Iterable[Any],
        invalid: Iterable[Any] | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> LearnedConstraint:
        """The constraint learned from valid structures; its provenance contains the recipe. With `invalid`
        structures, negatives are their parts that occur in no valid structure."""
        listed, others = list(structures), list(invalid or ())
        recipe, feature = self.complete([*listed, *others])
        if invalid is None:
            examples = recipe._examples(listed, feature)
        else:
            valid = positives_of(feature, listed, self.min_support)
            examples = LabelledExamples.of(feature.space, valid, positives_of(feature, others))
        constraint = recipe.learn_examples(examples, feature, progress=progress).constraint
        known = {"recipe"} if invalid is not None else set()  # a recipe alone would make other negatives
        stated = {name: value for name, value in constraint.provenance.items() if name not in known}
        return replace(constraint, provenance=stated)

    def learn_examples(
        self,
        examples: LabelledExamples,
        feature: ConstraintFeature | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> Fitted:
        """The constraint learned from labelled examples. With doubled K, the smallest K that is right on all
        examples, else the best."""
        candidates: list[tuple[float, LearnedConstraint, ConstraintLearner]] = []
        tried: list[tuple[int, float]] = []
        for K in DOUBLINGS if self.hidden == DOUBLED else (self.hidden,):
            learner = replace(self, hidden=K).learner(examples)
            learner.progress = progress
            constraint, valid, invalid = _trained(examples, learner, feature, self.by_frequency)
            score = 1.0 if valid == invalid == 1 else (self.caution * valid + invalid) / (self.caution + 1)
            candidates.append((score, constraint, learner))
            if isinstance(K, int) and self.hidden == DOUBLED:
                tried.append((K, score))
            if score == 1:
                break
        _, constraint, learner = max(candidates, key=lambda candidate: candidate[0])
        constraint = replace(constraint, provenance={**constraint.provenance, "recipe": self.to_dict()})
        return Fitted(constraint, learner, tuple(tried))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for files."""
        plain = {field.name: _listed(getattr(self, field.name)) for field in fields(self)}
        if self.feature is not None and not isinstance(self.feature, str):
            plain["feature"] = _listed(self.feature.to_dict())
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """The recipe that `to_dict` described; missing fields have their defaults."""
        unknown = set(data) - {field.name for field in fields(cls)}
        if unknown:
            raise InvalidInput(f"a recipe has no field {min(unknown)!r}; omit it.")
        values = dict(data)
        if isinstance(values.get("feature"), Mapping):
            values["feature"] = feature_from_dict(values["feature"])
        return cls(**values)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A constraint and the learner that learned it. With doubled K, also (K, share of the examples that are
    right) for each K that was tried, with the weights of the recipe."""

    constraint: LearnedConstraint
    learner: ConstraintLearner
    tried: tuple[tuple[int, float], ...] = ()


def _trained(
    examples: LabelledExamples,
    learner: ConstraintLearner,
    feature: ConstraintFeature | None,
    by_frequency: bool,
) -> tuple[LearnedConstraint, float, float]:
    """The constraint, and the shares of valid and of invalid examples for which it is right."""
    psi, y, weights = examples.matrix(by_frequency)
    rows = canonical(psi, np.stack([weights * ~y, weights * y], axis=1))
    valid = rows.weight[:, VALID] > 0
    right = learner.fit_folded(rows, np.array([False, True]), 1) == valid
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
        training_accuracy=float(np.mean(right)),
    )
    constraint = LearnedConstraint(learner.network_, examples.space, feature, provenance)
    return constraint, float(np.mean(right[valid])), float(np.mean(right[~valid])) if not valid.all() else 1.0


def learn_constraints(
    structures: Iterable[Any],
    feature: str | ConstraintFeature = "ngram",
    *,
    evidence: float | str | None = AUTO,
    negatives: str | Iterable[Any] | None = None,
    **options: Any,
) -> LearnedConstraint:
    """The constraint learned from valid structures by a `Recipe` with these arguments.

    `structures` are label sequences, (words, labels) or ({"pos": tags}, labels) pairs, or lists of tuples;
    `feature` is a name in `FEATURES`, with `options` such as n, or a feature object. All fields of a recipe
    are options: hidden, negatives, seed and so on. Windows of labels that chance would have shown fewer than
    three times are not forbidden, unless `evidence` is another number, or None: then all negatives are.
    `negatives` is a name in `NEGATIVES`, or invalid structures.

    >>> sentences = [["B-NP", "I-NP", "O"], ["O", "B-NP", "O"], ["B-NP", "B-NP", "I-NP", "I-NP"], ["O", "O"]]
    >>> constraint = learn_constraints(sentences, feature="ngram", n=2, hidden=2, evidence=None)
    >>> constraint.satisfied(["B-NP", "I-NP", "O"]), constraint.satisfied(["O", "I-NP"])
    (True, False)
    >>> [learn_constraints(times * sentences).satisfied(["O", "I-NP"]) for times in (1, 9)]
    [True, False]
    """
    if negatives is None or isinstance(negatives, str):
        return Recipe(feature, evidence=evidence, negatives=negatives, **options).learn(structures)
    return Recipe(feature, **options).learn(structures, negatives)


def _listed(value: Any) -> Any:
    """Plain data with lists instead of tuples and strings as keys, as in files."""
    if isinstance(value, Mapping):
        return {str(name): _listed(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value
