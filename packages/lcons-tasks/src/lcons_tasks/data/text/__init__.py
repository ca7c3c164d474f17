"""From raw text to tokens, sentences and Penn POS tags, by spaCy, which is imported at the first call."""

from lcons_tasks.data.text._plan import (
    PLANS,
    SENTENCE_LIMIT,
    Plan,
    TaggedSentence,
    TaggerNotFound,
    UnusableCache,
)
from lcons_tasks.data.text._pos import PosTagger, find_pos_tagger, tagged_corpus
from lcons_tasks.data.text._spacy_tagger import TaggerProgress
from lcons_tasks.data.text._tokens import Token, sentences, tokenise

__all__ = [
    "PLANS",
    "SENTENCE_LIMIT",
    "Plan",
    "PosTagger",
    "TaggedSentence",
    "TaggerNotFound",
    "TaggerProgress",
    "Token",
    "UnusableCache",
    "find_pos_tagger",
    "sentences",
    "tagged_corpus",
    "tokenise",
]
