"""`lcons repair` changes one combination and prints the proof."""

import json

import pytest
from contrib_commands import pairs, run, run_example

from lcons_core import save


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """pairs.json: only a Person can Kill or LiveIn."""
    monkeypatch.chdir(tmp_path)
    save(pairs(), "pairs.json")
    return tmp_path


def test_a_repair_is_printed_written_and_kept(folder):
    done = run("-q", "repair", "pairs.json", "--allow", "Location", "Kill", "-o", "fixed.json")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [
        "now allowed: source Location, relation Kill",
        "nothing else changed: the other 11 combinations were all checked",
    ]
    assert run("explain", "fixed.json", "--forbidden", "Location", "Kill").exit_code == 1
    broken = run("repair", "fixed.json", "--forbid", "Location", "Kill")
    assert broken.exit_code == 2
    assert "valid example" in broken.stderr
    only = run("repair", "pairs.json", "--forbid", "Person", "Kill", "--json")
    assert json.loads(only.stdout)["forbidden"] == [{"source": "Person", "relation": "Kill"}]


def test_one_combination_must_be_named(folder):
    for words in ([], ["--allow"], ["Location", "Kill"]):
        assert run("repair", "pairs.json", *words).exit_code == 2
    done = run("repair", "pairs.json", "--allow", "Kill")
    assert done.exit_code == 2


def test_the_example_of_the_help_runs(folder):
    assert run_example("repair", folder) == [0, 0]
