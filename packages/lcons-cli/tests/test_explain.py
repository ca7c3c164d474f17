"""`lcons explain`: rules in words, and why a combination is forbidden."""

import json
from dataclasses import replace

import pytest
from constraint_files import PAIRS, RELATIONS, SOURCES, pairs, run, run_example, write_files

from lcons_core import compare, iob2, parse_rules, save
from lcons_core.features import Tuples


@pytest.fixture
def files(tmp_path):
    write_files(tmp_path)
    return tmp_path


def test_the_rules_are_printed_in_words(files):
    result = run("explain", files / "pairs.json")
    assert result.exit_code == 0
    assert result.stdout == (
        "- relation Kill or LiveIn needs source Person\n"
        "1 rule (complete); it covers 100% of the rejected points.\n"
    )
    found = json.loads(run("explain", files / "pairs.json", "--json").stdout)
    assert found["rules"][0]["forbidden"]["relation"] == ["Kill", "LiveIn"]


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
    assert lines[0] == "source Location needs relation NoRel"
    assert lines[1] == "source Location, relation Kill: 1.00 - 2.50 + 1.00 = -0.50 < 0, so it is forbidden"
    assert lines[4].strip().startswith("1.00 [source NoEnt] + 3.00 [source Person]")
    assert lines[4].endswith("- 2.50 [relation LiveIn] + 1.00 >= 0")
    assert [line.split()[-1] for line in lines[6:]] == ["1.0000", "-2.5000", "1.0000", "-0.5000"]


@pytest.fixture
def gold(files):
    """pairs.json with its feature, and labelled data for it and for bigrams, one with an unknown label."""
    feature = Tuples(("source", "relation"), (SOURCES, RELATIONS))
    save(replace(pairs(), feature=feature), files / "pairs.json")
    tuples = [["Person", "Kill"], ["Location", "Kill"], ["Location", "Kill"], ["Person", "NoRel"]]
    lines = "".join(json.dumps({"tuples": [one]}) + "\n" for one in tuples)
    (files / "pairs.jsonl").write_text(lines)
    iob2(["B-X", "I-X", "O"]).save(files / "iob2.json")
    (files / "dev.conll").write_text("a B-X\nb I-X\n\na O\nb I-X\n\na B-Z\n\n")
    return files


def test_the_rules_that_reject_gold_are_printed_with_how_much_they_reject(gold):
    result = run("explain", gold / "pairs.json", "--gold", gold / "pairs.jsonl")
    assert result.exit_code == 0
    rule, summary = result.stdout.splitlines()
    assert rule.startswith("- relation Kill or LiveIn needs source Person  [support 3; expected ")
    assert rule.endswith("seen 2]")
    assert summary.endswith("it covers 100% of the rejected gold parts.")
    result = run("explain", gold / "iob2.json", "--gold", gold / "dev.conll")
    assert result.stdout.startswith("- I-X never after O or (start)  [support 3; ")


def test_gold_that_is_not_rejected_needs_no_rule(gold):
    (gold / "dev.conll").write_text("a B-X\nb I-X\n\n")
    assert run("explain", gold / "iob2.json", "--gold", gold / "dev.conll").stdout == (
        "nothing is rejected of 3 parts.\n"
    )


def test_an_allowed_combination_has_exit_code_1(files):
    result = run("explain", files / "pairs.json", "--forbidden", "Person", "Kill")
    assert result.exit_code == 1
    assert ">= 0, so it is allowed" in result.stdout


def test_what_is_not_named_stays_open(files):
    result = run("explain", files / "pairs.json", "--forbidden", "Location")
    assert (result.exit_code, result.stdout) == (1, "allowed, for example: source Location, relation NoRel\n")
    found = json.loads(run("explain", files / "pairs.json", "--forbidden", "Location", "--json").stdout)
    assert found["verdict"] == "allowed"
    assert found["completions"]["allowed"] == 1
    bits = [f"bit {i}=1" for i in range(3)]
    result = run("explain", files / "bits.json", "--forbidden", *bits)
    assert result.exit_code == 0
    assert "so it is forbidden" in result.stdout


def test_the_example_runs(gold):
    assert run_example("explain", gold) == [0, 0, 0, 0]
