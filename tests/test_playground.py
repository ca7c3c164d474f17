"""The playground page: fresh, the same numbers as lcons_core to the last bit, and usable by everybody.

The browser is Chromium, as for the page of `lcons report`; where there is none, its tests are skipped.
"""

import itertools
import json
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from lcons_core import most_violated, to_inequalities

ROOT = Path(__file__).resolve().parent.parent


def module(name: str, path: str):
    spec = spec_from_file_location(name, ROOT / path)
    found = module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


playground = module("playground", "tools/playground.py")
chromium = module("chromium_of_pages", "packages/lcons-cli/tests/chromium.py")
DATA = json.loads(playground.NETWORKS.read_text())
PAIRS, LABELS, PLANE = DATA["examples"]
needs_browser = pytest.mark.skipif(
    chromium.find_chromium() is None, reason="no Chromium: install one or name it in LCONS_CHROMIUM"
)


def test_the_page_is_that_of_its_parts_and_networks():
    """If not, `./tools/venv python tools/playground.py --page` writes it."""
    assert playground.PAGE.read_text() == playground.page_text(playground.NETWORKS.read_text())


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = chromium.Browser(chromium.find_chromium() or "", tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def page(browser):
    browser.size(1200, 1000)
    browser.prefer("light")
    browser.problems.clear()
    browser.requests.clear()
    browser.open(playground.PAGE)
    yield browser
    assert browser.problems == []
    assert {url for url in browser.requests if not url.startswith("data:")} == {playground.PAGE.as_uri()}


def text(page, selector: str) -> str:
    return page.run(f"document.querySelector('{selector}').textContent")


def click(page, selector: str) -> None:
    page.run(f"document.querySelector('{selector}').click()")


def check(network, points, found) -> int:
    """Compares margins, verdicts, subsets, activations and rows with lcons_core, without tolerance."""
    psi, rows = np.array(points, dtype=np.float64), to_inequalities(network)
    assert [one["margin"] for one in found["points"]] == network.margin(psi).tolist()
    assert [float(network.rational_margin(one)) for one in psi] == network.margin(psi).tolist()
    assert [one["accepted"] for one in found["points"]] == network.accepts(psi).tolist()
    assert [one["activations"] for one in found["points"]] == network.activations(psi).tolist()
    cuts = [most_violated(network, one) for one in psi]
    assert [one["subset"] for one in found["points"]] == [cut.subsets[0].tolist() for cut in cuts]
    assert [one["coefficients"] for one in found["rows"]] == rows.coefficients.tolist()
    assert [one["bias"] for one in found["rows"]] == rows.bias.tolist()
    assert [one["subset"] for one in found["rows"]] == rows.subsets.tolist()
    assert found["values"] == (psi @ rows.coefficients.T + rows.bias).tolist()
    return len(psi)


# What the page is asked, in its own script.
ASK = """(([net, points]) => {
  const { judge, rowsOf, valueAt } = window.playground, rows = rowsOf(net);
  const values = points.map((psi) => rows.map((row) => valueAt(row, psi)));
  return { points: points.map((psi) => judge(net, psi)), rows, values };
})(%s)"""
FRAME = """(({ x, y, width, height }) => [x, y, width, height])(
  document.querySelector("#plane svg").getBoundingClientRect())"""
FOCUS = """((e) => e.id || e.getAttribute("aria-label") || e.name || e.tagName)(document.activeElement)"""
TOO_WIDE = """[...document.querySelectorAll("main *")].filter(
  (e) => !e.closest(".scroll") && e.getBoundingClientRect().right > 401).length"""


def asked(page, net: str, points) -> dict:
    return page.run(ASK % f"[{net}, {json.dumps(points)}]")


@needs_browser
def test_the_page_computes_what_lcons_core_computes(page):
    rng = np.random.default_rng(0)
    compared = 0
    for K, found in PLANE["networks"].items():
        drawn = np.rint(rng.uniform([0, 0], [40, 100], (150, 2)) * 64) / 64
        points = np.concatenate([drawn, [[0, 0], [40, 100]]]).tolist()
        net = f"window.playground.exact(window.playground.DATA.examples[2].networks[{K}])"
        compared += check(playground.read(found), points, asked(page, net, points))
    labels = [[*a, *b] for a, b in itertools.product(np.eye(5).tolist(), repeat=2)]
    for K, found in LABELS["networks"].items():
        net = f"window.playground.exact(window.playground.DATA.examples[1].networks[{K}])"
        compared += check(playground.read(found), labels, asked(page, net, labels))
    assert compared >= 700


@needs_browser
def test_ticking_typing_and_choosing_change_the_verdict(page):
    assert text(page, "#verdict").startswith("✗ Location, Kill: forbidden")
    click(page, "#cell-1-1 input")
    assert text(page, "#verdict").startswith("✓ Location, Kill: allowed")
    assert "Location Kill" in page.run("document.getElementById('pairs').value")
    page.run("at('pairs').value = 'Ship Kill'; at('pairs').dispatchEvent(new Event('input'))")
    assert text(page, "#typed-error") == "Not a pair of this example: Ship Kill"
    click(page, "#examples input[value=labels]")
    page.run("at('sentence').value = 'O B-PER I-PER'; at('sentence').dispatchEvent(new Event('input'))")
    assert text(page, "#typed-error") == "This sequence is allowed: every step is."


@needs_browser
def test_it_works_with_the_keyboard_alone(page):
    seen = []
    for _ in range(60):
        page.press("Tab")
        seen.append(page.run(FOCUS))
    assert {"theme", "example", "units", "b0", "b1"} <= set(seen)
    assert "source Location, relation Kill: valid" in seen
    page.run("document.querySelector('#cell-1-1 input').focus()")
    page.press(" ", " ")
    assert text(page, "#verdict").startswith("✓ Location, Kill: allowed")
    click(page, "#examples input[value=plane]")
    page.run("document.getElementById('handle').focus()")
    for _ in range(12):
        page.press("ArrowLeft")
    assert page.run("Number(at('x0').value)") == 22


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("example", ["pairs", "labels", "plane"])
def test_it_fits_a_phone_in_light_and_dark(page, scheme, example):
    page.size(400, 800, mobile=True)
    page.prefer(scheme)
    page.open(playground.PAGE)
    click(page, f"#examples input[value={example}]")
    assert page.run("document.documentElement.scrollWidth") <= 400
    assert page.run(TOO_WIDE) == 0
    colours = [page.run(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor")]
    ink, ground = (sum(map(int, re.findall(r"\d+", colour)[:3])) / 3 for colour in colours)
    assert (ink - ground > 150) if scheme == "dark" else (ground - ink > 150)
