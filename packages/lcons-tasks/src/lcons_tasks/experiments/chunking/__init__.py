"""The chunking experiment: what learned constraints add to a chunker with few labelled sentences.

    corpus -> model, constraints -> answers of each cell -> record -> document

Paper: Sec. 6 and Appendix E.
"""

# Names that are not in `__all__` are for the other packages of lcons.
from lcons_tasks.experiments.chunking._corpus import ChunkCorpus as ChunkCorpus
from lcons_tasks.experiments.chunking._corpus import load_corpus

__all__ = ["load_corpus"]
