"""A run of an experiment on several cores, and the folder that it writes.

The curves of its report are also files of their own: curve.svg, curve-2.svg, and so on.
results.json is removed first and written last, so a folder with results.json is complete. It contains no
times: equal runs write equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

from lcons_core import LconsError
from lcons_tasks.atomic import write_text
from lcons_tasks.experiments.engine._experiment import C, Experiment, O
from lcons_tasks.experiments.engine._jobs import OnEvent, Piece, Tell, run_phase
from lcons_tasks.experiments.engine._kept import Stages, library_versions
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.report import to_html, to_markdown, to_svg, write_document
from lcons_tasks.report._document import Claims, Curve, Document, Gains

FORMAT = 2
REPORT, PAGE, RESULTS, CURVES = "report.md", "report.html", "results.json", "curve*.svg"


def run(
    experiment: Experiment[O, C],
    options: O,
    kept: Stages,
    jobs: int | None = None,
    progress: OnEvent | None = None,
) -> Record:
    """The record of all cells, in order; `progress` is called with the phase, its pieces and an event."""
    cells = experiment.cells(options)
    for phase in experiment.before(options):
        names = [piece.name for piece in phase.pieces]
        run_phase(phase.name, partial(_make, kept=kept), phase.pieces, names, jobs, progress)
    order = sorted(range(len(cells)), key=lambda i: -experiment.cost(cells[i]))
    work = partial(_fill, experiment=experiment, kept=kept)
    names = [str(cells[i]) for i in order]
    found = run_phase(experiment.phase, work, [cells[i] for i in order], names, jobs, progress)
    place = dict(zip(order, found, strict=True))
    return Record.joined(place[i] for i in range(len(cells)))


def _make(piece: Piece, tell: Tell, kept: Stages) -> None:
    tell(0.0, piece.name)
    piece.make(kept, tell)


def _fill(cell: C, tell: Tell, experiment: Experiment[O, C], kept: Stages) -> Record:
    return experiment.fill(cell, kept, tell)


def write_run(
    folder: Path, experiment: Experiment[O, C], options: O, record: Record, kept: Stages
) -> Document:
    """Writes all files of a run into `folder`, results.json last, and returns the document."""
    document = experiment.document(options, record)
    with _writable(folder):
        for old in (folder / RESULTS, *folder.glob(CURVES)):
            old.unlink(missing_ok=True)
        experiment.leave(folder, options, record, kept)
        record.save_counts(folder)
        blocks = [block for section in document.sections for block in section.blocks]
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
