"""The commands on constraints with real and integer columns, learned from a table of numbers."""

import json

import numpy as np
import pytest
from constraint_files import run

from lcons_core import load

ROWS = 120


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """d.json, learned from a table: valid iff age is at most 64 for smokers, any for others."""
    folder = tmp_path_factory.mktemp("numbers")
    rng = np.random.default_rng(0)
    age, change = np.round(rng.uniform(0, 100, ROWS), 1), rng.integers(-4, 5, ROWS)
    smoker = rng.integers(0, 2, ROWS)
    valid = ~((age > 64) & (smoker == 1))
    lines = [f"{a},{c},{s},{int(v)}" for a, c, s, v in zip(age, change, smoker, valid, strict=True)]
    (folder / "d.csv").write_text("\n".join(["age,change,smoker,valid", *lines]) + "\n")
    result = run("learn", folder / "d.csv", "-o", folder / "d.json", "-K", "1", "--no-held-out")
    assert result.exit_code == 0, result.stderr
    return folder / "d.json"


def test_a_table_of_numbers_is_learned_with_bounds_around_its_data(path):
    kinds = {block.name: (str(block.kind), block.low, block.high) for block in load(path).space.blocks}
    assert (kinds["change"], kinds["psi"]) == (("integer", -12, 12), ("binary", 0, 1))
    assert kinds["age"][:2] == ("real", 0.0)
    assert 150 <= kinds["age"][2] <= 250


def test_every_command_reads_it(path):
    assert json.loads(run("verify", path, "--json").stdout)["exhausted"] is False
    for command in (["explain", path], ["compare", path, path], ["convert", path, "--form", "simplified"]):
        assert run(*command).exit_code == 0
    assert [run("explain", path, "--forbidden", f"age={n}", "smoker").exit_code for n in (99, 1)] == [0, 1]
    lp = run("convert", path, "--to", "lp").stdout
    assert "x0_age_age" not in lp.partition("Generals")[2]
