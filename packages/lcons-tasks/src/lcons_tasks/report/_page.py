"""The HTML page: the headlines of the runs, then one run after another.

The page is self-contained. Its policy allows only its own styles, its own script (by its hash), and embedded
pictures. So it loads nothing, and no text of a run can run as code.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from lcons_tasks.report import _sentences
from lcons_tasks.report._chart import to_svg
from lcons_tasks.report._constraints import Limits, constraints_view
from lcons_tasks.report._document import Constraints, Document, Sentences
from lcons_tasks.report._inequalities import inequalities_view
from lcons_tasks.report._matrix import matrix_views
from lcons_tasks.report._rules import rules_view
from lcons_tasks.report._run import CONSTRAINT, Run
from lcons_tasks.report._spans import has_links, is_changed
from lcons_tasks.report._templates import asset, render

# What the templates call.
_FUNCTIONS = (
    *(to_svg, rules_view, matrix_views, inequalities_view, has_links, is_changed),
    *(_sentences.badge, _sentences.compared_sides, _sentences.has_errors),
    *(_sentences.linked, _sentences.marked),
)


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
    return report_page([Run(document.task, folder, document)], limits or Limits(large=1))


def report_page(runs: Sequence[Run], limits: Limits | None = None) -> str:
    """The page of some runs; equal runs have equal pages."""
    sections = [list(_sections(run, f"run-{i}", limits or Limits())) for i, run in enumerate(runs, 1)]
    script = asset("script.js")
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    page = render(
        "page.html",
        runs=list(zip(runs, sections, strict=True)),
        measured=any(run.document.task != CONSTRAINT for run in runs),
        policy="default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:;"
        f" style-src 'unsafe-inline'; script-src 'sha256-{hashed}'",
        style=asset("style.css"),
        script=script,
        **{function.__name__: function for function in _FUNCTIONS},
    )
    # A character that UTF-8 cannot encode would otherwise prevent the whole page.
    return page.encode("utf-8", "replace").decode("utf-8")


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """The headlines of the runs as plain data."""
    documents = [(run.name, run.document) for run in runs]
    return {
        "runs": [
            {
                "run": name,
                **{key: getattr(one, key) for key in ("task", "corpus", "compared", "paper_corpus")},
                "headline": None if one.headline is None else asdict(one.headline),
            }
            for name, one in documents
        ]
    }


def _sections(run: Run, name: str, limits: Limits) -> Iterator[SectionView]:
    """The sections of a run that have content; all constraints, and all sentences, are one view."""
    sets, files = (run.blocks(kind)[: limits.sets] for kind in (Constraints, Sentences))
    for place, section in enumerate(run.document.sections, 1):
        parts: list[Part] = []
        for kind, group in groupby(section.blocks, key=lambda block: block.kind):
            contents: list[Any] = list(group)
            if kind == "Constraints":
                contents = [constraints_view(run, [one for one in contents if one in sets], limits)]
            elif kind == "Sentences":
                shown = [one for one in contents if one in files]
                contents = [_sentences.sentences_view(run, shown, limits.sentences)]
            parts += [Part(kind, one, f"{name}-{place}-{len(parts) + 1}") for one in contents if one]
        if parts:
            yield SectionView(f"{name}-{place}", section.title, tuple(parts))
