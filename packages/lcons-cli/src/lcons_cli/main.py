"""The `lcons` command and its subcommands.

Each subcommand imports other modules only when it runs, so that `lcons --help` needs only click.

Results go to stdout, progress to stderr. An `LconsError`, a full disk or too little memory prints one line on
stderr and exits 2. Ctrl-C prints one line and exits 130, `kill` 143. If the reader of stdout goes away, as in
`lcons ... | head`, the command ends without a word and exits 0. Bugs print a traceback and exit 2, because 1
means "the answer is no".
"""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any

import click

from lcons_cli.audit import audit
from lcons_cli.compare import compare
from lcons_cli.console import failure_of_machine, lacks_memory, leave_unless_file, leave_unread
from lcons_cli.contributed import ExtensibleGroup
from lcons_cli.convert import convert
from lcons_cli.decode import decode
from lcons_cli.diagnose import diagnose
from lcons_cli.explain import explain
from lcons_cli.extract import extract
from lcons_cli.fit import fit
from lcons_cli.interrupts import catch_signals, seen
from lcons_cli.learn import learn
from lcons_cli.options import common_options, in_options
from lcons_cli.parse import parse
from lcons_cli.report import report
from lcons_cli.scheme import scheme
from lcons_cli.streams import complete_output
from lcons_cli.tag import tag
from lcons_cli.verify import verify


class ErrorLine(click.ClickException):
    """An expected failure, printed as one line."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"lcons: error: {' '.join(self.message.split())}", file=file, err=True)


class LconsGroup(ExtensibleGroup):
    """A group that turns `LconsError`, Ctrl-C and bugs in its commands into messages and exit codes."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        if sys.stdout is None:
            # Otherwise the first file that is opened becomes standard output.
            click.echo("lcons: error: cannot write to standard output: it is closed; redirect it.", err=True)
            sys.exit(ErrorLine.exit_code)
        sys.stdout = complete_output(sys.stdout)
        catch_signals()
        try:
            return super().__call__(*args, **options)
        except Exception as error:
            sentence = failure_of_machine(error) or _not_installed(error)
            if sentence is not None:
                click.echo(f"lcons: error: {sentence}", err=True)
                sys.exit(ErrorLine.exit_code)
            traceback.print_exc()
            click.echo("lcons: error: this is a bug in lcons, not a mistake in your input.", err=True)
            sys.exit(ErrorLine.exit_code)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _ended():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _ended():
                return super().invoke(ctx)
        except Exception as error:
            # If lcons_core was never imported, the error cannot be one of its errors.
            core = sys.modules.get("lcons_core")
            if core is not None and isinstance(error, core.LconsError):
                if error.__cause__ is not None and lacks_memory(error.__cause__):
                    raise error.__cause__ from None  # a library that is there, but could not be loaded
                command = self.get_command(ctx, ctx.invoked_subcommand or "") or self
                raise ErrorLine(in_options(str(error), command, ctx)) from error
            raise


@contextmanager
def _ended() -> Iterator[None]:
    """Turns wrong usage, Ctrl-C and a reader of stdout that goes away into the end of the command; click
    would exit 1 for the last."""
    try:
        yield
    except click.UsageError as error:
        raise _in_one_line(error) from error
    except (KeyboardInterrupt, click.Abort) as stop:
        leave_unless_file()
        raise click.exceptions.Exit(seen(stop)) from stop
    except BrokenPipeError as error:
        if not leave_unread():
            raise RuntimeError("a pipe to another process broke") from error  # click would exit 1 for it, too
        raise click.exceptions.Exit(0) from error


def _not_installed(error: Exception) -> str | None:
    """The sentence for a library that is missing; None for any other error."""
    library = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not library or library.startswith("lcons"):
        return None
    return (
        f"this needs {library}, which is not installed; install lcons again with all that it depends on, or"
        f" run `pip install {library}`."
    )


def _in_one_line(error: click.UsageError) -> click.ClickException:
    """A wrong option or argument as one sentence, with the help command; `NoArgsIsHelpError` is unchanged."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return error
    path = error.ctx.command_path if error.ctx else "lcons"
    return ErrorLine(f"{error.format_message()} See `{path} --help`.")


class LazyGroup(click.Group):
    """A group whose commands are the `commands` of a module, which is imported on first use."""

    def __init__(self, name: str, module: str, help: str) -> None:
        super().__init__(name, help=help)
        self.module = module

    def list_commands(self, ctx: click.Context) -> list[str]:
        return self._group().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self._group().get_command(ctx, cmd_name)

    def _group(self) -> click.Group:
        return import_module(self.module).commands


@click.group(cls=LconsGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lcons-cli", prog_name="lcons", message="%(prog)s %(version)s")
def main() -> None:
    """Learn linear constraints from examples, read them, and decode under them."""


@main.command(short_help="Learn a toy constraint and show all its forms.")
@common_options("Print the proof of each rule as well.")
def demo(seed: int, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Learn which entity can be the source of which relation, and print the constraints.

    \b
    Example:
      lcons demo
    """
    from lcons_cli.demo import run

    run(seed, as_json, verbose)


main.add_command(fit)
main.add_command(learn)
main.add_command(scheme)
main.add_command(tag)
main.add_command(parse)
main.add_command(extract)
main.add_command(diagnose)
main.add_command(convert)
main.add_command(audit)
main.add_command(explain)
main.add_command(compare)
main.add_command(verify)
main.add_command(report)
main.add_command(decode)
main.add_command(
    LazyGroup(
        "data",
        "lcons_cli.data",
        """List, fetch and import corpora.

        \b
        Example:
          lcons data list
          lcons data fetch conll2000
        """,
    )
)

main.add_command(
    LazyGroup(
        "run",
        "lcons_cli.run",
        """Run an experiment of the paper.

        \b
        Example:
          lcons run chunking
        """,
    )
)
