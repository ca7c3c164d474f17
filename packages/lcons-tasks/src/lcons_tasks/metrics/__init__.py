"""How good predictions are: chunk F1, F1 from counts, and how sure a difference is."""

from lcons_tasks.metrics.bootstrap import Interval, paired_bootstrap
from lcons_tasks.metrics.chunks import ChunkF1, chunk_f1, chunks, runs_as_iob2
from lcons_tasks.metrics.f1 import bootstrap_f1, f1

__all__ = [
    "ChunkF1",
    "Interval",
    "bootstrap_f1",
    "chunk_f1",
    "chunks",
    "f1",
    "paired_bootstrap",
    "runs_as_iob2",
]
