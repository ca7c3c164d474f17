"""The drawn pictures of the documentation are valid, load nothing, and have the figures of the README."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent
SVG = "{http://www.w3.org/2000/svg}"
PICTURES = sorted(ROOT.glob("docs/pictures/*.svg"))


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_valid_and_described_and_loads_nothing(path):
    source = path.read_text()
    root = ElementTree.fromstring(source)
    assert root.get("role") == "img"
    assert [child.tag for child in root[:3]] == [f"{SVG}title", f"{SVG}desc", f"{SVG}style"]
    assert len(root[1].text) > 80
    assert not re.search(r"href|url\(|<script|<image|@import", source)


def test_the_curve_has_the_figures_of_the_readme():
    table = re.search(r"^\| labelled sentences \|.*?\n\n", (ROOT / "README.md").read_text(), re.M | re.S)[0]
    figures = re.findall(r"\d+\.\d", table)
    drawn = (ROOT / "docs/pictures/fit-curve.svg").read_text()
    assert len(figures) > 10
    assert [figure for figure in figures if f": {float(figure):.2f}</title>" not in drawn] == []
