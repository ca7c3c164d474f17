"""All shards of a folder: what is left is done by the workers of an engine, then the manifest is written.

The manifest is removed first and written last, so a folder with a manifest is complete.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lcons_core import LconsError, MissingExtra
from lcons_core.storage import ProgressFolder, digest, progress_folder, versions
from lcons_decode.shards._cluster import Lost, cluster, cores
from lcons_decode.shards._folder import MANIFEST, Shard, check_folders, find_shards, write_manifest
from lcons_decode.shards._shard import Failed, Finished, ShardTask
from lcons_decode.shards._work import Work

# What the bytes of the output depend on besides settings: the way that shards are read and written.
ENGINE = 1


@dataclass(frozen=True)
class ShardRun:
    """The outcome of a run: finished and failed shards in the order of their names, and other files that were
    in the folder."""

    finished: tuple[Finished, ...]
    failed: tuple[Failed, ...]
    others: tuple[str, ...] = ()

    @property
    def counts(self) -> Counter[str]:
        """The counts of all finished shards."""
        found: Counter[str] = Counter()
        for one in self.finished:
            found.update(one.note["counts"])
        return found


@dataclass
class Overview:
    """The progress of a run over all workers; `str` is one line."""

    shards: Sequence[Shard] = ()
    workers: int = 0
    outcomes: dict[int, Finished | Failed] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    _folder: ProgressFolder | None = None
    _running: dict[int, tuple[float, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.shards:
            return "no shard is begun yet"
        self._read()
        running = {i: one for i, one in self._running.items() if i not in self.outcomes}
        finished = [one for one in self.outcomes.values() if isinstance(one, Finished)]
        tokens = sum(one.note["counts"].get("tokens", 0) for one in finished)
        tokens += sum(count for _, count in running.values())
        total = sum(shard.size for shard in self.shards) or 1
        size = float(sum(self.shards[i].size for i in self.outcomes))
        size += sum(share * self.shards[i].size for i, (share, _) in running.items())
        parts = [f"{len(self.outcomes):,} of {len(self.shards):,} shards ({size / total:.0%})"]
        parts += [f"{tokens:,} tokens"] * bool(tokens)
        failed = len(self.outcomes) - len(finished)
        parts += [f"{failed:,} failed"] * bool(failed)
        parts += [f"{self.workers} workers"] * (self.workers > 1)
        before = sum(self.shards[i].size for i, one in self.outcomes.items() if getattr(one, "before", False))
        if size > before:
            left = (time.monotonic() - self.began) * (total - size) / (size - before)
            parts += [f"about {left:.0f} s to go" if left < 100 else f"about {left / 60:.0f} min to go"]
        return ", ".join(parts)

    def _read(self) -> None:
        if self._folder is not None:
            for piece in self._folder.pieces():
                for share, tokens in self._folder.news(piece)[-1:]:
                    self._running[piece] = (share, tokens)


def run_shards(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    work: Work,
    *,
    backend: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    overview: Overview | None = None,
    watched: Callable[[Overview], AbstractContextManager[object]] = nullcontext,
) -> ShardRun:
    """Does `work` on all shards of `folder` that are not finished in `out`; `overview` is kept up to date.

    watched: a context for the time of the work, which may show the overview; processes of this machine are
    started before it, because a process with another thread cannot be copied safely.

    Failed shards are values of the result, and the others are finished. The manifest is written if none
    failed.
    """
    source, target = Path(folder), Path(out)
    shards, others = find_shards(source)
    check_folders(source, target)
    source, target = source.resolve(), target.resolve()
    settings = {**work.settings(), "engine": ENGINE, **versions(["lcons-decode"])}
    (target / MANIFEST).unlink(missing_ok=True)
    task = ShardTask(work, digest(settings), source, target, _usual_columns(source, shards))
    state = overview if overview is not None else Overview()
    with ExitStack() as stack:
        if backend != "local":
            stack.enter_context(watched(state))
        workers = stack.enter_context(cluster(backend, address, min(jobs or cores(), len(shards))))
        if backend == "local":
            stack.enter_context(watched(state))
        stack.enter_context(_disk(target))
        progress = stack.enter_context(progress_folder(target))
        state.shards, state.workers = shards, min(workers.workers, len(shards))
        state.began, state._folder = time.monotonic(), progress
        pieces = [(shard, progress.file(i)) for i, shard in enumerate(shards)]
        for i, found in workers.results(task, pieces):
            state.outcomes[i] = _outcome(shards[i], found)
        state._folder = None
    done = sorted(state.outcomes.values(), key=lambda one: one.shard)
    finished = tuple(one for one in done if isinstance(one, Finished))
    failed = tuple(one for one in done if isinstance(one, Failed))
    if not failed:
        with _disk(target):
            write_manifest(target, settings, [one.note for one in finished])
    return ShardRun(finished, failed, tuple(others))


def _outcome(shard: Shard, found: Any) -> Finished | Failed:
    if isinstance(found, Lost):
        why = f"{shard.name}: {found.why}, perhaps for lack of memory; use smaller shards or fewer jobs."
        return Failed(shard.name, why)
    return found


def _usual_columns(folder: Path, shards: Sequence[Shard]) -> Any:
    parquet = sorted(shard.name for shard in shards if shard.is_parquet)
    if not parquet:
        return None
    try:
        from lcons_decode.shards._parquet import usual_columns
    except ModuleNotFoundError:
        raise MissingExtra(
            f"{parquet[0]} is a Parquet file, which needs pyarrow, which is not installed; run `pip install"
            " lcons-decode[parquet]`, or write JSON lines."
        ) from None
    return usual_columns(folder / name for name in parquet)


@contextmanager
def _disk(out: Path) -> Iterator[None]:
    """Turns errors of the disk of the output folder into one sentence."""
    try:
        yield
    except OSError as error:
        if isinstance(error, LconsError):
            raise
        raise LconsError(
            f"cannot write into {str(out)!r}: {error.strerror or error}; make room, or name another folder,"
            " and run the same again: what is finished is skipped."
        ) from None
