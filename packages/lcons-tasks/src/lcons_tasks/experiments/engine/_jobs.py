"""Independent pieces of work on several cores, with progress from all of them.

Each piece receives a function `tell` and calls `tell(share, what)` to report its progress. With one job,
everything runs in this process. Results are in the order of the pieces.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    from multiprocessing import Manager

    with Manager() as manager:
        events: Any = manager.Queue()
        listener = threading.Thread(target=_listen, args=(events, report), daemon=True)
        listener.start()
        try:
            calls = (delayed(_call)(work, i, piece, events) for i, piece in enumerate(pieces))
            return list(Parallel(n_jobs=workers, batch_size=1, pre_dispatch=workers)(calls))
        finally:
            events.put(None)
            listener.join(timeout=5)


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


def _call(work: Callable[[Any, Tell], Any], index: int, piece: Any, events: Any) -> Any:
    result = work(piece, lambda share, what: events.put(Event(index, share, what)))
    events.put(Event(index, 1.0, "done"))
    return result


def _listen(events: Any, report: Callable[[Event], None]) -> None:
    while (event := events.get()) is not None:
        report(event)
