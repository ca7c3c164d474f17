"""A task of one's own, outside the packages: the folder `iob2_task` beside this file.

The question: from how many labelled sequences is IOB2 learned? A cell is a seed and a number of sequences.
With a line in `EXPERIMENTS` the task would be `lcons run iob2`.
"""

import json
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from lcons_cli.run import command_of
from lcons_core import load
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.experiments.engine._run import Progress, run, write_run

sys.path.insert(0, str(Path(__file__).parent))
from iob2_task.experiment import DESIGNED, EXPERIMENT, ROW, Options


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
    monkeypatch.setattr("iob2_task.experiment.learn_constraints", None)
    whole(tmp_path / "again", done / "stages", 1)
    for path in sorted((done / "run").rglob("*.*")):
        assert (tmp_path / "again" / path.relative_to(done / "run")).read_bytes() == path.read_bytes()


def test_its_options_become_a_command(done, tmp_path, monkeypatch):
    group = click.Group(commands={"iob2": command_of(EXPERIMENT)})
    shown = CliRunner().invoke(group, ["iob2", "--help"]).stdout
    assert "From how many sequences IOB2 is learned." in shown
    assert "--size INTEGER" in shown
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))
    options = ["iob2", "--size", "5", "--size", "9", "--seed", "1", "--jobs", "2", "--json", "--out"]
    ended = CliRunner().invoke(group, [*options, str(tmp_path / "run")])
    assert ended.exit_code == 0, ended.output
    cells = [cell["at"] for cell in json.loads(ended.stdout)["cells"]]
    assert cells == [{"size": 5, "seed": 1}, {"size": 9, "seed": 1}]
