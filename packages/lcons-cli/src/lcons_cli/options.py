"""Types and options that commands share: names of files, `--json`, `--seed`, and options of folders.

Only click is imported here.
"""

from __future__ import annotations

import errno
import os
import re
from typing import Any

import click


class InputPath(click.Path):
    """The name of an existing file or folder; not of a pipe or a device, which cannot be read twice."""

    def __init__(self) -> None:
        super().__init__(exists=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if not (os.path.isfile(path) or os.path.isdir(path)):
            self.fail(f"{path!r} is neither a file nor a folder.", param, ctx)
        return path


class OutputPath(click.Path):
    """The name of a file to write: in a folder that is there and can be written to."""

    def __init__(self, allow_dash: bool = False) -> None:
        super().__init__(dir_okay=False, writable=True, allow_dash=allow_dash)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if path == "-" and self.allow_dash:
            return path
        folder = os.path.dirname(os.path.realpath(path))
        try:
            os.stat(path)
        except OSError as error:
            if error.errno != errno.ENOENT or not os.access(folder, os.W_OK | os.X_OK):
                self.fail(f"cannot write {path!r:.80}: {error.strerror} or not writable.", param, ctx)
        return path


INPUT, OUTPUT = InputPath(), OutputPath()
# What is read once: `-` is stdin, and a pipe will do.
STREAM = click.Path(exists=True, allow_dash=True)
FOLDER = click.Path(file_okay=False, writable=True)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random numbers."
)


def check_output(output: str | None, *inputs: str | None) -> None:
    """Raises `UsageError` if the output would replace one of the inputs or another output."""
    paths = [os.path.realpath(path) for path in inputs if path is not None]
    if output is not None and os.path.realpath(output) in paths:
        raise click.UsageError(f"two arguments name the same file {output!r}: name another one to write.")


# How a library names one of its arguments, as in `tabs=True`.
_ARGUMENT = re.compile(r"`(\w+)=[^`]*`")


def in_options(text: str, command: click.Command) -> str:
    """The text of a library's error, with its arguments replaced by the options of a command.

    >>> in_options("pass `tabs=True` or `width=3`.", click.Command("decode", params=[click.Option(["--tabs"])]))
    'pass --tabs or `width=3`.'
    """
    names = {str(parameter.name): parameter.opts[-1] for parameter in command.params}
    return _ARGUMENT.sub(lambda found: names.get(found[1], found[0]), text)


def folder_options(command: Any) -> Any:
    """Adds the options of a folder: `--out`, `--engine` and `--jobs`."""
    engine = "What works on a folder; ray and dask use the cluster that they are set up for."
    out = "Where the outputs of a folder go. With the engine local, finished files are not done again."
    command = click.option("--jobs", type=click.IntRange(min=1), help="Processes of the engine local.")(
        command
    )
    engines = click.Choice(["local", "ray", "dask"])
    command = click.option("--engine", type=engines, default="local", show_default=True, help=engine)(command)
    return click.option("-o", "--out", type=FOLDER, metavar="FOLDER", help=out)(command)
