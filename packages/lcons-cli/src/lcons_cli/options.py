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
    """A file or folder that a shell completes; whether it is there is for the command to see."""

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
        help="Start of the random numbers.",
    ),
    "unused": click.option(
        "--seed",
        type=click.IntRange(min=0),
        expose_value=False,
        help="Every command takes it; nothing is drawn at random here.",
    ),
}


def shared(
    more: str, json: str | None = "Print JSON.", seed: Literal["drawn", "unused", "own"] = "drawn"
) -> Callable[[Any], Any]:
    """Adds `as_json`, `seed`, `quiet` and `verbose` to a command; `more` is what the last one does.

    Without `json`, or with an `own` seed, the command has an option of that name itself. An `unused` seed is
    taken and not handed on, so that a script can give all commands the same options.
    """
    options = [
        *([] if json is None else [click.option("--json", "as_json", is_flag=True, help=json)]),
        *([] if seed == "own" else [_SEEDS[seed]]),
        click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but warnings and errors."),
        click.option("-v", "--verbose", is_flag=True, help=more),
    ]

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


# How a library quotes one of its arguments: `tabs=True`, `jobs=1`, or `labels=` for whatever value.
_ARGUMENT = re.compile(r"`(\w+)=([^`]*)`")


def in_options(text: str, command: click.Command, ctx: click.Context) -> str:
    """What a library says of its arguments, in the options of a command; arguments that the command has no
    option for stay as they are, and so does the word JSON where it writes none.

    >>> tabs, file = click.Option(["--tabs"], is_flag=True), click.Option(["--labels"], metavar="FILE")
    >>> command = click.Command("decode", params=[tabs, file])
    >>> in_options("pass `tabs=True`, `labels=` or `width=3`.", command, click.Context(command))
    'pass --tabs, --labels FILE or `width=3`.'
    """
    options = dict(_options(command, ctx))

    def option(argument: re.Match[str]) -> str:
        name = f"--{argument[1].replace('_', '-')}"
        if name not in options:
            return argument[0]
        if options[name].is_flag:
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
