"""Every command of lcons takes the same options: what a script gives one of them, it can give all."""

import json
import sys

import click
import pytest
from click.testing import CliRunner

from lcons_cli.contributed import contributed
from lcons_cli.main import LconsGroup, main
from lcons_core import iob2
from lcons_tasks.experiments import EXPERIMENTS


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


COMMANDS = {name: command for name, command in commands().items() if name not in contributed(main)}


@pytest.mark.parametrize("option", ["--json", "--seed", "-q", "-v"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_option_and_says_what_it_does(name, option):
    (found,) = (one for one in COMMANDS[name].params if option in one.opts)
    assert isinstance(found, click.Option)
    assert found.help


@pytest.mark.parametrize("group", [[], ["run"], ["data"]])
def test_the_list_of_commands_says_each_in_a_whole_sentence(group):
    listed = CliRunner().invoke(main, [*group, "--help"], terminal_width=80).stdout.partition("Commands:")[2]
    lines = [line for line in listed.splitlines() if line.strip() and not line.endswith(" packages:")]
    assert lines
    assert all(line.endswith(".") and not line.endswith("...") for line in lines)


@pytest.fixture
def constraint(tmp_path):
    path = tmp_path / "iob2.json"
    iob2(["B-NP", "I-NP", "O"]).save(path)
    return str(path)


@pytest.mark.parametrize("command", ["explain", "convert", "verify"])
def test_verbose_says_more_and_quiet_nothing(command, constraint):
    plain, verbose, quiet = (
        CliRunner().invoke(main, [command, constraint, *options]) for options in ([], ["-v"], ["-q"])
    )
    assert plain.exit_code == verbose.exit_code == quiet.exit_code == 0
    assert len(verbose.output) > len(plain.output)
    assert not quiet.stderr
    assert quiet.stdout == plain.stdout


def test_demo_prints_json_of_what_it_shows():
    shown = json.loads(CliRunner().invoke(main, ["demo", "--json"]).stdout)
    assert len(shown["rows"]["coefficients"]) == 3
    assert len(shown["simplified"]["coefficients"]) == 2
    assert shown["why"]["forbidden"]
    assert shown["against the designed"].startswith("equal")


def test_a_negative_seed_is_refused_by_every_command():
    for name in COMMANDS:
        if name.startswith("run "):
            continue
        done = CliRunner().invoke(main, [*name.split(), "--seed", "-1"])
        assert done.exit_code == 2
        assert "-1 is not in the range" in done.stderr, name


@pytest.mark.parametrize("task", EXPERIMENTS)
def test_more_work_is_estimated_to_take_longer(task):
    experiment = EXPERIMENTS[task].load()
    corpus = {} if task == "synthetic" else {"corpus": "bundled"}
    quick, full = (experiment.seconds(experiment.options.start(whole, **corpus)) for whole in (False, True))
    assert 10 < quick < 600
    assert quick < full


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
