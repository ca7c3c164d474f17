"""`lcons ask` settles what data do not show."""

import json

import pytest
from click.testing import CliRunner
from contrib_commands import run, run_example

from lcons_cli.main import main
from lcons_core import LearnedConstraint, RectifierNetwork, compare, load, save
from lcons_core.features import Tuples
from lcons_core.reason._rules_text import load_rules

FEATURE = Tuples(("source", "relation"), (("Person", "Place", "Firm"), ("NoRel", "Kill", "LiveIn")))
RULES = "relation Kill or LiveIn needs source Person\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """pairs.json accepts everything; pairs.jsonl shows five of nine combinations; rules.txt has the truth."""
    monkeypatch.chdir(tmp_path)
    everything = LearnedConstraint(RectifierNetwork([[0.0] * 6], [0.0]), FEATURE.space, FEATURE)
    save(everything, "pairs.json")
    shown = [[source, "NoRel"] for source in FEATURE.values[0]] + [["Person", "Kill"], ["Person", "LiveIn"]]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps({"tuples": shown}) + "\n" for _ in range(4)))
    (tmp_path / "rules.txt").write_text(RULES)
    return tmp_path


def test_a_file_answers_until_nothing_is_open(folder):
    done = run("ask", "pairs.json", "pairs.jsonl", "-o", "asked.json", "--answers", "rules.txt")
    assert done.exit_code == 0, done.stderr
    found = load("asked.json")
    assert compare(found, load_rules("rules.txt", found.space)).equal
    again = run("-q", "ask", "pairs.json", "pairs.jsonl", "-o", "b.json", "--answers", "asked.json", "--json")
    known = json.loads(again.stdout)
    assert (known["shown"], known["invalid"], known["open"]) == (5, 4, [])


def test_a_person_answers_and_may_be_unsure(folder):
    words = ["ask", "pairs.json", "pairs.jsonl", "-o", "asked.json"]
    done = CliRunner().invoke(main, words, input="what\nn\n" * 20)
    assert done.exit_code == 0
    assert "Can this occur: source Place or Firm, with relation Kill or LiveIn? [y/n/u]" in done.stderr
    done = CliRunner().invoke(main, words, input="u\n")
    assert done.exit_code == 3
    assert load("asked.json").satisfied([("Firm", "Kill")])


def test_the_example_of_the_help_runs(folder):
    assert run_example("ask", folder)[1] == 0
