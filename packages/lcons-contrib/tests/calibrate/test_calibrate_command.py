"""`lcons calibrate`: the guarantee is printed and stays in the file; data of training cause a warning."""

import json
from dataclasses import asdict, replace

import pytest
from contrib_commands import pairs, run, run_example

from lcons_contrib.calibrate.thresholds import learned_from
from lcons_core import compare, iob2, load, save
from lcons_tasks.own_data import Split, Structures, read_data

VALID, INVALID = "a B-X\nb I-X\n\n", "a O\nb I-X\n\n"
LABELS = ["B-X", "I-X", "O"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """iob2.json as rules.json, and dev.conll, of whose 40 sentences it rejects 8."""
    monkeypatch.chdir(tmp_path)
    iob2(LABELS).save("rules.json")
    (tmp_path / "dev.conll").write_text(VALID * 32 + INVALID * 8)
    return tmp_path


def test_the_threshold_moves_and_all_that_is_known_is_in_the_file(folder):
    done = run("calibrate", "rules.json", "dev.conll", "-o", "safe.json", "--alpha", "0.1", "--json")
    assert done.exit_code == 0, done.stderr
    known = json.loads(done.stdout)
    assert known.pop("constraint") == "safe.json"
    found = load("safe.json")
    assert found.provenance["calibration"] == known
    assert (known["alpha"], known["structures"], known["rejected"]) == (0.1, 40, 0)
    assert found.satisfied(["O", "I-X"])
    assert run("verify", "safe.json").exit_code == 0
    done = run("-q", "calibrate", "rules.json", "dev.conll", "-o", "same.json", "--alpha", "0.3")
    assert done.stderr == ""
    assert compare(load("same.json"), load("rules.json")).outcome == "equal"
    assert load("same.json").provenance["calibration"]["rejected"] == 8


def test_only_the_held_out_part_of_training_data_is_used(folder):
    data = read_data("dev.conll", "conll")
    split = Split.of_file(data, "dev.conll", 0.2)
    replace(iob2(LABELS), provenance={"split": asdict(split)}).save("r.json")
    run("calibrate", "r.json", "dev.conll", "-o", "c.json", "--alpha", "0.2")
    # The last 8 are those that it rejects.
    assert load("c.json").provenance["calibration"]["structures"] == 8
    assert isinstance(data, Structures)
    whole = Split.of_file(data, "dev.conll")
    replace(iob2(LABELS), provenance={"split": asdict(whole)}).save("r.json")
    done = run("calibrate", "r.json", "dev.conll", "-o", "c.json", "--alpha", "0.2")
    assert [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert not learned_from(load("r.json"), data.instances)


def test_structures_with_unknown_labels_are_left_out_and_counted(folder):
    (folder / "dev.conll").write_text(VALID * 20 + "a B-Y\n\n")
    done = run("calibrate", "rules.json", "dev.conll", "-o", "c.json")
    assert "left out: 1 structures" in done.stderr
    assert load("c.json").provenance["calibration"]["structures"] == 20


def test_the_valid_rows_of_a_table_calibrate_a_constraint_on_psi(folder):
    save(pairs(), "pairs.json")
    columns = [f"{block.name}={value}" for block in pairs().space.blocks for value in block.values]
    rows = ["0,0,1,0,0,1,0,1"] * 5 + ["0,1,0,0,0,1,0,1"] * 20 + ["0,0,1,0,0,1,0,0"] * 9
    (folder / "table.csv").write_text("\n".join([",".join([*columns, "valid"]), *rows]) + "\n")
    assert run("calibrate", "pairs.json", "table.csv", "-o", "c.json", "--alpha", "0.1").exit_code == 0
    known = load("c.json").provenance["calibration"]
    assert (known["structures"], known["rejected"]) == (25, 0)
    assert load("c.json").accepts([0, 0, 1, 0, 0, 1, 0])


def test_the_example_of_the_help_runs(folder):
    assert set(run_example("calibrate", folder)) == {0}
