"""Held-out values that are not in training: contexts, which a constraint reads as (other), and labels.

A held-out structure with a label that is not in training cannot be judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any

from lcons_core import Instance, InvalidInput
from lcons_core._instance import WORD
from lcons_core.features import ConstraintFeature, NgramContext
from lcons_core.learn._recipe import OFTEN
from lcons_tasks.own_data._data import Data, Structures
from lcons_tasks.own_data._examples import PUNCTUATION


@dataclass(frozen=True)
class Unknown:
    """The number of `tokens` that are read as (other), and `never`: those whose value is not in training.

    `what`: their description in words; `rare`: whether some values are in training, but too rare for a name.
    """

    what: str
    tokens: int
    never: int
    rare: bool


def unknown_contexts(
    feature: ConstraintFeature | None,
    name: Any,
    train: Structures,
    held_out: Structures,
    outside: Collection[int],
) -> Unknown | None:
    """The unknown tokens of the held-out structures that are not `outside`. None for features without a
    context, and for punctuation, where all words are (other). `name` is the name of the feature."""
    if not isinstance(feature, NgramContext) or feature.word_class == PUNCTUATION:
        return None
    tokens = never = 0
    seen = {value for instance in train.instances for value in instance.x[feature.column]}
    other = len(feature.contexts)
    for i, instance in enumerate(held_out.instances):
        if i in outside:
            continue
        values = instance.x[feature.column]
        unknown = [v for v, at in zip(values, feature.ids_of(values), strict=True) if at == other]
        tokens += len(unknown)
        never += sum(value not in seen for value in unknown)
    if name == WORD:
        rule = f"seen fewer than {OFTEN} times in training, or never"
        return Unknown(f"tokens whose word has no name in the constraint ({rule})", tokens, never, True)
    what = f"tokens whose {feature.context_name} is not in training, read as (other)"
    return Unknown(what, tokens, tokens, False)


# Up to this share of held-out structures may be left out without a warning.
FEW = 0.05
_SHOWN = 6


def check_labels(train: Data, held_out: Data) -> str | None:
    """A warning if more than a few held-out structures have labels that are not in training, or if labels are
    distributed differently, else None; raises an error if all structures have such labels.

    >>> train, other = (Structures.of([(["a", "b"], labels)]) for labels in (["B", "O"], ["B", "X"]))
    >>> check_labels(train, other)
    Traceback (most recent call last):
    lcons_core._errors.InvalidInput: expected held-out structures with the labels of training (B, O), found
    others in each ('X', first in structure 1); use held-out data with the same labels.
    """
    if not isinstance(train, Structures) or not isinstance(held_out, Structures):
        return None
    if train.tuples != held_out.tuples:
        return None
    known = {label for one in train.instances for label in _labels(one, train.tuples)}
    new = [_labels(one, train.tuples) - known for one in held_out.instances]
    strange = [i for i, labels in enumerate(new) if labels]
    if not strange:
        return None if train.tuples else _other_shares(train, held_out)
    first = held_out.numbers()[strange[0]]
    names = _listed([repr(name) for name in sorted({str(label[1]) for labels in new for label in labels})])
    remedy = "use held-out data with the same labels"
    if len(strange) == len(held_out):
        have = _listed(sorted({str(label[1]) for label in known}))
        raise InvalidInput(
            f"expected held-out structures with the labels of training ({have}), found others in each"
            f" ({names}, first in structure {first}); {remedy}."
        )
    if len(strange) <= FEW * len(held_out):
        return None if train.tuples else _other_shares(train, held_out)
    return (
        f"{len(strange):,} of {len(held_out):,} held-out structures are not judged, because they have labels"
        f" that are not in the training data ({names}, first in structure {first}); {remedy}."
    )


# Held-out data are called different if this share of their labels would have to change to match training.
DIFFERENT = 0.2
# A label is called missing if training lets expect this many.
EXPECTED = 10
# Fewer held-out labels than this differ by chance.
FEWEST_LABELS = 100


def _other_shares(train: Structures, held_out: Structures) -> str | None:
    """A warning if the labels of held-out data have other shares than in training: then a judgement on them
    is misleading.

    >>> train, other = (Structures.of([(["a"] * 100, labels)]) for labels in (["B", "O"] * 50, ["O"] * 100))
    >>> _other_shares(train, other)  # doctest: +ELLIPSIS
    'held-out data have other labels than the training data: B is 50.0% ...
    """
    counts = [Counter(label for one in side.instances for label in one.y) for side in (train, held_out)]
    totals = [max(1, sum(own.values())) for own in counts]
    if totals[1] < FEWEST_LABELS:
        return None
    shares = {label: [own[label] / n for own, n in zip(counts, totals, strict=True)] for label in counts[0]}
    distance = sum(max(0.0, there - here) for there, here in shares.values())
    missing = any(not here and there * totals[1] >= EXPECTED for there, here in shares.values())
    if distance <= DIFFERENT and not missing:
        return None
    label, (there, here) = max(shares.items(), key=lambda one: abs(one[1][0] - one[1][1]))
    if distance <= DIFFERENT:
        label, (there, here) = max(
            (one for one in shares.items() if not one[1][1]), key=lambda one: one[1][0]
        )
    return (
        f"held-out data have other labels than the training data: {label} is {100 * there:.1f}% of the labels"
        f" there and {100 * here:.1f}% here; use held-out data of the same kind, or judgements and choices on"
        " them are misleading."
    )


def _labels(instance: Instance, tuples: bool) -> set[tuple[int, Hashable]]:
    """The labels of a structure, each with the index of its member in the tuple (0 in a sequence)."""
    if tuples:
        return {(i, value) for one in instance.y for i, value in enumerate(one)}
    return {(0, label) for label in instance.y}


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else "")
