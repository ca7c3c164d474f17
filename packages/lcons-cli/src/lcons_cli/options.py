"""The options that every command has: `--json`, `--seed`, `-q` and `-v`.

Only click is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
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
