"""A trained model with its constraints as one tagger: its folder, what it reads, and what it writes."""

from lcons_tasks.apps._tagger import ConstrainedTagger, load_constrained_tagger

__all__ = ["ConstrainedTagger", "load_constrained_tagger"]
