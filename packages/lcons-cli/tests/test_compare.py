"""`lcons compare`: two constraints, or a constraint and designed rules: equal, different or undecided."""

import json

import numpy as np
import pytest
from constraint_files import BITS, run, run_example, write_files

from lcons_core import LearnedConstraint, RectifierNetwork, iob2, save
from lcons_core.features import NgramLabels
from lcons_core.reason._rules import Box, forbid_boxes

DESIGNED = "relation Kill or LiveIn needs source Person\n"


@pytest.fixture
def files(tmp_path):
    write_files(tmp_path)
    (tmp_path / "designed.txt").write_text(DESIGNED)
    return tmp_path


def test_equal_has_exit_code_0_in_either_order(files):
    for names in (("pairs.json", "designed.txt"), ("designed.txt", "pairs.json"), ("pairs.json",) * 2):
        assert run("compare", *(files / name for name in names)).exit_code == 0


def test_different_has_exit_code_1_and_witnesses_by_name(files):
    (files / "designed.txt").write_text(
        "relation Kill needs source Person\nforbid: source NoEnt, relation NoRel"
    )
    a, b = files / "pairs.json", files / "designed.txt"
    result = run("compare", a, b, "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["outcome"], found["only_a"], found["only_b"]) == (1, "different", 1, 3)
    assert found["witnesses_a"] == [{"source": "NoEnt", "relation": "NoRel"}]


def test_large_domains_are_searched_for_a_witness(files):
    almost = RectifierNetwork(np.ones((1, 40)) + np.eye(1, 40), [-1.0])
    save(LearnedConstraint(almost, BITS), files / "almost.json")
    assert run("compare", files / "bits.json", files / "almost.json").exit_code == 1


def test_a_scheme_and_learned_rules_of_the_same_labels_are_compared(tmp_path):
    scheme = iob2(["B-X", "I-X", "O"])
    feature = NgramLabels(("O", "I-X", "B-X"), 2)
    box = Box.of(feature.space, {"label 1": "O", "label 2": "I-X"})
    save(scheme, tmp_path / "scheme.json")
    for name, boxes in (("same", [box]), ("loose", [])):
        network = forbid_boxes(feature.space, boxes)
        save(LearnedConstraint(network, feature.space, feature), tmp_path / f"{name}.json")
    same = run("compare", tmp_path / "scheme.json", tmp_path / "same.json")
    assert (same.exit_code, same.stdout) == (0, "equal: all 9 points agree\n")
    loose = run("compare", tmp_path / "loose.json", tmp_path / "scheme.json")
    assert loose.exit_code == 1
    assert "label 1 O, label 2 I-X" in loose.stdout


def test_undecided_has_exit_code_3(files):
    halves = RectifierNetwork(np.ones((2, 40)) / 2, [-0.75, -0.75])
    save(LearnedConstraint(halves, BITS), files / "halves.json")
    assert run("compare", files / "bits.json", files / "halves.json").exit_code == 3


def test_the_example_runs(files):
    assert run_example("compare", files) == [0, 0, 0]
