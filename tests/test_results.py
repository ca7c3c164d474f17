"""The pages of results hold tables as runs write them, and the tool that puts them there."""

import json
import re
from dataclasses import asdict
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import click
import pytest

from lcons_cli.run import run as commands
from lcons_cli.run import values
from lcons_tasks.experiments import EXPERIMENTS
from lcons_tasks.report._text import aligned_table

ROOT = Path(__file__).resolve().parent.parent
# The page of the protocol has definitions, no figures.
PAGES = [page for page in sorted(ROOT.glob("docs/results/*.md")) if page.name != "protocol.md"]
TOOL = ROOT / "tools" / "results.py"

TABLE, CLAIMS = "| a |  b |\n|---|---:|\n| c | 10 |", "| d |\n|---|\n| e |"
REPORT = f"# Run\n\nF1 by size, in percent:\n\n{TABLE}\n\n## Claims\n\n{CLAIMS}\n"
PAGE = "# P\n\n<!-- table: F1 by size -->\n<!-- end -->\n\n<!-- table other: Claims -->\nkept\n<!-- end -->\n"
COMMAND = re.compile(r"```sh\n(?:[A-Z_]+=\S+ )?\./tools/\S+ .+\n```\n")


@pytest.fixture(scope="module")
def results():
    spec = spec_from_file_location("results", TOOL)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "report.md").write_text(REPORT)
    return tmp_path


def parsed(table: str) -> list[list[str]]:
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()]
    return [rows[0], *rows[2:]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_marked_tables_are_laid_out_as_a_run_lays_them_out(page: Path, results):
    for at in results.MARKED.finditer(page.read_text()):
        if at["kind"] == "table":
            name, _, rows = at["name"].partition("; rows: ")
            whole = [other for other in results.MARKED.finditer(page.read_text()) if other["name"] == name]
            assert not rows or results.with_rows(whole[0]["content"], rows) + "\n" == at["content"]
            head, *rows = [[cell.replace("\\|", "|") for cell in row] for row in parsed(at["content"])]
            assert rows
            assert at["content"] == aligned_table(head, rows) + "\n", at["name"]


def unexplained(page: str, results) -> list[str]:
    """The lines of tables that no run writes, and the runs without a command."""
    found = list(results.MARKED.finditer(page))
    outside = re.sub(r"<!-- published -->.*?<!-- end -->", "", results.MARKED.sub("", page), flags=re.DOTALL)
    commands = [at["run"] for at in found if at["kind"] == "command" and COMMAND.fullmatch(at["content"])]
    runs = {at["run"] for at in found}
    return [
        *(line for line in outside.splitlines() if line.lstrip().startswith("|")),
        *(f"run {run}" for run in runs if commands.count(run) != 1),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_table_is_written_by_a_command_that_the_page_names(page: Path, results):
    assert unexplained(page.read_text(), results) == []


def test_a_table_is_replaced_and_those_of_other_runs_stay(run: Path, results):
    page = run / "page.md"
    page.write_text(PAGE)
    assert results.fill(run, page, None) == ["F1 by size"]
    assert page.read_text() == PAGE.replace("by size -->", f"by size -->\n{TABLE}")
    assert results.fill(run, page, "other") == ["Claims"]
    assert page.read_text().endswith(f"{CLAIMS}\n<!-- end -->\n")


OPTIONS = {
    "chunking": ["--ratio", "0.5", "--seed", "3", "--base", "linear"],
    "citation": ["--seed", "3", "--base", "words"],
    "er": ["--split", "4"],
    "synthetic": ["--hidden", "2"],
    "suite": ["--set", "chunking", "--starts", "1"],
}


@pytest.mark.parametrize("task", OPTIONS)
@pytest.mark.parametrize("given", [[], ["--full"], None], ids=["none", "full", "some"])
def test_the_command_of_a_run_gives_its_options_again(task: str, given: list[str] | None, results):
    corpus = [] if task == "synthetic" else ["--corpus", "bundled"]
    words = [*corpus, *(OPTIONS[task] if given is None else given)]
    options = understood(task, words)
    tool, run, name, *rest = results.command({"task": task, "options": as_json(options)}).split()
    assert (tool, run, name) == ("./tools/lcons", "run", task)
    assert understood(task, rest) == options
    if given is not None:
        assert rest == words


def as_json(options) -> dict:
    return json.loads(json.dumps(asdict(options)))


def understood(task: str, words: list[str]):
    """The options of the run that the command line would do."""
    command = commands.get_command(click.Context(commands), task)
    given = command.make_context(task, [*words], help_option_names=["-h", "--help"]).params
    kind = EXPERIMENTS[task].load().options
    return kind.chosen(values(kind, given), given["full"])
