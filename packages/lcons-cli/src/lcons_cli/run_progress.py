"""Options and progress on stderr that the commands of all experiments share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import say_on_stderr
from lcons_cli.options import common_options
from lcons_cli.progress import about

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._jobs import Event


def run_options(task: str) -> list[click.Parameter]:
    """The options that every task has."""

    @click.command()
    @click.option("--full", is_flag=True, help="Run the whole table and additional rows.")
    @click.option("--jobs", type=click.IntRange(min=1), help="Number of processes; default: all cores.")
    @click.option(
        "--out",
        type=click.Path(path_type=Path),
        default=Path("runs") / task,
        show_default=True,
        help="Folder to write to.",
    )
    @common_options(
        "Print what each piece of work does and how long it takes.",
        json="Print results.json instead of the summary.",
        seed="own",
    )
    def command() -> None:
        """Only the options of this command are used."""

    return command.params


def check_writable(out: Path) -> None:
    """Raises `LconsError` before any work if the folder cannot be made or written to."""
    from lcons_core import LconsError

    there = next(path for path in (out.resolve(), *out.resolve().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise LconsError(
            f"expected a folder to write to, found {str(there)!r}, which is not a folder or not writable;"
            " name another folder with --out."
        )


def foretell(seconds: float, jobs: int | None, quiet: bool) -> None:
    """Prints the estimated time of a run before it begins."""
    if quiet:
        return
    from joblib import effective_n_jobs

    processes = effective_n_jobs(jobs or -1)
    by = f"{processes} processes" if processes > 1 else "one process"
    say_on_stderr(f"{about(seconds / processes)} with {by}; finished stages of earlier runs are reused")


@contextmanager
def phases(quiet: bool, verbose: bool = False) -> Iterator[Callable[[str, Sequence[str], Event], None]]:
    """Progress bars on stderr: one per phase, and one per running piece; lines if stderr is not a terminal.

    `verbose`: also prints one line per step of a piece, with its time.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"))
    bars = Progress(*columns, TimeElapsedColumn(), console=console, disable=quiet or not console.is_terminal)
    shown: dict[str, Any] = {}
    done: dict[str, dict[int, float]] = {}
    began: dict[str, float] = {}
    doing: dict[str, str] = {}

    def tell_more(name: str, what: str) -> None:
        began.setdefault(name, time.perf_counter())
        if doing.get(name) != what:
            doing[name] = what
            seconds = time.perf_counter() - began[name]
            console.print(f"lcons: {name}: {what} after {seconds:.1f} s", markup=False, highlight=False)

    def progress(phase: str, names: Sequence[str], event: Event) -> None:
        shares = done.setdefault(phase, {})
        finished = event.share >= 1 and event.what == "done"
        shares[event.index] = max(event.share, shares.get(event.index, 0.0))
        if phase not in shown:
            shown[phase] = bars.add_task(phase, total=len(names))
        bars.update(shown[phase], completed=sum(shares.values()))
        key = f"{phase} {event.index}"
        if verbose:
            tell_more(f"{phase}: {names[event.index]}", event.what)
        if finished:
            if key in shown:
                bars.remove_task(shown.pop(key))
            if not quiet and not console.is_terminal:
                count = sum(share >= 1 for share in shares.values())
                click.echo(f"lcons: {phase}: {count} of {len(names)}: {names[event.index]}", err=True)
            return
        if key not in shown:
            shown[key] = bars.add_task(f"  {names[event.index]}", total=1.0)
        bars.update(shown[key], completed=event.share, description=f"  {names[event.index]}: {event.what}")

    with bars:
        yield progress
