"""From raw text to tokens, sentences and Penn POS tags, through spaCy.

spaCy takes seconds to import, so it is imported when the first text is read, not here.
"""

from lcons_tasks.text.errors import TaggerNotFound, UnusableCache
from lcons_tasks.text.plan import PLANS, SENTENCE_LIMIT, Plan
from lcons_tasks.text.pos import PosTagger, find_pos_tagger
from lcons_tasks.text.tagged import TaggedSentence
from lcons_tasks.text.tokens import Token, sentences, tokenise
from lcons_tasks.text.training import TaggerProgress

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
    "tokenise",
]
