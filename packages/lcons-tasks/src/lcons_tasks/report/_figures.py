"""What a run's results are to a page, whatever the task: figures beside the paper's, gains, a curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import mean

from lcons_tasks.report._plot import Points
from lcons_tasks.stats import Interval


@dataclass(frozen=True)
class Figure:
    """A figure, one value a seed or split, beside the paper's, where it has one."""

    values: tuple[float, ...]
    paper: float | None = None

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return mean(self.values)


@dataclass(frozen=True)
class ResultTable:
    """Figures by row and column; `measure` says what they are, `rows_are` what the rows differ in."""

    title: str
    measure: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Figure]
    rows_are: str = "decoder"


@dataclass(frozen=True)
class TextTable:
    """Rows of text, the first cell of each its name."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Gain:
    """What one row has over another, and where."""

    what: str
    where: str
    interval: Interval


class Verdict(StrEnum):
    """Whether constraints helped, in words."""

    BETTER = "better"
    WORSE = "worse"
    EVEN = "no clear difference"


@dataclass(frozen=True)
class Headline:
    """The one comparison that a run is about: without constraints and with them, and which they are."""

    measure: str
    without: Figure
    within: Figure
    gain: Interval | None
    given: str = "with learned ones"

    @property
    def verdict(self) -> Verdict | None:
        """What the gain's interval says; None where there is none, as figures alone do not tell."""
        if self.gain is None:
            return None
        if self.gain.low > 0:
            return Verdict.BETTER
        return Verdict.WORSE if self.gain.high < 0 else Verdict.EVEN


@dataclass(frozen=True)
class Curve:
    """Lines of figures by a size, such as that of the training data."""

    title: str
    across: str
    up: str
    lines: Mapping[str, Points]


@dataclass(frozen=True)
class View:
    """What a page shows of results.json; `cells` names the folders of constraints and predictions in the
    order of their importance, `paper_corpus` the corpus that the paper's figures are on, `curve_is` what the
    curve is called, nothing where there can be none. `said` is what happened, in a line."""

    title: str
    headline: Headline | None = None
    tables: tuple[ResultTable, ...] = ()
    gains: tuple[Gain, ...] = ()
    curve: Curve | None = None
    claims: tuple[tuple[str, bool, str], ...] = ()
    cells: tuple[str, ...] = ()
    paper_corpus: str | None = None
    said: str = ""
    texts: tuple[TextTable, ...] = ()
    curve_is: str = "Learning curve"
