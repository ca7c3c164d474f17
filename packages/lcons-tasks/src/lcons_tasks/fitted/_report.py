"""The report of a fitted tagger as a document: Markdown, a page and the terminal are renderings of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcons_tasks.report import to_html, to_markdown
from lcons_tasks.report._document import (
    Block,
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

# The title, what was made, and the two sides of the headline.
_TAGGER = "A fitted tagger", "A tagger", ("by the base model", "by the fitted tagger")
_SCORES = (
    "Constraints for a tagger",
    "Constraints for the scores of a tagger,",
    ("by the scores alone", "under the constraints"),
)
_OPTIMISTIC = (
    "No sentence was tagged by a model that had seen it. But the parts were chosen by these figures, so that"
    " they are a little optimistic."
)


def fit_document(fitted: Fitted, next_command: str = "") -> Document:
    """The report of a fitted tagger; `next_command` is a command to try next."""
    title, made, sides = _SCORES if fitted.unlabelled is None else _TAGGER
    text = f" and {fitted.unlabelled:,} without labels" if fitted.unlabelled else ""
    choosing = fitted.chosen.get("sentences that chose", fitted.labelled)
    part = f"{choosing:,} of " if choosing < fitted.labelled else ""
    compared = (
        f"{made} from {fitted.labelled:,} labelled sentences{text}. Figures are {fitted.measure} on {part}the"
        f" labelled sentences, by {fitted.chosen['folds']} contiguous folds."
    )
    first, *others = fitted.contributions
    rows: list[tuple[TableCell, ...]] = [(first.part, Figure((first.figure,)), None)]
    rows += [(part.part, Figure((part.figure,)), part.gain) for part in others]
    caption = f"{fitted.measure[0].upper()}{fitted.measure[1:]}, each part with all before it"
    head = ("part", fitted.measure, "gain [95% interval]")
    parts: list[Block] = [Table(caption, head, tuple(rows), _OPTIMISTIC)]
    headline = None
    if others:
        headline = Headline(
            fitted.measure, Figure((fitted.base,)), Figure((fitted.figure,)), fitted.gain, *sides
        )
        gains = [Gain(part.part, "over all before it", part.gain) for part in others]
        gains.append(Gain("all parts", f"over the {first.part}", fitted.gain))
        parts.append(Gains(f"Gains in points of {fitted.measure}, with 95% intervals", tuple(gains)))
    changed: Block = Text("No labelled sentence changed.")
    if fitted.changed:
        changed = Sentences("the labelled sentences, by models that had not seen them", fitted.changed)
    chosen = tuple((name, _in_words(value)) for name, value in fitted.chosen.items())
    sections = (
        Section("What each part gave", (*parts, *map(Text, fitted.advice))),
        Section("Rules", (Listing(fitted.rules),) if fitted.rules else ()),
        Section("Sentences that changed", (changed,)),
        Section("Settings", (Facts("Chosen by the folds", chosen),)),
    )
    corpus = f"{fitted.labelled:,} labelled sentences"
    return Document(title, "fit", corpus, compared, headline, sections, next_command=next_command)


def fit_reports(fitted: Fitted, folder: Path) -> Mapping[str, str]:
    """The report as files of a tagger's folder."""
    document = fit_document(fitted, "" if fitted.unlabelled is None else "lcons tag --model FOLDER text.txt")
    return {"report.md": to_markdown(document), "report.html": to_html(document, folder)}


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
