"""Constraint files for the tests of the commands that read them."""

import re
import subprocess
import sys
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
    """The exit codes of the lines of the example in a command's help, each run by a shell."""
    text = run(command, "--help").stdout
    _, _, block = text.partition("Example:\n")
    example = [line.strip() for line in block.split("\n\n")[0].splitlines()]
    assert example
    assert any(re.match(rf"lcons {command}\b", line) for line in example)
    own = f'lcons() {{ "{sys.executable}" -c "from lcons_cli.main import main; main()" "$@"; }}\n'
    return [
        subprocess.run(["sh", "-c", own + line], cwd=folder, capture_output=True).returncode
        for line in example
    ]
