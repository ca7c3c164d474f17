"""Processes of this machine, each with one piece of work at a time.

If a process ends early, its piece goes to another one: unlike a pool of `concurrent.futures`, the others go
on. One worker is this process itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from lcons_decode.shards._cluster import MOST_DEATHS, Do, Lost


@contextmanager
def opened(address: str | None, jobs: int) -> Iterator[LocalCluster]:
    """Processes that are started for each list of pieces."""
    yield LocalCluster(jobs)


@dataclass(frozen=True)
class LocalCluster:
    """So many processes of this machine."""

    workers: int

    def results(self, do: Do, pieces: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As in `Cluster`."""
        if min(self.workers, len(pieces)) <= 1:
            return ((i, do(piece)) for i, piece in enumerate(pieces))
        return _shared(do, pieces, self.workers)


def _shared(do: Do, pieces: Sequence[Any], workers: int) -> Iterator[tuple[int, Any]]:
    waiting, deaths = deque(range(len(pieces))), Counter[int]()
    busy: dict[Connection, tuple[Any, int]] = {}
    idle: list[tuple[Connection, Any]] = []
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                connection, process = idle.pop() if idle else _start(do)
                i = waiting.popleft()
                busy[connection] = (process, i)
                with contextlib.suppress(OSError):  # it has ended, which is seen below
                    connection.send(pieces[i])
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
                    idle.append((connection, process))
                yield i, result
    finally:
        for connection in [*busy, *(one for one, _ in idle)]:
            connection.close()
        for process, _ in busy.values():
            process.terminate()


def _start(do: Do) -> tuple[Connection, Any]:
    # "spawn", because forking would copy the locks of threads, but not the threads.
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, do), daemon=True)
    process.start()
    theirs.close()
    return ours, process


# These run in the other processes.


def _work(connection: Connection, do: Do) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process stops the others
    threading.Thread(target=_end_with_first, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send(do(connection.recv()))


def _end_with_first() -> None:
    """Ends this process when the process that started it has ended for any reason."""
    first = parent_process()
    if first is not None:
        first.join()
    os._exit(1)
