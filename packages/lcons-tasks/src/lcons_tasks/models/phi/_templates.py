"""Templates: phi of a token for linear models, as strings. A model file stores the name of its template.

A token has keys, such as its word and its neighbours; a key stands for attributes, such as the affixes of
that word. Weights belong to attributes. A key that was seen before costs one look-up, so scoring is fast.

| template | attributes |
|---|---|
| tokens | words, affixes, shapes, neighbours |
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
from lcons_tasks.models.phi._tokens import Columns, Slot, shape, slot_keys

AFFIXES = (1, 2, 3, 4)
AROUND = (-2, -1, 1, 2)


class Template(NamedTuple):
    """`keys` returns the keys of each token of an input, given the context columns to read. `slots` are the
    same keys, by column, and each is an attribute; None if keys read more of an input than one or two places
    near the token: then `attributes` returns the attributes of a key."""

    keys: Callable[[Columns, Sequence[str]], list[list[str]]]
    slots: Callable[[Sequence[str]], list[Slot]] | None = None
    attributes: Callable[[str], Sequence[str]] = lambda key: (key,)


def of_slots(slots: Callable[[Sequence[str]], list[Slot]]) -> Template:
    """The template of these slots."""
    return Template(lambda x, columns: slot_keys(slots(columns), x), slots)


def token_slots(columns: Sequence[str]) -> list[Slot]:
    """Words, affixes and shapes, and neighbours of words, shapes and context columns.

    Chosen by ablation on dev parts of nine corpora, also with nine of ten sentences with entities left out:
    pairs of neighbouring words and suffixes of neighbours gain nothing and cost much where entities are rare.
    """
    slots = [
        Slot(WORD, lambda word: "bias"),
        Slot(WORD, _named("w=", str.lower)),
        Slot(WORD, _named("shape=", shape)),
        *(Slot(WORD, _named("suffix=", _ending(k))) for k in AFFIXES),
        *(Slot(WORD, _named("prefix=", _beginning(k))) for k in AFFIXES),
        *(Slot(WORD, _named(f"w{k:+}=", str.lower), (k,)) for k in AROUND),
        *(Slot(WORD, _named(f"shape{k:+}=", shape), (k,)) for k in (-1, 1)),
    ]
    for name in columns:
        slots.append(Slot(name, f"{name}=".__add__))
        slots += [Slot(name, f"{name}{k:+}=".__add__, (k,)) for k in AROUND]
    return [*slots, Slot(WORD, None, (-1,), "first"), Slot(WORD, None, (1,), "last")]


def _named(name: str, value: Callable[[str], str]) -> Callable[[str], str]:
    return lambda word: name + value(word)


def _ending(k: int) -> Callable[[str], str]:
    return lambda word: word.lower()[-k:]


def _beginning(k: int) -> Callable[[str], str]:
    return lambda word: word.lower()[:k]


def word_slots(columns: Sequence[str]) -> list[Slot]:
    """A bias and the word; and for each context column its value, its neighbours' values, and their pairs."""
    slots = [Slot(WORD, lambda word: "bias"), Slot(WORD, "w=".__add__)]
    for name in columns:
        slots.append(Slot(name, f"{name}=".__add__))
        for k in (-1, 1):
            before, after = sorted((k, 0))
            slots.append(Slot(name, f"{name}{k:+}=".__add__, (k,)))
            slots.append(Slot(name, _pair(f"{name}{before},{after}="), (before, after)))
    return slots


def _pair(name: str) -> Callable[[str, str], str]:
    return lambda one, other: f"{name}{one} {other}"


TEMPLATES = {
    "tokens": of_slots(token_slots),
    "words": of_slots(word_slots),
    "reference": Template(reference_keys, attributes=reference_attributes),
}


def template(name: str) -> Template:
    """The template of that name."""
    if name not in TEMPLATES:
        raise InvalidInput(f"unknown template {name!r}; it is one of {', '.join(TEMPLATES)}.")
    return TEMPLATES[name]


def attribute_rows(x: Columns, name: str, columns: Sequence[str] = ()) -> list[list[str]]:
    """The attributes of each token, by the template of that name.

    >>> attribute_rows({"word": ["Go", "on"]}, "tokens")[1][:4]
    ['bias', 'w=on', 'shape=x', 'suffix=n']
    >>> attribute_rows({"word": ["Mind", ","], "pos": ["NNP", ","]}, "words", ["pos"])[1]
    ['bias', 'w=,', 'pos=,', 'pos-1=NNP', 'pos-1,0=NNP ,']
    """
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
