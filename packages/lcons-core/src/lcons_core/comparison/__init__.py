"""Whether two constraints are the same set, with a proof or a witness."""

from lcons_core.comparison.comparing import Comparison, Outcome, compare, in_words

__all__ = ["Comparison", "Outcome", "compare", "in_words"]
