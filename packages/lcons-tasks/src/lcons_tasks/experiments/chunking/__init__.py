"""The chunking experiment: what learned constraints add to a chunker with few labelled sentences.

    corpus -> model, constraints -> answers of each cell -> record -> document

Paper: Sec. 6 and Appendix E.
"""

from lcons_tasks.experiments.chunking._corpus import ChunkCorpus, load_corpus

__all__ = ["ChunkCorpus", "load_corpus"]
