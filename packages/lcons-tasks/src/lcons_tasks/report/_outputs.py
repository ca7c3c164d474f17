"""The folder that a run leaves behind: files that are whole, and results.json as the sign that all are there.

results.json holds no times: the same run gives the same bytes. It is removed first and written last.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lcons_core._errors import LconsError
from lcons_core.storage import versions
from lcons_tasks.atomic import write_text
from lcons_tasks.experiments.engine._kept import library_versions

RESULTS, REPORT = "results.json", "report.md"
FORMAT = 1


@contextmanager
def run_folder(folder: Path, stale: Sequence[str] = ()) -> Iterator[Path]:
    """The folder to write into, without its old results and what else is `stale`; one sentence where it
    cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in (RESULTS, *stale):
            (folder / old).unlink(missing_ok=True)
        yield folder
    except OSError as error:
        if isinstance(error, LconsError):
            raise
        raise LconsError(
            f"cannot write into {str(folder)!r}: {error.strerror or error}; name another folder with --out."
        ) from None


def write_results(
    folder: Path, report: str, task: str, results: Mapping[str, Any], pictures: Mapping[str, str | None]
) -> None:
    """Writes the report, pictures by file name, and results.json last."""
    write_text(folder / REPORT, report)
    for name, picture in pictures.items():
        if picture is not None:
            write_text(folder / name, picture)
    made_with = {**versions(["lcons-decode", "lcons-tasks"]), **library_versions()}
    whole = {"format": FORMAT, "task": task, **results, "versions": made_with}
    write_text(folder / RESULTS, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
