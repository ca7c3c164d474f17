"""The citation experiment: labels the fields of bibliographic references under learned and designed
constraints."""

# Names that are not in `__all__` are for the other packages of lcons.
from lcons_tasks.experiments.citation._corpus import CitationCorpus as CitationCorpus
from lcons_tasks.experiments.citation._corpus import label_tokens
from lcons_tasks.experiments.citation._corpus import load_corpus as load_corpus

__all__ = ["label_tokens"]
