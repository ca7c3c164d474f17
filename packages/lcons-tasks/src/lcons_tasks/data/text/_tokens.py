"""Raw text to tokens with exact offsets, and to sentences; and the tokens of bibliographic references.

The tokens of running text are those of `spacy.blank("en")` without white space. For each token,
`text[t.start:t.end] == t.text`, and all characters that are not white space are in a token. A sentence ends
at a full stop, a question mark or the like (spaCy's sentencizer), and at a blank line. spaCy keeps strings in
UTF-8, which has no lone surrogates, so `encodable` replaces these. spaCy is imported at the first call,
because that takes seconds.

A token of a reference is a run of letters and digits, or one other character: in references every mark of
punctuation may end a field, so `433-460` is three tokens and `W.-P.` five. White space is in no token, and
every other character is in one, so that labelled tokens map back onto the text exactly.

Paper: Sec. 5. Differs from the paper: there `433-460` is one token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from spacy.language import Language

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    r"""The text with each lone surrogate replaced by one character, so that offsets stay the same.

    >>> encodable("a\ud800b") == "a\N{REPLACEMENT CHARACTER}b"
    True
    """
    return _SURROGATE.sub(REPLACEMENT, text)


# spaCy keeps every word that it has seen, and begins anew after this many.
MOST_WORDS = 2**20

# The time grows with the square of a run of brackets or quotes, so longer
# runs without white space are read in pieces of this many characters.
LONGEST_RUN = 256

_RUN = re.compile(rf"\S{{1,{LONGEST_RUN}}}")
LINE = re.compile(r"[\r\n\u2029]")
BLANK_LINE = re.compile(r"(?>\r\n|\r|\n)[^\S\r\n]*[\r\n]|\u2029")


class Token(NamedTuple):
    """A piece of a text, and its place: `text[start:end]`."""

    text: str
    start: int
    end: int


@cache
def _english() -> Language:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return nlp


def tokenise(text: str) -> list[Token]:
    """The tokens of `text`, in order, with punctuation as separate tokens.

    >>> [token.text for token in tokenise("It's 5 p.m., isn't it?")]
    ['It', "'s", '5', 'p.m.', ',', 'is', "n't", 'it', '?']
    """
    if len(_english().vocab.strings) > MOST_WORDS:
        _english.cache_clear()
    readable = encodable(text)
    tokens = []
    for start, end in _pieces(readable):
        for token in _english().tokenizer(readable[start:end]):
            if not token.is_space:
                first = start + token.idx
                tokens.append(Token(text[first : first + len(token)], first, first + len(token)))
    return tokens


def sentences(text: str, by_line: bool = False) -> list[list[Token]]:
    """The tokens of `text`, one list per sentence; no list is empty. `by_line`: a line break ends one, too.

    >>> [len(sentence) for sentence in sentences("Mr. Hill left. Why?")]
    [4, 2]
    """
    tokens = tokenise(text)
    if not tokens:
        return []
    from spacy.tokens import Doc

    nlp = _english()
    doc = Doc(nlp.vocab, words=[encodable(token.text) for token in tokens])
    sentencizer: Any = nlp.get_pipe("sentencizer")
    [begins] = sentencizer.predict([doc])
    starts = [0]
    for position, (before, after) in enumerate(pairwise(tokens), start=1):
        # Most tokens have nothing or one blank between them.
        blank = text[before.end : after.start]
        if begins[position] or (blank not in ("", " ") and (LINE if by_line else BLANK_LINE).search(blank)):
            starts.append(position)
    return [tokens[first:last] for first, last in pairwise([*starts, len(tokens)])]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Spans that cover `text`, cut only within runs that are longer than LONGEST_RUN."""
    start = 0
    for before, after in pairwise(_RUN.finditer(text)):
        if before.end() == after.start():
            yield start, before.end()
            start = before.end()
    yield start, len(text)


TOKEN = re.compile(r"\w+|[^\w\s]")


def reference_tokens(text: str) -> list[Token]:
    """The tokens of `text`, in order.

    >>> [token.text for token in reference_tokens("Mind, 59(4):433-460.")]
    ['Mind', ',', '59', '(', '4', ')', ':', '433', '-', '460', '.']
    """
    return [Token(found.group(), *found.span()) for found in TOKEN.finditer(text)]
