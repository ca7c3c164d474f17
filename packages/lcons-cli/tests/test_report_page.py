"""The page of `lcons report` in a browser: what it shows, what its filters and toggles do, and how it looks.

Skipped where there is no Chromium: `LCONS_CHROMIUM` names one, else one on the PATH is taken. The screenshot
is compared with `report_page.png`, in grey squares; `LCONS_WRITE_REFERENCE=1` writes a new one.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chromium import Browser, find_chromium, grey, png_of, shrunk
from made_runs import make_chunking, make_decoded, make_er, make_synthetic, write_run

from lcons_core import LearnedConstraint, Rules, save
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.report import Constraints, read_document, read_runs, report_page

REFERENCE = Path(__file__).with_name("report_page.png")
SQUARE = 8
# Of 255. Other fonts break lines elsewhere, so single squares may differ much and all of them only a little.
MEAN_TOLERANCE = 8.0
SQUARE_TOLERANCE, SQUARES_BEYOND = 60.0, 0.05

pytestmark = [
    pytest.mark.skipif(
        find_chromium() is None, reason="no Chromium: install one or name it in LCONS_CHROMIUM"
    ),
]

SHOWN = "[...document.querySelectorAll('{}')].filter((one) => one.checkVisibility()).length"
ER, CHUNKING = "#run-1-sentences", "#run-2-sentences"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    run = make_er(folder / "er")
    document = read_document(run)
    again = Constraints("second", ("constraints/split-1-100percent/learned/source-relation.json",))
    sections = [
        replace(one, blocks=(*one.blocks, again)) if one.title == "Constraints" else one
        for one in document.sections
    ]
    write_run(run, replace(document, sections=tuple(sections)))
    made = [run, make_chunking(folder / "chunking")]
    path = folder / "report.html"
    path.write_text(report_page(read_runs(made)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def own_page(tmp_path_factory):
    """Files of one's own: constraints over one space, labels with gold and without; and a synthetic run."""
    folder = tmp_path_factory.mktemp("own")
    pairs = designed()["source-relation"]
    save(pairs, folder / "pairs.json")
    save(LearnedConstraint(Rules(pairs.space).network(), pairs.space), folder / "nothing.json")
    made = [
        folder / "pairs.json",
        make_decoded(folder / "labels.jsonl"),
        make_decoded(folder / "bare.jsonl", "gold", "words"),
        make_synthetic(folder / "synthetic"),
        folder / "nothing.json",
    ]
    path = folder / "report.html"
    path.write_text(report_page(read_runs(made)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(find_chromium() or "", tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def fresh(browser, page):
    """The page as if it had never been seen: a wide window, a light system, nothing remembered."""
    browser.size(1100, 1400)
    browser.prefer("light")
    browser.open(page)
    browser.run("localStorage.clear()")
    browser.problems.clear()
    browser.requests.clear()
    browser.open(page)
    yield browser
    assert browser.problems == []


@pytest.fixture
def shown(browser, page):
    yield from fresh(browser, page)


@pytest.fixture
def own(browser, own_page):
    yield from fresh(browser, own_page)


def count(browser: Browser, selector: str) -> int:
    return browser.run(SHOWN.format(selector))


def click(browser: Browser, selector: str) -> None:
    browser.run(f"document.querySelector('{selector}').click()")


def pressed(browser: Browser, selector: str) -> str:
    return browser.run(f"document.querySelector('{selector}').getAttribute('aria-pressed')")


def choose(browser: Browser, selector: str, value: str) -> None:
    element = f"document.querySelector('{selector}')"
    browser.run(f"{element}.value = '{value}'; {element}.dispatchEvent(new Event('change'))")


def test_it_loads_nothing_but_itself(shown, page):
    assert [url for url in shown.requests if not url.startswith("data:")] == [page.as_uri()]
    assert shown.run("document.documentElement.className") == "js"
    assert count(shown, "section.run") == 2


def test_sentences_are_filtered_by_change_error_and_text(shown):
    items = f"{ER} .sentences > li"
    output = f"document.querySelector('{ER} output').textContent"
    assert count(shown, items) == 3
    assert shown.run(output) == "3 of 4 sentences"
    click(shown, f"{ER} [data-toggle=changed]")
    assert count(shown, items) == 4
    click(shown, f"{ER} [data-toggle=wrong]")
    assert count(shown, items) == 1
    click(shown, f"{ER} [data-toggle=wrong]")
    shown.run(f"document.querySelector('{ER} [data-text]').focus()")
    shown.write("FORT hill")
    assert count(shown, items) == 1
    assert shown.run(output) == "1 of 4 sentences"
    assert count(shown, f"{CHUNKING} .sentences > li") == 1


def test_gold_lines_can_be_hidden(shown):
    assert count(shown, f"{ER} .gold") == 3
    click(shown, f"{ER} [data-toggle=gold]")
    assert pressed(shown, f"{ER} [data-toggle=gold]") == "false"
    assert count(shown, f"{ER} .gold") == 0
    assert count(shown, f"{CHUNKING} .gold") == 1


def test_one_set_of_constraints_is_shown_at_a_time(shown):
    pick = "#run-1-constraints [data-pick=set]"
    assert count(shown, "#run-1-constraints article") == 3
    choose(shown, pick, "1")
    assert count(shown, "#run-1-constraints article") == 1
    assert (
        shown.run("document.querySelector('#run-1-constraints output').textContent") == "1 of 4 constraints"
    )


def test_one_set_leaves_nothing_to_pick(shown):
    assert count(shown, "#run-2-constraints article") == 1
    assert count(shown, "#run-2-constraints select, #run-2-constraints output") == 0
    assert count(shown, f"{CHUNKING} select") == 0
    click(shown, "#run-2-constraints [data-toggle=open]")
    assert count(shown, "#run-2-constraints .heat") > 0


def test_all_parts_of_constraints_can_be_opened(shown):
    opened = "#run-1-constraints .heat"
    assert count(shown, opened) == 0
    click(shown, "#run-1-constraints [data-toggle=open]")
    assert count(shown, opened) == 9
    click(shown, "#run-1-constraints [data-toggle=open]")
    assert count(shown, opened) == 0
    assert count(shown, "#run-1-constraints .matrix") == 3


def test_the_theme_follows_the_system_until_it_is_chosen(shown, page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = shown.run(colour)
    assert pressed(shown, "#theme") == "false"
    shown.prefer("dark")
    dark = shown.run(colour)
    assert dark != light
    # The page hears of it with its next frame.
    shown.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert pressed(shown, "#theme") == "true"
    click(shown, "#theme")
    assert shown.run(colour) == light
    shown.open(page)
    assert shown.run(colour) == light
    shown.prefer("light")
    click(shown, "#theme")
    assert shown.run(colour) == dark


def test_everything_can_be_reached_by_keyboard(shown):
    active = "document.activeElement.className || document.activeElement.textContent"
    shown.press("Tab")
    assert shown.run(active) == "skip"
    assert shown.run("document.activeElement.getBoundingClientRect().left") >= 0
    shown.press("Enter", "\r")
    assert shown.run("document.activeElement.id") == "main"
    shown.press("Tab")
    assert shown.run("document.activeElement.getAttribute('href')") == "#run-1"

    shown.run("document.querySelector('#run-1-sentences [data-text]').focus()")
    shown.press("Tab")
    assert shown.run("document.activeElement.dataset.toggle") == "changed"
    shown.press(" ", " ")
    assert pressed(shown, f"{ER} [data-toggle=changed]") == "false"
    assert count(shown, f"{ER} .sentences > li") == 4
    order = "[...document.querySelectorAll('[tabindex]')].every((one) => one.tabIndex <= 0)"
    assert shown.run(order)


def test_what_has_the_focus_is_outlined(shown):
    shown.press("Tab")
    assert shown.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"


# Captions and links that reach beyond what can be seen of their box, wherever it is scrolled to.
CUT = """(() => {
  const found = [];
  for (const box of document.querySelectorAll(".scroll, header")) {
    box.scrollLeft = 9999;
    const { left, right } = box.getBoundingClientRect();
    for (const one of box.querySelectorAll("caption > div, nav a")) {
      if (!one.checkVisibility()) continue;
      const own = one.getBoundingClientRect();
      if (own.left < left - 1 || own.right > right + 1) found.push(one.textContent);
    }
    box.scrollLeft = 0;
  }
  const theme = document.getElementById("theme").getBoundingClientRect();
  for (const one of document.querySelectorAll("nav a")) {
    const own = one.getBoundingClientRect();
    if (own.right > theme.left && own.top < theme.bottom) found.push(one.textContent);
  }
  return found;
})()"""


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_scrolls_down_only(shown, width):
    shown.size(width, 800, mobile=True)
    click(shown, "#run-1-constraints [data-toggle=open]")
    click(shown, "#run-2-constraints [data-toggle=open]")
    assert shown.run("document.documentElement.scrollWidth") <= width
    assert shown.run("innerWidth") == width
    assert shown.run(CUT) == []
    small = """[...document.querySelectorAll('.toggle, select, input')].filter((one) =>
        one.checkVisibility() && one.getBoundingClientRect().height < 30).length"""
    assert shown.run(small) == 0


CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const paint = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  };
  const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const found = [];
  const texts = "p, td, th, li, mark, mark b, a, button, h1, h2, h3, dt, code, .badge, .verdict";
  for (const one of document.querySelectorAll(texts)) {
    if (!one.checkVisibility() || !one.textContent.trim()) continue;
    const behind = [];
    for (let up = one; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
    const [a, b] = [light(paint(behind)), light(paint([...behind, getComputedStyle(one).color]))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${one.tagName}.${one.className} ${one.textContent.slice(0, 20)} ${ratio}`);
  }
  return found;
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(shown, scheme):
    """WCAG AA: a contrast of at least 4.5."""
    shown.prefer(scheme)
    click(shown, "#run-1-constraints [data-toggle=open]")
    click(shown, "#run-2-constraints [data-toggle=open]")
    assert shown.run(CONTRAST) == []


def test_labels_of_ones_own_have_the_filters_that_they_have_gold_for(own):
    labels, bare = "#run-2-sentences", "#run-3-sentences"
    assert count(own, f"{labels} .sentences > li") == 2
    click(own, f"{labels} [data-toggle=changed]")
    assert count(own, f"{labels} .sentences > li") == 3
    click(own, f"{labels} [data-toggle=wrong]")
    assert count(own, f"{labels} .sentences > li") == 1
    assert count(own, f"{labels} .gold") == 1
    assert count(own, f"{bare} .toggle") == 1
    click(own, f"{bare} [data-toggle=changed]")
    assert own.run(f"document.querySelector('{bare} output').textContent") == "3 of 3 sentences"
    own.run(f"document.querySelector('{bare} [data-text]').focus()")
    own.write("relaxed, breaks")
    assert count(own, f"{bare} .sentences > li") == 1


def test_a_synthetic_run_has_its_curve_as_a_picture_and_as_a_table(own):
    assert count(own, "#run-4-results .chart svg polyline") == 4
    last = "[...document.querySelectorAll('#run-4-results table')].at(-1).textContent"
    assert "the paper" in own.run(last)
    assert "learned constraints" in own.run(last)


@pytest.mark.parametrize("width", [320, 400])
def test_a_page_of_ones_own_fits_a_phone(own, own_page, width):
    own.size(width, 800, mobile=True)
    assert own.run("document.documentElement.scrollWidth") <= width
    assert own.run(CUT) == []
    assert [url for url in own.requests if not url.startswith("data:")] == [own_page.as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_of_a_page_of_ones_own_stands_out(own, scheme):
    own.prefer(scheme)
    assert own.run(CONTRAST) == []


def test_without_its_script_everything_is_there(shown, page):
    shown.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        shown.open(page)
    finally:
        shown.call("Emulation.setScriptExecutionDisabled", value=False)
    assert count(shown, ".controls, #theme") == 0
    assert count(shown, f"{ER} .sentences > li") == 4
    assert count(shown, "#run-1-constraints article") == 4


def test_it_looks_as_it_did(shown):
    shown.run("document.querySelector('#run-1').scrollIntoView({ behavior: 'instant' })")
    found = shrunk(grey(shown.screenshot()), SQUARE)
    if os.environ.get("LCONS_WRITE_REFERENCE"):
        REFERENCE.write_bytes(png_of(found))
    wanted = grey(REFERENCE.read_bytes())
    assert found.shape == wanted.shape
    off = np.abs(found - wanted)
    assert off.mean() <= MEAN_TOLERANCE
    assert (off > SQUARE_TOLERANCE).mean() <= SQUARES_BEYOND


def test_another_look_is_noticed(shown):
    """With its results and constraints gone, it is not the stored page."""
    wanted = grey(REFERENCE.read_bytes())
    shown.run("document.querySelector('#run-1').scrollIntoView({ behavior: 'instant' })")
    gone = "#run-1-results, #run-1-constraints"
    shown.run(f"document.querySelectorAll('{gone}').forEach((one) => one.remove())")
    off = np.abs(shrunk(grey(shown.screenshot()), SQUARE) - wanted)
    assert off.mean() > MEAN_TOLERANCE or (off > SQUARE_TOLERANCE).mean() > SQUARES_BEYOND
