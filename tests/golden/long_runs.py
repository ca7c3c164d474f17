"""The bundled figures of docs/results: the default run of each task, about ten minutes on two cores.

pytest finds this file only where it is named: `./tools/test tests/golden/long_runs.py`.
"""

from pathlib import Path

import pytest
from golden_files import Golden, lcons
from golden_runs import MAIN_FIGURES, figures

TASKS = {task: [] if task == "synthetic" else ["--corpus", "bundled"] for task in MAIN_FIGURES}


@pytest.mark.parametrize("task", TASKS)
def test_the_default_run_has_the_same_main_figures(task: str, tmp_path: Path, golden: Golden):
    done = lcons("-q", "run", task, *TASKS[task], "--out", str(tmp_path / task))
    assert done.exit_code == 0, done.output
    golden.data(f"long_runs/{task}.json", main_figures(tmp_path / task, task))


def main_figures(run: Path, task: str) -> dict[str, dict[str, float]]:
    """The figures of the main table, by cell."""
    cells = figures(run)["cells"].items()
    return {
        cell: {name: value for name, value in found.items() if MAIN_FIGURES[task].fullmatch(name)}
        for cell, found in cells
    }
