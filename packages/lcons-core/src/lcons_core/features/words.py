"""Classes of words that a context can be made of, each a name or nothing.

| class | what it tells |
|---|---|
| punctuation | `punctuation` for marks and symbols, nothing for others |
| shape | capitals, lower case, a number by its length, a year, or the mark of punctuation itself |

Paper: Appendix D (punctuation). Not in the paper: the shapes of words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

NO_CLASS = ""
LONGEST_NUMBER = 4

_YEAR = re.compile(r"1[5-9]\d\d|20\d\d", re.ASCII)


def is_punctuation(word: str) -> bool:
    """True iff every character is punctuation or a symbol."""
    return bool(word) and all(unicodedata.category(c)[0] in "PS" for c in word)


def shape(word: str) -> str:
    """What a word looks like.

    >>> [shape(word) for word in ["Mind", "of", "ACM", "A", "1950", "433", "(", "McCoy", "3rd"]]
    ['Aa', 'a', 'AA', 'A', 'year', '999', '(', 'mixed', 'mixed']
    """
    if word.isalpha():
        if word.islower():
            return "a"
        if word.isupper():
            return "A" if len(word) == 1 else "AA"
        return "Aa" if word[0].isupper() and word[1:].islower() else "mixed"
    if word.isdigit():
        return "year" if _YEAR.fullmatch(word) else "9" * min(len(word), LONGEST_NUMBER)
    return word if len(word) == 1 and is_punctuation(word) else "mixed"


WORD_CLASSES: dict[str, Callable[[str], str]] = {
    "punctuation": lambda word: "punctuation" if is_punctuation(word) else NO_CLASS,
    "shape": shape,
}
