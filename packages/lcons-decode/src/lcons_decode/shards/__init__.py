"""Folders of shards, from disk to disk, on the cores of this machine, on Dask or on Ray.

    shards/a.parquet, shards/b.jsonl -> work on rows -> out/a.parquet, out/b.jsonl, out/_manifest.json

Each shard is one task. Its output appears whole or not at all, next to a note with the sha256 of the input,
of the settings and of the output; a shard whose note is right is not done again. The bytes depend on the
input and the settings alone. All workers must see both folders, and have lcons installed.
"""

from lcons_decode.shards._cluster import BACKENDS, Lost, cluster
from lcons_decode.shards._decoder_work import ShardDecoder
from lcons_decode.shards._folder import FINISHED, MANIFEST, find_shards
from lcons_decode.shards._local import LocalCluster, can_fork, end_with_first
from lcons_decode.shards._run import Overview, ShardRun, run_shards
from lcons_decode.shards._shard import Failed, Finished
from lcons_decode.shards._work import RowWork, ShardWork, Work

__all__ = [
    "BACKENDS",
    "FINISHED",
    "MANIFEST",
    "Failed",
    "Finished",
    "LocalCluster",
    "Lost",
    "Overview",
    "RowWork",
    "ShardDecoder",
    "ShardRun",
    "ShardWork",
    "Work",
    "can_fork",
    "cluster",
    "end_with_first",
    "find_shards",
    "run_shards",
]
