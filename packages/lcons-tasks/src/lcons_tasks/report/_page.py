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
from html import unescape
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from lcons_tasks.report._chart import to_svg
from lcons_tasks.report._constraints import (
    Bodies,
    Limits,
    constraints_view,
    explained,
    parts_in_words,
    shown_files,
    shown_sets,
)
from lcons_tasks.report._decoded import DECODE
from lcons_tasks.report._document import Constraints, Curve, Document, Headline, Picture, Section, Sentences
from lcons_tasks.report._run import CONSTRAINT, Run
from lcons_tasks.report._sentences import sentences_view
from lcons_tasks.report._templates import asset, render, svg

OnStep = Callable[[int, int, str], None]
Say = Callable[[str], None]

LARGEST_PICTURE = 2**21
# The estimated seconds that may be spent on explaining constraints for the page of a single document.
QUICK = 3.0


@dataclass(frozen=True)
class Chart:
    """A curve and its chart."""

    curve: Curve
    picture: Markup


@dataclass(frozen=True)
class Image:
    """An embedded picture, in which no script can run."""

    alt: str
    data: str


@dataclass(frozen=True)
class SectionView:
    """A section of the page: the views of its blocks."""

    id: str
    title: str
    blocks: tuple[Any, ...]


@dataclass(frozen=True)
class Estimate:
    """The number of constraints of a page, and the estimated seconds to make it."""

    constraints: int
    seconds: float


def to_html(document: Document, folder: Path, limits: Limits | None = None) -> str:
    """The page of one document, whose files are in `folder`. It leaves out parts that take long, unless
    `limits` allows them."""
    return report_page([Run(document.task, folder, document)], limits or Limits(seconds=QUICK))


def report_page(
    runs: Sequence[Run],
    limits: Limits | None = None,
    progress: OnStep | None = None,
    say: Say | None = None,
) -> str:
    """The page of some runs; equal runs have equal pages. `progress` is called with (done, total, what), and
    `say` with lines on what the page shows of each run and what it leaves out."""
    limits = limits or Limits()
    hear: Say = say or (lambda _: None)
    total = sum(len(shown_files(run, limits)) for run in runs)
    done = 0

    def tell(what: str) -> None:
        nonlocal done
        if progress is not None:
            progress(done, total, what)
        done += 1

    sections = [list(_sections(run, i, limits, tell, hear)) for i, run in enumerate(runs, 1)]
    tell("done")
    script = asset("script.js")
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    page = render(
        "page.html",
        runs=list(zip(runs, sections, strict=True)),
        measured=any(run.task != CONSTRAINT for run in runs),
        policy="default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:;"
        f" style-src 'unsafe-inline'; script-src 'sha256-{hashed}'",
        style=Markup(asset("style.css")),
        script=Markup(script),
        stated=stated,
    )
    # A character that UTF-8 cannot encode would otherwise prevent the whole page.
    return page.encode("utf-8", "replace").decode("utf-8")


def estimate(runs: Sequence[Run], limits: Limits | None = None) -> Estimate:
    """The estimated work for a page; raises `DamagedFile` if a constraint file cannot be read."""
    limits = limits or Limits()
    seconds = sum(sum(explained(run, limits).values()) for run in runs)
    return Estimate(sum(len(shown_files(run, limits)) for run in runs), seconds)


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """The headlines of the runs as plain data."""
    return {"runs": [_summarised(run) for run in runs]}


def stated(head: Headline) -> str:
    """The paper's two figures; if it has only one, with the word `without` or `with`.

    >>> from lcons_tasks.report._document import Figure
    >>> stated(Headline("F1", Figure((1.0,)), Figure((2.0,), 38.2), None))
    'with 38.2'
    """
    without, within = head.without.paper, head.within.paper
    if without is not None and within is not None:
        return f"{without:.1f} → {within:.1f}"
    sides = {"without": without, "with": within}
    return "".join(f"{side} {value:.1f}" for side, value in sides.items() if value is not None)


def _summarised(run: Run) -> dict[str, Any]:
    document = run.document
    found: dict[str, Any] = {"run": run.name, "task": run.task, "corpus": document.corpus}
    if run.task in (CONSTRAINT, DECODE):
        found["said"] = document.compared.rstrip(".")
    elif document.compared:
        found["compared"] = document.compared
    head = document.headline
    if head is not None:
        gain = head.gain
        found |= {
            "measure": head.measure,
            "without constraints": {"values": list(head.without.values), "paper": head.without.paper},
            "with constraints": {"values": list(head.within.values), "paper": head.within.paper},
            "gain": None if gain is None else {"mean": gain.mean, "low": gain.low, "high": gain.high},
            "paper's corpus": document.paper_corpus is None and run.task != DECODE,
        }
        if head.baseline is not None:
            over = head.gain_over_baseline
            found |= {
                "baseline": {"name": head.baseline_is, "values": list(head.baseline.values)},
                "gain over baseline": None
                if over is None
                else {"mean": over.mean, "low": over.low, "high": over.high},
            }
        if head.row:
            found["row"] = head.row
    return found


def _sections(run: Run, number: int, limits: Limits, tell: Say, say: Say) -> Iterator[SectionView]:
    """The sections of a run that have content."""
    bodies = Bodies(frozenset(explained(run, limits)))
    sets, files = shown_sets(run, limits), run.predictions[: limits.sets]
    for line in parts_in_words(run, limits):
        say(f"{run.name}: {line}")
    for place, section in enumerate(run.document.sections, 1):
        blocks: list[Any] = []
        for kind, own in groupby(section.blocks, key=type):
            id = f"run-{number}-{place}-{len(blocks) + 1}"
            if kind is Constraints:
                wanted = [one for one in own if isinstance(one, Constraints) and one in sets]
                blocks.append(constraints_view(run, wanted, id, bodies, tell))
            elif kind is Sentences:
                chosen = [one for one in own if isinstance(one, Sentences) and one in files]
                hear: Say = lambda line: say(f"{run.name}: {line}")  # noqa: E731
                blocks.append(sentences_view(run, chosen, limits.sentences, id, hear))
            else:
                blocks += [_shown(one, run.folder) for one in own]
        there = tuple(block for block in blocks if block is not None)
        if there:
            yield SectionView(f"run-{number}-{_slug(run.document.sections, place)}", section.title, there)


def _slug(sections: Sequence[Section], place: int) -> str:
    """A name for links: the first word of a title if no other title begins with it, otherwise a number.

    >>> _slug([Section("Results", ()), Section("<b>", ())], 1)
    'results'
    """
    firsts = [section.title.split(" ")[0].lower() for section in sections]
    own = firsts[place - 1]
    return own if re.fullmatch("[a-z]+", own) and firsts.count(own) == 1 else f"section-{place}"


def _shown(block: Any, folder: Path | None = None) -> Any:
    if isinstance(block, Picture) and folder is not None:
        return _image(folder, block)
    return Chart(block, svg(to_svg(block))) if isinstance(block, Curve) else block


def _image(folder: Path, block: Picture) -> Image | None:
    """An SVG as an embedded image; None if it is too large or cannot be read."""
    try:
        content = (folder / block.file).read_bytes()
    except OSError:
        return None
    if len(content) > LARGEST_PICTURE:
        return None
    source = content.decode("utf-8", "replace")
    found = (re.search(rf"<{name}>([^<]*)</{name}>", source) for name in ("title", "desc"))
    alt = ". ".join(unescape(match[1]) for match in found if match) or block.name
    return Image(alt, base64.b64encode(content).decode("ascii"))
