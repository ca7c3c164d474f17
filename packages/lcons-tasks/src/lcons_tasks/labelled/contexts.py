"""Tokens of held-out data whose context a constraint does not know by name, but reads as (other)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lcons_core.features import ConstraintFeature, NgramContext
from lcons_core.features.sequence import WORD
from lcons_core.learn import OFTEN
from lcons_tasks.labelled.data import Structures

PUNCTUATION = "punctuation"


@dataclass(frozen=True)
class Unknown:
    """`tokens` that are read as (other), and `never`: those of them whose value training has not at all.

    `what` they are, in words; `rare` where training has some of their values, but too seldom to be named.
    """

    what: str
    tokens: int
    never: int
    rare: bool


def unknown_contexts(
    feature: ConstraintFeature | None,
    name: str | None,
    train: Structures,
    held_out: Structures,
    outside: Collection[int],
) -> Unknown | None:
    """The unknown tokens of the held-out structures that are not `outside`; None where (other) says nothing:
    features without a context, and punctuation, where all words are (other). `name` is the feature's."""
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
        return Unknown(
            f"tokens whose word the constraint does not know by name ({rule})", tokens, never, True
        )
    what = f"tokens whose {feature.context_name} training has not, read as (other)"
    return Unknown(what, tokens, tokens, False)
