"""The options of commands that also take a folder of shards, and what they print for it.

Only click is imported here; other modules are imported when a folder is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import Say
from lcons_cli.options import FILE
from lcons_cli.progress import signs_of_life

if TYPE_CHECKING:
    from lcons_decode.shards import ShardRun, Work

# As in lcons_decode.shards.BACKENDS; importing that takes longer.
BACKENDS = ("local", "dask", "ray")
# Failed shards that are named one by one.
MOST_NAMED = 20


def backend_options(command: Any) -> Any:
    """Adds the options `--backend` and `--address`."""
    backend = click.option(
        "--backend",
        type=click.Choice(BACKENDS),
        default="local",
        show_default=True,
        help="local: processes of this machine. dask, ray: a cluster, whose workers see the same folders.",
    )
    address = click.option(
        "--address",
        metavar="HOST:PORT",
        help="The scheduler of the cluster. Default: one that is started on this machine for this command.",
    )
    return backend(address(command))


@dataclass(frozen=True)
class ShardOptions:
    """The values of the options for a folder of shards."""

    out: str | None
    backend: str
    address: str | None
    jobs: int | None

    def used(self, file: str) -> bool:
        """Whether the input is a folder; raises an error if options of folders do not fit."""
        from lcons_core import InvalidInput

        if Path(file).is_dir():
            if self.out is None:
                raise InvalidInput(
                    f"{file!r} is a folder, and its shards need a folder to write to; add `-o FOLDER`."
                )
            return True
        for name, given in (
            ("-o", self.out),
            ("--address", self.address),
            ("--backend", self.backend != "local"),
        ):
            if given:
                raise InvalidInput(
                    f"{name} is for a folder of shards, found {file!r}, which is none; leave it out, or name"
                    " a folder."
                )
        return False

    def refuse_given(self, name: str, *allowed: str) -> None:
        """Raises an error if an option was given that has no meaning for shards."""
        from lcons_core import InvalidInput

        context = click.get_current_context()
        source = context.get_parameter_source(name)
        if source is click.core.ParameterSource.DEFAULT or context.params.get(name) in allowed:
            return
        option = next(one.opts[0] for one in context.command.params if one.name == name)
        raise InvalidInput(f"{option} is not for a folder of shards, whose rows stay rows; leave it out.")

    def run(self, file: str, work: Work, say: Say) -> None:
        """Does the work on the folder, and prints a summary; raises an error if a shard failed."""
        from lcons_decode.shards import run_shards

        assert self.out is not None
        found = run_shards(
            file,
            self.out,
            work,
            backend=self.backend,
            address=self.address,
            jobs=self.jobs,
            watched=lambda overview: signs_of_life(lambda: str(overview), say),
        )
        if found.others:
            say(f"not shards, left out: {len(found.others):,} files, such as {found.others[0]}")
        say(_summary(found))
        _raise_failed(found, self.out)


def _summary(found: ShardRun) -> str:
    before = sum(one.before for one in found.finished)
    parts = [f"shards: {len(found.finished):,} finished"]
    parts[0] += f" ({before:,} of them before)" if before else ""
    counts = found.counts
    parts += [f"{name}: {count:,}" for name, count in counts.items()]
    return ", ".join(parts)


def _raise_failed(found: ShardRun, out: str) -> None:
    from lcons_core import LconsError

    if not found.failed:
        return
    for one in found.failed[:MOST_NAMED]:
        if one.traceback:
            click.echo(one.traceback, err=True, nl=False)
        click.echo(f"lcons: error: {one.why}", err=True)
    total = len(found.failed) + len(found.finished)
    raise LconsError(
        f"{len(found.failed):,} of {total:,} shards failed, such as {found.failed[0].shard}; the others are"
        f" in {out!r}: correct these and run the same command again, which does only what is left."
    )


def shard_options(jobs: str) -> Callable[[Any], Any]:
    """A decorator that adds the options of a folder of shards, as one parameter `shards`; `jobs` is the help
    of `--jobs`."""

    def add(command: Any) -> Any:
        @wraps(command)
        def called(
            *args: Any, out: str | None, backend: str, address: str | None, jobs: int | None, **given: Any
        ) -> Any:
            return command(*args, shards=ShardOptions(out, backend, address, jobs), **given)

        for option in (
            click.option("--jobs", type=click.IntRange(min=1), help=jobs),
            backend_options,
            click.option(
                "-o",
                "--out",
                type=FILE,
                metavar="FOLDER",
                help="Where the outputs of a folder of shards go. Finished shards are not done again.",
            ),
        ):
            called = option(called)
        return called

    return add
