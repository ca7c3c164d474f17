"""Folders of JSON lines by processes of this machine: files appear whole, once, in a folder of their own."""

import fcntl
import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from lcons_cli.folders import run_folder
from lcons_cli.main import main
from lcons_core import LconsError, iob2

LABELS = ["B-NP", "I-NP", "O"]
ROW = {"emission": [[0, 0, 1], [0, 3, 1]], "words": ["New", "York"], "id": 1}
ANSWER = {"labels": ["B-NP", "I-NP"], "score": 3.0, "status": "optimal", "changed": 1}


@pytest.fixture
def folder(tmp_path):
    """Two files, the constraint and the labels."""
    iob2(LABELS).save(tmp_path / "iob2.json")
    (tmp_path / "labels.txt").write_text("\n".join(LABELS))
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        write(tmp_path / f"in/{name}.jsonl", ROW, {"emission": []})
    return tmp_path


def write(path, *rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def words(folder, *more, out="out"):
    files = ["-c", folder / "iob2.json", "--labels", folder / "labels.txt", "-o", folder / out]
    return list(map(str, ["decode", folder / "in", *files, *more]))


def run(folder, *more, **options):
    return CliRunner().invoke(main, ["-q", *words(folder, *more, **options)])


def refused(result):
    assert result.exit_code == 2, result.output
    return result.stderr


def test_a_folder_is_decoded_file_by_file_and_finished_files_are_not_done_again(folder):
    result = run(folder, "--jobs", 1)
    assert (result.exit_code, result.stdout) == (0, "")
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "_settings",
        "a.jsonl",
        "b.jsonl",
    ]
    first, second = map(json.loads, (folder / "out/a.jsonl").read_text().splitlines())
    assert first == {"words": ["New", "York"], "id": 1} | ANSWER
    assert second["labels"] == []
    (folder / "out/b.jsonl").unlink()
    before = (folder / "out/a.jsonl").stat()
    write(folder / "in/b.jsonl", ROW)
    assert run(folder, "--jobs", 1).stderr == ""
    assert len((folder / "out/b.jsonl").read_text().splitlines()) == 1
    assert (folder / "out/a.jsonl").stat() == before


def test_a_file_that_is_wrong_leaves_nothing_and_the_same_command_goes_on(folder):
    (folder / "in/b.jsonl").write_text(json.dumps(ROW) + "\n{")
    assert "b.jsonl: " in refused(run(folder, "--jobs", 1))
    assert not (folder / "out/b.jsonl").exists()
    write(folder / "in/b.jsonl", ROW)
    assert run(folder, "--jobs", 1).exit_code == 0
    assert (folder / "out/b.jsonl").exists()


def test_files_of_others_and_of_other_settings_are_not_mixed(folder):
    (folder / "out").mkdir()
    write(folder / "out/a.jsonl", {"of": "somebody"})
    refused(run(folder, "--jobs", 1))
    assert json.loads((folder / "out/a.jsonl").read_text()) == {"of": "somebody"}
    assert run(folder, "--jobs", 1, out="mine").exit_code == 0
    refused(run(folder, "--jobs", 1, "--beam", 5, out="mine"))
    iob2([*LABELS, "B-VP"]).save(folder / "iob2.json")
    refused(run(folder, "--jobs", 1, out="mine"))


def test_a_part_of_what_an_engine_writes_is_not_taken_for_the_whole(folder, monkeypatch):
    """The process ends between the first and the second file that it moves into the folder."""

    def ray(work, first, out):
        for name in ("0", "1"):
            write(out / f"{name}.jsonl", ROW)

    move, moved = Path.replace, []

    def move_one(path, target):
        if moved:
            raise OSError("killed")
        moved.append(move(path, target))

    monkeypatch.setattr("lcons_cli.folders._ray", ray)
    with monkeypatch.context() as stopped:
        stopped.setattr(Path, "replace", move_one)
        refused(run(folder, "--engine", "ray"))
    assert len(list((folder / "out").glob("*.jsonl"))) == 1
    refused(run(folder, "--engine", "ray"))
    assert run(folder, "--engine", "ray", out="whole").exit_code == 0
    assert len(list((folder / "whole").glob("*.jsonl"))) == 2


def test_an_output_folder_is_locked_while_a_run_writes(folder):
    (folder / "out").mkdir()
    with (folder / "out/.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused(run(folder, "--jobs", 1))
    assert run(folder, "--jobs", 1).exit_code == 0


def test_a_lock_that_another_run_has_removed_meanwhile_is_no_lock(folder, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", lambda *_: (folder / "out/.lock").unlink())
    refused(run(folder, "--jobs", 1))


# Functions of batches that any process can load: they are expressions of the columns.
DOUBLES = "{'number': number, 'double': [2 * n for n in number]}"


def test_a_process_that_is_killed_is_one_sentence_and_the_next_run_does_the_rest(tmp_path):
    for k in range(4):
        write(tmp_path / f"in/{k}.jsonl", {"number": k}, {"number": 10 + k})
    mark = tmp_path / "killed"
    os = "__import__('os')"
    kill = f"{os}.mkdir({str(mark)!r}) or {os}.kill({os}.getpid(), 9)"
    work = partial(eval, f"{DOUBLES} if number[0] != 3 or {os}.path.exists({str(mark)!r}) else {kill}")
    folders = (str(tmp_path / "in"), str(tmp_path / "out"))
    with pytest.raises(LconsError, match="a process ended early; run the same again"):
        run_folder(work, *folders, "local", 2)
    assert mark.exists()
    assert not (tmp_path / "out/3.jsonl").exists()
    run_folder(work, *folders, "local", 2)
    found = [
        json.loads(line) for k in range(4) for line in (tmp_path / f"out/{k}.jsonl").read_text().splitlines()
    ]
    assert found == [{"number": n, "double": 2 * n} for k in range(4) for n in (k, 10 + k)]
