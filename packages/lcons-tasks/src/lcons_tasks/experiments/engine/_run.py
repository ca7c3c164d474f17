"""An experiment: its options, its cells, how a cell is filled on several cores, and the folder of a run.

    options -> cells -> fill, on several cores -> Record -> Document -> report.md, report.html, results.json

The fields of its options become the options of `lcons run NAME`, stages are kept by content (`_kept.py`), and
the document is a template (`_blocks.py`).

The processes are joblib's, or those of a backend that is set with `joblib.parallel_config`, such as Dask or
Ray. results.json is removed first and written last, so a folder with results.json is complete. It contains no
times: equal runs write equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from lcons_core import LconsError
from lcons_tasks.atomic import write_text
from lcons_tasks.data import find
from lcons_tasks.experiments.engine._kept import Stages, library_versions, writable
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.report import to_html, to_markdown
from lcons_tasks.report._document import Claims, Document, Gains, write_document

O = TypeVar("O", bound="RunOptions")  # noqa: E741
C = TypeVar("C")


@dataclass(frozen=True)
class Flag:
    """The option of the command that sets a field: its names, help, default (which the help shows), and the
    least and the largest value, or the choices."""

    names: tuple[str, ...]
    help: str
    default: Any = None
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()


def option(value: Any, name: str, help: str, *more: str, **rest: Any) -> Any:
    """A field of options, and the flag that sets it."""
    return field(default=value, metadata={"flag": Flag((name, *more), help, **rest)})


@dataclass(frozen=True)
class RunOptions:
    """The options of a run. A field that `option` makes is an option of the command, too."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, tuple):
                # A repeated cell would make the spread look smaller than it is.
                object.__setattr__(self, one.name, tuple(dict.fromkeys(value)))

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Self:
        """The options of a quick run, or with `full` of the paper's whole table, on a corpus."""
        return cls()

    @classmethod
    def chosen(cls, given: Mapping[str, Any], full: bool = False) -> Self:
        """The options of `start`, with the given values in their place."""
        start = cls.start(full, given.get("corpus", "auto"))
        return replace(start, **{name: value for name, value in given.items() if name != "corpus"})


def corpus_named(name: str, papers: str) -> str:
    """The name of a corpus; `auto` is the paper's corpus if it is found, otherwise the bundled one."""
    return (papers if find(papers) else "bundled") if name == "auto" else name


class Experiment(Protocol[O, C]):
    """An experiment; a subclass may leave out the members that have a default here.

    `leaves` are the folders that `leave` writes. The docstring of the class is the help of the command.
    """

    name: str
    options: type[O]
    leaves: tuple[str, ...] = ()

    def cells(self, options: O) -> Sequence[C]:
        """The cells to fill; `str(cell)` is a readable name."""

    def fill(self, cell: C, kept: Stages) -> Record:
        """The results of a cell."""

    def document(self, options: O, record: Record) -> Document:
        """The document of a run."""

    def shared(self, options: O, kept: Stages) -> Sequence[tuple[str, Callable[[], object]]]:
        """Work that several cells need, each piece with a readable name, the longest first."""
        return ()

    def cost(self, cell: C) -> float:
        """A rough estimate of the processor seconds that a cell takes without kept stages; the cell with the
        highest cost is filled first."""
        return 0.0

    def leave(self, folder: Path, options: O, record: Record, kept: Stages) -> None:
        """Writes the files of a run other than its report."""


FORMAT = 2
REPORT, PAGE, RESULTS = "report.md", "report.html", "results.json"

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

    returns_early = get_active_backend()[0].supports_return_generator
    parallel = Parallel(
        max(1, min(effective_n_jobs(jobs or -1), len(work))),
        batch_size=1,
        pre_dispatch="n_jobs",
        return_as="generator" if returns_early else "list",
    )
    results: list[Any] = []
    try:
        for result in parallel(delayed(make)() for _, make in work):
            if progress is not None:
                progress(phase, len(results) + 1, len(work), work[len(results)][0])
            results.append(result)
    except BrokenExecutor:
        raise LconsError(
            "a process ended early, perhaps for lack of memory; use fewer jobs, and run the same command"
            " again: finished stages are kept."
        ) from None
    return results


def write_run(
    folder: Path, experiment: Experiment[O, C], options: O, record: Record, kept: Stages
) -> Document:
    """Writes all files of a run into `folder`, results.json last, and returns the document."""
    document = experiment.document(options, record)
    blocks = [block for section in document.sections for block in section.blocks]
    with writable(folder, "choose another folder"):
        (folder / RESULTS).unlink(missing_ok=True)
        experiment.leave(folder, options, record, kept)
        record.save_counts(folder)
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
