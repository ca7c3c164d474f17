"""`lcons run TASK`: one command per experiment, with the options of the experiment.

It prints progress to stderr, and at the end a short summary to stdout.
"""

import inspect
from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import click

from lcons_cli.console import say
from lcons_cli.options import COUNT, FOLDER
from lcons_cli.progress import about, progress


class Tasks(click.Group):
    """One command per experiment, which is imported when its command is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from lcons_tasks.experiments import EXPERIMENTS

        return list(EXPERIMENTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from lcons_tasks.experiments import EXPERIMENTS

        entry = EXPERIMENTS.get(cmd_name)
        return None if entry is None else command_of(entry.load())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from lcons_tasks.experiments import EXPERIMENTS

        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.about) for name, entry in EXPERIMENTS.items()])


@click.group(cls=Tasks)
def run() -> None:
    """Run an experiment of the paper.

    \b
    Example:
      lcons run chunking
    """


def command_of(experiment: Any) -> click.Command:
    """The command of an experiment, with its options and those that every task has."""
    params: list[click.Parameter] = [
        *parameters(experiment.options),
        click.Option(["--full"], is_flag=True, help="Run the whole table and additional rows."),
        click.Option(["--jobs"], type=COUNT, help="Number of processes; default: all cores."),
        click.Option(["--out"], type=FOLDER, default=f"runs/{experiment.name}", help="Folder to write to."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."),
    ]
    callback = partial(run_experiment, experiment)
    return click.Command(experiment.name, params=params, callback=callback, help=inspect.getdoc(experiment))


def parameters(options: type) -> Iterator[click.Option]:
    """One option per field that has a flag."""
    hints = get_type_hints(options)
    for field in fields(options):
        flag, hint = field.metadata.get("flag"), hints[field.name]
        if flag is None:
            continue
        several = get_origin(hint) is tuple
        kind = get_args(hint)[0] if several else hint
        if flag.choices:
            kind = click.Choice(flag.choices)
        elif flag.least is not None:
            kind = (click.IntRange if kind is int else click.FloatRange)(flag.least, flag.most)
        default = {} if flag.default is None else {"default": flag.default, "show_default": True}
        yield click.Option([*flag.names, field.name], type=kind, multiple=several, help=flag.help, **default)


def values(options: type, flags: dict[str, Any]) -> dict[str, Any]:
    """The values of the fields whose flags were given."""
    names = {field.name for field in fields(options)}
    return {name: value for name, value in flags.items() if name in names and value not in (None, ())}


def run_experiment(
    experiment: Any, full: bool, jobs: int | None, out: str, as_json: bool, **flags: Any
) -> None:
    """Runs an experiment, writes its results, and prints a summary."""
    from joblib import effective_n_jobs

    from lcons_cli.folders import locked
    from lcons_tasks.experiments.engine._kept import Stages
    from lcons_tasks.experiments.engine._run import PAGE, REPORT, RESULTS, run, write_run
    from lcons_tasks.report import to_terminal

    options = experiment.options.chosen(values(experiment.options, flags), full)
    folder = Path(out)
    stages = Stages.of_user()
    processes = effective_n_jobs(jobs or -1)
    seconds = about(sum(map(experiment.cost, experiment.cells(options))) / processes)
    with locked(folder, RESULTS, (PAGE, REPORT)):
        say(f"{seconds} with {processes} processes; finished stages of earlier runs are reused")
        with progress(f"running {experiment.name}") as report:
            # A step is the name of a phase and of a piece of its work.
            record = run(experiment, options, stages, jobs, lambda *at: report(*at[1:3], f"{at[0]}: {at[3]}"))
            document = write_run(folder, experiment, options, record, stages)
    if as_json:
        click.echo((folder / RESULTS).read_text(encoding="utf-8"), nl=False)
    else:
        click.echo(to_terminal(document))
        click.echo(f"Full report: {folder / PAGE}")
        click.echo(f"Next, with your own data: {document.next_command}")
    say(f"written to {folder}: {', '.join([PAGE, REPORT, RESULTS, *experiment.leaves])}")
