"""Shards are done once, whole or not at all; the bytes do not depend on who did them."""

import gzip
import json
import sys
import threading
from contextlib import contextmanager
from multiprocessing import active_children

import numpy as np
import pytest
from shard_works import Doubles

import lcons_decode.shards._local as local
import lcons_decode.shards._shard as shard_module
from lcons_core import InvalidInput, LconsError, MissingExtra, iob2
from lcons_decode import Decoder, decode_scored
from lcons_decode.files import described, read_scored
from lcons_decode.shards import (
    FINISHED,
    MANIFEST,
    Overview,
    ShardDecoder,
    can_fork,
    find_shards,
    run_shards,
)

LABELS = ["B-X", "I-X", "O"]


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def read_lines(path):
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    return [json.loads(line) for line in content.splitlines()]


@pytest.fixture
def folder(tmp_path):
    """Three shards of numbers, of different sizes, one of them in a subfolder."""
    for name, numbers in {"a.jsonl": range(3), "b.jsonl": range(3, 1200), "sub/c.jsonl.gz": [7]}.items():
        write_lines(tmp_path / "in" / name, [{"number": n} for n in numbers])
    (tmp_path / "in/README.txt").write_text("not a shard")
    write_lines(tmp_path / "in/_notes.jsonl", [{}])
    return tmp_path / "in"


@pytest.fixture
def work(tmp_path):
    return Doubles(str(tmp_path))


def content(out):
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        # A killed worker leaves a hidden file, which the next one to write there removes.
        if path.is_file() and not path.name.startswith(".lcons-")
    }


def test_rows_gain_columns_and_the_manifest_counts_them(folder, work, tmp_path):
    found = run_shards(folder, tmp_path / "out", work, jobs=1)
    assert [one.shard for one in found.finished] == ["a.jsonl", "b.jsonl", "sub/c.jsonl.gz"]
    assert found.failed == ()
    assert found.others == ("README.txt",)
    assert read_lines(tmp_path / "out/a.jsonl") == [{"number": n, "double": 2 * n} for n in range(3)]
    assert read_lines(tmp_path / "out/sub/c.jsonl.gz") == [{"number": 7, "double": 14}]
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert manifest["counts"] == {"tokens": 1201} == found.counts
    assert [one["shard"] for one in manifest["shards"]] == [one.shard for one in found.finished]


def test_what_is_finished_is_not_done_again(folder, work, tmp_path, monkeypatch):
    out = tmp_path / "out"
    run_shards(folder, out, work, jobs=1)
    first, times = content(out), (out / "b.jsonl").stat().st_mtime_ns
    assert all(one.before for one in run_shards(folder, out, work, jobs=1).finished)
    assert (out / "b.jsonl").stat().st_mtime_ns == times

    def done(again=work):
        return [one.shard for one in run_shards(folder, out, again, jobs=1).finished if not one.before]

    (out / "a.jsonl").write_text("altered")
    (out / FINISHED / "sub/c.jsonl.gz.json").write_text("{")
    (out / "b.jsonl").unlink()
    assert done() == ["a.jsonl", "b.jsonl", "sub/c.jsonl.gz"]
    assert content(out) == first
    write_lines(folder / "a.jsonl", [{"number": 5}])
    assert done() == ["a.jsonl"]
    monkeypatch.setattr(Doubles, "settings", lambda self: {"work": "doubles, otherwise"})
    assert len(done()) == 3


@pytest.mark.parametrize(
    "change",
    [{"counts": {"tokens": "3"}}, {"counts": []}, {"shard": 1}, {"shard": "../b"}, "[" * 5000, "7"],
    ids=str,
)
def test_a_note_that_is_altered_is_made_anew(folder, work, tmp_path, change):
    out = tmp_path / "out"
    run_shards(folder, out, work, jobs=1)
    note, expected = out / FINISHED / "a.jsonl.json", content(out)
    altered = change if isinstance(change, str) else json.dumps({**json.loads(note.read_text()), **change})
    note.write_text(altered)
    assert not run_shards(folder, out, work, jobs=1).failed
    assert content(out) == expected


def test_a_line_that_unpacks_to_more_than_the_limit_is_refused(folder, work, tmp_path, monkeypatch):
    monkeypatch.setattr("lcons_decode.shards._lines.LONGEST_LINE", 1000)
    write_lines(folder / "sub/c.jsonl.gz", [{"number": 1, "text": " " * 1000}])
    (failed,) = run_shards(folder, tmp_path / "out", work, jobs=1).failed
    assert "expected lines of at most 1,000 bytes" in failed.why


def test_a_damaged_shard_is_named_and_the_others_finish(folder, work, tmp_path):
    out = tmp_path / "out"
    run_shards(folder, out, work, jobs=1)
    (folder / "a.jsonl").write_text('{"number": 1}\n{"numb')
    write_lines(folder / "d.jsonl", [{"other": 1}])
    (folder / "sub/c.jsonl.gz").write_bytes(gzip.compress(b'{"number": 1}\n' * 100)[:-20])
    found = run_shards(folder, out, work, jobs=1)
    why = {one.shard: one.why for one in found.failed}
    assert why["a.jsonl"].startswith("a.jsonl:2: expected a JSON object")
    assert why["d.jsonl"] == "d.jsonl:1: expected a column 'number', found other; add it."
    assert why["sub/c.jsonl.gz"].startswith(
        "sub/c.jsonl.gz: expected JSON lines compressed by gzip, found dam"
    )
    assert [one.shard for one in found.finished] == ["b.jsonl"]
    # What was finished before the damage is not there any more, and nothing says that the folder is complete.
    assert sorted(content(out)) == [f"{FINISHED}/b.jsonl.json", "b.jsonl"]
    for name in ("a.jsonl", "d.jsonl", "sub/c.jsonl.gz"):
        write_lines(folder / name, [{"number": 1}])
    again = run_shards(folder, out, work, jobs=1)
    assert [one.shard for one in again.finished if one.before] == ["b.jsonl"]
    assert (out / MANIFEST).exists()


def test_a_full_disk_is_named_with_the_shard_and_the_others_finish(folder, work, tmp_path):
    out = tmp_path / "out"
    resource = pytest.importorskip("resource", reason="not on Windows")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        found = run_shards(folder, out, work, jobs=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [one.why for one in found.failed] == [
        "b.jsonl: cannot read or write it: File too large; make room or correct that, and run the same again."
    ]
    assert not (out / "b.jsonl").exists()
    assert len(found.finished) == 2
    again = run_shards(folder, out, work, jobs=1)
    assert [one.shard for one in again.finished if not one.before] == ["b.jsonl"]


@pytest.mark.skipif(sys.platform != "linux", reason="only processes of Linux are copied")
@pytest.mark.parametrize("copies", [True, False])
def test_two_workers_one_of_them_killed_write_the_bytes_of_one(folder, tmp_path, monkeypatch, copies):
    monkeypatch.setattr("lcons_decode.shards._local.can_fork", lambda: copies)
    run_shards(folder, tmp_path / "quiet", Doubles(str(tmp_path)), jobs=1)
    found = run_shards(folder, tmp_path / "out", Doubles(str(tmp_path), kill=800), jobs=2)
    assert (tmp_path / "killed").exists()
    assert found.failed == ()
    assert content(tmp_path / "out") == content(tmp_path / "quiet")


def test_processes_start_before_what_watches_them_which_may_start_a_thread(folder, work, tmp_path):
    seen, before = [], set(active_children())

    def started():
        return set(active_children()) - before

    @contextmanager
    def watched(overview):
        seen.append((str(overview), len(started())))
        yield

    run_shards(folder, tmp_path / "out", work, jobs=2, watched=watched)
    assert seen == [("no shard is begun yet", 2)]
    assert started() == set()


def test_a_process_with_other_threads_or_torch_is_not_copied(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert can_fork()
    monkeypatch.setitem(sys.modules, "torch", sys)
    assert not can_fork()
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert not can_fork()


def test_a_shard_that_kills_every_worker_is_given_up_and_no_copy_replaces_one(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "can_fork", lambda: sys.platform == "linux")
    start, copies = local._start, []

    def started(copied):
        copies.append(copied)
        return start(copied)

    monkeypatch.setattr(local, "_start", started)
    found = run_shards(folder, tmp_path / "out", Doubles(str(tmp_path), kill=800, always=True), jobs=2)
    (failed,) = found.failed
    assert failed.why.startswith(
        "b.jsonl: 3 processes ended early (exit code -9), perhaps for lack of memory"
    )
    assert len(found.finished) == 2
    # By the time that one ends early, the first process may have other threads.
    assert copies[:2] == [sys.platform == "linux"] * 2
    assert len(copies) > 2
    assert not any(copies[2:])


def test_a_bug_in_one_shard_is_told_with_its_traceback(folder, work, tmp_path, monkeypatch):
    monkeypatch.setattr(shard_module, "convert_lines", lambda *_: 1 / 0)
    found = run_shards(folder, tmp_path / "out", work, jobs=1)
    assert "b.jsonl: this is a bug in lcons" in found.failed[1].why
    assert "ZeroDivisionError" in found.failed[1].traceback


def test_wrong_folders_and_engines_are_refused_before_the_work(folder, work, tmp_path):
    with pytest.raises(InvalidInput, match="is within the folder of shards"):
        run_shards(folder, folder / "out", work)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="found no file; name a folder of Parquet"):
        run_shards(tmp_path / "empty", tmp_path / "out", work)
    with pytest.raises(LconsError, match="cannot read"):
        find_shards(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(LconsError, match="cannot write into"):
        run_shards(folder, tmp_path / "file", work)
    with pytest.raises(InvalidInput, match="unknown `backend` 'cloud'"):
        run_shards(folder, tmp_path / "out", work, backend="cloud")
    with pytest.raises(InvalidInput, match="has no address"):
        run_shards(folder, tmp_path / "out", work, address="127.0.0.1:1")


def test_engines_that_are_not_installed_are_named(folder, work, tmp_path, monkeypatch):
    for library in ("distributed", "ray", "pyarrow"):
        monkeypatch.setitem(sys.modules, library, None)
    for backend in ("dask", "ray"):
        with pytest.raises(MissingExtra, match=rf"pip install lcons-decode\[{backend}\]"):
            run_shards(folder, tmp_path / "out", work, backend=backend)
    (folder / "d.parquet").write_bytes(b"")
    monkeypatch.delitem(sys.modules, "lcons_decode.shards._parquet", raising=False)
    with pytest.raises(MissingExtra, match="needs pyarrow"):
        run_shards(folder, tmp_path / "out", work)


def test_progress_is_over_all_workers(folder, work, tmp_path, monkeypatch):
    monkeypatch.setattr(shard_module, "_TELL_SECONDS", 0.0)
    overview = Overview()
    assert str(overview) == "no shard is begun yet"
    seen = []
    share = shard_module._shares
    monkeypatch.setattr(
        shard_module,
        "_shares",
        lambda *given: lambda done: (share(*given)(done), seen.append(str(overview))),  # type: ignore[func-returns-value]
    )
    run_shards(folder, tmp_path / "out", work, jobs=1, overview=overview)
    assert seen[0].startswith("0 of 3 shards (")
    assert " 512 tokens, " in seen[0]
    assert seen[0].endswith(" s to go")
    assert str(overview).startswith("3 of 3 shards (100%), 1,201 tokens")


@pytest.fixture
def scores(tmp_path):
    """Two shards of scores with their own models."""
    rng = np.random.default_rng(1)
    for k, shared in enumerate([{}, {"transition": rng.normal(size=(3, 3)).tolist()}]):
        rows = [{"labels": LABELS, **shared}]
        for i in range(700):
            T = int(rng.integers(0, 7))
            rows.append(
                {"id": i, "emission": rng.normal(size=(T, 3)).tolist(), "words": ["w"] * T, "fold": k}
            )
        write_lines(tmp_path / f"scores/{k}.jsonl", rows)
    return tmp_path / "scores"


def test_shards_of_scores_are_decoded_as_files_of_scores_are(scores, tmp_path):
    constraint = iob2(LABELS)
    run_shards(scores, tmp_path / "out", ShardDecoder(Decoder([constraint])), jobs=1)
    for k in range(2):
        with (scores / f"{k}.jsonl").open("rb") as source:
            answers = list(decode_scored(read_scored(source, "scores"), [constraint]))
        found = read_lines(tmp_path / f"out/{k}.jsonl")
        want = [described(scored, answer) for scored, answer in answers]
        keys = ("id", "words", "labels", "score", "status", "changed")
        assert [{key: row[key] for key in keys} for row in found] == [
            {key: row[key] for key in keys} for row in want
        ]
        assert {row["fold"] for row in found} == {k}
    counts = json.loads((tmp_path / "out" / MANIFEST).read_text())["counts"]
    assert counts["sequences"] == 1400


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"emission": [[0, 0, 0]]}], "scores.jsonl: expected the names of the labels, found none"),
        ([{"labels": ["a"], "more": 1}], "scores.jsonl:1: expected `emission`, or `labels`"),
        ([{"labels": LABELS}, {"emission": [[0]]}], "scores.jsonl:2: expected emission of shape (tokens, 3)"),
        ([{"labels": LABELS}, {"emission": [], "score": 1}], "scores.jsonl:2: expected no column 'score'"),
    ],
)
def test_a_wrong_shard_of_scores_is_one_sentence(rows, message, tmp_path):
    write_lines(tmp_path / "in/scores.jsonl", rows)
    found = run_shards(tmp_path / "in", tmp_path / "out", ShardDecoder(Decoder()), jobs=1)
    assert found.failed[0].why.startswith(message)
