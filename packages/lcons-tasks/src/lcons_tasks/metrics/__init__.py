"""How good predictions are: token accuracy, chunk F1, and how sure a difference is."""

from lcons_tasks.metrics.accuracy import right_and_total
from lcons_tasks.metrics.bootstrap import Interval, paired_bootstrap
from lcons_tasks.metrics.chunks import ChunkF1, chunk_f1, chunks

__all__ = ["ChunkF1", "Interval", "chunk_f1", "chunks", "paired_bootstrap", "right_and_total"]
