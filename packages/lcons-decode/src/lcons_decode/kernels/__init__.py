"""The inner loops of the decoders, compiled by numba at the first call and cached on disk.

    Layout(chain, lists, units) -> _compiled.constrained_many, beam_many, ... -> labels, scores, How

Importing `_compiled` imports numba, so callers do so where they decode. The loops run without the interpreter
lock, so that threads can share the rows of a batch.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

LEAST_SHARE = 64
PIECES = 4  # per worker, because pieces differ in cost


def share_rows(run: Callable[[int, int], Result], total: int, threads: int | None = None) -> list[Result]:
    """The results of run(first, last) for ranges that cover 0 .. total - 1, in order, on at most `threads`
    threads (default: all cores), of which the caller's is one."""
    workers = min(threads or os.cpu_count() or 1, max(1, total // LEAST_SHARE))
    if workers == 1:
        return [run(0, total)]
    pieces = min(PIECES * workers, total)
    edges = [total * i // pieces for i in range(pieces + 1)]
    found: dict[int, Result] = {}
    left = iter(range(pieces))

    def work(worker: int) -> None:
        _begin_apart(worker, workers)
        try:
            for i in left:
                found[i] = run(edges[i], edges[i + 1])
        finally:
            deque(left, maxlen=0)  # after an error, no other piece is begun

    with ThreadPoolExecutor(workers - 1) as pool:
        others = [pool.submit(work, worker) for worker in range(1, workers)]
        work(0)
        for other in others:
            other.result()
    return [found[i] for i in range(pieces)]


def _begin_apart(worker: int, workers: int) -> None:
    """Moves the thread to a core of its own, if there is one for each worker: threads that begin on one core
    may share it for longer than a batch takes. From there, the system moves them as it likes."""
    if hasattr(os, "sched_setaffinity"):
        cores = os.sched_getaffinity(0)
        if len(cores) == workers:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, {sorted(cores)[worker]})
                os.sched_setaffinity(0, cores)
