"""A document: what a run has to say, as data; Markdown, HTML and the terminal are renderings of it.

    Document = title, what was compared, headline, sections of blocks, files beside it, next command
    Block    = Text | Listing | Table | Gains | Curve | Claims | Facts | Picture | Constraints | Sentences

A task returns one document and renders nothing. Figures stay numbers here: how many decimals, whether a
spread or the paper's figure stands beside a mean, and colours are matters of a rendering.

Files are named relative to the folder of the document, and stay inside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import mean
from typing import TypeAlias

from lcons_core import InvalidInput
from lcons_tasks.stats import Interval


@dataclass(frozen=True)
class Figure:
    """A measure of one row: one value per seed or split, beside the paper's where it has one."""

    values: tuple[float, ...]
    paper: float | None = None
    digits: int = 2

    def __post_init__(self) -> None:
        if not self.values:
            raise InvalidInput("a figure needs at least one value: got none.")

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
class Listing:
    """Items of a list, one or more lines each, with the markup of `Text`."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows under named columns; the first cell of each row names it. `note` stands below.

    `best`: the largest figure of a column is the best one, so that a rendering may stress it.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    note: str = ""
    best: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InvalidInput(
                    f"table {self.caption!r:.60} needs one cell per column: got {len(row)} cells for"
                    f" {len(self.columns)} columns."
                )


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
    """Lines of figures by a size, such as the number of training sentences: {line: {size: value}}.

    `bands` are the bounds of intervals, {line: {size: (low, high)}}, for the points that have one.
    """

    caption: str
    across: str
    up: str
    lines: Mapping[str, Mapping[float, float]]
    bands: Mapping[str, Mapping[float, tuple[float, float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = [size for points in self.lines.values() for size in points]
        if not sizes or min(sizes) <= 0:
            raise InvalidInput(
                f"curve {self.caption!r:.60} needs at least one point, and sizes above 0: got"
                f" {len(sizes)} points{f', the least size {min(sizes):g}' if sizes else ''}."
            )


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
class Picture:
    """An SVG file."""

    name: str
    file: str

    def __post_init__(self) -> None:
        check_inside(self.file)


@dataclass(frozen=True)
class Constraints:
    """Constraint files of one cell; `predictions` is the file whose gold labels show how often their rules
    apply."""

    name: str
    files: tuple[str, ...]
    predictions: str | None = None

    def __post_init__(self) -> None:
        check_inside(*self.files, self.predictions)


@dataclass(frozen=True)
class Change:
    """One sentence that constraints changed, and the rule behind the change, in words and as a sum.

    Labels stand one per word, in IOB where spans of several words are meant. Relations are links: (first
    word of the source's span, first word of the target's span, label).
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

    def __post_init__(self) -> None:
        for labels in (self.before, self.after, self.gold):
            if labels is not None and len(labels) != len(self.words):
                raise InvalidInput(
                    f"a changed sentence needs one label per word: got {len(labels)} labels for"
                    f" {len(self.words)} words."
                )
        for i, j, _ in (*self.links_before, *self.links_after, *(self.links_gold or ())):
            if not (0 <= i < len(self.words) and 0 <= j < len(self.words)):
                raise InvalidInput(
                    f"a link needs two of the {len(self.words)} words of its sentence: got {i} and {j}."
                )


@dataclass(frozen=True)
class Sentences:
    """Sentences that changed: some with the rule behind the change; `file` holds all predictions.

    `constraints` are the files of constraints that the answers obey: they give the rule behind other changes.
    """

    name: str
    changes: tuple[Change, ...] = ()
    file: str | None = None
    constraints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_inside(self.file, *self.constraints)


Block: TypeAlias = Text | Listing | Table | Gains | Curve | Claims | Facts | Picture | Constraints | Sentences


@dataclass(frozen=True)
class Section:
    """Blocks under one heading; a section without blocks is not rendered."""

    title: str
    blocks: tuple[Block, ...]


class Direction(StrEnum):
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
    def verdict(self) -> Direction | None:
        """What the interval says; None where there is none, because means alone do not show it."""
        if self.gain is None:
            return None
        if self.gain.low > 0:
            return Direction.BETTER
        return Direction.WORSE if self.gain.high < 0 else Direction.EVEN


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


def check_inside(*files: str | None) -> None:
    """Raises `InvalidInput` where a file would be outside the folder of its document."""
    for file in files:
        if file is None:
            continue
        parts = file.replace("\\", "/").split("/")
        if not file or "\0" in file or ".." in parts or parts[0] == "" or parts[0].endswith(":"):
            raise InvalidInput(
                f"a document names files relative to its own folder: got {file!r:.80}, which is outside it."
            )
