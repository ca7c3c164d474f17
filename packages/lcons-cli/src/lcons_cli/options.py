"""The options that every command has: `--json`, `--seed`, `-q` and `-v`; errors of the library in options.

Only click is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

import click
from click.shell_completion import CompletionItem


class FileName(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5 only
    """The name of a file or folder, which a shell completes; the command checks whether it exists."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


FILE = FileName()

_SEEDS = {
    "drawn": click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Seed of the random numbers.",
    ),
    "unused": click.option(
        "--seed",
        type=click.IntRange(min=0),
        expose_value=False,
        help="Every command accepts it; this one uses no random numbers.",
    ),
}


def common_options(
    more: str, json: str | None = "Print JSON.", seed: Literal["drawn", "unused", "own"] = "drawn"
) -> Callable[[Any], Any]:
    """A decorator that adds the parameters `as_json`, `seed`, `quiet` and `verbose` to a command.

    more: the help of `--verbose`.
    json: the help of `--json`; None: the command has its own option `--json`.
    seed: `own`: the command has its own option `--seed`; `unused`: the option is accepted, but not passed to
        the command, so that a script can use the same options with all commands.
    """
    options = [
        *([] if json is None else [click.option("--json", "as_json", is_flag=True, help=json)]),
        *([] if seed == "own" else [_SEEDS[seed]]),
        click.option("-q", "--quiet", is_flag=True, help="Print only warnings and errors on stderr."),
        click.option("-v", "--verbose", is_flag=True, help=more),
    ]

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


# How a library names one of its arguments: with a value, `tabs=True` or `jobs=1`, or `labels=` for any value;
# or alone, as in "lower the argument `min_support`".
_ARGUMENT = re.compile(r"`(\w+)=([^`]*)`|(?:the )?argument `(\w+)`")
# Arguments whose option has another name in some commands.
_OTHER_NAMES = {"column": "--context", "form": "--format", "held_out": "--dev", "n": "-n"}


def in_options(text: str, command: click.Command, ctx: click.Context) -> str:
    """The text of a library's error, with its arguments replaced by the options of a command.

    An argument stays unchanged if the command has no such option, and so does the word JSON if it has no
    `--json`.

    >>> tabs, file = click.Option(["--tabs"], is_flag=True), click.Option(["--labels"], metavar="FILE")
    >>> command = click.Command("decode", params=[tabs, file])
    >>> in_options("pass `tabs=True`, `labels=` or `width=3`.", command, click.Context(command))
    'pass --tabs, --labels FILE or `width=3`.'
    >>> in_options("change the argument `labels` or the argument `width`.", command, click.Context(command))
    'change --labels or the argument `width`.'
    """
    options = dict(_options(command, ctx))

    def option(argument: re.Match[str]) -> str:
        own = argument[1] or argument[3]
        names = (f"--{own.replace('_', '-')}", _OTHER_NAMES.get(own))
        name = next((name for name in names if name in options), None)
        if name is None:
            return argument[0]
        if argument[3] or options[name].is_flag:
            return name
        value = argument[2].strip("'\"") or options[name].metavar or "VALUE"
        return f"{name} {value}"

    said = _ARGUMENT.sub(option, text)
    return said.replace("write JSON", "write --json") if "--json" in options else said


def _options(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, click.Option]]:
    """The options of a command by name; of a group, those of all its commands."""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from ((name, parameter) for name in parameter.opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            if inner is not None:
                yield from _options(inner, ctx)


def folder_options(command: Any) -> Any:
    """Adds the options of a folder: `--out`, `--engine` and `--jobs`."""
    engine = "What works on a folder; ray and dask use the cluster that they are set up for."
    out = "Where the outputs of a folder go. With the engine local, finished files are not done again."
    command = click.option("--jobs", type=click.IntRange(min=1), help="Processes of the engine local.")(
        command
    )
    engines = click.Choice(["local", "ray", "dask"])
    command = click.option("--engine", type=engines, default="local", show_default=True, help=engine)(command)
    return click.option("-o", "--out", type=FILE, metavar="FOLDER", help=out)(command)
