"""The whole page: what runs are about, runs of one task beside each other, and one after another.

The page stands by itself. Its policy forbids everything but its own styles, its own script, known by its
hash, and pictures that are part of it, so nothing is loaded and no label of a run can do anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from lcons_tasks.report._agreement import Plan, agreement_view, plan
from lcons_tasks.report._curves import curve_view, joint_curve
from lcons_tasks.report._figures import View
from lcons_tasks.report._html import Html, element, joined
from lcons_tasks.report._provenance import corpus_name, headed
from lcons_tasks.report._results import card, overview, side_by_side
from lcons_tasks.report._run import CONSTRAINT, Run
from lcons_tasks.report._sections import run_section
from lcons_tasks.report._shown import Limits, shown_sets
from lcons_tasks.report._views import view_of

Progress = Callable[[int, int, str], None]
Say = Callable[[str], None]


def report_page(
    runs: Sequence[Run],
    limits: Limits | None = None,
    progress: Progress | None = None,
    say: Say | None = None,
) -> str:
    """The page of some runs; the same runs give the same text. `progress` hears (done, total, what), `say`
    what is shown of each run and what is left out."""
    limits = limits or Limits()
    hear: Say = say or (lambda _: None)
    views = {run.name: view_of(run) for run in runs}
    planned = comparisons(runs, limits)
    total = len(constraint_files(runs, limits)) + len(planned.pairs)
    done = 0

    def tell(what: str) -> None:
        nonlocal done
        if progress is not None:
            progress(done, total, what)
        done += 1

    sections = [run_section(run, views[run.name], i, limits, tell, hear) for i, run in enumerate(runs, 1)]
    together = _together(runs, views, planned, tell)
    if len(runs) > 1:
        hear(str(planned))
    tell("done")
    return _document(runs, views, together, sections)


def constraint_files(runs: Sequence[Run], limits: Limits | None = None) -> list[Path]:
    """The constraint files that a page would show, which are most of its work."""
    limits = limits or Limits()
    return [path for run in runs for one in shown_sets(run, view_of(run), limits) for path in one.files]


def comparisons(runs: Sequence[Run], limits: Limits | None = None) -> Plan:
    """Which constraints of different runs a page would compare."""
    limits = limits or Limits()
    return plan({run.name: shown_sets(run, view_of(run), limits) for run in runs})


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """The headlines of the runs as plain data."""
    return {"runs": [_summarised(run, view_of(run)) for run in runs]}


def _summarised(run: Run, view: View) -> dict[str, Any]:
    found: dict[str, Any] = {"run": run.name, "task": run.task, "corpus": corpus_name(run)}
    if view.said:
        found["said"] = view.said
    head = view.headline
    if head is not None:
        gain = head.gain
        found |= {
            "measure": head.measure,
            "without constraints": {"values": list(head.without.values), "paper": head.without.paper},
            "with constraints": {"values": list(head.within.values), "paper": head.within.paper},
            "gain": None if gain is None else {"mean": gain.mean, "low": gain.low, "high": gain.high},
            "paper's corpus": view.paper_corpus is None and not run.is_file,
        }
    return found


def _document(
    runs: Sequence[Run], views: Mapping[str, View], together: Html | None, sections: Sequence[Html]
) -> str:
    style, script = _asset("style.css"), _asset("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    links = [("#overview", "Overview")]
    links += [("#together", "Side by side")] if together is not None else []
    links += [(f"#run-{i}", run.name) for i, run in enumerate(runs, 1)]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", "lcons: " + ", ".join(run.name for run in runs)),
        Html(f"<style>\n{style}</style>"),
    )
    body = element(
        "body",
        element("a", "Skip to the results", href="#main", class_="skip"),
        _header(links),
        element("main", _overview(runs, views), together, *sections, id="main", tabindex="-1"),
        Html(f"<script>{script}</script>"),
    )
    page = f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"
    # Text that UTF-8 cannot hold would leave no page at all.
    return page.encode("utf-8", "replace").decode("utf-8")


def _asset(name: str) -> str:
    return (resources.files("lcons_tasks.report") / name).read_text(encoding="utf-8")


def _header(links: Sequence[tuple[str, str]]) -> Html:
    toggle = element(
        "button", "Dark", type="button", id="theme", aria_pressed="false", class_="toggle needs-script"
    )
    entries = [element("li", element("a", name, href=where)) for where, name in links]
    return element(
        "header",
        element("p", "lcons ", element("span", "report"), class_="brand"),
        element("nav", element("ul", *entries), aria_label="Sections"),
        toggle,
    )


def _overview(runs: Sequence[Run], views: Mapping[str, View]) -> Html:
    cards = [
        element(
            "div",
            element("h2", element("a", run.name, href=f"#run-{i}")),
            element("p", headed(run, view), class_="note"),
            None if view.headline is None else card(view.headline, view.paper_corpus is None),
            element("p", f"{view.said}.", class_="note" if view.headline else None) if view.said else None,
        )
        for i, (run, view) in enumerate(zip(runs, views.values(), strict=True), 1)
    ]
    corpora = {run.name: corpus_name(run) for run in runs}
    # What is said of a constraint file is its size.
    measured = any(
        view.headline is not None or (view.said and run.task != CONSTRAINT)
        for run, view in zip(runs, views.values(), strict=True)
    )
    return element(
        "section",
        element("h1", "What the constraints did" if measured else "What was learned"),
        element("div", *cards, class_="cards"),
        overview(views, corpora) if len(runs) > 1 else None,
        id="overview",
    )


def _together(runs: Sequence[Run], views: Mapping[str, View], planned: Plan, tell: Say) -> Html | None:
    """Runs of one task beside each other, and what their constraints have in common."""
    by_task: dict[str, dict[str, View]] = {}
    for run in runs:
        by_task.setdefault(run.task, {})[run.name] = views[run.name]
    parts = []
    for own in by_task.values():
        table = side_by_side(own)
        if table is not None:
            curve = joint_curve({name: view.curve for name, view in own.items() if view.curve is not None})
            parts.append(joined(table, None if curve is None else curve_view(curve)))
    if not parts and not planned.pairs:
        return None
    agreement = agreement_view(planned, tell)
    return element("section", element("h2", "Side by side"), *parts, agreement, id="together")
