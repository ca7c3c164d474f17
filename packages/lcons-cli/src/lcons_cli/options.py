"""The options that every command has: `--json`, `--seed`, `-q` and `-v`.

Only click is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
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


def shared(
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
