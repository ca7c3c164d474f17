"""Sentences with a tag a word, as a tagger learns from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from lcons_core.errors import InvalidInput

TaggedSentence: TypeAlias = tuple[Sequence[str], Sequence[str]]


def checked(sentences: Iterable[TaggedSentence], limit: int) -> list[TaggedSentence]:
    """The first `limit` sentences that have words, each found to have a word a tag and a tag a word."""
    kept: list[TaggedSentence] = []
    for number, (words, tags) in enumerate(sentences, start=1):
        if len(kept) == limit:
            break
        if len(words) != len(tags):
            raise InvalidInput(
                f"expected one tag a word, found {len(tags)} tags for {len(words)} words in sentence {number}"
                " of the training corpus; give columns of one length."
            )
        for kind, values in (("words", words), ("tags", tags)):
            if not all(isinstance(value, str) and value.strip() for value in values):
                raise InvalidInput(
                    f"expected {kind} that are not blank, found a blank one in sentence {number} of the"
                    " training corpus; leave such tokens out."
                )
        if words:
            kept.append((tuple(words), tuple(tags)))
    if not kept:
        raise InvalidInput(
            "expected tagged sentences to train a POS tagger on, found none; give a corpus that has some."
        )
    return kept
