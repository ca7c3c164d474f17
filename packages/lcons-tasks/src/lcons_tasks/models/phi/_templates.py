"""phi of a token for linear models, as strings: by name, so that a model file says which it was trained with.

A token has keys, such as its word and its neighbours; a key stands for attributes, such as the affixes of
that word. Weights belong to attributes. A key that was seen before costs one look-up, so scoring is fast.

| template | what it reads |
|---|---|
| text | words, affixes, shapes, neighbours: `text_features.py` |
| words | word identity alone: the paper's citation model |
| reference | what a practitioner would read of a bibliographic reference: `reference_features.py` |

All of them read context columns such as `pos` where these are named. These are the features of base models,
not constraint features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lcons_core._errors import InvalidInput
from lcons_core._instance import WORD
from lcons_tasks.models.phi._references import reference_attributes, reference_keys
from lcons_tasks.models.phi._text import text_features
from lcons_tasks.models.phi._tokens import Columns

AROUND = (-1, 1)


class Template(NamedTuple):
    """Keys of each token of an input, given the context columns to read; and the attributes of a key."""

    keys: Callable[[Columns, Sequence[str]], list[list[str]]]
    attributes: Callable[[str], Sequence[str]]


def word_keys(x: Columns, columns: Sequence[str] = ()) -> list[list[str]]:
    """The word of each token, and of context columns its own value, its neighbours' and both together.

    >>> word_keys({"word": ["Mind", ","], "pos": ["NNP", ","]}, ["pos"])[1]
    ['w=,', 'pos=,', 'pos-1=NNP', 'pos-1,0=NNP ,']
    """
    rows = [[f"w={word}"] for word in x[WORD]]
    for name in columns:
        values = x[name]
        for t, row in enumerate(rows):
            row.append(f"{name}={values[t]}")
            for k in AROUND:
                if 0 <= t + k < len(values):
                    first, last = sorted((t, t + k))
                    row.append(f"{name}{k:+}={values[t + k]}")
                    row.append(f"{name}{min(k, 0)},{max(k, 0)}={values[first]} {values[last]}")
    return rows


def word_attributes(key: str) -> Sequence[str]:
    """The key itself; and a bias beside each word."""
    return ("bias", key) if key.startswith("w=") else (key,)


TEMPLATES = {
    "text": Template(text_features, lambda key: (key,)),
    "words": Template(word_keys, word_attributes),
    "reference": Template(reference_keys, reference_attributes),
}


def template(name: str) -> Template:
    """The template of that name."""
    if name not in TEMPLATES:
        raise InvalidInput(f"unknown template {name!r}; it is one of {', '.join(TEMPLATES)}.")
    return TEMPLATES[name]


def attribute_rows(x: Columns, name: str, columns: Sequence[str] = ()) -> list[list[str]]:
    """The attributes of each token, by a template."""
    checked_columns(x, columns)
    chosen = template(name)
    return [[a for key in row for a in chosen.attributes(key)] for row in chosen.keys(x, columns)]


def checked_columns(x: Columns, columns: Sequence[str]) -> None:
    """Refuses an input without a column that is to be read."""
    missing = [name for name in columns if name not in x]
    if missing:
        raise InvalidInput(
            f"the model reads column {missing[0]!r}, found {', '.join(x)}; give that column or train without"
            " it."
        )
