"""A task of one's own, outside the packages, in one file, by what `lcons_tasks.experiments.engine` offers.

The question: from how many labelled sequences is IOB2 learned? A cell is a seed and a number of sequences.
What it makes is kept by content, cells are filled on several cores with progress, their record becomes a
document, and the run leaves a report, a page, results.json and constraints. With a line in `EXPERIMENTS` it
would be `lcons run iob2`.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from lcons_cli.run import LazyCommand
from lcons_core import LearnedConstraint, compare, iob2, learn_constraints, load, save
from lcons_core.features import NgramLabels
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, option
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._run import Progress, run, write_run
from lcons_tasks.report._document import Document, Section

LABELS = ("B-X", "I-X", "B-Y", "I-Y", "O")
ROW, DESIGNED, ACCEPTED = "learned", "as designed", "held-out accepted"


@dataclass(frozen=True)
class Options(RunOptions):
    """Samples by seed, how many of their sequences are learned from, and K."""

    needed = ("seeds", "sizes")

    seeds: tuple[int, ...] = option((1, 2), "--seed", "Which sample; several.", least=0)
    sizes: tuple[int, ...] = option((5, 300), "--size", "How many sequences; several.")
    hidden: int = option(4, "--hidden", "Hidden units.", "-K", default=4)


@dataclass(frozen=True)
class Cell:
    """A sample by seed, how many of its sequences are learned from, and K."""

    seed: int
    size: int
    hidden: int

    def __str__(self) -> str:
        return f"{self.size} sequences (seed {self.seed})"


def sequences(seed: int, size: int) -> list[list[str]]:
    """Random valid sequences; the first of a larger sample are the smaller one."""
    rng, scheme, found = np.random.default_rng(seed), iob2(LABELS), []
    while len(found) < size:
        y = [LABELS[i] for i in rng.integers(0, len(LABELS), rng.integers(1, 5))]
        if scheme.satisfied(y):
            found.append(y)
    return found


def constraint(cell: Cell, kept: Stages) -> LearnedConstraint:
    """The constraint of a cell, learned or read."""
    return kept.keep("iob2", asdict(cell), partial(learned, cell))


def learned(cell: Cell) -> LearnedConstraint:
    """The constraint of a cell."""
    bigrams = NgramLabels(LABELS, n=2, pad=True)
    examples = sequences(cell.seed, cell.size)
    return learn_constraints(examples, bigrams, hidden=cell.hidden, seed=cell.seed, evidence=None)


class FromExamples(Experiment[Options, Cell]):
    """From how many sequences IOB2 is learned."""

    name = "iob2"
    options = Options
    leaves = ("constraints",)

    def cells(self, options: Options) -> list[Cell]:
        return [Cell(seed, size, options.hidden) for size in options.sizes for seed in options.seeds]

    def fill(self, cell: Cell, kept: Stages) -> Record:
        learned = constraint(cell, kept)
        found = compare(learned, iob2(LABELS))
        right = [[int(learned.satisfied(y)), 1] for y in sequences(1_000 + cell.seed, 100)]
        values = {
            DESIGNED: 100 * (1 - (found.only_a + found.only_b) / found.points),
            ACCEPTED: float(np.mean(right, axis=0)[0] * 100),
        }
        at = {"size": cell.size, "seed": cell.seed}
        counts = {ACCEPTED: np.array([right])}
        units = tuple(range(len(right)))
        return Record((RecordCell(f"{cell.size}-{cell.seed}", at, {ROW: values}, {}, counts, units),))

    def document(self, options: Options, record: Record) -> Document:
        sizes = {f"{size} sequences": own for size, own in record.by("size").items()}
        tables = tuple(blocks.by_group(measure, sizes, measure, digits=1) for measure in (DESIGNED, ACCEPTED))
        section = Section("Results", tables)
        return Document(
            "IOB2 from examples", self.name, "drawn", "Few sequences, and many.", None, (section,)
        )

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        (folder / "constraints").mkdir(exist_ok=True)
        for cell in self.cells(options):
            save(constraint(cell, kept), folder / f"constraints/{cell.size}-{cell.seed}.json")


EXPERIMENT = FromExamples()


def whole(folder: Path, cache: Path, jobs: int, progress: Progress | None = None) -> Record:
    """The experiment: two sizes, two seeds."""
    kept, options = Stages(cache), Options()
    record = run(EXPERIMENT, options, kept, jobs, progress)
    write_run(folder, EXPERIMENT, options, record, kept)
    return record


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    """A folder with `run` and `stages` of the experiment, run in this process, and what was heard of it."""
    folder, heard = tmp_path_factory.mktemp("task"), []
    whole(folder / "run", folder / "stages", 1, lambda *event: heard.append(event))
    (folder / "heard.json").write_text(json.dumps(heard))
    return folder


def test_the_run_is_a_report_a_page_results_and_constraints(done):
    report = (done / "run/report.md").read_text()
    assert report.startswith("# IOB2 from examples\n")
    assert "| decoder | 5 sequences | 300 sequences |" in report.replace("  ", " ")
    assert (done / "run/report.html").is_file()
    results = json.loads((done / "run/results.json").read_text())
    assert (results["task"], len(results["cells"]), "numpy" in results["versions"]) == ("iob2", 4, True)
    few, _, many, _ = (cell["rows"][ROW] for cell in results["cells"])
    assert few[DESIGNED] < many[DESIGNED] == 100
    assert load(done / "run/constraints/300-1.json").satisfied(["B-X", "I-X", "O"])


def test_progress_comes_from_every_cell(done):
    heard = json.loads((done / "heard.json").read_text())
    assert [event[:3] for event in heard] == [["filling cells", done, 4] for done in (1, 2, 3, 4)]


def test_what_is_kept_is_not_made_again(done, tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.learn_constraints", None)
    whole(tmp_path / "again", done / "stages", 1)
    for path in sorted((done / "run").rglob("*.*")):
        assert (tmp_path / "again" / path.relative_to(done / "run")).read_bytes() == path.read_bytes()


def test_two_processes_give_the_same_bytes(done, tmp_path):
    code = (
        "import sys; from pathlib import Path; from test_extend_task import whole; "
        "whole(Path(sys.argv[1]), Path(sys.argv[2]), 2)"
    )
    paths = [str(Path(__file__).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", code, tmp_path / "run", tmp_path / "stages"]
    subprocess.run(command, env=environment, check=True)
    assert (tmp_path / "run/results.json").read_bytes() == (done / "run/results.json").read_bytes()


def test_its_options_become_a_command(done, tmp_path, monkeypatch):
    class Entry:
        about = "IOB2 from examples."

        @staticmethod
        def load() -> FromExamples:
            return EXPERIMENT

    group = click.Group(commands={"iob2": LazyCommand("iob2", Entry())})
    shown = CliRunner().invoke(group, ["iob2", "--help"]).stdout
    assert "From how many sequences IOB2 is learned." in shown
    assert "--size INTEGER" in shown
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))
    options = [
        "--size",
        "5",
        "--size",
        "9",
        "--seed",
        "1",
        "--jobs",
        "1",
        "--json",
        "--out",
        str(tmp_path / "run"),
    ]
    ended = CliRunner().invoke(group, ["iob2", *options])
    assert ended.exit_code == 0, ended.output
    assert [cell["at"] for cell in json.loads(ended.stdout)["cells"]] == [
        {"size": 5, "seed": 1},
        {"size": 9, "seed": 1},
    ]
