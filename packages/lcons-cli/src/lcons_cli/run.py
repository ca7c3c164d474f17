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

from lcons_cli.console import say_on_stderr
from lcons_cli.run_progress import check_writable, foretell, phases, run_options
from lcons_cli.threads import use_one_thread


class Tasks(click.Group):
    """One command per experiment, made on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from lcons_tasks.experiments import EXPERIMENTS

        return list(EXPERIMENTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from lcons_tasks.experiments import EXPERIMENTS

        entry = EXPERIMENTS.get(cmd_name)
        return None if entry is None else LazyCommand(cmd_name, entry)


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
        use_one_thread()
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
        run(self.experiment, **given)


commands = Tasks()


def parameters(options: type) -> Iterator[click.Option]:
    """One option per field that has a flag."""
    hints = get_type_hints(options)
    for field in fields(options):
        flag = field.metadata.get("flag")
        if flag is None:
            continue
        kind, several = _kind(hints[field.name])
        extra: dict[str, Any] = {"type": kind if flag.least is None else click.IntRange(min=flag.least)}
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


def run(
    experiment: Any,
    full: bool,
    jobs: int | None,
    out: Path,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **given: Any,
) -> None:
    """Runs an experiment, writes its results, and prints a summary."""
    from lcons_tasks.experiments.engine._kept import Stages
    from lcons_tasks.experiments.engine._run import PAGE, REPORT, RESULTS, run, write_run
    from lcons_tasks.report import to_terminal

    options = experiment.options.chosen(values(experiment.options, given), full)
    check_writable(out)
    kept = Stages.of_user()
    foretell(experiment.seconds(options), jobs, quiet)
    with phases(quiet, verbose) as progress:
        record = run(experiment, options, kept, jobs, progress)
        document = write_run(out, experiment, options, record, kept)
    if as_json:
        click.echo((out / RESULTS).read_text(encoding="utf-8"), nl=False)
    else:
        click.echo(to_terminal(document))
        click.echo(f"Full report: {out / PAGE}")
        click.echo(f"Next, with your own data: {document.next_command}")
    if not quiet:
        say_on_stderr(f"written to {out}: {', '.join([PAGE, REPORT, RESULTS, *experiment.leaves])}")
