"""Independent pieces of work on several cores, with progress from all of them.

Each piece receives a function `tell` and calls `tell(share, what)` to report its progress. With one job,
everything runs in this process. Results are in the order of the pieces.

The other processes send their progress over a connection of this machine, which this process accepts in a
thread; without it they work in silence. They end when this process ends, for whatever reason.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing.connection import Client, Connection, Listener
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
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


def run_jobs(
    work: Callable[[P, Tell], Result],
    pieces: Sequence[P],
    jobs: int | None = None,
    progress: Callable[[Event], None] | None = None,
) -> list[Result]:
    """The results of `work(piece, tell)` for every piece, with at most `jobs` processes (default: all
    cores)."""
    from joblib import Parallel, cpu_count, delayed

    report = progress or (lambda event: None)
    workers = min(jobs or cpu_count(), len(pieces))
    if workers <= 1:
        results = []
        for i, piece in enumerate(pieces):
            results.append(work(piece, lambda share, what, i=i: report(Event(i, share, what))))  # type: ignore[misc]
            report(Event(i, 1.0, "done"))
        return results
    found: dict[int, Result] = {}
    lock = threading.Lock()

    def report_alone(event: Event) -> None:
        with lock:
            report(event)

    with _listening(report_alone) as address:
        calls = (delayed(_call)(work, i, piece, address) for i, piece in enumerate(pieces))
        run = Parallel(n_jobs=workers, batch_size=1, pre_dispatch=workers, return_as="generator_unordered")
        for i, result in run(calls):
            found[i] = result
            report_alone(Event(i, 1.0, "done"))
    return [found[i] for i in range(len(pieces))]


def run_phase(
    phase: str,
    work: Callable[[P, Tell], Result],
    pieces: Sequence[P],
    names: Sequence[str],
    jobs: int | None = None,
    progress: OnEvent | None = None,
) -> list[Result]:
    """As `run_jobs`; `progress` is called with the phase, the names of its pieces and an event."""
    told = None if progress is None else (lambda event: progress(phase, names, event))
    return run_jobs(work, pieces, jobs, told)


# The other processes: the address of the first one, and the key that it expects.
Address = tuple[tuple[str, int], bytes]
_WATCH_SECONDS = 0.5


@contextlib.contextmanager
def _listening(report: Callable[[Event], None]) -> Iterator[Address]:
    """An address of this machine; `report` is called with each event that arrives there."""
    key, ended = os.urandom(32), threading.Event()
    with Listener(("127.0.0.1", 0), backlog=64, authkey=key) as listener:
        thread = threading.Thread(target=_accept, args=(listener, report, ended), daemon=True)
        thread.start()
        host, port = listener.address
        try:
            yield (str(host), int(port)), key
        finally:
            ended.set()
            with contextlib.suppress(OSError, EOFError), Client((host, port), authkey=key):
                thread.join(timeout=5)


def _accept(listener: Listener, report: Callable[[Event], None], ended: threading.Event) -> None:
    while not ended.is_set():
        with contextlib.suppress(Exception):  # a stranger, or a process that has ended
            connection = listener.accept()
            threading.Thread(target=_read, args=(connection, report), daemon=True).start()


def _read(connection: Connection, report: Callable[[Event], None]) -> None:
    with contextlib.suppress(EOFError, OSError), connection:
        while True:
            report(connection.recv())
            connection.send(None)


# These run in the other processes.


def _call(work: Callable[[Any, Tell], Any], index: int, piece: Any, address: Address) -> tuple[int, Any]:
    _end_with_parent()
    return index, work(piece, partial(_tell, address, index))


def _tell(address: Address, index: int, share: float, what: str) -> None:
    connection = _connection(address)
    if connection is not None:
        with contextlib.suppress(OSError, EOFError):
            connection.send(Event(index, share, what))
            # So that what a piece does is reported before its end is.
            if connection.poll(1.0):
                connection.recv()


@cache
def _connection(address: Address) -> Connection | None:
    try:
        return Client(address[0], authkey=address[1])
    except Exception:  # progress is not worth a failure
        return None


@cache
def _end_with_parent() -> None:
    """Ends this process when its parent has ended for any reason."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
