"""How good predictions are: chunk F1, and how sure a difference in token accuracy is."""

from lcons_tasks.metrics.bootstrap import Interval, paired_bootstrap
from lcons_tasks.metrics.chunks import ChunkF1, chunk_f1, chunks, runs_as_iob2

__all__ = ["ChunkF1", "Interval", "chunk_f1", "chunks", "paired_bootstrap", "runs_as_iob2"]
