"""A task of one's own, outside the packages, in one file, by what `lcons_tasks.experiments` offers.

The question: from how many labelled sequences is IOB2 learned? A cell is a seed and a number of sequences.
What it makes is kept by content (`stages`), cells are filled on several cores with progress (`jobs`), their
figures become a table (`tables`), and the run leaves a report, results.json and constraints (`outputs`).
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcons_core import LearnedConstraint, compare, iob2, learn_constraints, load, save
from lcons_core.features import NgramLabels
from lcons_tasks.experiments.engine._jobs import Progress, Tell, run_phase
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.report._outputs import run_folder, write_results
from lcons_tasks.report._text_tables import mean_spread, table

LABELS = ("B-X", "I-X", "B-Y", "I-Y", "O")
# A stage is made again where the source of these modules changes.
CODE = ("lcons_core", __name__)

pytestmark = pytest.mark.xdist_group("task of one's own")


@dataclass(frozen=True)
class Cell:
    """A sample by seed, how many of its sequences are learned from, and K."""

    seed: int
    size: int
    hidden: int = 4


@dataclass(frozen=True)
class Filled:
    """A cell's figures, in percent."""

    cell: Cell
    figures: dict[str, float]


def sequences(seed: int, size: int) -> list[list[str]]:
    """Random valid sequences; the first of a larger sample are the smaller one."""
    rng, scheme, found = np.random.default_rng(seed), iob2(LABELS), []
    while len(found) < size:
        y = [LABELS[i] for i in rng.integers(0, len(LABELS), rng.integers(1, 5))]
        if scheme.satisfied(y):
            found.append(y)
    return found


def constraint(cell: Cell, stages: Stages) -> LearnedConstraint:
    """The constraint of a cell, learned or read."""

    def make(folder: Path) -> None:
        bigrams = NgramLabels(LABELS, n=2, pad=True)
        learned = learn_constraints(
            sequences(cell.seed, cell.size), bigrams, hidden=cell.hidden, seed=cell.seed
        )
        save(learned, folder / "constraint.json")

    return stages.keep("iob2", asdict(cell), CODE, make, lambda folder: load(folder / "constraint.json"))


def fill(cell: Cell, tell: Tell, stages: Stages) -> Filled:
    """The figures of a cell."""
    tell(0.0, "learning")
    learned = constraint(cell, stages)
    tell(0.9, "comparing")
    found = compare(learned, iob2(LABELS))
    held_out = sequences(1_000 + cell.seed, 100)
    return Filled(
        cell,
        {
            "as designed": 100 * (1 - (found.only_a + found.only_b) / found.points),
            "held-out accepted": 100 * float(np.mean([learned.satisfied(y) for y in held_out])),
        },
    )


def run(
    cells: list[Cell], stages: Stages, jobs: int | None = None, progress: Progress | None = None
) -> list[Filled]:
    """The filled cells, in order."""
    names = [f"{cell.size} sequences (seed {cell.seed})" for cell in cells]
    return run_phase("learning", partial(fill, stages=stages), cells, names, jobs, progress)


def write_run(folder: Path, filled: list[Filled], stages: Stages) -> str:
    """Writes the run and returns the report."""
    rows = []
    for size in dict.fromkeys(one.cell.size for one in filled):
        own = [one.figures for one in filled if one.cell.size == size]
        rows.append([str(size), *(mean_spread([one[name] for one in own], 1) for name in own[0])])
    report = "# IOB2 from examples\n\n" + table(["sequences", *filled[0].figures], rows) + "\n"
    results: dict[str, Any] = {"cells": [{**asdict(one.cell), **one.figures} for one in filled]}
    with run_folder(folder):
        for one in filled:
            save(constraint(one.cell, stages), folder / f"{one.cell.size}-{one.cell.seed}.json")
        write_results(folder, report, "iob2", results, {})
    return report


def whole(folder: Path, cache: Path, jobs: int, progress: Progress | None = None) -> str:
    """The experiment: two sizes, two seeds."""
    cells = [Cell(seed, size) for size in (5, 300) for seed in (1, 2)]
    stages = Stages(cache)
    return write_run(folder, run(cells, stages, jobs, progress), stages)


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    """A folder with `run` and `stages` of the experiment, run in this process, and what was heard of it."""
    folder, heard = tmp_path_factory.mktemp("task"), []
    report = whole(
        folder / "run", folder / "stages", 1, lambda *event: heard.append((event[0], event[2].what))
    )
    assert (folder / "run/report.md").read_text() == report
    (folder / "heard.json").write_text(json.dumps(heard))
    return folder


def test_the_run_is_a_report_results_and_constraints(done):
    lines = (done / "run/report.md").read_text().splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "sequences",
        "as designed",
        "held-out accepted",
    ]
    results = json.loads((done / "run/results.json").read_text())
    assert (results["task"], len(results["cells"]), "numpy" in results["versions"]) == ("iob2", 4, True)
    few, _, many, _ = results["cells"]
    assert few["as designed"] < many["as designed"] == 100
    assert load(done / "run/300-1.json").satisfied(["B-X", "I-X", "O"])


def test_progress_comes_from_every_cell(done):
    heard = json.loads((done / "heard.json").read_text())
    assert heard == [["learning", what] for what in ("learning", "comparing", "done")] * 4


def test_what_is_kept_is_not_made_again(done, tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.learn_constraints", None)
    whole(tmp_path / "again", done / "stages", 1)
    for name in ("results.json", "report.md", "300-1.json"):
        assert (tmp_path / "again" / name).read_bytes() == (done / "run" / name).read_bytes()


def test_two_processes_give_the_same_bytes(done, tmp_path):
    code = (
        "import sys; from pathlib import Path; from test_extend_task import whole; "
        "whole(Path(sys.argv[1]), Path(sys.argv[2]), 2)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", code, tmp_path / "run", tmp_path / "stages"]
    subprocess.run(command, env=environment, check=True)
    assert (tmp_path / "run/results.json").read_bytes() == (done / "run/results.json").read_bytes()
