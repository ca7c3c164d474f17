"""A run of an experiment on several cores, and the folder that it writes.

The processes are joblib's, or those of a backend that is set with `joblib.parallel_config`, such as Dask or
Ray. The curves of a report are also files of their own: curve.svg, curve-2.svg, and so on. results.json is
removed first and written last, so a folder with results.json is complete. It contains no times: equal runs
write equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from lcons_core import LconsError
from lcons_tasks.atomic import write_text
from lcons_tasks.experiments.engine._experiment import C, Experiment, O
from lcons_tasks.experiments.engine._kept import Stages, library_versions
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.report import to_html, to_markdown
from lcons_tasks.report._chart import to_svg
from lcons_tasks.report._document import Claims, Curve, Document, Gains
from lcons_tasks.report._storage import write_document

FORMAT = 2
REPORT, PAGE, RESULTS, CURVES = "report.md", "report.html", "results.json", "curve*.svg"

# A readable name, and what does the work.
Work = tuple[str, Callable[[], Any]]
# It is called with the phase, the number of pieces that are done, that of all, and the name of a piece.
Progress = Callable[[str, int, int, str], None]


def run(
    experiment: Experiment[O, C],
    options: O,
    kept: Stages,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Record:
    """The record of all cells, in order; first the work that several cells share is done."""
    in_parallel("training and learning", experiment.shared(options, kept), jobs, progress)
    cells = experiment.cells(options)
    order = sorted(range(len(cells)), key=lambda i: -experiment.cost(cells[i]))
    work = [(str(cells[i]), partial(experiment.fill, cells[i], kept)) for i in order]
    records = dict(zip(order, in_parallel("filling cells", work, jobs, progress), strict=True))
    return Record.joined(records[i] for i in range(len(cells)))


def in_parallel(
    phase: str, work: Sequence[Work], jobs: int | None = None, progress: Progress | None = None
) -> list[Any]:
    """The results of pieces of work in their order, with at most `jobs` processes (default: all cores)."""
    from joblib import Parallel, delayed, effective_n_jobs
    from joblib.parallel import get_active_backend

    results: dict[int, Any] = {}
    as_they_come = get_active_backend()[0].supports_return_generator
    parallel = Parallel(
        max(1, min(effective_n_jobs(jobs or -1), len(work))),
        batch_size=1,
        pre_dispatch="n_jobs",
        return_as="generator_unordered" if as_they_come else "list",
    )
    try:
        for i, result in parallel(delayed(_numbered)(i, make) for i, (_, make) in enumerate(work)):
            results[i] = result
            if progress is not None:
                progress(phase, len(results), len(work), work[i][0])
    except BrokenExecutor:
        raise LconsError(
            "a process ended early, perhaps for lack of memory; use fewer jobs, and run the same command"
            " again: finished stages are kept."
        ) from None
    return [results[i] for i in range(len(work))]


def _numbered(i: int, make: Callable[[], Any]) -> tuple[int, Any]:
    return i, make()


def write_run(
    folder: Path, experiment: Experiment[O, C], options: O, record: Record, kept: Stages
) -> Document:
    """Writes all files of a run into `folder`, results.json last, and returns the document."""
    document = experiment.document(options, record)
    blocks = [block for section in document.sections for block in section.blocks]
    with _writable(folder):
        for old in (folder / RESULTS, *folder.glob(CURVES)):
            old.unlink(missing_ok=True)
        experiment.leave(folder, options, record, kept)
        record.save_counts(folder)
        curves = [block for block in blocks if isinstance(block, Curve)]
        for number, curve in enumerate(curves, 1):
            name = CURVES.replace("*", f"-{number}" if number > 1 else "")
            write_text(folder / name, to_svg(curve, alone=True))
        write_document(folder, document)
        write_text(folder / REPORT, to_markdown(document))
        write_text(folder / PAGE, to_html(document, folder))
        results = {
            "format": FORMAT,
            "task": experiment.name,
            "options": asdict(options),
            **record.to_dict(),
            "gains": [
                {"measure": block.caption, **asdict(gain)}
                for block in blocks
                if isinstance(block, Gains)
                for gain in block.gains
            ],
            "claims": [asdict(c) for block in blocks if isinstance(block, Claims) for c in block.claims],
            "versions": library_versions(),
        }
        write_text(folder / RESULTS, json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return document


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        if isinstance(error, LconsError):
            raise
        raise LconsError(
            f"cannot write into {str(folder)!r}: {error.strerror or error}; choose another folder."
        ) from None
