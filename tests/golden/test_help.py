"""The help of every command is what it was."""

from collections.abc import Iterator

import click
import pytest
from golden_files import Golden, lcons

from lcons_cli.main import main


def names(group: click.Group = main, above: str = "") -> Iterator[str]:
    """Every command by its full name, groups among them; "" is lcons itself."""
    yield above.strip()
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from names(command, f"{above}{name} ")
        else:
            yield above + name


NAMES = list(names())


def test_there_are_the_same_commands(golden: Golden):
    golden.text("help/commands.txt", "".join(f"lcons {name}".strip() + "\n" for name in NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_the_help_is_the_same(name: str, golden: Golden):
    done = lcons(*name.split(), "--help")
    assert done.exit_code == 0
    golden.text(f"help/{'-'.join(['lcons', *name.split()])}.txt", done.stdout)
