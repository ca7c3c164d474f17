"""Stages are kept by their inputs and by versions, work runs in order with progress, and records, of which
tables, gains, curves and claims are made."""

import os
import signal
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config

from lcons_core import LconsError
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine import _kept
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._run import in_parallel
from lcons_tasks.stats import paired_bootstrap


def kept(stages: Stages, made: list[int], **inputs):
    """The stage of these inputs; `made` grows where it is made."""

    def make() -> np.ndarray:
        made.append(len(made))
        return np.array(made)

    return stages.keep("stage", inputs, make).tolist()


def test_a_stage_is_made_once_for_the_same_inputs_and_versions(tmp_path, monkeypatch):
    stages, made = Stages(tmp_path), []
    assert [kept(stages, made, seed=1), kept(stages, made, seed=1)] == [[0], [0]]
    assert kept(stages, made, seed=2) == [0, 1]
    monkeypatch.setattr(_kept, "library_versions", lambda: {"lcons-tasks": "another"})
    assert kept(stages, made, seed=1) == [0, 1, 2]


def test_a_damaged_stage_is_made_again(tmp_path):
    stages, made = Stages(tmp_path), []
    kept(stages, made, seed=1)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-3])
    assert [kept(stages, made, seed=1), kept(stages, made, seed=1)] == [[0, 1], [0, 1]]


def test_an_interrupted_stage_leaves_nothing(tmp_path):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Stages(tmp_path).keep("stage", {"seed": 1}, interrupted)
    assert list(tmp_path.iterdir()) == []


def test_nobody_else_may_write_into_the_folder_of_stages(tmp_path, monkeypatch):
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path))
    (tmp_path / "stages").mkdir(mode=0o777)
    assert Stages.of_user().folder.stat().st_mode & 0o077 == 0


@pytest.fixture
def squares():
    """Made inside a function, so that it reaches other processes by value: they cannot import this module."""

    def square(number: int) -> int:
        return number * number

    return lambda *numbers: [(str(number), partial(square, number)) for number in numbers]


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_order_and_every_piece_is_reported(jobs, squares):
    events = []
    assert in_parallel("squares", squares(3, 1, 2), jobs, lambda *event: events.append(event)) == [9, 1, 4]
    assert [(phase, done, total) for phase, done, total, _ in events] == [
        ("squares", k, 3) for k in (1, 2, 3)
    ]
    assert sorted(piece for *_, piece in events) == ["1", "2", "3"]


def test_a_process_that_is_killed_is_an_error():
    def killed():
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(LconsError):
        in_parallel("killed", [("x", killed), ("y", killed)], 2)


def test_the_backend_of_joblib_is_used():
    with parallel_config(backend="threading", n_jobs=2):
        assert in_parallel("here", [("x", os.getpid), ("y", os.getpid)], 2) == [os.getpid()] * 2


def cell(name, rows, units=(), **at):
    """A cell with counts (right, total) by row, and their accuracy."""
    counts = {row: np.array(found) for row, found in rows.items()}
    values = {row: {"accuracy": 100 * one[:, 0].sum() / one[:, 1].sum()} for row, one in counts.items()}
    arrays = {"accuracy": np.stack(list(counts.values()))}
    return RecordCell(
        name, at, values, {"sentences": 10}, arrays, tuple(units) or tuple(range(len(counts["a"])))
    )


FEW = cell("few", {"a": [[1, 4], [2, 4]], "b": [[3, 4], [4, 4]]}, ratio=0.1, seed=1)
SAME = cell("same", {"a": [[2, 4], [2, 4]], "b": [[3, 4], [3, 4]]}, ratio=0.1, seed=2)
MANY = cell("many", {"a": [[4, 4], [2, 4]], "b": [[4, 4], [1, 4]]}, ratio=1.0, seed=1)
RECORD = Record((FEW, SAME, MANY), {"corpus": {"name": "toy"}})


def test_a_record_is_one_long_table_that_selects_cells():
    assert [c.name for c in RECORD.where(ratio=0.1).cells] == ["few", "same"]
    assert {ratio: len(own.cells) for ratio, own in RECORD.by("ratio").items()} == {0.1: 2, 1.0: 1}
    assert list(RECORD.by("ratio", "seed")) == [(0.1, 1), (0.1, 2), (1.0, 1)]
    assert RECORD.where(ratio=0.1).figure("b", "accuracy", 90.0).values == (87.5, 75.0)
    assert RECORD.figure("c", "accuracy") is None
    assert Record.joined([Record((FEW,)), Record((SAME,), {"x": 1})]).facts == {"x": 1}


def test_counts_of_a_record_are_arrays_and_equal_records_have_equal_bytes(tmp_path):
    RECORD.save_counts(tmp_path)
    first = (tmp_path / "counts.npz").read_bytes()
    with np.load(tmp_path / "counts.npz") as arrays:
        assert arrays["many|"].tolist() == [0, 1]
        assert arrays["many|accuracy"].tolist() == MANY.counts["accuracy"].tolist()
    RECORD.save_counts(tmp_path)
    assert (tmp_path / "counts.npz").read_bytes() == first


def test_cells_that_test_the_same_units_are_runs_of_one_gain():
    own = RECORD.where(ratio=0.1)
    assert own.gain("b", "a", "accuracy") == paired_bootstrap([[3, 4], [3, 3]], [[1, 2], [2, 2]], [4, 4])


def test_units_that_are_tested_in_some_cells_only_are_drawn_with_all_that_was_answered():
    one, two = (
        cell("one", {"a": [[1, 4], [2, 4]], "b": [[3, 4], [4, 4]]}, units=(7, 2)),
        cell("two", {"a": [[1, 3]], "b": [[2, 3]]}, units=(2,)),
    )
    found = Record((one, two)).gain("b", "a", "accuracy")
    assert found == paired_bootstrap([[4 + 2, 3]], [[2 + 1, 1]], [4 + 3, 4])


def test_claims_are_data_that_are_held_against_a_record():
    beats = {"text": "b beats a", "rows": ["b"], "measure": "accuracy", "over": "a", "above": 0.0}
    statements = [
        beats,
        {**beats, "text": "b beats a at 10%", "at": {"ratio": 0.1}},
        {"text": "b gains 99", "rows": ["b"], "measure": "accuracy", "over": "a", "least": 99.0},
        {"text": "b reaches 60", "rows": ["b"], "measure": "accuracy", "least": 60.0},
        {"text": "b does not help", "rows": ["b"], "measure": "accuracy", "over": "a", "no_clear_gain": True},
        {**beats, "text": "of rows that are not there", "rows": ["c"]},
        {**beats, "text": "of cells that are not there", "at": {"ratio": 0.5}},
    ]
    found = blocks.check(RECORD, statements, "ratio")
    assert [(claim.text, claim.held) for claim in found] == [
        ("b beats a", False),
        ("b beats a at 10%", True),
        ("b gains 99", False),
        ("b reaches 60", True),
        ("b does not help", False),
    ]
    assert found[0].figures.startswith("10% +37.50 [")
    assert found[1].figures == str(RECORD.where(ratio=0.1).gain("b", "a", "accuracy"))
    assert found[3].figures == "10% 81.25, 100% 62.50"
