"""Stages are kept by content, jobs run in order with progress, tables are aligned."""

import sys
from pathlib import Path

import pytest

from lcons_core._errors import LconsError
from lcons_tasks.experiments.engine import _kept as stages_module
from lcons_tasks.experiments.engine._jobs import Event, run_jobs
from lcons_tasks.experiments.engine._kept import Stages, source_hash, stage_key
from lcons_tasks.report._text_tables import mean_spread, table

CODE = ("lcons_tasks.stats",)


class Counting:
    """Makes a stage's file and counts how often."""

    made = 0

    def make(self, folder: Path) -> None:
        self.made += 1
        (folder / "value").write_text(str(self.made))

    def keep(self, stages: Stages, **inputs) -> str:
        return stages.keep("stage", inputs, CODE, self.make, lambda folder: (folder / "value").read_text())


def test_a_stage_is_made_once_for_the_same_inputs(tmp_path):
    stages, counting = Stages(tmp_path), Counting()
    assert [counting.keep(stages, seed=1), counting.keep(stages, seed=1)] == ["1", "1"]
    assert counting.keep(stages, seed=2) == "2"


def test_changed_code_makes_a_stage_again(tmp_path, monkeypatch):
    stages, counting = Stages(tmp_path), Counting()
    counting.keep(stages, seed=1)
    monkeypatch.setattr(stages_module, "source_hash", lambda module: "other code")
    assert counting.keep(stages, seed=1) == "2"


def test_the_hash_of_code_is_that_of_every_module_of_a_package(tmp_path, monkeypatch):
    (tmp_path / "codepack").mkdir()
    for name, text in {"__init__": "", "one": "x = 1"}.items():
        (tmp_path / "codepack" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    source_hash.cache_clear()
    before = source_hash("codepack")
    (tmp_path / "codepack" / "one.py").write_text("x = 2")
    source_hash.cache_clear()
    assert source_hash("codepack") != before
    sys.modules.pop("codepack", None)
    with pytest.raises(LconsError, match="no module"):
        source_hash("codepack_that_is_not_there")


def test_keys_depend_on_name_inputs_code_and_libraries(monkeypatch):
    codes = [CODE, ("lcons_tasks.data",)]
    keys = {stage_key(name, {"seed": s}, code) for name in ("a", "b") for s in (1, 2) for code in codes}
    monkeypatch.setattr(stages_module, "library_versions", lambda: {"torch": "another"})
    assert len(keys | {stage_key("a", {"seed": 1}, CODE)}) == 9


def test_a_damaged_stage_is_made_again(tmp_path):
    stages, counting = Stages(tmp_path), Counting()
    counting.keep(stages, seed=1)
    for file in tmp_path.glob("*/value"):
        file.unlink()
    assert counting.keep(stages, seed=1) == "2"


def test_of_two_that_make_the_same_stage_the_first_stays(tmp_path):
    stages, counting = Stages(tmp_path), Counting()

    def slow(folder: Path) -> None:
        counting.keep(stages, seed=1)
        (folder / "value").write_text("late")

    read = lambda folder: (folder / "value").read_text()  # noqa: E731
    assert stages.keep("stage", {"seed": 1}, CODE, slow, read) == "1"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_interrupted_stage_leaves_nothing_and_is_made_again(tmp_path):
    stages, counting = Stages(tmp_path), Counting()

    def interrupted(folder: Path) -> None:
        (folder / "value").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stages.keep("stage", {"seed": 1}, CODE, interrupted, lambda folder: None)
    assert list(tmp_path.iterdir()) == []
    assert counting.keep(stages, seed=1) == "1"


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LconsError, match="LCONS_CACHE_DIR"):
        Counting().keep(Stages(tmp_path / "file"), seed=1)


@pytest.fixture
def square():
    """Made inside a function, so that it reaches other processes by value: they cannot import this module."""

    def run(piece: int, tell) -> int:
        tell(0.5, f"squaring {piece}")
        if piece < 0:
            raise ValueError("a negative piece")
        return piece * piece

    return run


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_order_and_every_piece_reports(jobs, square):
    heard: list[Event] = []
    assert run_jobs(square, [3, 1, 2], jobs, heard.append) == [9, 1, 4]
    for index, piece in enumerate([3, 1, 2]):
        own = [(event.share, event.what) for event in heard if event.index == index]
        assert own == [(0.5, f"squaring {piece}"), (1.0, "done")]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_a_piece_reaches_the_caller(jobs, square):
    with pytest.raises(ValueError, match="negative"):
        run_jobs(square, [1, -1], jobs)


def test_no_pieces_give_no_results(square):
    assert run_jobs(square, [], 2) == []


def test_tables_are_aligned():
    lines = table(["", "1%"], [["exact", "82.11"], ["a longer name", "9"]]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert mean_spread([1.0]) == "1.00"
    assert mean_spread([1.0, 3.0], 1) == "2.0 ± 1.4"
