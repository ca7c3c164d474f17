"""A document: the report of a run as data; Markdown, HTML and the terminal are renderings of it.

    Document = title, what was compared, headline, sections of blocks, files beside it, next command
    Block    = Text | Listing | Table | Gains | Curve | Claims | Facts | Constraints | Sentences

A task returns one document and renders nothing. Figures are numbers here: a rendering decides on decimals and
colours, and whether it prints a spread or the paper's figure next to a mean.

Paths of files are relative to the folder of the document and stay inside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import mean
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator

from lcons_core import InvalidInput
from lcons_tasks.stats import Interval


@dataclass(frozen=True)
class Figure:
    """A measure of one row: one value per seed or split, and the paper's figure if it has one."""

    values: tuple[float, ...]
    paper: float | None = None
    digits: int = 2

    def __post_init__(self) -> None:
        if not self.values:
            raise InvalidInput("`values` of a figure needs at least one value: got none.")

    @property
    def mean(self) -> float:
        """The mean over seeds or splits."""
        return mean(self.values)


TableCell: TypeAlias = str | int | float | Figure | Interval | None


@dataclass(frozen=True)
class Text:
    """A paragraph; `code` and **bold** are the only markup."""

    kind: Literal["Text"] = field(default="Text", kw_only=True)
    text: str


@dataclass(frozen=True)
class Listing:
    """Items of a list, one or more lines each, with the markup of `Text`."""

    kind: Literal["Listing"] = field(default="Listing", kw_only=True)
    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows under named columns; the first cell of a row is its name. `note` is printed below the table.

    `best`: the largest figure of a column is the best one, so a rendering may highlight it.
    """

    kind: Literal["Table"] = field(default="Table", kw_only=True)
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
    """The gain of one row over another (`what`) in some cells (`where`), with its interval."""

    what: str
    where: str
    interval: Interval


@dataclass(frozen=True)
class Gains:
    """Paired gains, in points of one measure."""

    kind: Literal["Gains"] = field(default="Gains", kw_only=True)
    caption: str
    gains: tuple[Gain, ...]


@dataclass(frozen=True)
class Curve:
    """Lines of figures by size, such as the number of training sentences: {line: {size: value}}."""

    kind: Literal["Curve"] = field(default="Curve", kw_only=True)
    caption: str
    across: str
    up: str
    lines: Mapping[str, Mapping[float, float]]

    def __post_init__(self) -> None:
        sizes = [size for points in self.lines.values() for size in points]
        if not sizes or min(sizes) <= 0:
            raise InvalidInput(
                f"curve {self.caption!r:.60} needs at least one point and only sizes above 0: got"
                f" {len(sizes)} points{f', the least size {min(sizes):g}' if sizes else ''}."
            )


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether it holds here, and the figures that show this."""

    text: str
    held: bool
    figures: str


@dataclass(frozen=True)
class Claims:
    """The paper's claims about its tables, checked on this run."""

    kind: Literal["Claims"] = field(default="Claims", kw_only=True)
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Facts:
    """Facts by name: corpus, hashes, seeds, options, versions."""

    kind: Literal["Facts"] = field(default="Facts", kw_only=True)
    caption: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Constraints:
    """Constraint files of one cell; the gold labels in the file `predictions` show how often their rules
    apply."""

    kind: Literal["Constraints"] = field(default="Constraints", kw_only=True)
    name: str
    files: tuple[str, ...]
    predictions: str | None = None

    def __post_init__(self) -> None:
        check_inside(*self.files, self.predictions)


@dataclass(frozen=True)
class Change:
    """One sentence that constraints changed, and the rule behind the change, in words and as a sum.

    There is one label per word, in IOB if spans may have several words. Relations are links: (first word of
    the source's span, first word of the target's span, label).
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
                    f"a link needs the indices of two of the {len(self.words)} words of its sentence: got {i}"
                    f" and {j}."
                )


@dataclass(frozen=True)
class Sentences:
    """Sentences that changed: `changes` are some of them, with the rule behind the change; `file` contains
    all predictions.

    `constraints` are the files of constraints that the answers obey; they explain the other changes.
    """

    kind: Literal["Sentences"] = field(default="Sentences", kw_only=True)
    name: str
    changes: tuple[Change, ...] = ()
    file: str | None = None
    constraints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_inside(self.file, *self.constraints)


Block: TypeAlias = Text | Listing | Table | Gains | Curve | Claims | Facts | Constraints | Sentences


@dataclass(frozen=True)
class Section:
    """Blocks under one heading; a section without blocks is not rendered."""

    title: str
    blocks: tuple[Annotated[Block, Discriminator("kind")], ...]


class Direction(StrEnum):
    """The verdict of the interval of a gain."""

    BETTER = "better"
    WORSE = "worse"
    EVEN = "no clear difference"


@dataclass(frozen=True)
class Headline:
    """The main comparison of a document: the figures without and with constraints, and the gain.

    `baseline` is the best plain baseline, such as a look-up table, and `gain_over_baseline` the gain of
    `within` over it; `row` is the name of the row of the tables whose figure is `within`.
    """

    measure: str
    without: Figure
    within: Figure
    gain: Interval | None
    without_is: str = "without constraints"
    within_is: str = "with learned constraints"
    baseline: Figure | None = None
    baseline_is: str = "look-up table"
    gain_over_baseline: Interval | None = None
    row: str = ""

    @property
    def verdict(self) -> Direction | None:
        """The verdict of the gain."""
        return direction(self.gain)

    @property
    def baseline_verdict(self) -> Direction | None:
        """The verdict of the gain over the baseline."""
        return direction(self.gain_over_baseline)

    @property
    def sentence(self) -> str:
        """The verdicts on both gains in one sentence; empty without a baseline and a row.

        >>> two = Figure((76.6,)), Figure((91.5,)), Interval(14.9, 12.0, 17.0)
        >>> over = Interval(-0.8, -1.4, -0.2)
        >>> Headline("F1", *two, baseline=Figure((92.3,)), gain_over_baseline=over).sentence
        'With learned constraints: better than without constraints, but worse than the look-up table.'
        """
        if self.baseline is None and not self.row:
            return ""
        subject = self.within_is[:1].upper() + self.within_is[1:]
        row = f" (row {self.row})" if self.row else ""
        verdicts = {self.without_is: self.verdict, f"the {self.baseline_is}": self.baseline_verdict}
        stated = [
            (verdict, f"{_COMPARED[verdict]} {other}") for other, verdict in verdicts.items() if verdict
        ]
        joint = ", and " if len({verdict for verdict, _ in stated}) == 1 else ", but "
        return f"{subject}{row}{': ' * bool(stated)}{joint.join(text for _, text in stated)}."


_COMPARED = {
    Direction.BETTER: "better than",
    Direction.WORSE: "worse than",
    Direction.EVEN: "not clearly different from",
}


def direction(gain: Interval | None) -> Direction | None:
    """The verdict of an interval; None without an interval, because means alone do not show it."""
    if gain is None:
        return None
    if gain.low > 0:
        return Direction.BETTER
    return Direction.WORSE if gain.high < 0 else Direction.EVEN


@dataclass(frozen=True)
class Document:
    """The whole report of a run, results first.

    `compared` states in one or two sentences what was compared and what each model reads; `paper_corpus` is
    the corpus of the paper's figures if the run used another one; `next_command` is a command to try next
    with the user's own data.
    """

    # Values from files are checked, not converted; members that no type has are refused.
    __pydantic_config__: ClassVar = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    format: Literal[2] = field(default=2, kw_only=True)
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
    """Raises `InvalidInput` if a file would be outside the folder of its document."""
    for file in files:
        if file is None:
            continue
        parts = file.replace("\\", "/").split("/")
        if not file or "\0" in file or ".." in parts or parts[0] == "" or parts[0].endswith(":"):
            raise InvalidInput(
                f"a document needs files inside its own folder: got {file!r:.80}, which is outside it."
            )
