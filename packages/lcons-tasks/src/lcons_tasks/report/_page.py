"""The HTML page: the headlines of the runs, then one run after another.

The page is self-contained. Its policy allows only its own styles, its own script (by its hash), and embedded
pictures. So it loads nothing, and no text of a run can run as code.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from lcons_core._arithmetic import many
from lcons_core._theorem import estimate_rows
from lcons_tasks.report._change import errors, has_links, is_changed, linked
from lcons_tasks.report._chart import to_svg
from lcons_tasks.report._document import Constraints, Document, Sentences
from lcons_tasks.report._matrix import matrices
from lcons_tasks.report._run import CONSTRAINT, Run
from lcons_tasks.report._templates import asset, render
from lcons_tasks.report._views import Limits, constraints_view, marked, rules_view, sentences_view

# What the templates call.
_FUNCTIONS = (
    *(to_svg, rules_view, matrices, many, estimate_rows),
    *(has_links, is_changed, errors, linked, marked),
)


class Part(NamedTuple):
    """A block of the page, or blocks of one kind that are shown together."""

    kind: str
    content: Any
    id: str


class SectionView(NamedTuple):
    """A section of the page: its parts."""

    id: str
    title: str
    parts: list[Part]


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
    members = ("task", "corpus", "compared", "paper_corpus", "headline")
    documents = {run.name: asdict(run.document) for run in runs}
    return {"runs": [{"run": n, **{key: d[key] for key in members}} for n, d in documents.items()]}


def _sections(run: Run, name: str, limits: Limits) -> Iterator[SectionView]:
    """The sections of a run that have content; all constraints, and all sentences, are one view."""
    shown = [*run.blocks(Constraints)[: limits.sets], *run.blocks(Sentences)[: limits.sets]]
    for place, section in enumerate(run.document.sections, 1):
        parts: list[Part] = []
        for kind, group in groupby(section.blocks, key=lambda block: block.kind):
            blocks: list[Any] = list(group)
            contents, some = blocks, [block for block in blocks if block in shown]
            if kind == "Constraints":
                contents = [constraints_view(run, some, limits)]
            elif kind == "Sentences":
                contents = [sentences_view(run, some, limits.sentences)]
            parts += [Part(kind, block, f"{name}-{place}-{len(parts) + 1}") for block in contents if block]
        if parts:
            yield SectionView(f"{name}-{place}", section.title, parts)
