"""The command line: what every subcommand shares."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from constraint_files import write_files
from texts import run_and_list_modules

from lcons_cli.main import LconsGroup
from lcons_core import LconsError

LCONS = Path(sys.executable).with_name("lcons")


def failing_group(error: Exception) -> LconsGroup:
    group = LconsGroup()

    @group.command()
    @click.option("--width", type=int)
    def fail(width: int | None) -> None:
        raise error

    return group


def test_an_lcons_error_is_one_line_on_stderr_that_names_options():
    group = failing_group(LconsError("expected K >= 1,\nfound 0; pass `width=3`"))
    result = CliRunner().invoke(group, ["fail"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "lcons: error: expected K >= 1, found 0; pass --width 3\n"


@pytest.mark.parametrize(
    ("arguments", "shown", "slow"),
    [
        (["--help"], "Usage:", {"lcons_core", "numpy", "rich", "torch"}),
        (["run", "chunking", "--help"], "--full", {"torch", "spacy", "numba", "mip", "joblib"}),
    ],
)
def test_help_loads_nothing_heavy(arguments, shown, slow):
    printed, modules = run_and_list_modules(*arguments)
    assert shown in printed
    assert slow & modules == set()


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_is_one_line_and_an_exit_code_that_is_no_answer(stop):
    result = CliRunner().invoke(failing_group(stop), ["fail"])
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "lcons: interrupted\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C is no signal of one process")
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_kill_end_a_command_that_waits_for_input(number, exit_code):
    # In a group of its own, as the commands of `data` and `run` are.
    code = (
        "import click; from lcons_cli.main import main; "
        "group = click.Group('wait'); main.add_command(group); "
        "group.add_command(click.Command('here', callback=lambda: (print('ready', flush=True), input()))); "
        "main(['wait', 'here'])"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert b"Traceback" not in process.communicate(timeout=30)[1]
    assert process.returncode == exit_code


def test_closed_output_is_an_error_before_any_work(tmp_path):
    write_files(tmp_path)
    command = f"{shlex.quote(str(LCONS))} explain pairs.json >&-"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("lcons: error: ")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["explain", "pairs.json", "--json"],
        ["convert", "pairs.json", "--to", "lp"],
    ],
)
def test_a_full_disk_is_one_line(arguments, tmp_path):
    write_files(tmp_path)
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [LCONS, *arguments], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("lcons: error:")]) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["explain", "pairs.json"]],
)
def test_a_reader_that_goes_away_ends_a_command_quietly(arguments, tmp_path):
    write_files(tmp_path)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([LCONS, *arguments], cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
