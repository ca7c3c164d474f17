"""Commands in this process, their examples, and a constraint on pairs."""

import shlex
from contextlib import chdir
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
    """The exit codes of the lines of the example in a command's help."""
    _, _, block = run(command, "--help").stdout.partition("Example:\n")
    lines = [shlex.split(line) for line in block.split("\n\n")[0].splitlines()]
    with chdir(folder):
        return [run(*words[1:]).exit_code for words in lines]
