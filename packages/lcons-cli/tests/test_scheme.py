"""`lcons scheme`: span schemes and rules as constraint files."""

import json

import pytest
from constraint_files import PAIRS, run, run_example, write_files

from lcons_core import bilou, bioes, compare, iob2, load
from lcons_core.reason._rules_text import load_rules

CONLL = "The DT B-NP\ndog NN I-NP\nbarks VB O\n\n"
MAKERS = {"iob2": (iob2, "BI"), "bioes": (bioes, "BIES"), "bilou": (bilou, "BILU")}


def labels_of(letters):
    return sorted([*(f"{letter}-X" for letter in letters), "O"])


def inputs(folder, letters):
    """The same labels in each way to pass them."""
    labels = labels_of(letters)
    (folder / "lines.txt").write_text("".join(f"{label}\n" for label in labels))
    (folder / "list.json").write_text(json.dumps(labels))
    (folder / "data.conll").write_text("".join(f"word {label}\n" for label in labels))
    (folder / "data.jsonl").write_text(json.dumps({"labels": labels, "words": labels}) + "\n")
    return [
        ",".join(labels),
        *(folder / f"{name}" for name in ("lines.txt", "list.json", "data.conll", "data.jsonl")),
    ]


@pytest.mark.parametrize("name", MAKERS)
def test_labels_in_any_form_make_the_constraint_of_the_library(tmp_path, name):
    make, letters = MAKERS[name]
    for given in inputs(tmp_path, letters):
        done = run("scheme", name, given, "-o", tmp_path / "c.json")
        assert done.exit_code == 0, done.output
        found = load(tmp_path / "c.json")
        assert found.feature == make(labels_of(letters)).feature
        assert str(compare(found, make(labels_of(letters)))).startswith("equal")


def test_rules_on_labels_accept_exactly_what_they_say(tmp_path):
    (tmp_path / "rules.txt").write_text(
        "label 2 I-X needs label 1 B-X or I-X  # IOB2\nlabel 1 (start) cannot go with label 2 O\n"
    )
    done = run("scheme", tmp_path / "rules.txt", "B-X,I-X,O", "-o", tmp_path / "c.json", "--json")
    assert json.loads(done.stdout)["hidden"] == 2
    constraint = load(tmp_path / "c.json")
    sequences = (["B-X", "I-X", "O"], ["O", "B-X"], ["B-X", "O", "I-X"])
    assert [constraint.satisfied(y) for y in sequences] == [True, False, False]
    assert run("compare", tmp_path / "c.json", tmp_path / "rules.txt").exit_code == 0


def test_rules_edited_by_hand_use_the_names_of_a_constraint(tmp_path):
    write_files(tmp_path)
    rules = tmp_path / "rules.txt"
    rules.write_text(run("explain", tmp_path / "pairs.json", "--rules").stdout)
    assert run("scheme", rules, tmp_path / "pairs.json", "-o", tmp_path / "same.json").exit_code == 0
    assert run("compare", tmp_path / "pairs.json", tmp_path / "same.json").exit_code == 0
    rules.write_text("relation Kill needs source Person\n")
    assert run("scheme", rules, tmp_path / "pairs.json", "-o", tmp_path / "edited.json").exit_code == 0
    found = load(tmp_path / "edited.json")
    assert str(compare(found, load_rules(rules, PAIRS))).startswith("equal")
    assert run("compare", tmp_path / "pairs.json", tmp_path / "edited.json").exit_code == 1


def test_the_example_of_the_help_runs(tmp_path):
    write_files(tmp_path)
    (tmp_path / "train.conll").write_text(CONLL)
    assert set(run_example("scheme", tmp_path)) == {0}
