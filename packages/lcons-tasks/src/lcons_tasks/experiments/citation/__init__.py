"""The citation experiment: labels the fields of bibliographic references under learned and designed
constraints."""

from lcons_tasks.experiments.citation._corpus import CitationCorpus, label_tokens, load_corpus

__all__ = ["CitationCorpus", "label_tokens", "load_corpus"]
