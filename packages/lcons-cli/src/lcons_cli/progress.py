"""Progress of long work on stderr: a bar on a terminal, else a line whenever the time has doubled.

Only the standard library is imported here; rich is imported where there is a terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lcons_cli.console import is_quiet, say

# How much is done, how much there is (None: unknown), and the present step in words.
Report = Callable[..., None]

# Seconds of work without a word.
PATIENCE = 2.0


def about(seconds: float) -> str:
    """A duration in words.

    >>> about(0.4), about(42.3), about(200)
    ('less than a second', 'about 42 s', 'about 3 min')
    """
    if seconds < 1:
        return "less than a second"
    return f"about {seconds:.0f} s" if seconds < 100 else f"about {seconds / 60:.0f} min"


@contextmanager
def progress(what: str) -> Iterator[Report]:
    """A function of (done, total, the present step) that shows how far the block is."""
    start, due = time.monotonic(), PATIENCE

    def lines(done: float, total: float | None = None, step: str = what) -> None:
        nonlocal due
        seconds = time.monotonic() - start
        if seconds >= due:
            due = 2 * seconds
            rest = f" of {total:,}, {about(seconds * (total - done) / done)} to go" if total and done else ""
            say(f"{step}: {done:,}{rest}")

    if is_quiet() or sys.stderr is None or not sys.stderr.isatty():
        yield lines
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)

        def bar(done: float, total: float | None = None, step: str = what) -> None:
            shown.update(task, completed=done, total=total, description=step)

        yield bar
