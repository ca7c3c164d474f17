"""Operating points of a BIOES tagger: biases of transitions by name, and what is known of them.

    score'(y) = score(y) + sum_t bias(kind of the transition from y_t to y_{t+1})

| bias | from | to |
|---|---|---|
| background_stay | O | O |
| background_to_start | O | B-X, S-X |
| inside_to_continue | B-X, I-X | I-X |
| inside_to_end | B-X, I-X | E-X |
| end_to_background | E-X, S-X | O |
| end_to_start | E-X, S-X | B-Y, S-Y |

A positive bias makes a kind of transition more likely, a negative one less. Other transitions are no BIOES,
and have no bias. L and U of BILOU are read as E and S. There is no bias before the first label or after the
last.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np

from lcons_core import LARGEST_MAGNITUDE, OUTSIDE, InvalidInput, LearnedConstraint, bilou, bioes
from lcons_decode._constraints import Constraint, Soft
from lcons_decode._scores import ChainScores, Floats

# The letters of BILOU as those of BIOES; O stands for itself.
_LETTERS = {"O": "O", "B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S"}
# Kinds of transitions: (letters before, letters after, whether both have the same type).
_KINDS = {
    "background_stay": ("O", "O", False),
    "background_to_start": ("O", "BS", False),
    "inside_to_continue": ("BI", "I", True),
    "inside_to_end": ("BI", "E", True),
    "end_to_background": ("ES", "O", False),
    "end_to_start": ("ES", "BS", False),
}


@dataclass(frozen=True)
class TransitionBiases:
    """The biases of the six kinds of transitions; 0 by default.

    >>> eager = TransitionBiases(background_stay=-1.0)
    >>> eager.transition(["O", "S-X"]).tolist()              # [from, to]
    [[-1.0, 0.0], [0.0, 0.0]]
    """

    background_stay: float = 0.0
    background_to_start: float = 0.0
    inside_to_continue: float = 0.0
    inside_to_end: float = 0.0
    end_to_background: float = 0.0
    end_to_start: float = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not abs(value) <= LARGEST_MAGNITUDE:
                raise InvalidInput(
                    f"expected a finite number as the bias {name}, found {value!r}; 0 is no bias."
                )

    @classmethod
    def of_caution(cls, caution: float) -> TransitionBiases:
        """The biases that take `caution` from the score of every O, half at each of its sides; at the ends of
        a sequence there is one side.

        >>> TransitionBiases.of_caution(2.0)
        TransitionBiases(background_stay=-2.0, background_to_start=-1.0, ..., end_to_background=-1.0, ...)
        """
        return cls(background_stay=-caution, background_to_start=-caution / 2, end_to_background=-caution / 2)

    def transition(self, labels: Sequence[str]) -> Floats:
        """(L, L) [from, to] the bias of each transition."""
        _letters(labels)
        parts = [(_LETTERS[label[:1]], label[2:]) for label in labels]
        found = np.zeros((len(parts), len(parts)))
        for name, (before, after, same) in _KINDS.items():
            rows = np.array([letter in before for letter, _ in parts])
            columns = np.array([letter in after for letter, _ in parts])
            there = rows[:, None] & columns
            if same:
                kinds = np.array([kind for _, kind in parts])
                there &= kinds[:, None] == kinds
            found[there] = getattr(self, name)
        return found

    def added_to(self, scores: ChainScores) -> ChainScores:
        """The scores with the biases."""
        transition = scores.transition + self.transition(scores.labels)
        return ChainScores(scores.emission, transition, scores.start, scores.stop, labels=scores.labels)


@dataclass(frozen=True)
class Guarantee:
    """What is known of an operating point: with a confidence of `confidence`, at least the share `recall` of
    all units is not missed.

    unit: "entity", or "sentence": a sentence with entities is missed if one of its entities is.
    missed: "covered" (an entity is missed if a token of it is labelled O) or "exact" (if its span and type
        are not found).
    units, misses: how many there were in the data that it is known from.
    p_value, level: P(so few misses) if the recall were lower, and what it had to be at most.
    """

    recall: float
    confidence: float
    unit: str
    missed: str
    units: int
    misses: int
    p_value: float
    level: float

    def __post_init__(self) -> None:
        shares = (self.recall, self.confidence, self.p_value, self.level)
        counts = 0 <= self.misses <= self.units
        if not (counts and all(math.isfinite(share) and 0 <= share <= 1 for share in shares)):
            raise InvalidInput(
                f"expected shares from 0 to 1 and at most as many misses as units, found {self!r:.200}."
            )

    def __str__(self) -> str:
        """One sentence."""
        units = {"entity": "entities", "sentence": "sentences with entities"}.get(self.unit, self.unit)
        return (
            f"at most {100 * (1 - self.recall):.4g}% of the {units} are missed, with a confidence of"
            f" {100 * self.confidence:.4g}% ({self.misses:,} of {self.units:,} in the data it was chosen on)."
        )


@dataclass(frozen=True)
class OperatingPoint:
    """Biases of transitions, a factor of the weights of soft constraints, and what is guaranteed, if
    anything.

    >>> scores = ChainScores([[1.0, 0.8], [1.0, 0.0]], labels=["O", "S-X"])
    >>> point = OperatingPoint(TransitionBiases(background_stay=-1.0))
    >>> from lcons_decode import constrained_viterbi
    >>> constrained_viterbi(point.added_to(scores), point.constraints(scores.labels)).y
    ('S-X', 'O')
    """

    biases: TransitionBiases = TransitionBiases()
    factor: float = 1.0
    guarantee: Guarantee | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.factor, int | float) and 0 <= self.factor <= LARGEST_MAGNITUDE):
            raise InvalidInput(f"expected a factor of soft weights of at least 0, found {self.factor!r}.")

    @property
    def certified(self) -> bool:
        """Whether there is a guarantee."""
        return self.guarantee is not None

    def added_to(self, scores: ChainScores) -> ChainScores:
        """The scores with the biases."""
        return self.biases.added_to(scores)

    def constraints(self, labels: Sequence[str], constraints: Iterable[Constraint] = ()) -> list[Constraint]:
        """The constraints to decode under: that labels are valid, and the given ones, with soft weights times
        `factor`."""
        return [scheme_constraint(labels), *(weighted(one, self.factor) for one in constraints)]


def weighted(constraint: Constraint, factor: float) -> Constraint:
    """A soft constraint with its weight times `factor`; others unchanged."""
    return (
        replace(constraint, weight=constraint.weight * factor) if isinstance(constraint, Soft) else constraint
    )


def scheme_constraint(labels: Sequence[str]) -> LearnedConstraint:
    """The constraint that labels are valid BIOES or BILOU."""
    return bilou(labels) if _letters(labels) & set("LU") else bioes(labels)


def _letters(labels: Sequence[str]) -> set[str]:
    """The letters of labels; raises `InvalidInput` if they are neither BIOES nor BILOU."""
    letters = {label[:1] for label in labels if label != OUTSIDE}
    wrong = [label for label in labels if label[:1] not in _LETTERS or label[1:2] not in ("", "-")]
    if wrong or OUTSIDE not in labels or not letters & set("ESLU"):
        raise InvalidInput(
            f"expected BIOES labels (O, B-X, I-X, E-X, S-X), found {', '.join((wrong or [*labels])[:8])};"
            " operating points need labels that mark the ends of spans, so train the model on such labels."
        )
    return letters


BIASES = tuple(field.name for field in fields(TransitionBiases))
