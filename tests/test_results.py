"""The pages of results hold tables as runs write them, and the tool that puts them there."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from lcons_tasks.report._markdown import aligned_table

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(ROOT.glob("docs/results/*.md"))
TOOL = ROOT / "tools" / "results.py"

TABLE, CLAIMS = "| a |  b |\n|---|---:|\n| c | 10 |", "| d |\n|---|\n| e |"
REPORT = f"# Run\n\nF1 by size, in percent:\n\n{TABLE}\n\n## Claims\n\n{CLAIMS}\n"
PAGE = "# P\n\n<!-- table: F1 by size -->\n<!-- end -->\n\n<!-- table other: Claims -->\nkept\n<!-- end -->\n"


@pytest.fixture(scope="module")
def results():
    spec = spec_from_file_location("results", TOOL)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "report.md").write_text(REPORT)
    (tmp_path / "curve.svg").write_text("<svg/>")
    return tmp_path


def parsed(table: str) -> list[list[str]]:
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()]
    return [rows[0], *rows[2:]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_marked_tables_are_laid_out_as_a_run_lays_them_out(page: Path, results):
    for at in results.MARKED.finditer(page.read_text()):
        if at["kind"] == "picture":
            assert (page.parent / re.search(r"\((.*)\)", at["content"])[1]).is_file()
        else:
            head, *rows = [[cell.replace("\\|", "|") for cell in row] for row in parsed(at["content"])]
            assert rows
            assert at["content"] == aligned_table(head, rows) + "\n", at["name"]


def test_a_table_is_replaced_and_those_of_other_runs_stay(run: Path, results):
    page = run / "page.md"
    page.write_text(PAGE)
    assert results.fill(run, page, None) == ["F1 by size"]
    assert page.read_text() == PAGE.replace("by size -->", f"by size -->\n{TABLE}")
    assert results.fill(run, page, "other") == ["Claims"]
    assert page.read_text().endswith(f"{CLAIMS}\n<!-- end -->\n")


def test_the_curve_is_copied_beside_the_page(run: Path, results):
    page = run / "page.md"
    page.write_text("<!-- picture: F1 -->\n<!-- end -->\n")
    results.fill(run, page, None)
    assert "![F1](page.svg)" in page.read_text()
    assert (run / "page.svg").read_text() == "<svg/>"


def test_a_name_without_its_table_is_an_error(results):
    with pytest.raises(SystemExit, match="found 0"):
        results.named("F2", results.tables(REPORT))


def test_a_table_edited_by_hand_is_noticed():
    edited = "| a | b |\n|---|---:|\n| c | 10 |"
    head, *rows = parsed(edited)
    assert aligned_table(head, rows) != edited
