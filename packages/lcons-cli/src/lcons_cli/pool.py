"""Independent pieces of work on several cores: a few pieces ahead, with the results in order."""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

# With fewer pieces than this, starting processes takes more time than they save.
MANY = 8
# The number of pieces per process that are sent before the first of them is done.
AHEAD = 2
# The largest number of results that wait for an earlier one.
MOST_WAITING = 64


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], jobs: int | None = None
) -> Iterator[Result]:
    """`work(item)` for each item, in order, by `jobs` processes, this one included; None: one process per
    core if there are `MANY` items, else one process.

    Each of the other processes has a copy of `work`. One process works on the items as they come.
    """
    if jobs is None:
        items = iter(items)
        first = list(islice(items, MANY))
        jobs = _cores() if len(first) == MANY else 1
        items = chain(first, items)
    return map(work, items) if jobs == 1 else _shared(work, items, jobs)


def spare_collector() -> None:
    """Lets the garbage collector run less often, which saves a tenth of the time of work on text: what is
    loaded stays to the end, and the work makes many small objects but hardly any cycles."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _shared(work: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    from lcons_core import LconsError
    from lcons_decode.shards import can_fork

    # Copies of this process have all that is loaded; others take a second to start, so this process also
    # works. They receive `work` with their first pieces, before it is used here.
    pool = ProcessPoolExecutor(jobs - 1, get_context("fork" if can_fork() else "spawn"), _begin, (work,))
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            busy = sum(not future.done() for future in waiting)
            waiting.append(_submitted(pool, item) if busy < AHEAD * (jobs - 1) else _done(work(item)))
            while waiting and (waiting[0].done() or len(waiting) > MOST_WAITING):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise LconsError(
            f"one of the {jobs} processes ended early; try again with `--jobs 1`, which needs less memory."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, item: Any) -> Future[Any]:
    """The future of an item; the first one starts the processes, where Python warns of any other thread."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        return pool.submit(_do, item)


def _done(result: Result) -> Future[Result]:
    """A result of this process as a finished future, like the results of the others."""
    from concurrent.futures import Future

    future: Future[Result] = Future()
    future.set_result(result)
    return future


def _cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# These run in the other processes.

_own: list[Callable[[Any], Any]] = []


def _begin(work: Callable[[Any], Any]) -> None:
    from lcons_decode.shards import end_with_first

    _own.append(work)
    spare_collector()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process stops the others
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=end_with_first, daemon=True).start()


def _do(item: Any) -> Any:
    return _own[0](item)
