"""How constraints are learned in experiments: which feature, how large a network, which negatives.

Not in the paper: many or all single-label changes as negatives instead of one, and positives weighted by how
often they were seen, for soft use, where a graded margin matters more than a sharp border.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from lcons_core import ConstraintLearner, LabelledExamples, LearnedConstraint
from lcons_core._errors import InvalidInput
from lcons_core.learn._negatives import HowMany
from lcons_core.learn._recipe import FEATURES, learn_from_examples, make_examples, make_feature
from lcons_tasks.data import Sentence

GLOBAL = ("existence", "counts")


@dataclass(frozen=True)
class Recipe:
    """How one constraint is learned; `negatives` and `many` are those of `lcons_core.make_examples`;
    positives weigh `caution` times as much as negatives in all, so that a large one rejects less;
    `column` is the context of the feature `context`; `mark` ends its name, where two would have the same."""

    feature: str
    n: int | None
    hidden: int = 10
    learning_rate: float = 0.03
    negatives: str | None = "relabel"
    many: HowMany = 1
    by_frequency: bool = False
    epochs: int = 100
    caution: float = 1.0
    column: str = ""
    mark: str = ""

    @property
    def name(self) -> str:
        """What tables and files call it, such as `pos-3`."""
        n = "" if self.n is None else f"-{self.n}"
        return f"{self.column or self.feature}{n}" + ("" if self.many == 1 else f"-{self.many}") + self.mark

    @property
    def is_global(self) -> bool:
        """Whether it is about whole structures, not about windows of them."""
        return self.feature in GLOBAL

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


NEGATIVES = {"existence": "flip", "counts": "perturb"}


def recipe(text: str, hidden: int = 10) -> Recipe:
    """The recipe for a constraint written as `pos:3`, `existence:2`, `ngram:3`, `punctuation:2` or `counts`,
    with the paper's negatives, or with every change of one label where `:all` follows.

    >>> recipe("pos:3").name, recipe("counts").negatives, recipe("pos:2:all").many
    ('pos-3', 'perturb', 'all')
    """
    feature, *rest = text.split(":")
    many: HowMany = "all" if rest[-1:] == ["all"] else 1
    number = rest[: len(rest) - (many == "all")]
    known = sorted(set(FEATURES) - {"tuples", "pairs", "context"})
    longest = 0 if feature == "counts" else 1
    if feature not in known or len(number) > longest or not all(one.isdecimal() for one in number):
        raise InvalidInput(
            f"a constraint is one of {', '.join(known)}, with its n as in `pos:3` (counts has none) and"
            f" `:all` for all negatives, found {text!r}; name one."
        )
    n = None if feature == "counts" else int(*number or (3,))
    return Recipe(feature, n, hidden, negatives=NEGATIVES.get(feature, "relabel"), many=many)


def learn(recipe: Recipe, sentences: Sequence[Sentence], seed: int) -> LearnedConstraint:
    """The constraint that the sentences obey, by a recipe."""
    options: dict[str, Any] = {} if recipe.n is None else {"n": recipe.n}
    if recipe.column:
        options["column"] = recipe.column
    structures = [sentence.instance for sentence in sentences]
    feature = make_feature(structures, recipe.feature, **options)
    examples = make_examples(structures, feature, negatives=recipe.negatives, many=recipe.many, seed=seed)
    learner = ConstraintLearner(
        recipe.hidden,
        seed=seed,
        restarts=1,
        epochs=recipe.epochs,
        learning_rate=recipe.learning_rate,
        class_weight=_class_weight(recipe, examples),
    )
    found = learn_from_examples(examples, learner, feature, recipe.by_frequency)
    return replace(found, provenance={**found.provenance, "recipe": recipe.to_dict()})


def _class_weight(recipe: Recipe, examples: LabelledExamples) -> str | dict[Any, float]:
    if recipe.caution == 1:
        return "balanced"
    _, y, weights = examples.matrix(recipe.by_frequency)
    return {False: 1.0, True: recipe.caution * float(weights[~y].sum() / weights[y].sum())}
