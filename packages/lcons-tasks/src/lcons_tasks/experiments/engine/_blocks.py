"""Blocks of a document from records, for every task; the templates of reports call these functions by name.

Groups are records by name, the columns or the places of a block. A claim of the paper is data: a `Statement`
names rows, what they gain over another row or what they reach, and in which cells.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell
from lcons_tasks.experiments.engine._rows import (
    ACCURACY,
    BASELINES,
    COUNTS,
    CRF,
    EXACT,
    PENALTIES,
    SEEN,
    TABLE,
    UNSEEN,
)
from lcons_tasks.report._document import (
    Change,
    Claim,
    Claims,
    Constraints,
    Curve,
    Facts,
    Figure,
    Gain,
    Gains,
    Headline,
    Listing,
    Sentences,
    Table,
    TableCell,
)
from lcons_tasks.stats import Interval

BASELINE_NOUNS = {
    TABLE: "look-up table",
    COUNTS: "smoothed counts",
    PENALTIES: "learned penalties",
    CRF: "second-order CRF",
}
# The paper's figure for a row and a measure in cells with these coordinates, if it has one.
Paper = Callable[[str, str, Mapping[str, Coordinate]], float | None]


def percent(ratio: float) -> str:
    """A ratio as a percentage.

    >>> percent(0.01), percent(0.125)
    ('1%', '12.5%')
    """
    return f"{100 * ratio:g}%"


def chosen_second(rows: Sequence[str]) -> list[str]:
    """The rows with the last one, which was chosen on dev, moved to second place."""
    return [*rows[:1], *rows[-1:], *rows[1:-1]] if len(rows) > 1 else list(rows)


def groups(record: Record, by: str, name: str) -> dict[str, Record]:
    """The cells by a coordinate, with names such as `{percent} ({sentences:,} sentences)`: coordinates and
    facts of the first cell, and the coordinate `by` as a percentage."""
    found = {}
    for value, cells in record.by(by).items():
        words = {**cells.first.facts, **cells.first.at}
        if isinstance(value, float):
            words["percent"] = percent(value)
        found[name.format(**words)] = cells
    return found


def table(caption: str, head: Iterable[str], rows: Iterable[Iterable[TableCell]], note: str = "") -> Table:
    """A table of these rows."""
    return Table(caption, tuple(head), tuple(map(tuple, rows)), note)


def by_group(
    caption: str,
    groups: Mapping[str, Record],
    measure: str,
    rows: Sequence[str] | None = None,
    paper: Paper | None = None,
    head: str = "decoder",
    digits: int = 2,
    more: Iterable[Iterable[TableCell]] = (),
) -> Table:
    """A table of one measure: one line per row, one column per group, and `more` lines."""
    names = list(dict.fromkeys(row for one in groups.values() for row in one.rows)) if rows is None else rows
    lines = [[row, *(_figure(one, row, measure, paper, digits) for one in groups.values())] for row in names]
    return table(caption, (head, *groups), [*lines, *more])


def by_measure(
    caption: str,
    record: Record,
    measures: Mapping[str, str],
    rows: Sequence[str],
    paper: Paper | None = None,
    head: str = "decoder",
    note: str = "",
) -> Table:
    """A table of one group of cells: one line per row, one column per measure, which are named by heading."""
    lines = ([row, *(_figure(record, row, one, paper) for one in measures.values())] for row in rows)
    return table(caption, (head, *measures), lines, note)


def _figure(record: Record, row: str, measure: str, paper: Paper | None, digits: int = 2) -> Figure | None:
    stated = None if paper is None else paper(row, measure, record.first.at)
    return record.figure(row, measure, stated, digits)


def gains(
    caption: str, groups: Mapping[str, Record], pairs: Iterable[tuple[str, str]], measure: str
) -> Gains | None:
    """The paired gains of those pairs of rows that the record has, in every group of cells."""
    chosen = list(pairs)
    return Gains(
        caption,
        tuple(
            Gain(f"{row} over {over}", where, record.gain(row, over, measure))
            for where, record in groups.items()
            for row, over in chosen
            if record.has(row, over)
        ),
    )


def pairs(rows: Iterable[str], over: Sequence[str]) -> list[tuple[str, str]]:
    """Each row with each other row that it is compared with."""
    return [(row, other) for row in rows for other in over if row != other]


def curve(
    caption: str,
    across: str,
    up: str,
    record: Record,
    size: Callable[[RecordCell], float],
    lines: Mapping[str, str],
    measure: str,
    more: Mapping[str, Mapping[float, float]] | None = None,
) -> Curve | None:
    """The mean of a measure by size: one line per row (`lines` are rows by name), and `more` lines; None if
    there are fewer than two sizes."""
    sizes = sorted({size(cell) for cell in record.cells})
    if len(sizes) < 2:
        return None
    points: dict[str, dict[float, float]] = {name: {} for name in lines}
    for one in sizes:
        own = Record(tuple(cell for cell in record.cells if size(cell) == one))
        for name, row in lines.items():
            if own.values(row, measure):
                points[name][one] = own.mean(row, measure)
    shown = {name: values for name, values in points.items() if values}
    return Curve(caption, across, up, {**shown, **(more or {})})


def headline(
    record: Record,
    measure: str,
    title: str,
    row: str,
    over: str,
    baselines: Mapping[str, str] | None = None,
    chosen: str = "",
    **words: Any,
) -> Headline:
    """One row compared with another, and with the best of those plain baselines that the record has (a noun
    by row): figures, and gains if the record has counts. `chosen` is the name of the row that was chosen."""
    without, within = (Figure(record.values(name, measure)) for name in (over, row))
    best = max(
        (name for name in baselines or {} if record.has(name)),
        key=lambda name: record.mean(name, measure),
        default=None,
    )
    gains = {
        other: record.gain(row, other, measure) if measure in record.first.counts else None
        for other in (over, best)
        if other is not None
    }
    if best is not None and baselines is not None:
        words |= {
            "baseline": Figure(record.values(best, measure)),
            "baseline_is": baselines[best],
            "gain_over_baseline": gains[best],
        }
    return Headline(title, without, within, gains[over], row=chosen, **words)


def plain_baselines(record: Record) -> dict[str, str]:
    """The baselines of soft rows, and what each is."""
    return {
        row.replace("soft", how, 1): row.replace("soft", noun, 1)
        for row in record.rows
        if row.startswith("soft ")
        for how, noun in BASELINE_NOUNS.items()
    }


def each_once(names: Iterable[str]) -> str:
    """The names, each once, such as the rows that were chosen in several cells."""
    return ", ".join(dict.fromkeys(names))


def facts(caption: str, pairs: Iterable[tuple[str, str]]) -> Facts:
    """Facts by name."""
    return Facts(caption, tuple((name, str(value)) for name, value in pairs))


def listing(items: Iterable[str]) -> Listing:
    """The items of a list."""
    return Listing(tuple(items))


def changed_first(record: Record, suffix: str = "txt") -> Sentences:
    """The sentences that constraints changed in the first cell, and the file of all its predictions."""
    cell = record.first
    changes = tuple(_change(one) for one in cell.facts.get("examples", ()))
    return Sentences(cell.name, changes, f"predictions/{cell.name}.{suffix}")


def _change(one: Mapping[str, Any]) -> Change:
    members: dict[str, Any] = {key: tuple(one[key]) for key in ("words", "before", "after", "gold")}
    members |= {
        key: tuple((i, j, label) for i, j, label in one[key])
        for key in ("links_before", "links_after", "links_gold")
        if key in one
    }
    return Change(**members, rule=one["rule"], why=one["why"])


def constraint_files(cell: RecordCell, place: str) -> Constraints | None:
    """The constraint files of a cell in this folder, and its predictions; None if it has no constraints."""
    files = tuple(f"constraints/{place}/{name}.json" for name in cell.facts["constraints"])
    return Constraints(place, files, f"predictions/{cell.name}.txt") if files else None


def baselines_of(groups: Mapping[str, Record], soft: str) -> list[str]:
    """The baselines of a soft row that the record has; none if it lacks the row itself."""
    first = next(iter(groups.values()))
    names = [soft.replace("soft", how, 1) for how in BASELINES]
    return [name for name in names if first.has(name, soft)]


def each_gain(groups: Mapping[str, Record], row: str, over: str, measure: str) -> str:
    """The gain of a row over another in each group, in one line."""
    return "; ".join(f"{where} {one.gain(row, over, measure)}" for where, one in groups.items())


def by_novelty(groups: Mapping[str, Record], soft: str, baselines: Sequence[str]) -> Table:
    """Accuracy on tokens by whether training shows their windows."""
    columns = {
        f"{where}: {measure} ({_share(one, measure):.1f}%)": (one, measure)
        for where, one in groups.items()
        for measure in (SEEN, UNSEEN)
    }
    rows: list[list[TableCell]] = [
        [row, *(one.figure(row, measure) for one, measure in columns.values())]
        for row in (EXACT, soft, *baselines)
    ]
    note = (
        "A token is in an unseen window if training does not show a window around it with these"
        " contexts and gold labels; the share of such tokens is in brackets."
    )
    caption = f"Token accuracy of `{soft}` and its baselines in seen and unseen windows, in percent"
    return table(caption, ("row", *columns), rows, note)


def _share(record: Record, measure: str) -> float:
    """The share of tokens that a measure counts, in percent."""
    counted, every = (
        sum(int(cell.of(EXACT, one)[:, 1].sum()) for cell in record.cells if one in cell.counts)
        for one in (measure, ACCURACY)
    )
    return 100 * counted / every


def unseen_gains(groups: Mapping[str, Record], soft: str, baselines: Sequence[str]) -> Gains | None:
    """The gains in unseen windows in those groups whose cells have some."""
    new = {where: one for where, one in groups.items() if all(UNSEEN in cell.counts for cell in one.cells)}
    caption = f"`{soft}` over its baselines in points of accuracy in unseen windows, with 95% intervals"
    return gains(caption, new, [(soft, name) for name in (EXACT, *baselines)], UNSEEN) if new else None


def parameters(caption: str, groups: Mapping[str, Record], soft: str, baselines: Sequence[str]) -> Table:
    """The numbers of parameters of the networks of a soft row and of its baselines."""
    cells = [one.first for one in groups.values()]
    rows: list[list[TableCell]] = [[soft, *(constraint_parameters(cell, soft) for cell in cells)]]
    rows += [[name, *(cell.facts["baselines"][name] for cell in cells)] for name in baselines]
    return table(caption, ("row", *groups), rows)


def constraint_parameters(cell: RecordCell, row: str) -> int:
    """The number of parameters of the networks of a row."""
    return sum(cell.facts["constraints"][name]["parameters"] for name in cell.facts["rows of"][row])


@dataclass(frozen=True)
class Statement:
    """A claim about each of `rows` in every group of cells (`at`: only cells with these coordinates).

    The figure is the gain over the row `over`, or the measure itself without `over`. The claim is that it is
    at least `least`, or more than `above`, or with `no_clear_gain` that the gain is not clearly positive.
    """

    text: str
    rows: Sequence[str]
    measure: str
    over: str | None = None
    least: float | None = None
    above: float | None = None
    no_clear_gain: bool = False
    at: Mapping[str, Coordinate] = field(default_factory=dict)

    def holds(self, value: Interval | float) -> bool:
        """Whether the claim is true of one figure."""
        mean = value.mean if isinstance(value, Interval) else value
        if self.no_clear_gain:
            return isinstance(value, Interval) and value.low <= 0
        if self.least is not None:
            return mean >= self.least
        return self.above is None or mean > self.above


def check(record: Record, statements: Iterable[Mapping[str, Any]], by: str = "") -> list[Claim]:
    """The claims of those statements whose rows and cells the record has, checked in groups of cells with the
    same coordinate `by`."""
    claims = []
    for statement in (Statement(**one) for one in statements):
        cells, over = record.where(**statement.at), statement.over
        if not statement.rows or not cells.has(*statement.rows, *([over] if over else [])):
            continue
        values: dict[str, Interval | float] = {}
        for key, group in (cells.by(by) if by else {"": cells}).items():
            for row in statement.rows:
                label = row if len(statement.rows) > 1 else percent(float(key)) if by else ""
                value = group.mean(row, statement.measure)
                values[label] = value if over is None else group.gain(row, over, statement.measure)
        shown = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in values.values()]
        if len(values) > 1:
            shown = [f"{label} {figure}" for label, figure in zip(values, shown, strict=True)]
        claims.append(Claim(statement.text, all(map(statement.holds, values.values())), ", ".join(shown)))
    return claims


def claims(checked: Iterable[Claim]) -> Claims | None:
    """The block of these claims; None if there are none."""
    found = tuple(checked)
    return Claims(found) if found else None


def read_paper(module: str) -> dict[str, Any]:
    """The paper's figures and claims: the file paper.toml beside a module."""
    return tomllib.loads(Path(module).with_name("paper.toml").read_text(encoding="utf-8"))
