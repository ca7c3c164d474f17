"""Options and progress on stderr that the commands of all experiments share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from lcons_cli.console import say_on_stderr
from lcons_cli.options import common_options
from lcons_cli.progress import about


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
def phases(quiet: bool, verbose: bool = False) -> Iterator[Callable[[str, int, int, str], None]]:
    """A progress bar on stderr; lines if stderr is not a terminal, or with `verbose`."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"))
    bars = Progress(*columns, TimeElapsedColumn(), console=console, disable=quiet or not console.is_terminal)
    tasks: dict[str, Any] = {}

    def progress(phase: str, done: int, total: int, piece: str) -> None:
        if phase not in tasks:
            tasks[phase] = bars.add_task(phase, total=total)
        bars.update(tasks[phase], completed=done)
        if not quiet and (verbose or not console.is_terminal):
            click.echo(f"lcons: {phase}: {done} of {total}: {piece}", err=True)

    with bars:
        yield progress
