"""Sharing work between threads; the compiled kernels run without the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

LEAST_SHARE = 64
PIECES = 4  # a worker: pieces differ in cost


def share_rows(run: Callable[[int, int], Result], total: int, threads: int | None = None) -> list[Result]:
    """run(first, last) for ranges that cover 0 .. total - 1, in order, on at most `threads` threads (all
    cores)."""
    workers = min(threads or os.cpu_count() or 1, max(1, total // LEAST_SHARE))
    if workers == 1:
        return [run(0, total)]
    pieces = min(PIECES * workers, total)
    edges = [total * i // pieces for i in range(pieces + 1)]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, edges[:-1], edges[1:]))
