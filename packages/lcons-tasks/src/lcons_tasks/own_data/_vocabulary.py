"""Held-out values that are not in training: contexts, which a constraint reads as (other), and labels.

A held-out structure with a label that is not in training cannot be judged.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any

from lcons_core import WORD, Instance, InvalidInput
from lcons_core.features import ConstraintFeature, NgramContext
from lcons_core.learn import OFTEN
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


def check_labels(train: Data, held_out: Data, by_position: bool = False) -> str | None:
    """A warning if more than a few held-out structures have labels that are not in training, else None;
    raises an error if all have. `by_position`: the held-out data are the end of the same data, where every
    such label causes a warning.

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
        return None
    first = held_out.numbers()[strange[0]]
    names = _listed([repr(name) for name in sorted({str(label[1]) for labels in new for label in labels})])
    remedy = "use held-out data with the same labels"
    if by_position:
        remedy = "shuffle the data, or pass `held_out=`"
    if len(strange) == len(held_out):
        have = _listed(sorted({str(label[1]) for label in known}))
        raise InvalidInput(
            f"expected held-out structures with the labels of training ({have}), found others in each"
            f" ({names}, first in structure {first}); {remedy}."
        )
    if not by_position and len(strange) <= FEW * len(held_out):
        return None
    return (
        f"{len(strange):,} of {len(held_out):,} held-out structures are not judged, because they have labels"
        f" that are not in the training data ({names}, first in structure {first}); {remedy}."
    )


def _labels(instance: Instance, tuples: bool) -> set[tuple[int, Hashable]]:
    """The labels of a structure, each with the index of its member in the tuple (0 in a sequence)."""
    if tuples:
        return {(i, value) for one in instance.y for i, value in enumerate(one)}
    return {(0, label) for label in instance.y}


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else "")
