"""The chunking experiment: few labelled sentences, a chunker, and what learned constraints add.

    corpus -> features -> model -> decoders -> cell -> task -> report

Paper: Sec. 6 and Appendix E.
"""

from lcons_tasks.experiments.chunking._corpus import ChunkCorpus, load_corpus

__all__ = ["ChunkCorpus", "load_corpus"]
