"""The page of `lcons report` in a browser: its filters, toggles, keyboard, dark mode and width on a phone.

Skipped where there is no Chromium: `LCONS_CHROMIUM` names one, otherwise one on the PATH is taken.
"""

from dataclasses import replace

import pytest
from chromium import Browser, find_chromium
from made_runs import make_chunking, make_er, write_run

from lcons_tasks.report import read_document
from lcons_tasks.report._document import Constraints
from lcons_tasks.report._page import report_page
from lcons_tasks.report._run import read_runs

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="no Chromium: install one or name it in LCONS_CHROMIUM"
)
SENTENCES, CONSTRAINTS = "#run-1 [data-filter=sentences]", "#run-1 [data-filter=constraints]"
COLOUR = "getComputedStyle(document.body).backgroundColor"
CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const paint = (colours) => {
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...document.querySelectorAll("p, td, th, li, mark, a, button, dt, code, .badge")].filter((one) => {
    if (!one.checkVisibility() || !one.textContent.trim()) return false;
    const behind = [];
    for (let up = one; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
    const [a, b] = [paint(behind), paint([...behind, getComputedStyle(one).color])];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
  }).map((one) => one.outerHTML.slice(0, 80));
})()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Runs of two tasks; the first has two sets of constraints."""
    folder = tmp_path_factory.mktemp("runs")
    run = make_er(folder / "er")
    document = read_document(run)
    again = Constraints("second", ("constraints/split-1-100percent/learned/source-relation.json",))
    sections = [
        replace(one, blocks=(*one.blocks, again)) if one.title == "Constraints" else one
        for one in document.sections
    ]
    write_run(run, replace(document, sections=tuple(sections)))
    path = folder / "report.html"
    path.write_text(report_page(read_runs([run, make_chunking(folder / "chunking")])), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(find_chromium() or "", tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def shown(browser, page):
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


def count(browser: Browser, selector: str) -> int:
    return browser.run(
        f"[...document.querySelectorAll('{selector}')].filter((one) => one.checkVisibility()).length"
    )


def click(browser: Browser, selector: str) -> None:
    browser.run(f"document.querySelector('{selector}').click()")


def test_it_loads_nothing_but_itself(shown, page):
    assert [url for url in shown.requests if not url.startswith("data:")] == [page.as_uri()]
    assert count(shown, "section.run") == 2


def test_sentences_are_filtered_by_change_error_and_text(shown):
    items = f"{SENTENCES} .sentences > li"
    assert count(shown, items) == 3
    click(shown, f"{SENTENCES} [data-toggle=changed]")
    assert count(shown, items) == 4
    click(shown, f"{SENTENCES} [data-toggle=wrong]")
    assert count(shown, items) == 1
    click(shown, f"{SENTENCES} [data-toggle=wrong]")
    shown.run(f"document.querySelector('{SENTENCES} [data-text]').focus()")
    shown.write("FORT hill")
    assert count(shown, items) == 1
    assert count(shown, "#run-2 .sentences > li") == 1
    click(shown, f"{SENTENCES} [data-toggle=gold]")
    assert count(shown, f"{SENTENCES} .gold") == 0


def test_one_set_of_constraints_is_shown_at_a_time_and_all_parts_can_be_opened(shown):
    assert count(shown, f"{CONSTRAINTS} article") == 3
    pick = f"document.querySelector('{CONSTRAINTS} [data-pick=set]')"
    shown.run(f"{pick}.value = '1'; {pick}.dispatchEvent(new Event('change'))")
    assert count(shown, f"{CONSTRAINTS} article") == 1
    parts = f"[...document.querySelectorAll('{CONSTRAINTS} article:not([hidden]) details')]"
    shown.run(f"{parts}.forEach((part) => {{ part.open = false; }})")
    click(shown, f"{CONSTRAINTS} [data-toggle=open]")
    assert shown.run(f"{parts}.every((part) => part.open)")


def test_the_theme_follows_the_system_until_it_is_chosen(shown, page):
    light = shown.run(COLOUR)
    shown.prefer("dark")
    dark = shown.run(COLOUR)
    assert dark != light
    click(shown, "#theme")
    shown.open(page)
    assert shown.run(COLOUR) == light
    shown.prefer("light")
    click(shown, "#theme")
    assert shown.run(COLOUR) == dark


def test_everything_can_be_reached_by_keyboard(shown):
    shown.press("Tab")
    assert shown.run("document.activeElement.className") == "skip"
    assert shown.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    shown.press("Enter", "\r")
    assert shown.run("document.activeElement.id") == "main"
    shown.run(f"document.querySelector('{SENTENCES} [data-text]').focus()")
    shown.press("Tab")
    shown.press(" ", " ")
    assert count(shown, f"{SENTENCES} .sentences > li") == 4


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_scrolls_down_only(shown, width):
    shown.size(width, 800, mobile=True)
    click(shown, f"{CONSTRAINTS} [data-toggle=open]")
    assert shown.run("document.documentElement.scrollWidth") <= width
    small = "[...document.querySelectorAll('.toggle, select, input')].filter((one) => one.checkVisibility()"
    assert shown.run(f"{small} && one.getBoundingClientRect().height < 30).length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(shown, scheme):
    """WCAG AA: a contrast of at least 4.5."""
    shown.prefer(scheme)
    click(shown, f"{CONSTRAINTS} [data-toggle=open]")
    assert shown.run(CONTRAST) == []


def test_without_its_script_everything_is_there(shown, page):
    shown.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        shown.open(page)
    finally:
        shown.call("Emulation.setScriptExecutionDisabled", value=False)
    assert count(shown, ".controls, #theme") == 0
    assert count(shown, f"{SENTENCES} .sentences > li") == 4
