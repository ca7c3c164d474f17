"""The command line: what every subcommand shares."""

import subprocess
import sys
from importlib.metadata import version

import pytest
from click.testing import CliRunner

from lcons_cli.main import LconsGroup, main
from lcons_core import LconsError


def failing_group(error: Exception) -> LconsGroup:
    group = LconsGroup()

    @group.command()
    def fail() -> None:
        raise error

    return group


def test_an_lcons_error_is_one_line_on_stderr_and_exit_code_2():
    group = failing_group(LconsError("expected K >= 1,\nfound 0"))
    result = CliRunner().invoke(group, ["fail"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "lcons: error: expected K >= 1, found 0\n"


def test_an_unexpected_error_is_not_hidden():
    result = CliRunner().invoke(failing_group(ZeroDivisionError()), ["fail"])
    assert isinstance(result.exception, ZeroDivisionError)


def test_wrong_usage_has_exit_code_2():
    assert CliRunner().invoke(main, ["no-such-command"]).exit_code == 2


def test_version_is_the_installed_one():
    result = CliRunner().invoke(main, ["--version"])
    assert result.stdout == f"lcons {version('lcons-cli')}\n"


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_says_what_it_does(command):
    result = CliRunner().invoke(main, [command, "--help"])
    assert result.exit_code == 0
    assert main.commands[command].help


def test_help_loads_click_and_nothing_heavy():
    heavy = {"importlib.metadata", "lcons_core", "numpy", "rich", "torch"}
    code = (
        "import atexit, sys; from lcons_cli.main import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main(['--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Usage:" in done.stdout
    assert heavy & set(done.stderr.split()) == set()
