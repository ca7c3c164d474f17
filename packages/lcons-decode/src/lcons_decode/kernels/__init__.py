"""The inner loops of the decoders in two versions: compiled by numba, and in numpy. Both return the same.

    Layout(chain, lists, units) -> backend().constrained_many, beam_many, ... -> labels, scores, How

The environment variable `LCONS_DECODE_BACKEND` (numba or numpy) selects one; numba is imported at the first
use only, and not for so little work that importing it would take longer than the loops of numpy. The
compiled loops run without the interpreter lock, so that threads can share the rows of a batch.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import TypeVar

from lcons_core import InvalidInput, MissingExtra
from lcons_decode.kernels._arrays import (
    LANES,
    WORD,
    Bits,
    Chain,
    Floats,
    Groups,
    How,
    Ints,
    Layout,
    Lists,
    Singles,
    Small,
    Units,
    listed_groups,
    widened,
)
from lcons_decode.kernels._cost import costs

__all__ = [
    "BACKENDS",
    "LANES",
    "STEP",
    "WORD",
    "Bits",
    "Chain",
    "Floats",
    "Groups",
    "How",
    "Ints",
    "Layout",
    "Lists",
    "Singles",
    "Small",
    "Units",
    "backend",
    "compiled",
    "costs",
    "listed_groups",
    "share_rows",
    "widened",
]

BACKENDS = ("numba", "numpy")

Result = TypeVar("Result")

# Importing numba and reading its compiled code takes about as long as this much work in numpy.
LITTLE_WORK = 2**23
# What a step in Python costs, in such numbers.
STEP = 2**10

LEAST_SHARE = 64
PIECES = 4  # per worker, because pieces differ in cost


def backend(work: float = math.inf) -> ModuleType:
    """The module of kernels in use: numba's; or numpy's if numba is missing, if numpy was selected, or if
    numba is not imported yet and the work (numbers to add and compare, about) is below `LITTLE_WORK`."""
    chosen = os.environ.get("LCONS_DECODE_BACKEND", "")
    if chosen and chosen not in BACKENDS:
        raise InvalidInput(f"LCONS_DECODE_BACKEND must be one of {', '.join(BACKENDS)}, found {chosen!r}.")
    little = not chosen and work < LITTLE_WORK and "numba" not in sys.modules
    if chosen != "numpy" and not little:
        try:
            from lcons_decode.kernels import _compiled as compiled

            return compiled
        except ImportError as error:
            if chosen == "numba":
                raise MissingExtra(
                    f"LCONS_DECODE_BACKEND is numba, which cannot be imported ({error}); install numba, or"
                    " unset the variable."
                ) from None
    from lcons_decode.kernels import _plain as plain

    return plain


def compiled(function: Callable[..., Result]) -> Callable[..., Result]:
    """The function, compiled by numba at its first call and cached as the kernels of decoders are; as it is,
    if those are numpy's (`backend`)."""
    if backend().__name__.endswith("_plain"):
        return function
    from lcons_decode.kernels._compiled.jit import kernel

    made: Callable[..., Result] = kernel(function)
    return made


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
