"""What holds for every command of lcons."""

import sys

import click
import pytest
from click.testing import CliRunner

from lcons_cli.main import LconsGroup, contributed, main


def commands(group: click.Group = main, above: str = "") -> dict[str, click.Command]:
    """Every command that does something, by its full name."""
    context = click.Context(group)
    found: dict[str, click.Command] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= commands(command, f"{above}{name} ")
        else:
            found[above + name] = command
    return found


COMMANDS = {name: command for name, command in commands().items() if name not in contributed()}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_at_most_fourteen_options_and_says_what_each_does(name):
    options = [option for option in COMMANDS[name].params if isinstance(option, click.Option)]
    assert len(options) <= 14
    assert all(option.help for option in options)


def test_the_commands_fit_one_screen():
    assert len(CliRunner().invoke(main, ["--help"], terminal_width=80).stdout.splitlines()) <= 45


def test_a_fault_of_lcons_is_no_answer(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lcons", "fail"])

    @click.group(cls=LconsGroup)
    def broken() -> None:
        """A group with a fault."""

    @broken.command()
    def fail() -> None:
        raise RuntimeError("a fault")

    with pytest.raises(SystemExit) as ended:
        broken()
    assert ended.value.code == 2
    shown = capsys.readouterr().err
    assert "RuntimeError: a fault" in shown
    assert shown.splitlines()[-1].startswith("lcons: error: this is a bug in lcons")
