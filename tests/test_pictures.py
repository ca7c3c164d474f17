"""The pictures of the documentation are fresh, valid, described, and readable in light and dark."""

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def pictures():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        spec = spec_from_file_location("pictures", ROOT / "tools/pictures.py")
        found = module_from_spec(spec)
        spec.loader.exec_module(found)
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return found


NAMES = ["fit-curve.svg", "forms.svg", "inequality.svg"]


def test_the_folder_has_these_pictures(pictures):
    assert sorted(path.name for path in pictures.FOLDER.iterdir()) == sorted(pictures.PICTURES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_up_to_date(pictures, name):
    """If not, `./tools/venv python tools/pictures.py` writes it."""
    assert (pictures.FOLDER / name).read_text() == pictures.PICTURES[name]()


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_valid_and_described_and_loads_nothing(pictures, name):
    source = (pictures.FOLDER / name).read_text()
    root = ElementTree.fromstring(source)
    assert root.get("role") == "img"
    assert [child.tag for child in root[:3]] == [f"{SVG}title", f"{SVG}desc", f"{SVG}style"]
    assert len(root[0].text) > 10
    assert len(root[1].text) > 80
    assert not re.search(r"href|url\(|<script|<image|@import", source)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_has_colours_and_a_ground_for_light_and_dark(pictures, name):
    root = ElementTree.fromstring((pictures.FOLDER / name).read_text())
    style = root[2].text
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    named = set(re.findall(r"var\((--\w+)\)", style))
    assert all(f"{colour}:" in light and f"{colour}:" in dark for colour in named)
    assert root[3].get("class") == "ground"
    defined = set(re.findall(r"\.(\w+) \{", style))
    used = {own for element in root.iter() for own in (element.get("class") or "").split()}
    assert used <= defined


def test_every_text_is_inside_its_picture(pictures):
    for name in NAMES:
        root = ElementTree.fromstring((pictures.FOLDER / name).read_text())
        width, height = (float(root.get(side)) for side in ("width", "height"))
        for element in root.findall(f"{SVG}text"):
            assert 0 < float(element.get("x")) < width
            assert 0 < float(element.get("y")) < height


def test_the_curve_has_the_figures_of_the_readme(pictures):
    rows = pictures.table((ROOT / "README.md").read_text())
    assert list(rows)[-1] == "lcons fit"
    assert all(list(row) == [25, 50, 100, 200] for row in rows.values())
    drawn = (pictures.FOLDER / "fit-curve.svg").read_text()
    assert all(f": {value:.2f}</title>" in drawn for row in rows.values() for value in row.values())


def test_the_inequality_is_one_of_the_constraint(pictures):
    own = pictures.Labels()
    drawn = (pictures.FOLDER / "inequality.svg").read_text()
    assert not own.accepts(*pictures.WRONG)
    assert own.accepts(*pictures.RIGHT)
    values = own.rows.coefficients @ own.psi(*pictures.WRONG) + own.rows.bias
    assert f"= {pictures.number(values.min())}</text>" in drawn
    assert "below 0: forbidden" in drawn
    assert "at least 0: holds" in drawn
