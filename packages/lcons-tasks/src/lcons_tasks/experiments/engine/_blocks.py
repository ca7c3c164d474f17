"""Blocks of a document from records, for every task: tables, gains, curves, claims, changed sentences.

A claim of the paper is data: `Statement` says which rows gain how much over which other, or reach what, in
which cells; `check` holds it against a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell
from lcons_tasks.report._document import (
    Block,
    Change,
    Claim,
    Constraints,
    Curve,
    Figure,
    Gain,
    Headline,
    Sentences,
    Table,
    TableCell,
)
from lcons_tasks.stats import Interval

Paper = Callable[[str, Any], float | None]


def percent(ratio: float) -> str:
    """A ratio as people write it.

    >>> percent(0.01), percent(0.125)
    ('1%', '12.5%')
    """
    return f"{100 * ratio:g}%"


def chosen_second(rows: Sequence[str]) -> list[str]:
    """The rows with the second one the last, which is what was chosen: first what is compared."""
    return [*rows[:1], *rows[-1:], *rows[1:-1]] if len(rows) > 1 else list(rows)


def no_paper(row: str, column: Any) -> None:
    """The paper has no such figure."""


def table(
    caption: str,
    head: str,
    rows: Iterable[str],
    columns: Mapping[str, Callable[[str], TableCell]],
    note: str = "",
) -> Table:
    """A table whose columns are functions of the row."""
    body = tuple((row, *(cell(row) for cell in columns.values())) for row in rows)
    return Table(caption, (head, *columns), body, note)


def by_group(
    caption: str,
    groups: Mapping[str, Record],
    measure: str,
    *,
    rows: Sequence[str] | None = None,
    paper: Paper = no_paper,
    head: str = "decoder",
    digits: int = 2,
) -> Table:
    """A measure of every row in every group of cells; `paper(row, group)` is the paper's figure."""
    names = list(dict.fromkeys(row for one in groups.values() for row in one.rows)) if rows is None else rows

    def figures(name: str, one: Record) -> Callable[[str], TableCell]:
        return lambda row: one.figure(row, measure, paper(row, name), digits)

    columns = {name: figures(name, one) for name, one in groups.items()}
    return table(caption, head, names, columns)


def by_measure(
    record: Record, measures: Mapping[str, str], paper: Paper = no_paper, digits: int = 2
) -> dict[str, Callable[[str], TableCell]]:
    """Columns of measures by their headings, for `table`; `paper(row, measure)` is the paper's figure."""

    def figures(measure: str) -> Callable[[str], TableCell]:
        return lambda row: record.figure(row, measure, paper(row, measure), digits)

    return {heading: figures(measure) for heading, measure in measures.items()}


def gains(groups: Mapping[str, Record], pairs: Iterable[tuple[str, str]], measure: str) -> tuple[Gain, ...]:
    """The paired gains of pairs of rows, as far as they are there, in every group of cells."""
    chosen = list(pairs)
    return tuple(
        Gain(f"{row} over {over}", where, record.gain(row, over, measure))
        for where, record in groups.items()
        for row, over in chosen
        if record.has(row, over)
    )


def curve(
    caption: str,
    across: str,
    up: str,
    record: Record,
    size: Callable[[RecordCell], float],
    lines: Mapping[str, str],
    measure: str,
) -> Curve | None:
    """Lines (name -> row) of means by the size of cells; None where there is only one size."""
    sizes = {size(cell) for cell in record.cells}
    if len(sizes) < 2:
        return None
    points: dict[str, dict[float, float]] = {name: {} for name in lines}
    for one in sorted(sizes):
        own = Record(tuple(cell for cell in record.cells if size(cell) == one))
        for name, row in lines.items():
            if own.values(row, measure):
                points[name][one] = own.mean(row, measure)
    return Curve(caption, across, up, {name: own for name, own in points.items() if own})


def headline(record: Record, measure: str, said: str, row: str, over: str, **words: Any) -> Headline:
    """One row against another: both figures, and the gain where there are counts."""
    without, within = (Figure(record.values(name, measure)) for name in (over, row))
    gain = record.gain(row, over, measure) if measure in record.first.counts else None
    return Headline(said, without, within, gain, **words)


def rejections(record: Record, groups: Mapping[str, Record], units: str) -> Table:
    """How much of held-out gold each constraint rejects, in percent of its parts and of units."""
    names = list(dict.fromkeys(name for cell in record.cells for name in cell.facts["constraints"]))

    def shares(one: Record, of: str) -> Callable[[str], TableCell]:
        def share(name: str) -> Figure | None:
            told = [cell.facts["constraints"].get(name) for cell in one.cells]
            values = tuple(float(found["rejected gold"][of]) for found in told if found)
            return Figure(values, digits=1) if values else None

        return share

    columns = {
        f"{said}, {label}" if label else said: shares(one, of)
        for label, one in groups.items()
        for of, said in (("parts", "parts"), ("sentences", units))
    }
    caption = f"What constraints reject of held-out gold (dev {units}), before any decoding, in percent"
    return table(caption, "constraint", names, columns)


def changed(name: str, found: Sequence[Mapping[str, Any]], file: str | None) -> Sentences:
    """Sentences that constraints changed, of plain data."""
    texts, links = ("words", "before", "after", "gold"), ("links_before", "links_after", "links_gold")
    changes = []
    for one in found:
        members: dict[str, Any] = {key: tuple(one[key]) for key in texts}
        members |= {key: tuple((i, j, label) for i, j, label in one[key]) for key in links if key in one}
        changes.append(Change(**members, rule=one["rule"], why=one["why"]))
    return Sentences(name, tuple(changes), file)


def changed_first(record: Record) -> tuple[Block, ...]:
    """What constraints changed in the first cell."""
    cell = record.first
    return (changed(cell.name, cell.facts.get("examples", ()), f"predictions/{cell.name}.txt"),)


def constraint_files(record: Record, first: Callable[[RecordCell], Any]) -> tuple[Block, ...]:
    """The constraint files of each sample, which base models share; the cells that `first` puts first."""
    found: dict[str, Block] = {}
    for cell in sorted(record.cells, key=first):
        place = cell.name.removeprefix(f"{cell.at['base']}-")
        files = tuple(f"constraints/{place}/{name}.json" for name in cell.facts["constraints"])
        if files:
            found.setdefault(place, Constraints(place, files, f"predictions/{cell.name}.txt"))
    return tuple(found.values())


@dataclass(frozen=True)
class Statement:
    """A claim: in every group of cells (`at`: only those with these coordinates) each row gains over another,
    or reaches by itself where there is none, `least` at least, or more than `above`; or shows no clear gain.
    """

    text: str
    rows: tuple[str, ...]
    measure: str
    over: str | None = None
    least: float | None = None
    above: float | None = None
    no_clear_gain: bool = False
    at: Mapping[str, Coordinate] = field(default_factory=dict)

    def holds(self, found: Interval | float) -> bool:
        """Whether one figure is as claimed."""
        value = found.mean if isinstance(found, Interval) else found
        if self.no_clear_gain:
            return isinstance(found, Interval) and found.low <= 0
        if self.least is not None:
            return value >= self.least
        return self.above is None or value > self.above


def check(
    record: Record, statements: Iterable[Statement], by: str = "", say: Callable[[Any], str] = str
) -> list[Claim]:
    """The statements whose rows and cells are there, held against the record, in groups by a coordinate."""
    claims = []
    for one in statements:
        cells = record.where(**one.at)
        if not one.rows or not cells.has(*one.rows, *filter(None, [one.over])):
            continue
        groups = cells.by(by) if by else {"": cells}
        found: dict[str, Interval | float] = {}
        for key, group in groups.items():
            for row in one.rows:
                label = row if len(one.rows) > 1 else say(key)
                value = group.mean(row, one.measure)
                found[label] = value if one.over is None else group.gain(row, one.over, one.measure)
        figures = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in found.values()]
        if len(found) > 1:
            figures = [f"{label} {figure}" for label, figure in zip(found, figures, strict=True)]
        claims.append(Claim(one.text, all(map(one.holds, found.values())), ", ".join(figures)))
    return claims
