"""Decoding from disk to disk: two workers against one, engines against plain processes, memory of a worker.

    .venv-integrations/bin/python tools/bench/scale.py [--tokens 10000000] [--folder FOLDER] [--arms a,b]

Sentences with made-up POS tags (Zipf over 45 tags, about 24 words), scores of 23 labels as float32, hard IOB2
and a drawn network over windows of two POS tags and labels, hard, too. The corpus is 20 Parquet shards,
which FOLDER keeps for the next run. One thread per worker in every arm. Two workers against one: the whole
command `lcons decode SHARDS -o OUT --jobs N`, its start included, in turn, medians. Plain processes read,
decode and write the same shards, half each, without notes, checksums and progress.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from lcons_decode.shards import ShardDecoder, cluster, run_shards
from timing import report

from lcons_core import LearnedConstraint, RectifierNetwork, iob2
from lcons_core.features import NgramContext
from lcons_decode import Decoder

KINDS = ("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP")
LABELS = [f"{part}-{kind}" for kind in KINDS for part in "BI"] + ["O"]
TAGS = [f"T{i}" for i in range(45)]
SHARDS = 20
REPEATS = 3
ARMS = ("stages", "workers", "engines", "memory")
LEAST_SPEEDUP, MOST_OVERHEAD, MOST_GROWTH = 1.7, 1.15, 1.15


def drawn(rng: np.random.Generator, tokens: int) -> tuple[Any, Any, Any]:
    """Lengths of sentences, POS tags of tokens, and gold labels that follow the tags and IOB2."""
    lengths: list[int] = []
    total = 0
    while total < tokens:
        lengths.append(int(np.clip(rng.lognormal(3.1, 0.5), 3, 120)))
        total += lengths[-1]
    N = total
    tags = np.minimum(rng.zipf(1.4, N) - 1, len(TAGS) - 1)
    kinds = tags % len(KINDS)
    gold = np.where(tags % 5 == 4, len(LABELS) - 1, 2 * kinds)
    inside = np.zeros(N, dtype=bool)
    inside[1:] = (gold[1:] == gold[:-1]) & (gold[1:] < len(LABELS) - 1)
    inside[np.cumsum([0, *lengths[:-1]])] = False
    return np.array(lengths), tags, gold + inside


def constraint_files(folder: Path) -> list[str]:
    """IOB2, and a network over windows of two tags and labels that rejects some of them."""
    files = [folder / "iob2.json", folder / "pos.json"]
    feature = NgramContext(tuple(LABELS), tuple(TAGS), 2)
    W = np.random.default_rng(1).integers(-16, 17, (5, feature.space.d)) / 16
    network = RectifierNetwork(W, np.full(5, -2.0))
    iob2(LABELS).save(files[0])
    LearnedConstraint(network, feature.space, feature).save(files[1])
    return list(map(str, files))


def write_shard(path: Path, tokens: int, seed: int) -> None:
    """A shard of so many tokens; the scores are noise with the gold label ahead of it, most of the time."""
    rng = np.random.default_rng(seed)
    lengths, tags, gold = drawn(rng, tokens)
    N, L = len(gold), len(LABELS)
    emission = rng.standard_normal((N, L), dtype=np.float32)
    emission[np.arange(N), gold] += np.float32(3.0)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    rows = pa.FixedSizeListArray.from_arrays(pa.array(emission.reshape(-1)), L)
    pos = pa.DictionaryArray.from_arrays(tags.astype(np.int32), TAGS).cast(pa.string())
    table = pa.table(
        {
            "id": pa.array(np.arange(len(lengths)) + seed * 10**7),
            "emission": pa.ListArray.from_arrays(offsets, rows),
            "pos": pa.ListArray.from_arrays(offsets, pos),
        }
    )
    table = table.replace_schema_metadata({"lcons": json.dumps({"labels": LABELS})})
    part = path.with_suffix(".part")
    pq.write_table(table, part, row_group_size=2**13, use_dictionary=["pos"], compression="snappy")
    part.rename(path)


def corpus(folder: Path, tokens: int, shards: int) -> Path:
    """A folder of shards with so many tokens in all."""
    own = folder / f"{tokens}-{shards}"
    own.mkdir(parents=True, exist_ok=True)
    for k in range(shards):
        path = own / f"{k:03}.parquet"
        if not path.exists():
            write_shard(path, tokens // shards, k)
    return own


def timed(run: Callable[[], object]) -> float:
    """Seconds of wall time."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def plain(decoder: Decoder, files: list[Path], out: Path) -> None:
    """Reads, decodes and writes some shards, as short as can be."""
    for file in files:
        source = pq.ParquetFile(file, buffer_size=2**20, pre_buffer=False)
        writer = None
        for batch in source.iter_batches(batch_size=4096, use_threads=False):
            batch = batch.replace_schema_metadata(source.schema_arrow.metadata)
            found = pa.Table.from_batches([decoder(batch)])
            writer = writer or pq.ParquetWriter(out / file.name, found.schema)
            writer.write_table(found)
        if writer is not None:
            writer.close()


def plain_processes(decoder: Decoder, source: Path, out: Path, jobs: int) -> None:
    """The same by processes, each with its share of the shards."""
    out.mkdir(parents=True, exist_ok=True)
    files = sorted(source.iterdir())
    context = get_context("spawn")
    processes = [context.Process(target=plain, args=(decoder, files[k::jobs], out)) for k in range(jobs)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0


def engine(decoder: Decoder, source: Path, out: Path, **options: Any) -> None:
    """The same by the engine, into an empty folder."""
    shutil.rmtree(out, ignore_errors=True)
    found = run_shards(source, out, ShardDecoder(decoder), **options)
    assert not found.failed, found.failed[0].why


def command(folder: Path, source: Path, out: Path, jobs: int) -> None:
    """The same by the command of a user, with all that it loads."""
    shutil.rmtree(out, ignore_errors=True)
    lcons = [str(Path(sys.executable).with_name("lcons")), "decode", str(source), "-o", str(out), "-q"]
    files = [text for file in constraint_files(folder) for text in ("-c", file)]
    subprocess.run([*lcons, *files, "--jobs", str(jobs)], check=True)


def worker_memory(folder: Path, source: Path) -> float:
    """The peak memory, in MB, of a process that does the shards of a folder one after another."""
    command = [sys.executable, __file__, "--folder", str(folder), "--worker", str(source)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def stages(decoder: Decoder, source: Path, tokens: int) -> None:
    """Prints what each stage does per second, by one thread."""
    import hashlib

    file = min(source.iterdir())
    share = tokens / len(list(source.iterdir()))
    size = file.stat().st_size
    with file.open("rb") as opened:
        hashing = timed(lambda: hashlib.file_digest(opened, "sha256"))
    tables: list[Any] = []
    reading = timed(lambda: tables.extend(pq.ParquetFile(file).iter_batches(4096, use_threads=False)))
    meta = pq.read_schema(file).metadata
    batches = [batch.replace_schema_metadata(meta) for batch in tables]
    decoder(batches[0])
    found: list[Any] = []
    decoding = timed(lambda: found.extend(decoder(batch) for batch in batches))
    with tempfile.TemporaryDirectory() as out:
        target = Path(out) / "x.parquet"
        writing = timed(lambda: pq.write_table(pa.Table.from_batches(found), target))
        written = target.stat().st_size
    print(f"     {size / share:.1f} bytes of input and {written / share:.1f} of output per token")
    for name, seconds in (
        ("checksum of the input", hashing),
        ("reading", reading),
        ("decoding", decoding),
        ("writing", writing),
    ):
        rate = share / seconds
        print(f"     {name}: {rate:,.0f} tokens a second, {1e9 * seconds / share:,.0f} ns per token")


def extrapolate(rate: float, source: Path, tokens: int) -> None:
    """Prints core hours and traffic of larger corpora, if every worker keeps the rate that it has here."""
    size = sum(file.stat().st_size for file in source.iterdir()) / tokens
    for power in (9, 12):
        hours = 10**power / rate / 3600
        traffic = f"{10**power * size / 1e12:,.2f} TB, {32 * rate * size / 1e6:,.0f} MB a second per machine"
        print(
            f"     10^{power} tokens: {hours:,.1f} core hours, {hours / 32:,.2f} hours of 32 cores; {traffic}"
        )


def run_worker(decoder: Decoder, source: Path) -> None:
    """Does a folder in this process, and prints its peak memory in MB."""
    with tempfile.TemporaryDirectory() as out:
        engine(decoder, source, Path(out) / "out", jobs=1)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> int:
    """1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=10**7)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--make", action="store_true", help="Only write the corpus.")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        decoder = Decoder(constraint_files(folder), threads=1)
        if given.worker:
            run_worker(decoder, given.worker)
            return 0
        source = corpus(folder, given.tokens, SHARDS)
        arms = given.arms.split(",")
        sizes = (given.tokens // 10, given.tokens) if "memory" in arms else ()
        one_shards = [corpus(folder, size, 1) for size in sizes]
        if given.make:
            return 0
        warm = corpus(folder, given.tokens // 100, 2)
        engine(decoder, warm, Path(temporary) / "warm", jobs=1)
        out = Path(temporary) / "out"
        met = []
        if "stages" in arms:
            stages(decoder, source, given.tokens)
        if "workers" in arms:
            runs = [
                [timed(lambda n=n: command(folder, source, out, n)) for n in (1, 2)]  # type: ignore[misc]
                for _ in range(REPEATS)
            ]
            seconds = [statistics.median(taken) for taken in zip(*runs, strict=True)]
            for n, taken in enumerate(seconds, start=1):
                print(f"     {n} worker{'s' * (n > 1)}: {taken:.1f} s, {given.tokens / taken:,.0f} tokens/s")
            met.append(report("two workers against one", seconds[0] / seconds[1], at_least=LEAST_SPEEDUP))
            extrapolate(given.tokens / seconds[1] / 2, source, given.tokens)
        if "engines" in arms:
            met += engines(decoder, source, warm, out, given.tokens)
        if "memory" in arms:
            small, large = (worker_memory(folder, one) for one in one_shards)
            print(
                f"     peak memory of a worker: {small:.0f} MB, then {large:.0f} MB for ten times the tokens"
            )
            met.append(report("memory at ten times the tokens", large / small, at_most=MOST_GROWTH))
    return int(not all(met))


def engines(decoder: Decoder, source: Path, warm: Path, out: Path, tokens: int) -> list[bool]:
    """Compares the engines with plain processes, all with two workers; clusters are started before."""
    base = timed(lambda: plain_processes(decoder, source, out / "plain", 2))
    print(f"     plain processes: {base:.1f} s, {tokens / base:,.0f} tokens a second")
    met = []
    for backend in ("local", "dask", "ray"):
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        with cluster(backend, None, 2) as found:
            address = getattr(found, "address", None)
            options = {"backend": backend, "address": address, "jobs": 2}
            if backend != "local":
                engine(decoder, warm, out / "warm", **options)
            taken = timed(lambda: engine(decoder, source, out / backend, **options))  # noqa: B023
        print(f"     {backend}: {taken:.1f} s, {tokens / taken:,.0f} tokens a second")
        met.append(report(f"{backend} against plain processes", taken / base, at_most=MOST_OVERHEAD))
    return met


if __name__ == "__main__":
    sys.exit(main())
