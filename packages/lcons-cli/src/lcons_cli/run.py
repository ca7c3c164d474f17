"""`lcons run TASK`: one command per experiment, with the options of the experiment.

It prints progress to stderr, and at the end a short summary to stdout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import click

from lcons_cli.console import say
from lcons_cli.options import COUNT, FOLDER
from lcons_cli.progress import about, progress


class Tasks(click.Group):
    """One command per experiment, made on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from lcons_tasks.experiments import EXPERIMENTS

        return list(EXPERIMENTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from lcons_tasks.experiments import EXPERIMENTS

        entry = EXPERIMENTS.get(cmd_name)
        return None if entry is None else LazyCommand(cmd_name, entry)


@click.group(cls=Tasks)
def run() -> None:
    """Run an experiment of the paper.

    \b
    Example:
      lcons run chunking
    """


class LazyCommand(click.Command):
    """The command of an experiment; the experiment is imported for its options and help, not for its name."""

    def __init__(self, name: str, entry: Any) -> None:
        self.entry = entry
        super().__init__(name, callback=self.run, short_help=entry.about)
        # The cached property below makes them on demand.
        del self.params

    @cached_property
    def experiment(self) -> Any:
        """The experiment."""
        return self.entry.load()

    @cached_property
    def params(self) -> list[click.Parameter]:  # type: ignore[override]
        """The options of the experiment, and those that every task has."""
        return [*parameters(self.experiment.options), *run_options(self.experiment.name)]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.help = self.experiment.__doc__
        super().format_help_text(ctx, formatter)

    def run(self, **given: Any) -> None:
        """Runs the experiment with the given options."""
        run_experiment(self.experiment, **given)


def run_options(task: str) -> list[click.Option]:
    """The options that every task has."""
    return [
        click.Option(["--full"], is_flag=True, help="Run the whole table and additional rows."),
        click.Option(["--jobs"], type=COUNT, help="Number of processes; default: all cores."),
        click.Option(["--out"], type=FOLDER, default=f"runs/{task}", help="Folder to write to."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."),
    ]


def parameters(options: type) -> Iterator[click.Option]:
    """One option per field that has a flag."""
    hints = get_type_hints(options)
    for field in fields(options):
        flag = field.metadata.get("flag")
        if flag is None:
            continue
        kind, several = _kind(hints[field.name])
        extra: dict[str, Any] = {"type": kind}
        if flag.choices:
            extra = {"type": click.Choice(flag.choices)}
        elif flag.least is not None:
            bounded = click.IntRange if kind is int else click.FloatRange
            extra = {"type": bounded(flag.least, flag.most)}
        if flag.default is not None:
            extra |= {"default": flag.default, "show_default": True}
        yield click.Option([*flag.names, field.name], multiple=several, help=flag.help, **extra)


def _kind(hint: Any) -> tuple[type, bool]:
    """The type of a value, and whether several values are allowed.

    >>> _kind(tuple[int, ...]), _kind(str)
    ((<class 'int'>, True), (<class 'str'>, False))
    """
    return (get_args(hint)[0], True) if get_origin(hint) is tuple else (hint, False)


def values(options: type, given: dict[str, Any]) -> dict[str, Any]:
    """The values of the fields whose flags were given."""
    names = {field.name for field in fields(options)}
    return {name: value for name, value in given.items() if name in names and value not in (None, ())}


def run_experiment(
    experiment: Any, full: bool, jobs: int | None, out: str, as_json: bool, **given: Any
) -> None:
    """Runs an experiment, writes its results, and prints a summary."""
    from joblib import effective_n_jobs

    from lcons_cli.folders import locked
    from lcons_tasks.experiments.engine._kept import Stages
    from lcons_tasks.experiments.engine._run import PAGE, REPORT, RESULTS, run, write_run
    from lcons_tasks.report import to_terminal

    options = experiment.options.chosen(values(experiment.options, given), full)
    folder = Path(out)
    kept = Stages.of_user()
    processes = effective_n_jobs(jobs or -1)
    seconds = about(sum(map(experiment.cost, experiment.cells(options))) / processes)
    with locked(folder, RESULTS, (PAGE, REPORT)):
        say(f"{seconds} with {processes} processes; finished stages of earlier runs are reused")
        with progress(f"running {experiment.name}") as report:
            # A step is the name of a phase and of a piece of its work.
            record = run(experiment, options, kept, jobs, lambda *at: report(*at[1:3], f"{at[0]}: {at[3]}"))
            document = write_run(folder, experiment, options, record, kept)
    if as_json:
        click.echo((folder / RESULTS).read_text(encoding="utf-8"), nl=False)
    else:
        click.echo(to_terminal(document))
        click.echo(f"Full report: {folder / PAGE}")
        click.echo(f"Next, with your own data: {document.next_command}")
    say(f"written to {folder}: {', '.join([PAGE, REPORT, RESULTS, *experiment.leaves])}")
