"""A command of another package: a click command under the entry points `lcons.commands`."""

import importlib.metadata

import click
from click.testing import CliRunner

from lcons_cli.main import main


@click.command(short_help="Greet somebody.")
@click.argument("name")
def greet(name: str) -> None:
    click.echo(f"Hello, {name}.")


def test_lcons_runs_and_lists_a_command_of_another_package(monkeypatch):
    entry = importlib.metadata.EntryPoint("greet", f"{__name__}:greet", "lcons.commands")
    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", lambda self: greet)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry])
    assert CliRunner().invoke(main, ["greet", "Ada"]).output == "Hello, Ada.\n"
    assert "More:\n  greet  Greet somebody." in CliRunner().invoke(main, ["--help"]).output


def test_a_command_that_lives_in_contrib_is_named_where_contrib_is_missing(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [])
    done = CliRunner().invoke(main, ["grammar", "rules.json"])
    assert done.exit_code == 2
    assert "pip install lcons-contrib" in done.output
