"""A document: what a run has to say, as data; Markdown, HTML and the terminal are renderings of it.

    Document = title, what was compared, headline, sections of blocks, files beside it, next command
    Block    = Text | Table | Gains | Curve | Claims | Facts | Constraints | Sentences

A task returns one document and renders nothing. Figures stay numbers here: how many decimals, whether a
spread or the paper's figure stands beside a mean, and colours are matters of a rendering.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import mean
from typing import TypeAlias

from lcons_tasks.stats import Interval


@dataclass(frozen=True)
class Figure:
    """A measure of one row: one value per seed or split, beside the paper's where it has one."""

    values: tuple[float, ...]
    paper: float | None = None
    digits: int = 2

    @property
    def mean(self) -> float:
        """The mean over seeds or splits."""
        return mean(self.values)


TableCell: TypeAlias = str | int | float | Figure | Interval | None


@dataclass(frozen=True)
class Text:
    """A paragraph; `code` and **bold** are the only markup."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows under named columns; the first cell of each row names it. `note` stands below."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Gain:
    """What one row has over another, where (which cells), with its interval."""

    what: str
    where: str
    interval: Interval


@dataclass(frozen=True)
class Gains:
    """Paired gains, in points of one measure."""

    caption: str
    gains: tuple[Gain, ...]


@dataclass(frozen=True)
class Curve:
    """Lines of figures by a size, such as the number of training sentences: {line: {size: value}}."""

    caption: str
    across: str
    up: str
    lines: Mapping[str, Mapping[float, float]]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether it held here, and the figures that show it."""

    text: str
    held: bool
    figures: str


@dataclass(frozen=True)
class Claims:
    """What the paper says of its tables, checked on ours."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Facts:
    """Names and what they are: corpus, hashes, seeds, options, versions."""

    caption: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Constraints:
    """Constraint files of one cell, relative to the document; `predictions` is the file whose gold labels
    show how often their rules apply."""

    name: str
    files: tuple[str, ...]
    predictions: str | None = None


@dataclass(frozen=True)
class Change:
    """One sentence that constraints changed, and the rule behind the change, in words and as a sum.

    Labels stand one per word; entity-relation passages have links as (from, to, label) instead.
    """

    words: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    gold: tuple[str, ...] | None = None
    rule: str = ""
    why: str = ""
    links_before: tuple[tuple[int, int, str], ...] = ()
    links_after: tuple[tuple[int, int, str], ...] = ()
    links_gold: tuple[tuple[int, int, str], ...] | None = None


@dataclass(frozen=True)
class Sentences:
    """Sentences that changed: some with the rule behind the change; `file` holds all predictions."""

    name: str
    changes: tuple[Change, ...] = ()
    file: str | None = None


Block: TypeAlias = Text | Table | Gains | Curve | Claims | Facts | Constraints | Sentences


@dataclass(frozen=True)
class Section:
    """Blocks under one heading; a section without blocks is not rendered."""

    title: str
    blocks: tuple[Block, ...]


class Verdict(StrEnum):
    """What the interval of a gain says."""

    BETTER = "better"
    WORSE = "worse"
    EVEN = "no clear difference"


@dataclass(frozen=True)
class Headline:
    """The one comparison that a document is about: what without constraints, what with them, and the gain."""

    measure: str
    without: Figure
    within: Figure
    gain: Interval | None
    without_is: str = "without constraints"
    within_is: str = "with learned ones"

    @property
    def verdict(self) -> Verdict | None:
        """What the interval says; None where there is none, because means alone do not show it."""
        if self.gain is None:
            return None
        if self.gain.low > 0:
            return Verdict.BETTER
        return Verdict.WORSE if self.gain.high < 0 else Verdict.EVEN


@dataclass(frozen=True)
class Document:
    """Everything about a run, results first.

    `compared` says in one or two sentences what was compared with what and what each model reads;
    `paper_corpus` names the corpus of the paper's figures where it is not the one used; `next_command` is
    what to try next with data of one's own.
    """

    title: str
    task: str
    corpus: str
    compared: str
    headline: Headline | None = None
    sections: tuple[Section, ...] = ()
    paper_corpus: str | None = None
    next_command: str = ""
    provenance: Mapping[str, str] = field(default_factory=dict)
