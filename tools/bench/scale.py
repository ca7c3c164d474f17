"""The whole command `lcons decode FOLDER` on Parquet files: one process, two processes, Ray and Dask.

    .venv-integrations/bin/python tools/bench/scale.py [--tokens 2000000]

Sentences of about 24 words with made-up POS tags (Zipf over 45), scores of 23 labels as float32, hard IOB2
and a drawn network over windows of two tags and labels, hard, too. Times include the start of the command.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from timing import report

from lcons_core import LearnedConstraint, RectifierNetwork, iob2
from lcons_core.features import NgramContext

KINDS = ("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP")
LABELS = [f"{part}-{kind}" for kind in KINDS for part in "BI"] + ["O"]
TAGS = [f"T{i}" for i in range(45)]
FILES = 8
ARMS = {
    "1 process": ("--jobs", "1"),
    "2 processes": ("--jobs", "2"),
    "Ray": ("--engine", "ray"),
    "Dask": ("--engine", "dask"),
}


def write_file(path: Path, tokens: int, seed: int) -> None:
    """A file of so many tokens; the scores are noise with a label that fits the tag ahead of it."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(3.1, 0.5, tokens // 24), 3, 120).astype(np.int64)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    N, L = int(lengths.sum()), len(LABELS)
    tags = np.minimum(rng.zipf(1.4, N) - 1, len(TAGS) - 1)
    emission = rng.standard_normal((N, L), dtype=np.float32)
    emission[np.arange(N), np.where(tags % 5 == 4, L - 1, 2 * (tags % len(KINDS)))] += 3
    scores = pa.FixedSizeListArray.from_arrays(pa.array(emission.reshape(-1)), L)
    pos = pa.DictionaryArray.from_arrays(tags.astype(np.int32), TAGS).cast(pa.string())
    lists = {
        "emission": pa.ListArray.from_arrays(offsets, scores),
        "pos": pa.ListArray.from_arrays(offsets, pos),
    }
    pq.write_table(pa.table({"id": np.arange(len(lengths)) + seed * 10**7, **lists}), path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=2_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "in").mkdir()
        for k in range(FILES):
            write_file(folder / f"in/{k}.parquet", given.tokens // FILES, k)
        feature = NgramContext(tuple(LABELS), tuple(TAGS), 2)
        W = np.random.default_rng(1).integers(-16, 17, (5, feature.space.d)) / 16
        network = RectifierNetwork(W, np.full(5, -2.0))
        LearnedConstraint(network, feature.space, feature).save(folder / "pos.json")
        iob2(LABELS).save(folder / "iob2.json")
        (folder / "labels.txt").write_text("\n".join(LABELS))
        options: list[str | Path] = [
            "-c",
            folder / "iob2.json",
            "-c",
            folder / "pos.json",
            "--labels",
            folder / "labels.txt",
            "-q",
        ]
        lcons: list[str | Path] = [Path(sys.executable).with_name("lcons"), "decode", folder / "in", *options]
        seconds, spent = {}, {}
        for arm, more in ARMS.items():
            began, before = time.perf_counter(), os.times()
            subprocess.run(
                [*lcons, *more, "-o", folder / f"out {arm}"], check=True, stderr=subprocess.DEVNULL
            )
            seconds[arm] = time.perf_counter() - began
            spent[arm] = sum(os.times()[2:4]) - sum(before[2:4])
            hours = seconds[arm] / given.tokens * 10**9 / 3600
            print(
                f"     {arm}: {given.tokens / seconds[arm]:,.0f} tokens a second, {hours:.1f} hours for 10^9"
            )
    hours = spent["1 process"] / given.tokens * 10**9 / 3600
    print(f"     {hours:.1f} core hours for 10^9 tokens, by the processor time of one process")
    met = report("two processes against one", seconds["1 process"] / seconds["2 processes"], at_least=1.5)
    sys.exit(not met)


if __name__ == "__main__":
    main()
