"""Progress of long work on stderr: shown after two seconds, with an estimate of the remaining time.

Only the standard library is imported here; rich is imported when there is something to show.
"""

from __future__ import annotations

import _thread
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from lcons_cli.console import Say, say_nothing

if TYPE_CHECKING:
    from lcons_core._types import OnProgress

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
def waiting(what: str, say: Say) -> Iterator[OnProgress]:
    """A function of `(done, total)` that shows a bar on a terminal, else one line, after two seconds."""
    start = time.perf_counter()
    shown: list[Any] = []

    def progress(done: int, total: int) -> None:
        seconds = time.perf_counter() - start
        if say is say_nothing or (not shown and (seconds < PATIENCE or done >= total)):
            return
        if not shown:
            left = seconds * (total - done) / max(done, 1)
            shown.append(_bar(what, total))
            if shown[0] is None:
                say(f"{what}: {done / total:.0%} done, {about(left)} to go")
        if shown[0] is not None:
            bar, task = shown[0]
            bar.update(task, completed=done)

    try:
        yield progress
    finally:
        if shown and shown[0] is not None:
            shown[0][0].stop()


@contextmanager
def signs_of_life(now: Callable[[], str], say: Say) -> Iterator[None]:
    """Prints `now()`, the progress of the block, to stderr after two seconds, and again each time the elapsed
    time has doubled. If stderr is a terminal and stdout is not, a line on the terminal is always up to date.

    A thread calls `now`, so that progress is printed even during one long step. Without memory for a thread
    there is no progress; `Thread.start` would wait for ever for a thread that cannot begin.
    """
    if say is say_nothing:
        yield
        return
    began, done, ended = (threading.Event() for _ in range(3))

    def tell() -> None:
        began.set()
        try:
            _tell(now, say, done)
        finally:
            ended.set()

    with suppress(RuntimeError, MemoryError):
        _thread.start_new_thread(tell, ())
    try:
        yield
    finally:
        done.set()
        if began.is_set():
            ended.wait()


def _tell(now: Callable[[], str], say: Say, done: threading.Event) -> None:
    began = time.monotonic()
    if done.wait(PATIENCE):
        return
    try:
        if sys.stderr.isatty() and not (sys.stdout is not None and sys.stdout.isatty()):
            _show(now, done)
            return
        say(now())
        while not done.wait(max(PATIENCE, time.monotonic() - began)):
            say(now())
    except OSError:
        # stderr has no reader; the work goes on without it.
        return


def _show(now: Callable[[], str], done: threading.Event) -> None:
    """Shows a line that changes until the work is done, and then removes it."""
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(now())) as status:
        while not done.wait(0.1):
            status.update(Text(now()))


@contextmanager
def working(what: str, say: Say) -> Iterator[None]:
    """Shows `what` with a spinner on stderr if that is a terminal; removes it when the block ends."""
    if say is say_nothing:
        yield
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def _bar(what: str, total: int) -> Any:
    """A started progress bar and its task; None if stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    if not console.is_terminal:
        return None
    bars = Bars(console=console, transient=True)
    task = bars.add_task(what, total=total)
    bars.start()
    return bars, task
