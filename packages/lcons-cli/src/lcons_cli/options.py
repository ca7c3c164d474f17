"""Types and options that commands share: names of files, `--json`, `--seed`, and options of folders.

Only click is imported here.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

import click


class InputPath(click.Path):
    """The name of an existing file or folder; not of a pipe or a device, which cannot be read twice."""

    def __init__(self) -> None:
        super().__init__(exists=True)
        self.name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = os.fsdecode(super().convert(value, param, ctx))
        if not (Path(path).is_file() or Path(path).is_dir()):
            self.fail(f"{path!r} is neither a file nor a folder.", param, ctx)
        return path


class OutputPath(click.Path):
    """The name of a file to write, in a folder that is there and can be written to; or of a folder."""

    def __init__(self, folder: bool = False, allow_dash: bool = False) -> None:
        super().__init__(file_okay=not folder, dir_okay=folder, writable=True, allow_dash=allow_dash)
        self.name = "folder" if folder else "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = os.fsdecode(super().convert(value, param, ctx))
        if path == "-" and self.allow_dash:
            return path
        try:
            kind = Path(path).stat().st_mode
            fits, problem = (S_ISDIR if self.dir_okay else S_ISREG)(kind), f"that is no {self.name}"
        except OSError as error:
            parent = Path(os.path.realpath(path)).parent
            fits = error.errno == errno.ENOENT and (self.dir_okay or os.access(parent, os.W_OK | os.X_OK))
            problem = f"{error.strerror} or not writable"
        if not fits:
            self.fail(f"cannot write {path!r:.80}: {problem}.", param, ctx)
        return path


INPUT, OUTPUT = InputPath(), OutputPath()
# What is read once: `-` is stdin, and a pipe will do.
STREAM = click.Path(exists=True, allow_dash=True)
FOLDER = OutputPath(folder=True)
COUNT, SEED = click.IntRange(min=1), click.IntRange(min=0)
COUNT.name = SEED.name = "number"

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
seed_option = click.option("--seed", type=SEED, default=0, help="Seed of the random numbers.")


def check_output(output: str | None, *inputs: str | None) -> None:
    """Raises `UsageError` if the output would replace one of the inputs or another output."""
    paths = [os.path.realpath(path) for path in inputs if path is not None]
    if output is not None and os.path.realpath(output) in paths:
        raise click.UsageError(f"two arguments name the same file {output!r}: name another one to write.")


# How a library names one of its arguments, as in `tabs=True` or "the argument `n`".
_ARGUMENT = re.compile(r"(?:the )?argument `(\w+)`|`(\w+)=([^`]*)`")


def in_options(text: str, command: click.Command) -> str:
    """The text of a library's error, with its arguments replaced by the options of a command.

    >>> tabs = click.Option(["--tabs"], is_flag=True)
    >>> dev = click.Option(["--dev", "held_out"], metavar="FILE")
    >>> command = click.Command("decode", params=[tabs, dev])
    >>> in_options("pass `tabs=True`, `held_out=` or `width=3`.", command)
    'pass --tabs, --dev FILE or `width=3`.'
    """
    options = {option.name: option for option in command.params if isinstance(option, click.Option)}

    def name(argument: re.Match[str]) -> str:
        option = options.get(argument[1] or argument[2])
        if option is None:
            return argument[0]
        if argument[1] or option.is_flag:
            return option.opts[-1]
        value = argument[3].strip("'\"") or option.metavar or option.type.name.upper()
        return f"{option.opts[-1]} {value}"

    return _ARGUMENT.sub(name, text)


def folder_options(command: Any) -> Any:
    """Adds the options of a folder: `--out`, `--engine` and `--jobs`."""
    engine = "What works on a folder; ray and dask use the cluster that they are set up for."
    out = "Where the outputs of a folder go. With the engine local, finished files are not done again."
    command = click.option("--jobs", type=COUNT, help="Processes of the engine local.")(command)
    engines = click.Choice(["local", "ray", "dask"])
    command = click.option("--engine", type=engines, default="local", help=engine)(command)
    return click.option("-o", "--out", type=FOLDER, help=out)(command)
