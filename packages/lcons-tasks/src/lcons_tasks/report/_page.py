"""The HTML page: the headlines of the runs, then one run after another.

The page is self-contained. Its policy allows only its own styles, its own script (by its hash), and embedded
pictures. So it loads nothing, and no text of a run can run as code.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from lcons_tasks.report import _sentences
from lcons_tasks.report._chart import to_svg
from lcons_tasks.report._coefficients import heat_maps, inequalities_view, level
from lcons_tasks.report._constraints import ConstraintsView, Limits, constraints_view
from lcons_tasks.report._decoded import DECODE
from lcons_tasks.report._document import Constraints, Document, Headline, Section, Sentences
from lcons_tasks.report._markdown import claims_line
from lcons_tasks.report._matrix import matrix_views
from lcons_tasks.report._rules import rules_view
from lcons_tasks.report._run import CONSTRAINT, Run
from lcons_tasks.report._sentences import SentencesView, sentences_view
from lcons_tasks.report._spans import has_links, is_changed
from lcons_tasks.report._templates import asset, render
from lcons_tasks.stats import Interval

Say = Callable[[str], None]

# What the templates call.
_FUNCTIONS = (
    *(to_svg, rules_view, matrix_views, heat_maps, level, inequalities_view, has_links, is_changed),
    *(
        _sentences.badge,
        _sentences.compared_sides,
        _sentences.has_errors,
        _sentences.linked,
        _sentences.marked,
    ),
)
# The estimated seconds that may be spent on explaining constraints for the page of a single document.
QUICK = 3.0


@dataclass(frozen=True)
class Part:
    """A block of the page, or blocks of one kind that are shown together."""

    kind: str
    content: Any
    id: str


@dataclass(frozen=True)
class SectionView:
    """A section of the page: its parts."""

    id: str
    title: str
    parts: tuple[Part, ...]


def to_html(document: Document, folder: Path, limits: Limits | None = None) -> str:
    """The page of one document, whose files are in `folder`. It leaves out parts that take long, unless
    `limits` allows them."""
    return report_page([Run(document.task, folder, document)], limits or Limits(seconds=QUICK))


def report_page(runs: Sequence[Run], limits: Limits | None = None, say: Say | None = None) -> str:
    """The page of some runs; equal runs have equal pages. `say` is called with lines on what the page shows
    of each run and what it leaves out."""
    sections = [
        list(_sections(run, i, limits or Limits(), say or (lambda _: None))) for i, run in enumerate(runs, 1)
    ]
    script = asset("script.js")
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    page = render(
        "page.html",
        runs=list(zip(runs, sections, strict=True)),
        measured=any(run.task != CONSTRAINT for run in runs),
        policy="default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:;"
        f" style-src 'unsafe-inline'; script-src 'sha256-{hashed}'",
        style=asset("style.css"),
        script=script,
        paper_figures=paper_figures,
        claims_line=claims_line,
        **{function.__name__: function for function in _FUNCTIONS},
    )
    # A character that UTF-8 cannot encode would otherwise prevent the whole page.
    return page.encode("utf-8", "replace").decode("utf-8")


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """The headlines of the runs as plain data."""
    return {"runs": [_summary(run) for run in runs]}


def paper_figures(head: Headline) -> str:
    """The paper's two figures; if it has only one, with the word `without` or `with`.

    >>> from lcons_tasks.report._document import Figure
    >>> paper_figures(Headline("F1", Figure((1.0,)), Figure((2.0,), 38.2), None))
    'with 38.2'
    """
    without, within = head.without.paper, head.within.paper
    if without is not None and within is not None:
        return f"{without:.1f} → {within:.1f}"
    sides = {"without": without, "with": within}
    return "".join(f"{side} {value:.1f}" for side, value in sides.items() if value is not None)


def _summary(run: Run) -> dict[str, Any]:
    document, head = run.document, run.document.headline
    data: dict[str, Any] = {"run": run.name, "task": run.task, "corpus": document.corpus}
    if run.task in (CONSTRAINT, DECODE):
        data["said"] = document.compared.rstrip(".")
    elif document.compared:
        data["compared"] = document.compared
    if head is None:
        return data
    data |= {
        "measure": head.measure,
        "without constraints": {"values": list(head.without.values), "paper": head.without.paper},
        "with constraints": {"values": list(head.within.values), "paper": head.within.paper},
        "gain": _bounds(head.gain),
        "paper's corpus": document.paper_corpus is None and run.task != DECODE,
    }
    if head.baseline is not None:
        data["baseline"] = {"name": head.baseline_is, "values": list(head.baseline.values)}
        data["gain over baseline"] = _bounds(head.gain_over_baseline)
    return data | ({"row": head.row} if head.row else {})


def _bounds(gain: Interval | None) -> dict[str, float] | None:
    return None if gain is None else {"mean": gain.mean, "low": gain.low, "high": gain.high}


def _sections(run: Run, number: int, limits: Limits, say: Say) -> Iterator[SectionView]:
    """The sections of a run that have content."""
    for place, section in enumerate(run.document.sections, 1):
        parts: list[Part] = []
        for kind, blocks in groupby(section.blocks, key=lambda block: block.kind):
            id = f"run-{number}-{place}-{len(parts) + 1}"
            parts += [Part(kind, one, id) for one in _contents(run, kind, list(blocks), limits, say)]
        if parts:
            yield SectionView(
                f"run-{number}-{_slug(run.document.sections, place)}", section.title, tuple(parts)
            )


def _contents(run: Run, kind: str, blocks: list[Any], limits: Limits, say: Say) -> list[Any]:
    """What the page shows of blocks of one kind: one view of all constraints and sentences."""
    view: ConstraintsView | SentencesView | None
    if kind == "Constraints":
        sets = run.blocks(Constraints)[: limits.sets]
        view = constraints_view(run, [one for one in blocks if one in sets], limits)
    elif kind == "Sentences":
        files = run.blocks(Sentences)[: limits.sets]
        view = sentences_view(run, [one for one in blocks if one in files], limits.sentences)
    else:
        return blocks
    for note in view.notes if view else ():
        say(f"{run.name}: {note}")
    return [] if view is None else [view]


def _slug(sections: Sequence[Section], place: int) -> str:
    """A name for links: the first word of a title if no other title begins with it, otherwise a number.

    >>> _slug([Section("Results", ()), Section("<b>", ())], 1)
    'results'
    """
    firsts = [section.title.split(" ")[0].lower() for section in sections]
    first = firsts[place - 1]
    return first if re.fullmatch("[a-z]+", first) and firsts.count(first) == 1 else f"section-{place}"
