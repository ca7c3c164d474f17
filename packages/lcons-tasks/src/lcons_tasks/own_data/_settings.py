"""How a constraint is learned from data of one's own: the feature, its negatives, and the learner."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lcons_core import ConstraintLearner, LabelledExamples
from lcons_core._errors import InvalidInput
from lcons_core._instance import WORD
from lcons_core.learn import GRIDS
from lcons_core.learn._negatives import HowMany
from lcons_core.learn._recipe import FEATURES, NEGATIVES
from lcons_tasks.data._stream import POS

# The options that each feature takes.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "ngram": ("n", "pad"),
    "pos": ("n", "pad", "column"),
    "context": ("n", "pad", "column"),
    "punctuation": ("n", "pad"),
    "shape": ("n", "pad"),
    "word": ("n", "pad"),
    "existence": ("n",),
    "counts": ("spans",),
    "pairs": ("names",),
    "tuples": ("names",),
}
OF_TUPLES = ("pairs", "tuples")
# Other names of the same.
SAME = ("context", "tuples")
# The appendices search the same rates and decays for three of four tasks.
PAPER = GRIDS["citation"]


@dataclass(frozen=True)
class LearnSettings:
    """`feature` None: n-grams of sequences, pairs of tuples. `cv` searches the paper's grid; several `hidden`
    are searched too, and "auto" is what `choosing.py` says. Positives weigh `caution` times as much as
    negatives in all, so that a large one forbids less. `column` is the context of `pos`; `names` are those of
    the members of tuples."""

    feature: str | None = None
    n: int | None = None
    hidden: int | tuple[int, ...] | str = 10
    negatives: str | None = None
    many: HowMany = 1
    min_support: float = 1
    seed: int = 0
    cv: bool = False
    folds: int = 5
    caution: float = 1.0
    column: str | None = None
    pad: bool = False
    spans: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.feature is not None and self.feature not in OPTIONS:
            raise InvalidInput(f"unknown feature {self.feature!r}; it is one of {', '.join(OPTIONS)}.")
        if self.negatives is not None and self.negatives not in NEGATIVES:
            raise InvalidInput(
                f"unknown negatives {self.negatives!r}; they are one of {', '.join(NEGATIVES)}."
            )
        if not (math.isfinite(self.caution) and self.caution > 0):
            raise InvalidInput(
                f"expected a caution above 0, found {self.caution}; 1 treats both sides alike."
            )
        if not (math.isfinite(self.min_support) and self.min_support >= 0):
            raise InvalidInput(
                f"expected a --min-support of 0 or more, found {self.min_support}; 1 keeps all that was seen."
            )

    def feature_for(self, tuples: bool) -> str:
        """The feature to learn; refused where it is not one of such structures."""
        name = self.feature or ("pairs" if tuples else "ngram")
        if (name in OF_TUPLES) != tuples:
            fitting = [
                one for one in FEATURES if (one in OF_TUPLES) == tuples and one not in ("context", "tuples")
            ]
            raise InvalidInput(
                f"expected a feature of {'tuples' if tuples else 'label sequences'}, found {name!r}; choose"
                f" {', '.join(fitting)}, or give other data."
            )
        return name

    def options_for(self, feature: str) -> dict[str, Any]:
        """The options of that feature; one that it does not have is refused."""
        given = {
            "n": self.n,
            "column": self.column,
            "pad": self.pad,
            "spans": self.spans,
            "names": self.names,
        }
        for name in (name for name in given if given[name] and name not in OPTIONS[feature]):
            having = [one for one in OPTIONS if name in OPTIONS[one]]
            raise InvalidInput(
                f"expected no {name!r} with the feature {feature!r}, found {given[name]!r}; leave it out, or"
                f" choose {', '.join(having)}."
            )
        return {name: given[name] for name in OPTIONS[feature] if given[name]}

    def column_of(self, feature: str) -> str | None:
        """The column of x that the feature reads, if any."""
        if feature in ("punctuation", "shape", "word"):
            return WORD
        return (self.column or POS) if feature in ("pos", "context") else None

    def learner(self, examples: LabelledExamples) -> ConstraintLearner:
        """The learner that these settings ask for."""
        hidden = list(self.hidden) if isinstance(self.hidden, tuple) else self.hidden
        grid: dict[str, Any] = {}
        if self.cv:
            grid = {"learning_rate": PAPER.learning_rate, "decay": PAPER.decay, "epochs": PAPER.epochs}
        weights: str | dict[Any, float] = "balanced"
        if self.caution != 1:
            weights = {False: 1.0, True: self.caution * len(examples.negatives) / len(examples.positives)}
        return ConstraintLearner(hidden, seed=self.seed, cv=self.folds, class_weight=weights, **grid)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)
