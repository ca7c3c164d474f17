"""`lcons verify`: Theorem 1 on one constraint file."""

import json
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from constraint_files import BITS, run, run_example, write_files

from lcons_core import LearnedConstraint, save
from lcons_core._network import RectifierNetwork
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
    assert result.stderr.startswith("lcons: K = 2, 3 rows by Theorem 1; 12 points of source, relation, all")


def test_of_a_large_domain_points_are_drawn_with_the_seed(files):
    result = run("verify", files / "bits.json", "--samples", "200", "--seed", "7", "--json", "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert (found["ok"], found["exhausted"], found["seed"]) == (True, False, 7)
    assert found["points"] >= 200
    assert min(found["accepted"], found["rejected"]) > 20
    assert found["one_sided"] is None
    again = run("verify", files / "bits.json", "--samples", "200", "--seed", "7", "--json", "-q")
    assert again.stdout == result.stdout


def test_points_on_one_side_only_are_said_to_be_in_text_and_json(files):
    nothing = LearnedConstraint(RectifierNetwork(np.zeros((1, 40)), [5.0]), BITS)
    save(nothing, files / "nothing.json")
    sentence = "no accepted point was found, so only rejected ones were checked"
    assert sentence in run("verify", files / "nothing.json", "--samples", "50").stdout
    found = json.loads(run("verify", files / "nothing.json", "--samples", "50", "--json").stdout)
    assert (found["one_sided"], found["accepted"]) == (sentence, 0)


@pytest.mark.parametrize(
    ("name", "where"),
    [("pairs.json", "every point"), ("bits.json", "200 drawn points and some near the boundary")],
)
def test_the_sign_of_life_says_which_points_are_checked(files, monkeypatch, name, where):
    said = []

    def working(what, say):
        said.append(what)
        return nullcontext()

    monkeypatch.setattr("lcons_cli.verify.working", working)
    assert run("verify", files / name, "--samples", "200").exit_code == 0
    assert said == [f"checking every form at {where}"]


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
    assert "the witness: source " in result.stderr
    found = json.loads(run("verify", files / "pairs.json", "--json").stdout)
    assert found["witness"]["form"] == "the lifted rows"


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing.json", "cannot read"), ("damaged.json", "is no constraint file that lcons can read")],
)
def test_errors_are_one_line(files, name, message):
    result = run("verify", files / name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def test_the_example_runs(files):
    assert run_example("verify", files) == [0, 0]
