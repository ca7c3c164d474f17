"""Stages are kept by their inputs and by versions, jobs run in order with progress, and records, of which
tables, gains, curves and claims are made."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config

from lcons_core import InvalidInput, LconsError
from lcons_tasks.experiments import EXPERIMENTS
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine import _kept
from lcons_tasks.experiments.engine._experiment import RunOptions, flag, option
from lcons_tasks.experiments.engine._jobs import Event, run_phase
from lcons_tasks.experiments.engine._kept import Stages, stage_key
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.stats import bootstrap_f1, paired_bootstrap


class Counting:
    """Makes a stage's file and counts how often."""

    made = 0

    def make(self, folder: Path) -> None:
        self.made += 1
        (folder / "value").write_text(str(self.made))

    def keep(self, stages: Stages, **inputs) -> str:
        return stages.keep("stage", inputs, self.make, lambda folder: (folder / "value").read_text())


def test_a_stage_is_made_once_for_the_same_inputs(tmp_path):
    stages, counting = Stages(tmp_path), Counting()
    assert [counting.keep(stages, seed=1), counting.keep(stages, seed=1)] == ["1", "1"]
    assert counting.keep(stages, seed=2) == "2"


@pytest.mark.parametrize(
    "alter",
    [
        lambda folder: (folder / "value").write_text("7"),
        lambda folder: (folder / "more").write_text("7"),
        lambda folder: (folder / "digests.json").write_text("{}"),
        lambda folder: (folder / "digests.json").unlink(),
    ],
    ids=["another digit", "another file", "no digests", "digests gone"],
)
def test_an_altered_stage_is_made_again(alter, tmp_path):
    stages, counting = Stages(tmp_path), Counting()
    counting.keep(stages, seed=1)
    (folder,) = tmp_path.iterdir()
    alter(folder)
    assert counting.keep(stages, seed=1) == "2"
    assert counting.keep(stages, seed=1) == "2"


def test_another_version_makes_a_stage_again(tmp_path, monkeypatch):
    stages, counting = Stages(tmp_path), Counting()
    counting.keep(stages, seed=1)
    monkeypatch.setattr(_kept, "library_versions", lambda: {"lcons-tasks": "another"})
    assert counting.keep(stages, seed=1) == "2"


def test_keys_depend_on_name_inputs_and_module():
    modules = ["lcons_tasks.stats", "lcons_tasks.data._sentence"]
    keys = {stage_key(name, {"seed": s}, module) for name in "ab" for s in (1, 2) for module in modules}
    assert len(keys) == 8


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
    assert stages.keep("stage", {"seed": 1}, slow, read) == "1"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_interrupted_stage_leaves_nothing_and_is_made_again(tmp_path):
    stages, counting = Stages(tmp_path), Counting()

    def interrupted(folder: Path) -> None:
        (folder / "value").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stages.keep("stage", {"seed": 1}, interrupted, lambda folder: None)
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
    heard: list[tuple[str, Event]] = []
    report = lambda phase, names, event: heard.append((f"{phase} {names[event.index]}", event))  # noqa: E731
    assert run_phase("squares", square, [3, 1, 2], ["x", "y", "z"], jobs, report) == [9, 1, 4]
    for index, piece in enumerate([3, 1, 2]):
        events = [(event.share, event.what) for name, event in heard if name == f"squares {'xyz'[index]}"]
        # Pieces of other processes are reported when they are done.
        assert events == [(0.5, f"squaring {piece}")] * (jobs == 1) + [(1.0, "done")]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_a_piece_reaches_the_caller(jobs, square):
    with pytest.raises(ValueError, match="negative"):
        run_phase("squares", square, [1, -1], "xy", jobs)


def test_a_process_that_is_killed_is_one_sentence():
    def killed(piece, tell):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(LconsError, match=r"a process ended early.*finished stages are kept"):
        run_phase("killed", killed, [1, 2], "xy", 2)


def test_the_backend_of_joblib_is_used(square):
    with parallel_config(backend="threading", n_jobs=2):
        process = run_phase("here", lambda piece, tell: os.getpid(), [1, 2, 3], "xyz", 2)
    assert process == [os.getpid()] * 3


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
    assert RECORD.long[0] == ("few", "a", "accuracy", 37.5)
    assert len(RECORD.long) == 6
    assert [c.name for c in RECORD.where(ratio=0.1).cells] == ["few", "same"]
    assert {ratio: len(own.cells) for ratio, own in RECORD.by("ratio").items()} == {0.1: 2, 1.0: 1}
    assert list(RECORD.by("ratio", "seed")) == [(0.1, 1), (0.1, 2), (1.0, 1)]
    assert RECORD.where(ratio=0.1).figure("b", "accuracy", 90.0).values == (87.5, 75.0)
    assert RECORD.figure("c", "accuracy") is None
    assert Record.joined([Record((FEW,)), Record((SAME,), {"x": 1})]).facts == {"x": 1}


def test_a_record_survives_its_files_with_counts(tmp_path):
    RECORD.save(tmp_path)
    again = Record.load(tmp_path)
    assert again.to_dict() == RECORD.to_dict()
    assert again.long == RECORD.long
    assert again.gain("b", "a", "accuracy") == RECORD.gain("b", "a", "accuracy")
    first = (tmp_path / "counts.npz").read_bytes()
    again.save(tmp_path)
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


def test_f1_gains_leave_out_units_that_count_nothing():
    counts = np.array([[[[1, 2, 2], [0, 0, 0], [1, 1, 1]]], [[[2, 2, 2], [0, 0, 0], [0, 1, 1]]]])[:, 0]
    one = RecordCell("x", {}, {"a": {"f1": 1.0}, "b": {"f1": 2.0}}, {}, {"f1": counts}, (5, 6, 9))
    expected = bootstrap_f1([counts[1][[0, 2]]], [counts[0][[0, 2]]])
    assert Record((one,)).gain("b", "a", "f1") == expected


def test_tables_gains_and_curves_are_blocks_of_a_document():
    groups = {"10%": RECORD.where(ratio=0.1), "100%": RECORD.where(ratio=1.0)}
    table = blocks.by_group(
        "Accuracy", groups, "accuracy", paper=lambda row, measure, at: 80.0 if row == "b" else None
    )
    assert table.columns == ("decoder", "10%", "100%")
    assert [row[0] for row in table.rows] == ["a", "b"]
    assert table.rows[1][1].paper == 80.0
    gains = blocks.gains(groups, [("b", "a"), ("c", "a")], "accuracy")
    assert [(gain.what, gain.where) for gain in gains.gains] == [("b over a", "10%"), ("b over a", "100%")]
    size = lambda cell: 100 * cell.at["ratio"]  # noqa: E731
    curve = blocks.curve("Curve", "data", "accuracy", RECORD, size, {"ours": "b", "none": "c"}, "accuracy")
    assert curve.lines == {"ours": {10.0: 81.25, 100.0: 62.5}}
    assert blocks.curve("Curve", "data", "accuracy", groups["10%"], size, {"ours": "b"}, "accuracy") is None


def test_claims_are_data_that_are_held_against_a_record():
    _ten, _none = {"ratio": 0.1}, {"ratio": 0.5}
    statements = [
        {"text": "b beats a", "rows": ["b"], "measure": "accuracy", "over": "a", "above": 0.0},
        {
            "text": "b beats a at 10%",
            "rows": ["b"],
            "measure": "accuracy",
            "over": "a",
            "above": 0.0,
            "at": {"ratio": 0.1},
        },
        {"text": "b gains 99", "rows": ["b"], "measure": "accuracy", "over": "a", "least": 99.0},
        {"text": "b reaches 60", "rows": ["b"], "measure": "accuracy", "least": 60.0},
        {"text": "b does not help", "rows": ["b"], "measure": "accuracy", "over": "a", "no_clear_gain": True},
        {"text": "of rows that are not there", "rows": ["c"], "measure": "accuracy", "over": "a"},
        {
            "text": "of cells that are not there",
            "rows": ["b"],
            "measure": "accuracy",
            "over": "a",
            "at": {"ratio": 0.5},
        },
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


@dataclass(frozen=True)
class Options(RunOptions):
    """Options of a test."""

    needed = ("seeds",)

    corpus: str = option("bundled", flag("--corpus", "Which.", default="auto"))
    seeds: tuple[int, ...] = option((1, 2), flag("--seed", "Seeds."))

    def check(self) -> None:
        if min(self.seeds) < 0:
            raise InvalidInput("seeds are at least 0.")

    @classmethod
    def start(cls, full, corpus="auto"):
        return cls(corpus, (1, 2, 3)) if full else cls(corpus)


def test_options_are_distinct_checked_and_filled_by_what_is_given():
    assert Options(seeds=(1, 1, 2)).seeds == (1, 2)
    assert Options.chosen({"corpus": "own"}, full=True) == Options("own", (1, 2, 3))
    assert Options.chosen({"seeds": (7,)}) == Options("auto", (7,))
    for wrong in ((), (-1,)):
        with pytest.raises(InvalidInput, match="seeds"):
            Options(seeds=wrong)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_found_by_its_name_and_has_what_a_command_needs(name):
    experiment = EXPERIMENTS[name].load()
    assert experiment.name == name
    assert "Example:" in experiment.__doc__
    assert EXPERIMENTS[name].about.endswith(".")
    assert isinstance(experiment.options(), RunOptions)
