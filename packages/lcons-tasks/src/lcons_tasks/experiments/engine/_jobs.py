"""Independent pieces of work on several cores, by joblib.

The processes are joblib's, or those of a backend that is set with `joblib.parallel_config`. With one job,
everything runs in this process, and each piece reports its progress by calling `tell(share, what)`; pieces of
other processes are reported when they are done. Results are in the order of the pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from lcons_core import LconsError

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._kept import Stages

P = TypeVar("P")
Result = TypeVar("Result")
Tell = Callable[[float, str], None]
DONE = "done"


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


def run_phase(
    phase: str,
    work: Callable[[P, Tell], Result],
    pieces: Sequence[P],
    names: Sequence[str],
    jobs: int | None = None,
    progress: OnEvent | None = None,
) -> list[Result]:
    """The results of `work(piece, tell)` for every piece, with at most `jobs` processes (default: all cores).

    `progress` is called with the phase, the names of its pieces and an event.
    """

    def report(index: int, share: float, what: str) -> None:
        if progress is not None:
            progress(phase, names, Event(index, share, what))

    results: dict[int, Result] = {}
    try:
        for index, result in _results(work, pieces, jobs, report):
            results[index] = result
            report(index, 1.0, DONE)
    except BrokenExecutor:
        raise LconsError(
            "a process ended early, perhaps for lack of memory; use fewer jobs, and run the same command"
            " again: finished stages are kept."
        ) from None
    return [results[index] for index in range(len(pieces))]


def _results(
    work: Callable[[P, Tell], Result],
    pieces: Sequence[P],
    jobs: int | None,
    report: Callable[[int, float, str], None],
) -> Iterator[tuple[int, Result]]:
    """The results by index, as they come."""
    from joblib import Parallel, delayed, effective_n_jobs
    from joblib.parallel import get_active_backend

    workers = min(effective_n_jobs(jobs or -1), len(pieces))
    if workers <= 1:
        for index, piece in enumerate(pieces):
            yield index, work(piece, lambda share, what, index=index: report(index, share, what))  # type: ignore[misc]
        return
    as_they_come = get_active_backend()[0].supports_return_generator
    order = "generator_unordered" if as_they_come else "list"
    calls = (delayed(_call)(work, index, piece) for index, piece in enumerate(pieces))
    yield from Parallel(workers, batch_size=1, pre_dispatch="n_jobs", return_as=order)(calls)


def _call(work: Callable[[Any, Tell], Any], index: int, piece: Any) -> tuple[int, Any]:
    return index, work(piece, silent)
