"""`lcons verify`: Theorem 1 on one constraint file."""

import json
from dataclasses import replace

import pytest
from constraint_files import run, run_example, write_files

from lcons_core.reason import _verify as verifying


@pytest.fixture
def files(tmp_path):
    write_files(tmp_path)
    return tmp_path


def test_a_small_domain_is_checked_in_full(files):
    result = run("verify", files / "pairs.json")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "verified: network = 3 rows = lifted = cut at 12 points (all of the domain); 6 accepted"
    )


def test_of_a_large_domain_points_are_drawn_with_the_seed(files):
    result = run("verify", files / "bits.json", "--seed", "7", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert (found["ok"], found["exhausted"], found["seed"]) == (True, False, 7)
    assert found["points"] >= 200
    assert min(found["accepted"], found["rejected"]) > 20
    assert found["one_sided"] is None
    again = run("verify", files / "bits.json", "--seed", "7", "--json")
    assert again.stdout == result.stdout


def test_a_witness_has_exit_code_1(files, monkeypatch):
    def wrong(network):
        lifted = lift(network)
        return replace(lifted, rhs=lifted.rhs + 0.75)

    lift = verifying.lift  # type: ignore[attr-defined]
    monkeypatch.setattr(verifying, "lift", wrong)
    result = run("verify", files / "pairs.json")
    assert result.exit_code == 1
    assert result.stdout.startswith("false: ")
    assert "unlike the lifted rows" in result.stdout
    found = json.loads(run("verify", files / "pairs.json", "--json").stdout)
    assert found["witness"]["form"] == "the lifted rows"


def test_the_example_runs(files):
    assert run_example("verify", files) == [0, 0]
