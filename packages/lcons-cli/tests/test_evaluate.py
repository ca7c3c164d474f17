"""`lcons evaluate` and `lcons fit --test`: figures of a tagger on gold labels, against its base model."""

import json

import pytest
from constraint_files import run

TRAIN = "give O\n{} B-DRUG\nforte I-DRUG\nnow O\n\nno O\n{} O\nhere O\n\n"
DRUGS = ("aspirin", "codeine", "heparin", "insulin", "quinine", "warfarin")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A fitted tagger, a plain one, and gold sentences."""
    folder = tmp_path_factory.mktemp("evaluate")
    for name in ("train.conll", "test.conll"):
        (folder / name).write_text("".join(TRAIN.format(drug, drug[::-1]) for drug in DRUGS))
    return folder


def test_figures_are_printed_by_type_and_against_another_tagger(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LCONS_CACHE_DIR", str(folder / "cache"))
    fitted = run("fit", "train.conll", "-o", "tagger", "--plain", "--test", "test.conll", "--json")
    rows = json.loads(fitted.stdout)["test"]
    assert [row["type"] for row in rows] == ["all", "DRUG"]
    assert rows[0]["f1"] == rows[0]["against"]
    measured = run("evaluate", "tagger", "test.conll", "--json")
    assert json.loads(measured.stdout)["rows"] == rows
    against = run("evaluate", "tagger", "test.conll", "--against", "tagger")
    assert against.exit_code == 0
    assert "DRUG" in against.stdout
    assert "+0.00 [+0.00, +0.00]" in against.stdout


def test_precision_recall_and_f1_are_those_of_spans():
    from lcons_cli.evaluate import evaluation
    from lcons_tasks.own_data import Structures

    gold = Structures.of([(["a", "b", "c"], ["B-X", "I-X", "B-Y"]), (["d"], ["B-X"])])
    ours = [("B-X", "I-X", "O"), ("B-X",)]
    theirs = [("B-X", "O", "B-Y"), ("O",)]
    rows = {row["type"]: row for row in evaluation(gold, ours, theirs)}
    assert (rows["all"]["gold"], rows["all"]["precision"]) == (3, 100)
    assert rows["all"]["recall"] == pytest.approx(200 / 3)
    assert (rows["X"]["f1"], rows["Y"]["f1"], rows["Y"]["against"]) == (100, 0, 100)
    assert rows["all"]["gain"][1] <= rows["all"]["gain"][0] <= rows["all"]["gain"][2]
