"""Templates: phi of a token for linear models, as strings. A model file stores the name of its template.

A token has keys, such as its word and its neighbours; a key stands for attributes, such as the affixes of
that word. Weights belong to attributes. A key that was seen before costs one look-up, so scoring is fast.

| template | attributes |
|---|---|
| tokens | words, affixes, shapes, neighbours: `_text.py` |
| words | word identity alone: the paper's citation model |
| reference | the choice of a practitioner for bibliographic references: `_references.py` |

All of them also read the context columns that the model names, such as `pos`. These are the features of base
models, not constraint features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lcons_core import InvalidInput
from lcons_core._instance import WORD
from lcons_tasks.models.phi._references import reference_attributes, reference_keys
from lcons_tasks.models.phi._slots import Slot, slot_keys
from lcons_tasks.models.phi._text import text_features, text_slots
from lcons_tasks.models.phi._tokens import Columns

AROUND = (-1, 1)


class Template(NamedTuple):
    """`keys` returns the keys of each token of an input, given the context columns to read. `slots` are the
    same keys, by column, and each is an attribute; None if keys read more of an input than one or two places
    near the token: then `attributes` returns the attributes of a key."""

    keys: Callable[[Columns, Sequence[str]], list[list[str]]]
    slots: Callable[[Sequence[str]], list[Slot]] | None
    attributes: Callable[[str], Sequence[str]] = lambda key: (key,)


def word_slots(columns: Sequence[str] = ()) -> list[Slot]:
    """A bias and the word; and for each context column its value, its neighbours' values, and their pairs."""
    slots = [Slot(WORD, lambda word: "bias"), Slot(WORD, "w=".__add__)]
    for name in columns:
        slots.append(Slot(name, f"{name}=".__add__))
        for k in AROUND:
            before, after = sorted((k, 0))
            slots.append(Slot(name, f"{name}{k:+}=".__add__, (k,)))
            slots.append(Slot(name, _pair(f"{name}{before},{after}="), (before, after)))
    return slots


def _pair(name: str) -> Callable[[str, str], str]:
    return lambda one, other: f"{name}{one} {other}"


def word_keys(x: Columns, columns: Sequence[str] = ()) -> list[list[str]]:
    """The keys of each token.

    >>> word_keys({"word": ["Mind", ","], "pos": ["NNP", ","]}, ["pos"])[1]
    ['bias', 'w=,', 'pos=,', 'pos-1=NNP', 'pos-1,0=NNP ,']
    """
    return slot_keys(word_slots(columns), x)


TEMPLATES = {
    "tokens": Template(text_features, text_slots),
    "words": Template(word_keys, word_slots),
    "reference": Template(reference_keys, None, reference_attributes),
}


def template(name: str) -> Template:
    """The template of that name."""
    if name not in TEMPLATES:
        raise InvalidInput(f"unknown template {name!r}; it is one of {', '.join(TEMPLATES)}.")
    return TEMPLATES[name]


def attribute_rows(x: Columns, name: str, columns: Sequence[str] = ()) -> list[list[str]]:
    """The attributes of each token, by the template of that name."""
    checked_columns(x, columns)
    chosen = template(name)
    return [[a for key in row for a in chosen.attributes(key)] for row in chosen.keys(x, columns)]


def checked_columns(x: Columns, columns: Sequence[str]) -> None:
    """Raises `InvalidInput` if the input lacks one of the columns."""
    missing = [name for name in columns if name not in x]
    if missing:
        raise InvalidInput(
            f"the model reads column {missing[0]!r}, but the input has {', '.join(x)}; add that column or"
            " train without it."
        )
