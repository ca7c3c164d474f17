"""The view of a run, by its task; a task that is not known is shown as its report.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lcons_core._errors import InvalidInput
from lcons_tasks.report import _of_chunking as of_chunking
from lcons_tasks.report import _of_citation as of_citation
from lcons_tasks.report import _of_decode as of_decode
from lcons_tasks.report import _of_er as of_er
from lcons_tasks.report import _of_synthetic as of_synthetic
from lcons_tasks.report._figures import View
from lcons_tasks.report._run import Run

VIEWS: dict[str, Callable[[Mapping[str, Any]], View]] = {
    "chunking": of_chunking.view,
    "citation": of_citation.view,
    "decode": of_decode.view,
    "er": of_er.view,
    "synthetic": of_synthetic.view,
}


def view_of(run: Run) -> View:
    """What a page shows of a run's results."""
    make = VIEWS.get(run.task)
    if make is None:
        return View(_titled(run), said=str(run.results.get("size", "")))
    try:
        return make(run.results)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration) as error:
        raise InvalidInput(
            f"expected the results of {run.task} in run {run.name!r}, found something else"
            f" ({type(error).__name__}: {str(error)[:80]}); run the task again."
        ) from None


def _titled(run: Run) -> str:
    """The first heading of its report, else the task's name."""
    heads = (line.removeprefix("# ") for line in run.report.splitlines() if line.startswith("# "))
    return next(heads, run.task.capitalize())
