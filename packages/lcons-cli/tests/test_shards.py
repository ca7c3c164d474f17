"""Folders of shards: the same answers as for files, exit code 2 and one sentence per shard that failed."""

import json

import pytest
from click.testing import CliRunner

from lcons_cli.main import main
from lcons_core import iob2

LABELS = ["B-NP", "I-NP", "O"]
ROW = {"emission": [[0, 0, 1], [0, 3, 1]], "words": ["New", "York"], "id": 1}


@pytest.fixture
def folder(tmp_path):
    """Two shards, and the constraint file."""
    iob2(LABELS).save(tmp_path / "iob2.json")
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        write(tmp_path / f"in/{name}.jsonl", {"labels": LABELS}, ROW)
    return tmp_path


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def run(folder, *more, source="in"):
    words = ["decode", folder / source, "-c", folder / "iob2.json", "-o", folder / "out", *more]
    return CliRunner().invoke(main, list(map(str, words)))


def test_a_folder_is_decoded_once(folder):
    result = run(folder, "--jobs", 1)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "lcons: shards: 2 finished, sequences: 2, tokens: 4, changed: 2\n"
    (line,) = (folder / "out/a.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "words": ["New", "York"],
        "id": 1,
        "labels": ["B-NP", "I-NP"],
        "score": 3.0,
        "status": "optimal",
        "changed": 1,
    }
    assert (folder / "out/_manifest.json").exists()
    assert "2 finished (2 of them before)" in run(folder, "--json").stderr
    assert run(folder, "-q").stderr == ""


def test_shards_that_fail_are_named_with_exit_code_2_and_a_rerun_does_what_is_left(folder):
    (folder / "in/b.jsonl").write_text("{")
    write(folder / "in/c.jsonl", {"labels": LABELS}, {"words": ["New"]})
    result = run(folder, "--jobs", 1)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert lines[1].startswith("lcons: error: b.jsonl:1: expected a JSON object")
    assert lines[2].startswith("lcons: error: c.jsonl:2: expected `emission`, or `labels`")
    assert lines[3].startswith("lcons: error: 2 of 3 shards failed, such as b.jsonl; the others are in")
    for name in ("b", "c"):
        write(folder / f"in/{name}.jsonl", {"labels": LABELS}, ROW)
    again = run(folder, "--jobs", 1)
    assert again.exit_code == 0
    assert "shards: 3 finished (1 of them before)" in again.stderr


def test_the_labels_may_be_in_a_file_with_transitions(folder):
    for name in ("a", "b"):
        write(folder / f"in/{name}.jsonl", ROW)
    model = folder / "model.json"
    model.write_text(json.dumps({"labels": LABELS, "stop": [0, -9, 0]}))
    assert run(folder, "--labels", model, "--jobs", 1).exit_code == 0
    assert json.loads((folder / "out/a.jsonl").read_text())["labels"] == ["O", "O"]
    model.write_text(json.dumps({"labels": LABELS, "more": 1}))
    assert "expected `labels` and optionally transition" in run(folder, "--labels", model).stderr
    model.write_text("\n".join(LABELS))
    assert run(folder, "--labels", model, "--jobs", 1).exit_code == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--choose",), "--choose is not for a folder of shards"),
        (("--format", "conll"), "--format is not for a folder of shards"),
        (("--address", "127.0.0.1:9"), "has no address; leave --address HOST:PORT out"),
        (("--backend", "cloud"), "'cloud' is not one of"),
    ],
)
def test_options_that_do_not_fit_a_folder_are_refused(folder, more, message):
    result = run(folder, *more)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_options_of_folders_need_a_folder(folder):
    result = run(folder, source="in/a.jsonl")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "-o is for a folder of shards" in result.stderr
    result = CliRunner().invoke(main, ["decode", str(folder / "in")])
    assert "its shards need a folder to write to; add `-o FOLDER`" in result.stderr
    assert "within the folder of shards" in run(folder, "-o", folder / "in/out").stderr
