"""Processes of this machine, each with one piece of work at a time.

If a process ends early, its piece goes to another one: unlike a pool of `concurrent.futures`, the others go
on. One worker is this process itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from lcons_decode.shards._cluster import MOST_DEATHS, Do, Lost


@contextmanager
def opened(address: str | None, jobs: int) -> Iterator[LocalCluster]:
    """Processes that start before the block, which may start threads."""
    cluster = LocalCluster(jobs)
    try:
        yield cluster
    finally:
        cluster.end()


class LocalCluster:
    """So many processes of this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        copied = can_fork()
        self._idle = [_start(copied) for _ in range(workers if workers > 1 else 0)]
        self._busy: dict[Connection, tuple[Any, int]] = {}

    def results(self, do: Do, pieces: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As in `Cluster`."""
        if min(self.workers, len(pieces)) <= 1:
            return ((i, do(piece)) for i, piece in enumerate(pieces))
        return self.results_of_others(do, pieces)

    def results_of_others(self, do: Do, pieces: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As `results`; also a piece alone is done by another process than this one."""
        self._stop_busy()  # with a call whose results were not all wanted
        waiting, deaths = deque(range(len(pieces))), Counter[int]()
        busy, told = self._busy, set[Connection]()
        while waiting or busy:
            while waiting and len(busy) < self.workers:
                # In place of a process that ended early; by now, this one may have other threads.
                connection, process = self._idle.pop() if self._idle else _start(copied=False)
                i = waiting.popleft()
                busy[connection] = (process, i)
                with contextlib.suppress(OSError):  # it has ended, which is seen below
                    connection.send((pieces[i], None if connection in told else do))
                told.add(connection)
            for ready in wait(list(busy)):
                connection = next(one for one in busy if one is ready)
                process, i = busy.pop(connection)
                try:
                    result = connection.recv()
                except (EOFError, OSError):
                    process.join()
                    deaths[i] += 1
                    if deaths[i] < MOST_DEATHS:
                        waiting.append(i)
                        continue
                    result = Lost(f"{MOST_DEATHS} processes ended early (exit code {process.exitcode})")
                else:
                    self._idle.append((connection, process))
                yield i, result

    def end(self) -> None:
        """Ends the processes, whatever they do."""
        self._stop_busy()
        for _, process in self._idle:
            process.kill()
            process.join()

    def _stop_busy(self) -> None:
        for process, _ in self._busy.values():
            process.kill()
            process.join()
        self._busy.clear()


def _start(copied: bool) -> tuple[Connection, Any]:
    context = get_context("fork" if copied else "spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)  # of threads that `can_fork` allows
        process.start()
    theirs.close()
    return ours, process


def can_fork() -> bool:
    """Whether a copy of this process is safe, which starts at once: it would copy the locks of other threads,
    but not the threads. OpenBLAS, which has threads of its own, is ready for it; OpenMP, which torch uses, is
    not, nor are the libraries of macOS."""
    return sys.platform == "linux" and threading.active_count() == 1 and "torch" not in sys.modules


# These run in the other processes.


def _work(connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process stops the others
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=end_with_first, daemon=True).start()
    do: Any = None
    with contextlib.suppress(EOFError, OSError):
        while True:
            piece, new = connection.recv()
            do = new or do
            connection.send(do(piece))


def end_with_first() -> None:
    """Ends this process when the process that started it has ended for any reason."""
    first = parent_process()
    if first is not None:
        first.join()
    os._exit(1)
