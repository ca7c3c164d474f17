"""Stages are kept by content and by the code that makes them, jobs run in order with progress, and records,
of which tables, gains, curves and claims are made."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lcons_core._errors import InvalidInput, LconsError
from lcons_tasks.experiments import EXPERIMENTS
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine import _imports
from lcons_tasks.experiments.engine._blocks import Statement
from lcons_tasks.experiments.engine._experiment import RunOptions, flag, option
from lcons_tasks.experiments.engine._imports import code_of
from lcons_tasks.experiments.engine._jobs import Event, run_jobs
from lcons_tasks.experiments.engine._kept import Stages, stage_key
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.stats import bootstrap_f1, paired_bootstrap

CODE = "lcons_tasks.stats"


def forget_code() -> None:
    """What is known of sources, which change in these tests only."""
    for known in (
        code_of,
        _imports.imports,
        _imports.source_hash,
        _imports._homes,
        _imports._text,
        _imports._names,
        _imports._file,
    ):
        known.cache_clear()


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


def test_changed_code_makes_a_stage_again(tmp_path, monkeypatch):
    stages, counting = Stages(tmp_path), Counting()
    counting.keep(stages, seed=1)
    monkeypatch.setattr(_imports, "source_hash", lambda module: "other code")
    assert counting.keep(stages, seed=1) == "2"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose module `stage` imports `direct` at its top, `inside` in a function and `typing_only`
    for type checkers; `direct` imports `behind`."""
    texts = {
        "__init__": "",
        "stage": "from typing import TYPE_CHECKING\nfrom codepack import direct\n"
        "if TYPE_CHECKING:\n    from codepack.typing_only import T\n"
        "def make(folder):\n    from codepack.inside import y\n    import numpy\n",
        "direct": "from .behind import x\n",
        "behind": "x = 1\n",
        "inside": "y = 1\n",
        "typing_only": "T = int\n",
        "apart": "z = 1\n",
    }
    (tmp_path / "codepack").mkdir()
    for name, text in texts.items():
        (tmp_path / "codepack" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    forget_code()
    yield tmp_path / "codepack"
    sys.modules.pop("codepack", None)
    forget_code()


@pytest.mark.parametrize(
    ("module", "counts"),
    [
        ("stage", True),
        ("direct", True),
        ("behind", True),
        ("inside", True),
        ("typing_only", False),
        ("apart", False),
    ],
)
def test_a_key_changes_with_every_module_that_the_stage_runs(package, module, counts):
    before = stage_key("stage", {}, "codepack.stage")
    (package / f"{module}.py").write_text((package / f"{module}.py").read_text() + "# changed\n")
    forget_code()
    assert (stage_key("stage", {}, "codepack.stage") != before) == counts


def test_the_versions_of_imported_libraries_count(package, monkeypatch):
    before = stage_key("stage", {}, "codepack.stage")
    assert code_of("codepack.stage").libraries == {"numpy"}
    monkeypatch.setattr(_imports, "version_of", lambda library: "another")
    assert stage_key("stage", {}, "codepack.stage") != before


def test_a_module_without_source_is_one_sentence():
    with pytest.raises(LconsError, match="source file of module 'codepack_that_is_not_there', found none"):
        code_of("codepack_that_is_not_there")


@pytest.mark.parametrize(
    "module",
    [
        "chunking._model",
        "citation._model",
        "engine._learned",
        "entity_relation._model",
        "synthetic._networks",
    ],
)
def test_training_and_learning_do_not_depend_on_answers_or_reports(module):
    modules = code_of(f"lcons_tasks.experiments.{module}").modules
    assert not [name for name in modules if "report" in name or "_answers" in name or "_experiment" in name]


@pytest.mark.parametrize("task", ["chunking", "citation", "entity_relation", "synthetic"])
def test_answers_do_not_depend_on_how_a_report_is_laid_out(task):
    modules = code_of(f"lcons_tasks.experiments.{task}._answers").modules
    assert f"lcons_tasks.experiments.{task}._experiment" not in modules
    assert {name for name in modules if "lcons_tasks.report" in name} <= {
        "lcons_tasks.report._document",
        "lcons_tasks.report._answer_columns",
    }


def test_keys_depend_on_name_inputs_and_code():
    codes = [CODE, "lcons_tasks.data._sentence"]
    keys = {stage_key(name, {"seed": s}, code) for name in ("a", "b") for s in (1, 2) for code in codes}
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


# Makes and reads the same stages as others do; one of them also removes some, as if they were damaged.
WRITER = """
import sys
from pathlib import Path
from lcons_tasks.experiments.engine._kept import Stages

stages = Stages(Path(sys.argv[1]))
for seed in 3 * list(range(25)):
    def make(folder):
        for part in "abc":
            (folder / part).write_text(f"{seed} {part} " * 200)
    make.__module__ = "lcons_tasks.stats"
    read = lambda folder: [(folder / part).read_text() for part in "abc"]
    assert stages.keep("stage", {"seed": seed}, make, read) == [f"{seed} {part} " * 200 for part in "abc"]
    if sys.argv[2] == "removes":
        for target in list(stages.folder.glob("stage-*"))[::4]:
            stages._remove(target)
"""


def test_several_processes_may_make_remove_and_read_the_same_stages(tmp_path):
    commands = [[sys.executable, "-c", WRITER, str(tmp_path), kind] for kind in ("removes", "reads", "reads")]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    ends = [(writer.communicate()[1], writer.returncode) for writer in writers]
    assert ends == [("", 0)] * 3
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith("stage-")]


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
    heard: list[Event] = []
    assert run_jobs(square, [3, 1, 2], jobs, heard.append) == [9, 1, 4]
    for index, piece in enumerate([3, 1, 2]):
        own = [(event.share, event.what) for event in heard if event.index == index]
        assert own == [(0.5, f"squaring {piece}"), (1.0, "done")]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_a_piece_reaches_the_caller(jobs, square):
    with pytest.raises(ValueError, match="negative"):
        run_jobs(square, [1, -1], jobs)


ENDLESS = """
import os, sys, time
from contextlib import nullcontext
from lcons_tasks.experiments.engine._jobs import engine, run_jobs

def endless(folder):
    def run(piece, tell):
        open(os.path.join(folder, str(os.getpid())), "w").close()
        time.sleep(1000)
    return run

with engine(jobs=2) if sys.argv[2] == "copies" else nullcontext():
    run_jobs(endless(sys.argv[1]), [1, 2], 2)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
@pytest.mark.parametrize("kind", ["copies", "others"])
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_workers_end_with_the_run(name, kind, tmp_path):
    started = subprocess.Popen([sys.executable, "-c", ENDLESS, tmp_path, kind], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    finally:
        started.send_signal(getattr(signal, name))
        started.wait()
    workers = [Path("/proc", path.name) for path in tmp_path.iterdir()]
    wait_until(lambda: not any(worker.exists() for worker in workers))


BEGUN = """
import os, signal, sys, time
from lcons_tasks.experiments.engine._jobs import run_jobs

class Slow:
    # Unpickled by a worker before it begins the piece; by then, the first process is gone.
    def __reduce__(self):
        return sleep, (sys.argv[1], os.getpid())

def sleep(folder, first):
    open(os.path.join(folder, str(os.getpid())), "w").close()
    os.kill(first, signal.SIGKILL)
    time.sleep(1)
    return 0

def endless(piece, tell):
    time.sleep(1000)

run_jobs(endless, [Slow(), Slow()], 2)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_a_worker_that_begins_after_the_run_has_ended_ends_at_once(tmp_path):
    subprocess.run([sys.executable, "-c", BEGUN, tmp_path], stderr=subprocess.DEVNULL)
    wait_until(lambda: list(tmp_path.iterdir()))
    workers = [Path("/proc", path.name) for path in tmp_path.iterdir()]
    wait_until(lambda: not any(worker.exists() for worker in workers))


COPIES = """
import os, signal, sys, time
from lcons_tasks.experiments.engine._jobs import engine, run_beside, run_jobs

def work(piece, tell):
    tell(0.5, "half")
    if piece < 0:
        raise ValueError("a negative piece")
    if piece == 9:
        time.sleep(0.5)
    mark = os.path.join(sys.argv[1], "dead")
    if piece == 3 and not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return piece, os.getpid()

def processes(pieces):
    found = run_jobs(work, pieces, 2)
    assert [piece for piece, _ in found] == pieces, found
    return {process for _, process in found}

with engine(jobs=2) as jobs:
    assert jobs == 2
    copies = processes([0, 1, 2]) | processes([1]) | {run_beside(os.getpid)}
    assert len(copies) <= 2 and os.getpid() not in copies
    try:
        run_jobs(work, [9, -1], 2)  # the next pieces do not receive the result of the first one
    except ValueError as error:
        assert "in work" in error.__notes__[0], error.__notes__
    else:
        sys.exit("no error")
    processes([4, 5, 6, 7])
    assert os.getpid() not in processes([2, 3, 4])
assert run_beside(os.getpid) == os.getpid()
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="copies of a process are safe on Linux alone"
)
def test_copies_of_the_first_process_serve_all_phases_and_survive_errors_and_deaths(tmp_path):
    ended = subprocess.run([sys.executable, "-c", COPIES, tmp_path], capture_output=True, text=True)
    assert (ended.stderr, ended.returncode) == ("", 0)


def wait_until(condition, seconds=60):
    """Returns when the condition holds; fails if it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_no_pieces_give_no_results(square):
    assert run_jobs(square, [], 2) == []


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


def test_counts_that_do_not_fit_are_refused():
    data = json.loads(json.dumps(Record((FEW,)).to_dict()))
    with pytest.raises(InvalidInput, match="need the shape"):
        Record.of(data, {"few|": np.arange(2), "few|accuracy": np.zeros((1, 2, 2), dtype=int)})


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
        "Accuracy", groups, "accuracy", paper=lambda row, group: 80.0 if row == "b" else None
    )
    assert table.columns == ("decoder", "10%", "100%")
    assert [row[0] for row in table.rows] == ["a", "b"]
    assert table.rows[1][1].paper == 80.0
    gains = blocks.gains(groups, [("b", "a"), ("c", "a")], "accuracy")
    assert [(gain.what, gain.where) for gain in gains] == [("b over a", "10%"), ("b over a", "100%")]
    size = lambda cell: 100 * cell.at["ratio"]  # noqa: E731
    curve = blocks.curve("Curve", "data", "accuracy", RECORD, size, {"ours": "b", "none": "c"}, "accuracy")
    assert curve.lines == {"ours": {10.0: 81.25, 100.0: 62.5}}
    assert blocks.curve("Curve", "data", "accuracy", groups["10%"], size, {"ours": "b"}, "accuracy") is None


def test_claims_are_data_that_are_held_against_a_record():
    statements = [
        Statement("b beats a", ("b",), "accuracy", "a", above=0.0),
        Statement("b beats a at 10%", ("b",), "accuracy", "a", above=0.0, at={"ratio": 0.1}),
        Statement("b gains 99", ("b",), "accuracy", "a", least=99.0),
        Statement("b reaches 60", ("b",), "accuracy", least=60.0),
        Statement("b does not help", ("b",), "accuracy", "a", no_clear_gain=True),
        Statement("of rows that are not there", ("c",), "accuracy", "a"),
        Statement("of cells that are not there", ("b",), "accuracy", "a", at={"ratio": 0.5}),
    ]
    found = blocks.check(RECORD, statements, "ratio", blocks.percent)
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


def test_the_code_of_a_stage_is_found_where_a_library_is_not_installed():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from lcons_tasks.experiments.engine._imports import source_hash\n"
        "print(len(source_hash('lcons_decode.kernels._compiled.hard')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("64\n", 0), done.stderr
