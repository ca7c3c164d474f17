"""Which part of a run is shown: the first sets of constraints and files of predictions, those of the first
cells first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lcons_tasks.report._figures import View
from lcons_tasks.report._run import ConstraintSet, Run

# As many names are listed one by one.
LISTED = 6


@dataclass(frozen=True)
class Limits:
    """How much of each run is shown: sets of constraints, files of predictions as many, and sentences."""

    sets: int = 2
    sentences: int = 200


def shown_sets(run: Run, view: View, limits: Limits) -> list[ConstraintSet]:
    """The sets of constraints that are shown."""
    ordered = sorted(run.sets, key=lambda one: _rank(_cell(one), view.cells))
    return ordered[: limits.sets]


def shown_files(run: Run, view: View, limits: Limits) -> list[Path]:
    """The files of predictions whose sentences are shown."""
    return sorted(run.predictions, key=lambda path: _rank(path.stem, view.cells))[: limits.sets]


def gold_file(run: Run, one: ConstraintSet) -> Path | None:
    """The predictions of the cell that a set belongs to, else what tells a file by itself the gold labels."""
    return next(
        (path for path in run.predictions if _is_of(path.stem, _cell(one))), next(iter(run.gold), None)
    )


def parts_in_words(run: Run, view: View, limits: Limits) -> list[str]:
    """Which sets of constraints and files of predictions are shown, and which `--sets` leaves out."""
    sets = [one.name for one in run.sets], [one.name for one in shown_sets(run, view, limits)]
    files = [path.stem for path in run.predictions], [path.stem for path in shown_files(run, view, limits)]
    lines = []
    for what, (found, shown) in (("sets of constraints", sets), ("files of predictions", files)):
        if found:
            rest = [name for name in found if name not in shown]
            lines.append(
                f"{len(shown):,} of {len(found):,} {what} shown"
                + (f": {_listed(shown)}" if shown else "")
                + (f"; left out by --sets: {_listed(rest)}" if rest else "")
            )
    return lines or ["no constraints and no predictions"]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _cell(one: ConstraintSet) -> str:
    return one.name.split("/")[0]


def _rank(name: str, cells: Sequence[str]) -> int:
    """The place of a file or folder among cells, by the cell that its name ends with."""
    return next((i for i, cell in enumerate(cells) if _is_of(name, cell)), len(cells))


def _is_of(name: str, cell: str) -> bool:
    return name == cell or name.endswith(f"-{cell}")
