"""The report of a fitted tagger as a document: Markdown, a page and the terminal are renderings of it."""

from __future__ import annotations

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


def fit_document(fitted: Fitted, next_command: str = "") -> Document:
    """The report of a fitted tagger; `next_command` is a command to try next."""
    title, source, sides = _names(fitted)
    choosing = fitted.chosen.get("sentences that chose", fitted.labelled)
    part = f"{choosing:,} of " if choosing < fitted.labelled else ""
    compared = (
        f"{source} Figures are {fitted.measure} on {part}the labelled sentences, by {fitted.chosen['folds']}"
        " contiguous folds."
    )
    headline = None
    if len(fitted.contributions) > 1:
        figures = Figure((fitted.base,)), Figure((fitted.figure,))
        headline = Headline(fitted.measure, *figures, fitted.gain, *sides)
    chosen = tuple((name, _in_words(value)) for name, value in fitted.chosen.items())
    sections = (
        Section("What each part gave", tuple(_parts(fitted))),
        Section("Rules", (Listing(fitted.rules),) if fitted.rules else ()),
        Section("Sentences that changed", tuple(_changed(fitted))),
        Section("Settings", (Facts("Chosen by the folds", chosen),)),
    )
    return Document(
        title,
        FIT,
        f"{fitted.labelled:,} labelled sentences",
        compared,
        headline,
        sections,
        next_command=next_command,
    )


def _names(fitted: Fitted) -> tuple[str, str, tuple[str, str]]:
    """The title, what was made of what, and the two sides of the headline."""
    if fitted.unlabelled is None:
        source = f"Constraints for the scores of a tagger, from {fitted.labelled:,} labelled sentences."
        return "Constraints for a tagger", source, ("by the scores alone", "under the constraints")
    text = f" and {fitted.unlabelled:,} without labels" if fitted.unlabelled else ""
    source = f"A tagger from {fitted.labelled:,} labelled sentences{text}."
    return "A fitted tagger", source, ("by the base model", "by the fitted tagger")


def fit_reports(fitted: Fitted, folder: Path) -> Mapping[str, str]:
    """The report as files of a tagger's folder."""
    document = fit_document(fitted, "" if fitted.unlabelled is None else "lcons tag --model FOLDER text.txt")
    return {"report.md": to_markdown(document), "report.html": to_html(document, folder)}


def _parts(fitted: Fitted) -> list[Block]:
    """A table of all parts, and their gains as a picture."""
    first, *others = fitted.contributions
    rows: list[tuple[TableCell, ...]] = [(first.part, Figure((first.figure,)), None)]
    rows += [(part.part, Figure((part.figure,)), part.gain) for part in others]
    caption = f"{fitted.measure[0].upper()}{fitted.measure[1:]}, each part with all before it"
    head = ("part", fitted.measure, "gain [95% interval]")
    blocks: list[Block] = [Table(caption, head, tuple(rows), _OPTIMISTIC)]
    if others:
        gains = [Gain(part.part, "over all before it", part.gain) for part in others]
        gains.append(Gain("all parts", f"over the {first.part}", fitted.gain))
        blocks.append(Gains(f"Gains in points of {fitted.measure}, with 95% intervals", tuple(gains)))
    return [*blocks, *map(Text, fitted.advice)]


def _changed(fitted: Fitted) -> list[Block]:
    if not fitted.changed:
        return [Text("No labelled sentence changed.")]
    changes = tuple(Change(s.words, s.before, s.after, s.gold) for s in fitted.changed)
    return [Sentences("the labelled sentences, by models that had not seen them", changes)]


def _in_words(value: Any) -> str:
    """A setting in words.

    >>> _in_words(True), _in_words([]), _in_words([0.1, 0.1]), _in_words({"form": 0.5, "cluster": 0})
    ('yes', 'none', '0.1, 0.1', 'form 0.5, cluster 0')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_in_words(setting)}" for name, setting in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_in_words, value)) or "none"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
