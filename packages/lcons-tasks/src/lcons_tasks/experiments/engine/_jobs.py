"""Independent pieces of work on several cores or on a cluster, with progress from all of them.

Each piece receives a function `tell` and calls `tell(share, what)` to report its progress. With one job,
everything runs in this process. Results are in the order of the pieces.

The engine is joblib's: processes of this machine, or the workers of a Dask or Ray cluster within `engine`.
Where a copy of this process is safe, the processes of this machine within `engine` are copies: they start at
once, with all that this process has loaded, and serve all phases.

Workers report to files of a folder that all of them see (`lcons_core.storage.progress_folder`). If a worker
ends early, its pieces are done again, a few times at most. Processes of this machine end when this process
ends, for whatever reason.
"""

from __future__ import annotations

import inspect
import os
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lcons_core import LconsError
from lcons_core.storage import ProgressFile, ProgressFolder, progress_folder

if TYPE_CHECKING:
    from lcons_decode.shards import LocalCluster
    from lcons_tasks.experiments.engine._kept import Stages

P = TypeVar("P")
Result = TypeVar("Result")
Tell = Callable[[float, str], None]


@dataclass(frozen=True)
class Event:
    """Progress of the piece at `index`: the `share` that is done (1.0: finished), and `what` it does now."""

    index: int
    share: float
    what: str


OnEvent = Callable[[str, Sequence[str], Event], None]


def silent(share: float, what: str) -> None:
    """Ignores progress."""


@dataclass(frozen=True)
class Piece:
    """Work that several cells need: a readable name, and the function that does it."""

    name: str
    make: Callable[[Stages, Tell], object]


@dataclass(frozen=True)
class Phase:
    """Pieces of work that run in parallel."""

    name: str
    pieces: Sequence[Piece]


@contextmanager
def engine(backend: str = "local", address: str | None = None, jobs: int | None = None) -> Iterator[int]:
    """Runs the pieces of the block on the workers of a cluster, by the backend that joblib registers for it,
    and yields their number; `local`: on the cores of this machine.

    address: the scheduler; None: a cluster of `jobs` processes of this machine for the time of the block.
    """
    from joblib import cpu_count, parallel_config

    from lcons_decode.shards import cluster

    if backend == "local" and address is None:
        with _copies(jobs or cpu_count()):
            yield jobs or cpu_count()
        return
    with cluster(backend, address, jobs) as found:
        if backend == "ray":
            from ray.util.joblib import register_ray

            register_ray()
        with parallel_config(backend=backend, n_jobs=-1):
            yield found.workers


# The copies of this process that work for it.
_COPIES: ContextVar[LocalCluster | None] = ContextVar("copies", default=None)


@contextmanager
def _copies(jobs: int) -> Iterator[None]:
    """So many copies of this process work within the block, where that is safe."""
    from lcons_decode.shards import LocalCluster, can_fork

    if jobs == 1 or not can_fork():
        yield
        return
    copies = LocalCluster(jobs)
    before = _COPIES.set(copies)
    try:
        yield
    finally:
        _COPIES.reset(before)
        copies.end()


def run_beside(do: Callable[[], Result]) -> Result:
    """The result of `do()`, by a copy of this process if there is one: after its pieces, it has loaded more
    than this process."""
    return do() if _COPIES.get() is None else run_jobs(lambda piece, tell: do(), [None])[0]


def run_jobs(
    work: Callable[[P, Tell], Result],
    pieces: Sequence[P],
    jobs: int | None = None,
    progress: Callable[[Event], None] | None = None,
    folder: Path | None = None,
) -> list[Result]:
    """The results of `work(piece, tell)` for every piece, with at most `jobs` processes (default: all cores),
    or by all workers of the cluster of `engine`.

    folder: one that all workers see, for their progress; None: a temporary folder of this machine.
    """
    from joblib import cpu_count

    report = progress or (lambda event: None)
    workers = -1 if _is_cluster() else min(jobs or cpu_count(), len(pieces))
    if 0 <= workers <= 1 and _COPIES.get() is None:
        results = []
        for i, piece in enumerate(pieces):
            results.append(work(piece, lambda share, what, i=i: report(Event(i, share, what))))  # type: ignore[misc]
            report(Event(i, 1.0, DONE))
        return results
    found: dict[int, Result] = {}
    with progress_folder(folder or Path(tempfile.gettempdir())) as files, _watched(files, report) as heard:
        for _ in range(MOST_DEATHS):
            left = [(i, piece) for i, piece in enumerate(pieces) if i not in found]
            try:
                for i, result in _parallel(work, left, files, workers):
                    found[i] = result
                    heard(i)
            except Exception as error:
                if not _is_of_lost_worker(error):
                    raise
                continue
            return [found[i] for i in range(len(pieces))]
    raise _workers_ended()


def _workers_ended() -> LconsError:
    return LconsError(
        f"a worker ended early {MOST_DEATHS} times, perhaps for lack of memory; use fewer jobs, and run the"
        " same command again: finished stages are kept."
    )


def run_phase(
    phase: str,
    work: Callable[[P, Tell], Result],
    pieces: Sequence[P],
    names: Sequence[str],
    jobs: int | None = None,
    progress: OnEvent | None = None,
    folder: Path | None = None,
) -> list[Result]:
    """As `run_jobs`; `progress` is called with the phase, the names of its pieces and an event."""
    told = None if progress is None else (lambda event: progress(phase, names, event))
    return run_jobs(work, pieces, jobs, told, folder)


DONE = "done"
# How often the pieces of workers that ended early are begun.
MOST_DEATHS = 3
_WATCH_SECONDS = 0.5
_NEWS_SECONDS = 0.2
# What engines raise if a worker ended early.
_LOST = {"RayActorError", "WorkerCrashedError", "KilledWorker", "TerminatedWorkerError", "BrokenProcessPool"}


def _is_of_lost_worker(error: Exception) -> bool:
    return any(kind.__name__ in _LOST for kind in type(error).__mro__)


def _is_cluster() -> bool:
    """Whether pieces run on the workers of `engine`."""
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ in ("DaskDistributedBackend", "RayBackend")


def _parallel(
    work: Callable[[P, Tell], Result], pieces: Sequence[tuple[int, P]], files: ProgressFolder, workers: int
) -> Iterator[tuple[int, Result]]:
    """The results by index, as they come; by Ray, whose backend cannot do that, all at the end."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    copies = _COPIES.get()
    if copies is not None:
        return _by_copies(copies, work, pieces, files)
    cluster = workers < 0
    first = None if cluster else os.getpid()
    calls = (delayed(_call)(work, i, piece, files.file(i), first) for i, piece in pieces)
    ahead = "2*n_jobs" if cluster else workers
    as_they_come = get_active_backend()[0].supports_return_generator
    order = "generator_unordered" if as_they_come else "list"
    # A worker that has no piece yet ends with this process, too; before joblib 1.5, after five minutes.
    begins = {} if cluster or not _takes_initializers() else {"initializer": _end_with, "initargs": (first,)}
    parallel = Parallel(n_jobs=workers, batch_size=1, pre_dispatch=ahead, return_as=order, **begins)
    return iter(parallel(calls))


def _by_copies(
    copies: LocalCluster,
    work: Callable[[P, Tell], Result],
    pieces: Sequence[tuple[int, P]],
    files: ProgressFolder,
) -> Iterator[tuple[int, Result]]:
    from lcons_decode.shards import Lost

    calls = [_by_value(partial(_call, work, i, piece, files.file(i), None)) for i, piece in pieces]
    for _, found in copies.results_of_others(_attempt, calls):
        if isinstance(found, Lost):
            raise _workers_ended()
        if isinstance(found, _Failed):
            raise found.error
        yield found


def _by_value(what: Any) -> Any:
    """Something that reaches other processes even if they cannot import its parts."""
    from joblib import wrap_non_picklable_objects

    return wrap_non_picklable_objects(what, keep_wrapper=False)


def _takes_initializers() -> bool:
    from joblib import Parallel

    kinds = (one.kind for one in inspect.signature(Parallel).parameters.values())
    return inspect.Parameter.VAR_KEYWORD in kinds


@contextmanager
def _watched(files: ProgressFolder, report: Callable[[Event], None]) -> Iterator[Callable[[int], None]]:
    """Reports progress as it arrives; yields a function of the index of a piece that is done."""
    lock, ended = threading.Lock(), threading.Event()
    finished: set[int] = set()

    def news(i: int) -> None:
        for share, what in files.news(i):
            tell(Event(i, share, what))

    def tell(event: Event) -> None:
        # A piece that is done again, because a worker ended early, is reported as done once.
        if event.index not in finished:
            report(event)
        if event.what == DONE:
            finished.add(event.index)

    def done(i: int) -> None:
        with lock:
            news(i)
            tell(Event(i, 1.0, DONE))
        files.file(i).remove()

    def watch() -> None:
        while not ended.wait(_NEWS_SECONDS):
            with lock:
                for i in files.pieces():
                    news(i)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield done
    finally:
        ended.set()
        thread.join()


# These run in the other processes.


def _call(
    work: Callable[[Any, Tell], Any], index: int, piece: Any, file: ProgressFile, first: int | None
) -> tuple[int, Any]:
    if first is not None:
        _end_with(first)
    result = work(piece, file.tell)
    file.tell(1.0, DONE)
    return index, result


@dataclass(frozen=True)
class _Failed:
    """The error of a piece."""

    error: Exception


def _attempt(call: Callable[[], Any]) -> Any:
    """The result of a call, or its error with a note where it was raised. As processes of joblib do, this one
    keeps to one core; torch reads how many it may use when it is loaded."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        return _by_value(call())
    except Exception as error:
        error.add_note(traceback.format_exc())
        return _Failed(error)


@cache
def _end_with(first: int) -> None:
    """Ends this process when its parent, of that number, has ended for any reason; at once if it has:
    to begin a process takes seconds."""

    def watch() -> None:
        while os.getppid() == first:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
