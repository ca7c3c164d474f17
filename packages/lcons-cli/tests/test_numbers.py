"""The commands on constraints with real and integer columns, learned from a table of numbers."""

import json

import numpy as np
import pytest
from constraint_files import run

from lcons_core import load

ROWS = 120


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """d.csv (valid iff age is at most 64 for smokers, any for others), and d.json learned from it."""
    folder = tmp_path_factory.mktemp("numbers")
    rng = np.random.default_rng(0)
    age, change = np.round(rng.uniform(0, 100, ROWS), 1), rng.integers(-4, 5, ROWS)
    smoker = rng.integers(0, 2, ROWS)
    valid = ~((age > 64) & (smoker == 1))
    lines = [f"{a},{c},{s},{int(v)}" for a, c, s, v in zip(age, change, smoker, valid, strict=True)]
    (folder / "d.csv").write_text("\n".join(["age,change,smoker,valid", *lines]) + "\n")
    options = ("-K", "1", "--no-held-out")
    result = run("learn", folder / "d.csv", "-o", folder / "d.json", *options)
    assert result.exit_code == 0, result.stderr
    return folder


def test_a_table_of_numbers_is_learned_with_bounds_around_its_data(files):
    constraint = load(files / "d.json")
    kinds = {block.name: (str(block.kind), block.low, block.high) for block in constraint.space.blocks}
    assert kinds["change"] == ("integer", -12, 12)
    assert kinds["age"][0] == "real"
    assert kinds["age"][1] == 0.0
    assert 150 <= kinds["age"][2] <= 250
    assert kinds["psi"] == ("binary", 0, 1)


def test_every_command_reads_it(files):
    path = files / "d.json"
    verified = run("verify", path)
    assert verified.exit_code == 0
    assert "all of the domain" not in verified.stdout
    assert "drawn with seed 0" in verified.stdout
    assert json.loads(run("verify", path, "--json").stdout)["exhausted"] is False
    assert "each proved, not complete" in run("explain", path).stdout
    assert run("compare", path, path).exit_code == 0
    assert "[age age]" in "".join(run("explain", path, "--forbidden", "age=99", "smoker").stdout)
    assert run("explain", path, "--forbidden", "age=99", "smoker").exit_code == 0
    assert run("explain", path, "--forbidden", "age=1", "smoker").exit_code == 1
    lp = run("convert", path, "--to", "lp").stdout
    assert "Generals" in lp
    assert "x0_age_age" not in lp.partition("Generals")[2]
    assert run("convert", path, "--form", "simplified").exit_code == 0
