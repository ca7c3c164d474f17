"""`lcons card`: one page on a constraint file, true to the file, and its commands run."""

import re
import shlex
from pathlib import Path

import pytest
from constraint_files import pairs, run, run_example, write_files

from lcons_core import (
    FeatureSpace,
    LearnedConstraint,
    RectifierNetwork,
    load,
    one_hot,
    real,
    save,
)

OLD = Path(__file__).parents[3] / "tests/golden/v0.1.0/constraints"


@pytest.fixture
def files(tmp_path, monkeypatch):
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n\n")[2].partition("\n## ")[0]


def test_the_page_counts_what_is_forbidden_and_has_the_rules_and_the_verdict(files):
    result = run("card", "pairs.json")
    assert result.exit_code == 0
    assert (
        "exactly the set of 3 linear inequalities. It forbids 6 of 12 combinations (50.0 %)." in result.stdout
    )
    assert "- `source`: one of NoEnt, Person, Location, Organization" in section(
        result.stdout, "What it reads"
    )
    assert "relation Kill or LiveIn needs source Person" in section(result.stdout, "What it forbids")
    assert "verified: network = 3 rows = lifted = cut at 12 points" in section(result.stdout, "Exactness")
    assert "no record of what the constraint was learned from" in section(result.stdout, "Origin")
    assert "Not known" in section(result.stdout, "How often it rejects what is valid")
    assert "## Kept examples" not in result.stdout


def test_the_commands_of_a_card_run(files):
    commands = re.findall("^- `lcons (.*)`$", section(run("card", "pairs.json").stdout, "Use"), re.M)
    assert len(commands) == 4
    assert [run(*shlex.split(one)).exit_code for one in commands] == [0, 0, 0, 0]


@pytest.mark.parametrize("path", sorted(OLD.glob("*.json")), ids=lambda path: path.stem)
def test_every_kind_of_constraint_has_a_card(path):
    result = run("card", path, "--rules", "3", "--samples", "200")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"# Constraint card: {path.name}\n\nA constraint over `")
    assert max(map(len, section(result.stdout, "Origin").splitlines())) < 400
    why = re.search("^- `lcons (explain .* --forbidden .*)`$", result.stdout, re.M)
    if why:
        command = [str(path) if word == path.name else word for word in shlex.split(why[1])]
        assert run(*command).exit_code == 0
    values = load(path).provenance.get("examples", {}).values()
    assert all(str(number) in section(result.stdout, "Origin") for number in values)


def test_edits_are_on_the_card(files):
    save(pairs().forbid(source="Person", relation="Kill"), "strict.json")
    result = run("card", "strict.json")
    assert result.exit_code == 0
    assert "- forbid source Person, relation Kill" in section(result.stdout, "Origin")


def test_large_and_real_domains_have_a_card(files):
    text = run("card", "bits.json", "--samples", "100").stdout
    assert "is too large to count what it forbids" in text
    assert "not on the whole domain" in section(text, "Limits")
    space = FeatureSpace([real("age", ["age"], 0, 120)])
    save(LearnedConstraint(RectifierNetwork([[0.125]], [-1.0]), space), "age.json")
    assert "- `age`: real numbers from 0 to 120: age" in run("card", "age.json").stdout


def test_names_of_a_file_are_text_on_the_card(files):
    space = FeatureSpace([one_hot("a\n# b", ["<script>", "`x`"]), one_hot("c|d", ["1", "2"])])
    save(LearnedConstraint(RectifierNetwork([[2.0, 0.0, 2.0, 0.0]], [-2.0]), space), "odd.json")
    text = run("card", "odd.json").stdout
    assert "<script>" not in text
    assert "`x`" not in text
    assert "\n# b" not in text


def test_the_output_never_replaces_the_constraint(files):
    result = run("card", "pairs.json", "-o", "pairs.json")
    assert result.exit_code == 2
    assert "would replace the input" in result.stderr


def test_the_example_runs(files):
    assert run_example("card", files) == [0, 0]
    assert (files / "pairs.md").read_text().startswith("# Constraint card: pairs.json")
