"""phi of a token of running text, as strings: word, affixes, shape, neighbours and context columns.

    word, shape, prefixes and suffixes of 1 to 4 characters;  words at -2, -1, 1, 2;  shapes at -1, 1

Chosen by ablation on dev parts of nine corpora, also with nine of ten sentences with entities left out: pairs
of neighbouring words and suffixes of neighbours gain nothing and cost much where entities are rare.

These are the features of the base model, not constraint features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lcons_core._instance import WORD
from lcons_tasks.models.phi._slots import Slot, slot_keys
from lcons_tasks.models.phi._tokens import Columns, shape

AFFIXES = (1, 2, 3, 4)
AROUND = (-2, -1, 1, 2)


def text_slots(columns: Sequence[str] = ()) -> list[Slot]:
    """The slots of a token; each key is an attribute."""
    slots = [
        Slot(WORD, lambda word: "bias"),
        Slot(WORD, _lower("w=")),
        Slot(WORD, _shape("shape=")),
        *(Slot(WORD, _suffix("suffix=", k)) for k in AFFIXES),
        *(Slot(WORD, _prefix("prefix=", k)) for k in AFFIXES),
    ]
    for k in AROUND:
        slots.append(Slot(WORD, _lower(f"w{k:+}="), (k,)))
    slots += [Slot(WORD, _shape(f"shape{k:+}="), (k,)) for k in (-1, 1)]
    for name in columns:
        slots.append(Slot(name, f"{name}=".__add__))
        slots += [Slot(name, f"{name}{k:+}=".__add__, (k,)) for k in AROUND]
    slots.append(Slot(WORD, None, (-1,), "first"))
    slots.append(Slot(WORD, None, (1,), "last"))
    return slots


def text_features(x: Columns, columns: Sequence[str] = ()) -> list[list[str]]:
    """The attributes of each token.

    >>> text_features({"word": ["Go", "on"]})[1][:4]
    ['bias', 'w=on', 'shape=x', 'suffix=n']
    """
    return slot_keys(text_slots(columns), x)


def _lower(name: str) -> Callable[[str], str]:
    return lambda word: name + word.lower()


def _suffix(name: str, k: int) -> Callable[[str], str]:
    return lambda word: name + word.lower()[-k:]


def _prefix(name: str, k: int) -> Callable[[str], str]:
    return lambda word: name + word.lower()[:k]


def _shape(name: str) -> Callable[[str], str]:
    return lambda word: name + shape(word)
