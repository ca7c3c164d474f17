"""The `lcons` command. The module of a subcommand is imported when it is named, other modules when it runs.

Results go to stdout, all else to stderr. Exit codes: 0 done, 1 the answer is no, 2 an error in one line (or
wrong usage, or a bug with its traceback), 3 undecided, 130 interrupted, 143 terminated. If the reader of
stdout goes away, as in `lcons ... | head`, the command ends without a word and exits 0.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

import click

from lcons_cli.options import in_options

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# The commands of lcons itself: each is in the module of its name, and imported when it is named.
SECTIONS = {
    "Taggers": {
        "fit": "Make a tagger from few labels and unlabelled text.",
        "tag": "Label text with a trained tagger.",
        "evaluate": "Measure a tagger on labelled sentences.",
        "audit": "Find labels that the rest of the data contradicts.",
    },
    "Rules": {
        "learn": "Learn a constraint from your own labelled data.",
        "explain": "Print a constraint in words, or why it forbids something.",
        "decode": "Label your own scores under constraints.",
        "diagnose": "Find out why a constraint helps a model, or why not.",
        "report": "Make one HTML page of runs and constraints.",
    },
    "Files and checks": {
        "scheme": "Write a span scheme or your own rules as a constraint.",
        "convert": "Write a constraint as inequalities.",
        "compare": "Check whether two constraints allow the same points.",
        "verify": "Check Theorem 1 on a constraint, exactly.",
    },
    "The paper": {
        "run": "Run an experiment of the paper.",
        "demo": "Learn a toy constraint and show all its forms.",
        "data": "List, fetch and import corpora.",
    },
    "Applications": {
        "parse": "Find the fields of bibliographic references.",
        "extract": "Find entities and relations in text.",
    },
}
OWN = {name: text for commands in SECTIONS.values() for name, text in commands.items()}
# Commands that lcons-contrib brings, so that `lcons` can name it where it is missing.
IN_CONTRIB = frozenset(["ask", "calibrate", "grammar", "repair"])


class ErrorLine(click.ClickException):
    """An expected failure, printed as one line."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"lcons: error: {' '.join(self.message.split())}", file=file, err=True)


class LconsGroup(click.Group):
    """A group of the commands above and of those that other packages register as `lcons.commands`:

    [project.entry-points."lcons.commands"]
    count = "my_package:count"  # a click command
    """

    def __call__(self, *args: Any, **options: Any) -> Any:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))
        if sys.stdout is None:
            # Otherwise the first file that is opened becomes standard output.
            click.echo("lcons: error: standard output is closed; redirect it.", err=True)
            sys.exit(ErrorLine.exit_code)
        try:
            return super().__call__(*args, **options)
        except Exception:
            import traceback

            traceback.print_exc()
            click.echo("lcons: error: this is a bug in lcons, not a mistake in your input.", err=True)
            sys.exit(ErrorLine.exit_code)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with expected(self):
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with expected(self, ctx):
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*OWN, *contributed()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in OWN:
            command = getattr(import_module(f"lcons_cli.{cmd_name}"), cmd_name)
            command.short_help = OWN[cmd_name]
        elif command is None and cmd_name in contributed():
            command = contributed()[cmd_name].load()
        elif command is None and cmd_name in IN_CONTRIB:
            ctx.fail(f"`{cmd_name}` is a command of lcons-contrib: run `pip install lcons-contrib`.")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        others = {name: entry.load().get_short_help_str(60) for name, entry in contributed().items()}
        for heading, commands in (SECTIONS | {"More": others}).items():
            if commands:
                with formatter.section(heading):
                    formatter.write_dl(list(commands.items()))


@contextmanager
def expected(group: click.Group, ctx: click.Context | None = None) -> Iterator[None]:
    """Turns what may happen to a command of a group into its exit code, and one line on stderr."""
    try:
        yield
    except (KeyboardInterrupt, click.Abort):
        click.echo("lcons: interrupted", err=True)
        raise click.exceptions.Exit(130) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(0) from None
    except MemoryError:
        raise ErrorLine("there is not enough memory for this; use less data.") from None
    except Exception as error:
        # If lcons_core was never imported, the error cannot be one of its errors.
        core = sys.modules.get("lcons_core")
        if core is not None and isinstance(error, core.LconsError):
            # Which command was invoked is known by now.
            name = ctx.invoked_subcommand if ctx else None
            command = group.get_command(ctx, name) if ctx and name else None
            raise ErrorLine(in_options(str(error), command or group)) from error
        if isinstance(error, OSError):
            raise ErrorLine(str(error)) from error
        if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("lcons"):
            raise ErrorLine(f"this needs {error.name}: run `pip install {error.name}`.") from error
        raise


def contributed() -> "dict[str, EntryPoint]":
    """The commands of other packages by name; a command of lcons itself has precedence."""
    from importlib.metadata import entry_points

    entries = {entry.name: entry for entry in entry_points(group="lcons.commands")}
    return {name: entries[name] for name in sorted(entries) if name not in OWN}


@click.group(cls=LconsGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(package_name="lcons-cli", prog_name="lcons", message="%(prog)s %(version)s")
@click.option("-q", "--quiet", is_flag=True, help="Print only results, warnings and errors.")
def main(quiet: bool) -> None:
    """Learn linear constraints from examples, read them, and decode under them."""
