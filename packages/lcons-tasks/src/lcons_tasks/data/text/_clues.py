"""Clues: hints of a word of a bibliographic reference about its field; about a dozen kinds.

The words are a hand-written list, so features made of clues contain knowledge about references; word shapes
and frequent words do not.
"""

from __future__ import annotations

from lcons_core.features._ngrams import shape

CLUE = "clue"

WORDS = {
    word: clue
    for clue, words in {
        "in": "in",
        "proc": "proc proceedings conference symposium workshop",
        "journal": "journal j trans transactions magazine review letters",
        "pages": "pages pp p",
        "volume": "vol volume no number",
        "editor": "editors eds ed editor edited",
        "school": "university univ dept department institute laboratory",
        "press": "press publishers publishing verlag wiley springer",
        "report": "thesis report technical tech tr phd dissertation memo",
        "quote": '" \u201c \u201d',
        "bracket": "( [",
        "link": "http https www doi",
    }.items()
    for word in words.split()
}


def clue(word: str) -> str:
    """The clue of a word, or "" if it has none; a year is a clue.

    >>> [clue(word) for word in ["Proc", "1950", "Turing"]]
    ['proc', 'year', '']
    """
    return WORDS.get(word.lower(), "") or ("year" if shape(word) == "year" else "")


def clue_or_shape(word: str) -> str:
    """The clue of a word, or its shape if it has none: the column `clue`.

    >>> [clue_or_shape(word) for word in ["Proc", "1950", "Turing"]]
    ['proc', 'year', 'shape Aa']
    """
    return clue(word) or f"shape {shape(word)}"
