"""Constraint files for the tests of the commands that read them."""

import shlex
from contextlib import chdir
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

from lcons_cli.main import main
from lcons_core import FeatureSpace, LearnedConstraint, RectifierNetwork, binary, one_hot, save

SOURCES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn")
PAIRS = FeatureSpace([one_hot("source", SOURCES), one_hot("relation", RELATIONS)])
BITS = FeatureSpace([binary("bit", map(str, range(40)))])


def pairs() -> LearnedConstraint:
    """Only a Person can Kill or LiveIn."""
    W = [[-1.0, -3.0, -1.0, -1.0, -2.0, 2.5, 2.5], [0.5, 0.0, -1.0, 0.0, -2.0, 0.0, 0.0]]
    return LearnedConstraint(RectifierNetwork(W, [0.0, 0.0]), PAIRS)


def write_files(folder: Path) -> None:
    """pairs.json and bits.json (at most two of 40 bits, too many points to enumerate), and bad files."""
    save(pairs(), folder / "pairs.json")
    save(LearnedConstraint(RectifierNetwork(np.ones((1, 40)), [-1.0]), BITS), folder / "bits.json")
    wide = RectifierNetwork(np.ones((40, 7)), np.zeros(40))
    save(LearnedConstraint(wide, PAIRS), folder / "wide.json")
    other = FeatureSpace([one_hot("source", [*SOURCES[:3], "Company"]), one_hot("relation", RELATIONS)])
    save(LearnedConstraint(pairs().network, other), folder / "other.json")
    text = (folder / "pairs.json").read_text()
    (folder / "damaged.json").write_text(text[: len(text) // 2])


def run(*arguments: object) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, ["-q", *map(str, arguments)])


def run_example(command: str, folder: Path) -> list[int]:
    """The exit codes of the lines of the example in a command's help."""
    _, _, block = run(command, "--help").stdout.partition("Example:\n")
    codes = []
    with chdir(folder):
        for line in block.split("\n\n")[0].splitlines():
            words, _, file = line.strip().partition(" > ")
            done = run(*shlex.split(words)[1:])
            if file:
                Path(file).write_text(done.stdout)
            codes.append(done.exit_code)
    return codes
