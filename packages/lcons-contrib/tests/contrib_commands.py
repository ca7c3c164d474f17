"""Commands in this process, their examples by a shell, and a constraint on pairs."""

import re
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from lcons_cli.main import main
from lcons_core import FeatureSpace, LearnedConstraint, RectifierNetwork, one_hot


def pairs() -> LearnedConstraint:
    """Only a Person can Kill or LiveIn."""
    sources, relations = ("NoEnt", "Person", "Location", "Organization"), ("NoRel", "Kill", "LiveIn")
    space = FeatureSpace([one_hot("source", sources), one_hot("relation", relations)])
    W = [[-1.0, -3.0, -1.0, -1.0, -2.0, 2.5, 2.5], [0.5, 0.0, -1.0, 0.0, -2.0, 0.0, 0.0]]
    return LearnedConstraint(RectifierNetwork(W, [0.0, 0.0]), space)


def run(*arguments: object) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def run_example(command: str, folder: Path) -> list[int]:
    """The exit codes of the lines of the example in a command's help, each run by a shell."""
    _, _, block = run(command, "--help").stdout.partition("Example:\n")
    example = [line.strip() for line in block.split("\n\n")[0].splitlines()]
    assert any(re.match(rf"lcons {command}\b", line) for line in example)
    lcons = f'lcons() {{ "{sys.executable}" -c "from lcons_cli.main import main; main()" "$@"; }}\n'
    return [
        subprocess.run(["sh", "-c", lcons + line], cwd=folder, capture_output=True).returncode
        for line in example
    ]
