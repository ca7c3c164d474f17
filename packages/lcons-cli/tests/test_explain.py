"""`lcons explain`: rules in words, and why a combination is forbidden."""

import json

import pytest
from constraint_files import PAIRS, pairs, run, run_example, write_files

from lcons_core import compare, parse_rules


@pytest.fixture
def files(tmp_path):
    write_files(tmp_path)
    return tmp_path


def test_rules_can_be_printed_for_compare_to_read(files):
    text = run("explain", files / "pairs.json", "--rules").stdout
    assert "# relation Kill or LiveIn needs source Person\nforbid: source NoEnt or Location" in text
    assert compare(pairs(), parse_rules(text, PAIRS)).equal


@pytest.mark.parametrize(
    "words",
    [
        ("Location", "Kill"),
        ("Kill", "Location"),
        ("source=Location,relation=Kill",),
        ("source=Location", "relation=Kill"),
    ],
)
def test_a_forbidden_combination_has_an_inequality_its_terms_and_their_sum(files, words):
    result = run("explain", files / "pairs.json", "--forbidden", *words)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[1] == "source Location, relation Kill: 1.00 - 2.50 + 1.00 = -0.50 < 0, so it is forbidden"
    assert [line.split()[-1] for line in lines[6:]] == ["1.0000", "-2.5000", "1.0000", "-0.5000"]


def test_what_is_not_named_stays_open(files):
    result = run("explain", files / "pairs.json", "--forbidden", "Location")
    assert (result.exit_code, result.stdout) == (1, "allowed, for example: source Location, relation NoRel\n")
    found = json.loads(run("explain", files / "pairs.json", "--forbidden", "Location", "--json").stdout)
    assert found["verdict"] == "allowed"
    assert found["completions"]["allowed"] == 1
    bits = [f"bit {i}=1" for i in range(3)]
    assert run("explain", files / "bits.json", "--forbidden", *bits).exit_code == 0


def test_the_example_runs(files):
    assert run_example("explain", files) == [0, 0, 0, 0]
