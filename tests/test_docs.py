"""The README is short, links lead somewhere, and pages that are made from code are those of now."""

import ast
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "packages/*/*.md", "packages/*/src/**/*.md")
    for path in ROOT.glob(pattern)
)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return FENCED.sub("", text)


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as GitHub and mkdocs make them."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    words = [re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower() for heading in headings]
    return {re.sub(r"\s", "-", heading) for heading in words}


def broken_links(pages: dict[str, str]) -> list[tuple[str, str]]:
    """(page, link) of the links within the repository that lead to no file, or to no heading of a page."""
    found = []
    for name, text in pages.items():
        for link in LINK.findall(prose(text)):
            if "://" in link or link.startswith("mailto:"):
                continue
            path, _, anchor = link.partition("#")
            target = (ROOT / name).parent / path if path else ROOT / name
            if path and not target.exists():
                found.append((name, link))
            elif anchor and target.suffix == ".md":
                to = str(target.resolve().relative_to(ROOT))
                if anchor not in anchors(pages[to] if to in pages else target.read_text()):
                    found.append((name, link))
    return found


def test_links_within_the_documents_lead_somewhere():
    pages = {name: (ROOT / name).read_text() for name in PAGES}
    assert sum(len(LINK.findall(prose(text))) for text in pages.values()) > 100
    assert broken_links(pages) == []


def test_every_example_is_short_and_named_by_a_page():
    examples = sorted(ROOT.glob("packages/*/examples/*.py"))
    assert len(examples) > 15
    assert [one.name for one in examples if len(one.read_text().splitlines()) > 20] == []
    named = {
        link.rpartition("/")[2]
        for page in ROOT.glob("docs/how-to/*.md")
        for link in LINK.findall(page.read_text())
    }
    assert [one.name for one in examples if one.name not in named] == []


def test_the_readme_is_short_and_begins_with_what_can_be_run():
    lines = README.splitlines()
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 120] == []
    assert lines.index("```console") < 40
    words = re.sub(r"\]\([^)]*\)", "]", prose(README))
    assert len(re.findall(r"\d+(?:[.,]\d+)*", words)) <= 15


def test_the_curve_of_the_readme_has_the_figures_of_its_page():
    """Figures that were measured again are changed in both places."""
    drawing = (ROOT / "docs/pictures/fit-curve.svg").read_text()
    page = (ROOT / "docs/results/suite.md").read_text()
    figures = re.findall(r"sentences (\d+\.\d)", drawing)
    assert len(figures) == 12
    assert [figure for figure in figures if figure not in page] == []


@pytest.mark.parametrize("tool", ["llms", "reference"])
def test_pages_that_a_program_writes_are_those_of_now(tool):
    done = subprocess.run([sys.executable, str(ROOT / f"tools/{tool}.py"), "--check"], cwd=ROOT)
    assert done.returncode == 0, "run ./tools/docs write"


def test_the_errors_in_the_questions_are_those_of_the_code():
    sources = ROOT.glob("packages/*/src/**/*.py")
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text()))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    errors = re.findall(r"^### `(.*)`$", (ROOT / "docs/faq.md").read_text(), re.MULTILINE)
    assert len(errors) > 9
    assert [error for error in errors if not any(error in text for text in texts)] == []


def tool(name: str) -> Any:
    """A program of tools/site, which is no package."""
    spec = spec_from_file_location(name, ROOT / f"tools/site/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_site_has_the_public_names_of_the_three_packages_and_at_most_thirty_pages():
    text = "".join(tool("pages").references().values())
    names = (ROOT / "tests/golden/expected/public_names.txt").read_text().split()
    homes = {name.rpartition(".")[0] for name in names} - {"lcons_cli"}
    assert [home for home in homes if f"::: {home}\n" not in text] == []
    assert "constrained_viterbi" in text
    pages = re.findall(r"^ +- .*\.md$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert 20 < len(pages) <= 30


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.html", '<a href="https://x.y">x</a><link rel="canonical" href="https://x.y">', 0),
        ("a.html", '<script src="https://x.y/z.js"></script><img src="//x.y/z.png">', 2),
        ("a.html", '<link rel="stylesheet" href="https://x.y/z.css"><style>@import "//x.y";</style>', 2),
        ("a.css", "a { background: url(data:abc) } b { src: url('https://x.y/z.woff') }", 1),
        ("a.svg", '<svg xmlns="http://www.w3.org/2000/svg"><image href="https://x.y/z.png"/></svg>', 1),
    ],
)
def test_requests_to_other_places_are_noticed(tmp_path, name, text, found, capsys):
    (tmp_path / name).write_text(text)
    assert tool("outside").main(str(tmp_path)) == (1 if found else 0)
    assert f": {found} requests to other places" in capsys.readouterr().out
