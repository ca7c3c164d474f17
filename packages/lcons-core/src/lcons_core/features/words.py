"""Classes of words that a context can be made of: `punctuation`, or nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

NO_CLASS = ""


def is_punctuation(word: str) -> bool:
    """True iff every character is punctuation or a symbol."""
    return bool(word) and all(unicodedata.category(c)[0] in "PS" for c in word)


WORD_CLASSES: dict[str, Callable[[str], str]] = {
    "punctuation": lambda word: "punctuation" if is_punctuation(word) else NO_CLASS,
}
