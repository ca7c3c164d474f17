"""The report of a fitted tagger as a document: Markdown, a page and the terminal are renderings of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcons_tasks.report import to_html, to_markdown
from lcons_tasks.report._document import (
    Block,
    Change,
    Document,
    Facts,
    Figure,
    Gain,
    Gains,
    Headline,
    Listing,
    Section,
    Sentences,
    Table,
    TableCell,
    Text,
)

if TYPE_CHECKING:
    from lcons_tasks.fitted._fitted_tagger import Fitted

FIT = "fit"
_OPTIMISTIC = (
    "No sentence was tagged by a model that had seen it. But the parts were chosen by these figures, so that"
    " they are a little optimistic."
)


def fit_document(found: Fitted, next_command: str = "") -> Document:
    """The report of a fitted tagger; `next_command` is a command to try next."""
    title, made, sides = _names(found)
    choosing = found.chosen.get("sentences that chose", found.labelled)
    part = f"{choosing:,} of " if choosing < found.labelled else ""
    compared = (
        f"{made} Figures are {found.measure} on {part}the labelled sentences, by {found.chosen['folds']}"
        " contiguous folds."
    )
    headline = None
    if len(found.contributions) > 1:
        headline = Headline(found.measure, Figure((found.base,)), Figure((found.figure,)), found.gain, *sides)
    sections = (
        Section("What each part gave", tuple(_parts(found))),
        Section("Rules", (Listing(found.rules),) if found.rules else ()),
        Section("Sentences that changed", tuple(_changed(found))),
        Section("Settings", (Facts("Chosen by the folds", tuple(_facts(found.chosen))),)),
    )
    return Document(
        title,
        FIT,
        f"{found.labelled:,} labelled sentences",
        compared,
        headline,
        sections,
        next_command=next_command,
    )


def _names(found: Fitted) -> tuple[str, str, tuple[str, str]]:
    """The title, what was made of what, and the two sides of the headline."""
    if found.unlabelled is None:
        made = f"Constraints for the scores of a tagger, from {found.labelled:,} labelled sentences."
        return "Constraints for a tagger", made, ("by the scores alone", "under the constraints")
    text = f" and {found.unlabelled:,} without labels" if found.unlabelled else ""
    made = f"A tagger from {found.labelled:,} labelled sentences{text}."
    return "A fitted tagger", made, ("by the base model", "by the fitted tagger")


def fit_reports(found: Fitted, folder: Path) -> Mapping[str, str]:
    """The report as files of a tagger's folder."""
    document = fit_document(found, "" if found.unlabelled is None else "lcons tag --model FOLDER text.txt")
    return {"report.md": to_markdown(document), "report.html": to_html(document, folder)}


def _parts(found: Fitted) -> list[Block]:
    """A table of all parts, and their gains as a picture."""
    first, *others = found.contributions
    rows: list[tuple[TableCell, ...]] = [(first.part, Figure((first.figure,)), None)]
    rows += [(one.part, Figure((one.figure,)), one.gain) for one in others]
    caption = f"{found.measure}, each part with all before it"
    blocks: list[Block] = [
        Table(_capital(caption), ("part", found.measure, "gain [95% interval]"), tuple(rows), _OPTIMISTIC)
    ]
    if others:
        gains = [Gain(one.part, "over all before it", one.gain) for one in others]
        gains.append(Gain("all parts", f"over the {first.part}", found.gain))
        blocks.append(Gains(f"Gains in points of {found.measure}, with 95% intervals", tuple(gains)))
    return [*blocks, *map(Text, found.advice)]


def _changed(found: Fitted) -> list[Block]:
    if not found.changed:
        return [Text("No labelled sentence changed.")]
    changes = tuple(Change(one.words, one.before, one.after, one.gold) for one in found.changed)
    return [Sentences("the labelled sentences, by models that had not seen them", changes)]


def _facts(chosen: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, _said(value)) for name, value in chosen.items()]


def _said(value: Any) -> str:
    """A setting in words.

    >>> _said(True), _said([]), _said([0.1, 0.1]), _said({"form": 0.5, "cluster": 0})
    ('yes', 'none', '0.1, 0.1', 'form 0.5, cluster 0')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_said(own)}" for name, own in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value)) or "none"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _capital(text: str) -> str:
    return re.sub("^[a-z]", lambda found: found[0].upper(), text)
