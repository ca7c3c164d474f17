"""A small run of each task has the figures, report, constraints and predictions that it had, and a page."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from golden_files import Golden, fingerprint, lcons
from golden_runs import MAIN_FIGURES, RUNS, figures
from page_outline import outline

from lcons_core import load
from lcons_tasks.report._page import report_page, summary
from lcons_tasks.report._run import read_runs
from lcons_tasks.report._views import Limits

# By task: a command that uses what a run leaves, its input, and how its output begins.
USES = {
    "chunking": ("tag --model {}/tagger --columns word,pos", "The DT\ndog NN\n\n", "The DT B-NP\n"),
    "citation": ("parse --model {}/parser --format tagged", "Stone, A. (1999).\n", "<author> Stone, A."),
    "er": ("extract --model {}/extractor", "[Ann Lee] lives in [Oslo] .\n", '{"text": "Ann Lee lives'),
    "synthetic": ("explain {}/constraints/instance-1/K2.json", None, "- z z7 always holds\n"),
}
# What the POS tagger of `extract` is trained on here.
TAGGED = [(("Ann", "Hill", "works", "in", "Rome", "."), ("NNP", "NNP", "VBZ", "IN", "NNP", "."))]

pytestmark = pytest.mark.parametrize("task", RUNS)


@pytest.mark.usefixtures("golden_processor")
def test_the_figures_are_the_same(task: str, runs: Path, golden: Golden):
    golden.data(f"experiments/{task}/figures.json", figures(runs / task))


@pytest.mark.usefixtures("golden_processor")
def test_the_report_and_the_summary_are_the_same(task: str, runs: Path, golden: Golden):
    report = (runs / task / "report.md").read_text(encoding="utf-8")
    golden.text(f"experiments/{task}/report.md", report)
    summary = (runs / f"{task}.stdout").read_text(encoding="utf-8").replace(str(runs / task), "runs/TASK")
    golden.text(f"experiments/{task}/summary.txt", summary)


def test_the_files_are_the_same(task: str, runs: Path, golden: Golden):
    found = sorted(path.relative_to(runs / task).as_posix() for path in (runs / task).rglob("*.*"))
    golden.text(f"experiments/{task}/files.txt", "".join(f"{name}\n" for name in found))


@pytest.mark.usefixtures("golden_processor")
def test_the_learned_constraints_are_the_same(task: str, runs: Path, golden: Golden):
    paths = sorted((runs / task / "constraints").rglob("*.json"))
    assert paths
    lines = [f"{path.relative_to(runs / task)}: {fingerprint(load(path))}\n" for path in paths]
    golden.text(f"experiments/{task}/constraints.txt", "".join(lines))


@pytest.mark.usefixtures("golden_processor")
def test_the_predictions_are_the_same(task: str, runs: Path, golden: Golden):
    """A line per sentence: its number and a hash of its words and labels."""
    lines = []
    for path in sorted((runs / task).glob("predictions/*")):
        text = path.read_text(encoding="utf-8").strip()
        lines.append(f"{path.name}\n")
        for i, sentence in enumerate(re.split("\n" if path.suffix == ".jsonl" else "\n\n", text), start=1):
            lines.append(f"{i} {hashlib.sha256(sentence.encode()).hexdigest()[:12]}\n")
    golden.text(f"experiments/{task}/predictions.txt", "".join(lines))


def test_what_is_left_serves_its_command(task: str, runs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lcons_tasks.data.text._pos.tagged_corpus", lambda: ("a sentence", TAGGED))
    command, given, expected = USES[task]
    done = lcons("-q", *command.format(runs / task).split(), stdin=given)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(expected)


@pytest.fixture(scope="session")
def pages(runs: Path) -> dict[str, tuple[str, str]]:
    """The page of each run, and what `lcons report --json` prints of it."""
    return {task: report(runs / task) for task in RUNS}


def report(run: Path) -> tuple[str, str]:
    if run.name in ("chunking", "citation"):
        # To say the constraints of these in words takes minutes; other tests do that.
        records = read_runs([run])
        return report_page(records, Limits(sets=0)), json.dumps(summary(records))
    page = run.with_suffix(".html")
    done = lcons("-q", "report", str(run), "--json", "-o", str(page))
    assert done.exit_code == 0, done.output
    return page.read_text(encoding="utf-8"), done.stdout


@pytest.mark.usefixtures("golden_processor")
def test_the_page_of_a_real_run_has_the_same_outline(
    task: str, pages: dict[str, tuple[str, str]], golden: Golden
):
    page, headline = pages[task]
    golden.text(f"experiments/{task}/page.txt", outline(page))
    golden.data(f"experiments/{task}/headline.json", json.loads(headline))


def test_the_page_of_a_real_run_shows_its_figures(task: str, runs: Path, pages: dict[str, tuple[str, str]]):
    """What a run writes is what the page reads."""
    page = pages[task][0].partition("The run's own report")[0]
    words = set(re.split(r"<[^>]*>|\s", page))
    cell = next(iter(figures(runs / task)["cells"].values()))
    shown = [value for name, value in cell.items() if MAIN_FIGURES[task].fullmatch(name)]
    assert len(shown) >= 2
    assert [value for value in shown if not {f"{value:.1f}", f"{value:.2f}"} & words] == []
