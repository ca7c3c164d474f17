"""The plan for training a POS tagger: settings by size of the corpus, checked sentences, and a cache folder.

The settings were chosen on the CoNLL-2000 training set, with the first sentences to train and the last 936 to
measure: 250 sentences give 89.9% in 8 s of one core, 1,000 give 95%, 4,000 97.4% and 8,000 98.1% in 80 s.

A trained tagger appears in the cache complete or not at all. The name of its folder is a hash of all that
decides what the tagger is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TypeAlias

from lcons_core import InvalidInput, LconsError


class TaggerNotFound(LconsError, LookupError):
    """No POS tagger is installed, and there is no tagged corpus to train one from."""


@dataclass(frozen=True)
class Plan:
    """Settings for corpora of up to `sentences` sentences: `epochs` passes, sentences per update (`batch`),
    dropout and learning rate; then the sizes of the network."""

    sentences: int
    epochs: int
    batch: int
    dropout: float
    learning_rate: float = 0.001
    width: int = 96
    depth: int = 2
    rows: int = 2000
    pieces: int = 3
    seed: int = 0


PLANS = (
    Plan(sentences=100, epochs=30, batch=4, dropout=0.4),
    Plan(sentences=1_000, epochs=10, batch=4, dropout=0.4),
    Plan(sentences=4_000, epochs=8, batch=16, dropout=0.2),
    Plan(sentences=10_000, epochs=4, batch=32, dropout=0.1),
)

# Only the first sentences of a larger corpus are used: they are enough, and training takes under two minutes.
SENTENCE_LIMIT = PLANS[-1].sentences


def plan_for(size: int) -> Plan:
    """The plan for a corpus of `size` sentences."""
    return next((plan for plan in PLANS if size <= plan.sentences), PLANS[-1])


TaggedSentence: TypeAlias = tuple[Sequence[str], Sequence[str]]


def checked(sentences: Iterable[TaggedSentence], limit: int = SENTENCE_LIMIT) -> list[TaggedSentence]:
    """The first `limit` sentences that have words; raises `InvalidInput` unless each has one tag per word."""
    used = [
        (tuple(words), tuple(tags)) for words, tags in islice(sentences, limit) if len(words) or len(tags)
    ]
    for words, tags in used:
        texts = all(isinstance(text, str) and text.strip() for text in (*words, *tags))
        if len(words) != len(tags) or not texts:
            raise InvalidInput(
                f"training a POS tagger needs one tag per word, none of them blank: got {tags!r:.60} for"
                f" {words!r:.60}."
            )
    if not used:
        raise InvalidInput("training a POS tagger needs tagged sentences: got none.")
    return list(used)


# Increase this number when the same sentences and plan would give another tagger.
RECIPE = 1


def fingerprint(sentences: Sequence[TaggedSentence], plan: Plan, spacy_version: str) -> str:
    """The sha256 of everything that decides what the trained tagger is."""
    digest = hashlib.sha256(json.dumps([RECIPE, asdict(plan), spacy_version], sort_keys=True).encode())
    for words, tags in sentences:
        digest.update(json.dumps([list(words), list(tags)]).encode() + b"\n")
    return digest.hexdigest()
