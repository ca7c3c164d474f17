"""Trained models with their constraints, ready for use: tagger, extractor and reference parser."""

from lcons_tasks.apps._tagger import ConstrainedTagger, load_constrained_tagger

__all__ = ["ConstrainedTagger", "load_constrained_tagger"]
