"""The sentences of a spaCy doc: its own, or those that `lcons tag` finds in raw text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spacy.pipeline import Sentencizer
from spacy.tokens import Doc, Token

_BLANK_LINE = re.compile(r"(?>\r\n|\r|\n)[^\S\r\n]*[\r\n]|\u2029")


def doc_sentences(doc: Doc, sentencizer: Sentencizer) -> Iterator[list[Token]]:
    """The tokens that are not white space, one list per sentence; no list is empty."""
    known = doc.has_annotation("SENT_START")
    guesses = [token.is_sent_start for token in doc] if known else sentencizer.predict([doc])[0]
    sentence: list[Token] = []
    for token, starts in zip(doc, guesses, strict=True):
        ends = starts or (not known and token.is_space and _BLANK_LINE.search(token.text))
        if ends and sentence:
            yield sentence
            sentence = []
        if not token.is_space:
            sentence.append(token)
    if sentence:
        yield sentence
