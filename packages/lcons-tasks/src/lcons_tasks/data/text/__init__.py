"""From raw text to tokens, sentences and Penn POS tags, by spaCy, which is imported at the first call."""

from lcons_tasks.data.text._pos import PosTagger, find_pos_tagger
from lcons_tasks.data.text._tokens import Token, sentences, tokenise

__all__ = ["PosTagger", "Token", "find_pos_tagger", "sentences", "tokenise"]
