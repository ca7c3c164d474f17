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


def test_of_a_large_domain_points_are_drawn_with_the_seed(files):
    result = run("verify", files / "bits.json", "--seed", "7", "--json")
    verdict = json.loads(result.stdout)
    assert (verdict["ok"], verdict["exhausted"], verdict["seed"]) == (True, False, 7)
    assert min(verdict["accepted"], verdict["rejected"]) > 20
    assert run("verify", files / "bits.json", "--seed", "7", "--json").stdout == result.stdout


def test_a_witness_has_exit_code_1(files, monkeypatch):
    lift = verifying.lift  # type: ignore[attr-defined]
    monkeypatch.setattr(
        verifying, "lift", lambda network: replace(lift(network), rhs=lift(network).rhs + 0.75)
    )
    result = run("verify", files / "pairs.json", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["witness"]["form"] == "the lifted rows"


def test_the_example_runs(files):
    assert run_example("verify", files) == [0, 0]
