"""Documents beside each other: the headline of each, and the first tables and curves of one task together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lcons_tasks.report._chart import COLOURS
from lcons_tasks.report._document import Curve, Document, Figure, Headline, Table, TableCell
from lcons_tasks.report._run import Run

PAPER = "the paper"


def overview(runs: Sequence[Run]) -> Table:
    """A row per run, the headline of each; without columns that no run fills."""
    rows = [_overview_row(run) for run in runs]
    measured = any(run.document.headline is not None for run in runs)
    names = ["run", "task", "corpus", "measure" if measured else "in short", "without", "with constraints"]
    names += ["gain [95%]", "paper"]
    kept = [k for k in range(len(names)) if not k or any(row[k] not in ("", None) for row in rows)]
    return Table(
        "The runs of this page",
        tuple(names[k] for k in kept),
        tuple(tuple(row[k] for k in kept) for row in rows),
    )


def _overview_row(run: Run) -> tuple[TableCell, ...]:
    found, head = run.document, run.document.headline
    if head is None:
        return run.name, found.title, found.corpus, found.compared.rstrip("."), None, None, None, None
    figures = (Figure(head.without.values), Figure(head.within.values))
    return run.name, found.title, found.corpus, head.measure, *figures, head.gain, stated(head)


def stated(head: Headline) -> str:
    """The paper's two figures; where it has one only, which of them that is.

    >>> stated(Headline("F1", Figure((1.0,)), Figure((2.0,), 38.2), None))
    'with 38.2'
    """
    without, within = head.without.paper, head.within.paper
    if without is not None and within is not None:
        return f"{without:.1f} → {within:.1f}"
    sides = {"without": without, "with": within}
    return "".join(f"{side} {value:.1f}" for side, value in sides.items() if value is not None)


def beside_each_other(runs: Sequence[Run]) -> list[Table | Curve]:
    """Tables and curves of runs of one task, task by task."""
    by_task: dict[str, dict[str, Document]] = {}
    for run in runs:
        by_task.setdefault(run.task, {})[run.name] = run.document
    found: list[Table | Curve | None] = []
    for own in by_task.values():
        found += [_joint_table(own), _joint_curve(own)]
    return [one for one in found if one is not None]


def _joint_table(documents: Mapping[str, Document]) -> Table | None:
    """The first table with figures of each document; None where not all have one."""
    firsts = {name: table for name, one in documents.items() if (table := _first_table(one)) is not None}
    if len(firsts) < 2 or len(firsts) < len(documents):
        return None
    columns = list(dict.fromkeys(column for table in firsts.values() for column in table.columns[1:]))
    rows = list(dict.fromkeys(row[0] for table in firsts.values() for row in table.rows))
    pairs = [(column, name) for column in columns for name, t in firsts.items() if column in t.columns]
    cells = {
        (name, row[0], column): Figure(cell.values) if isinstance(cell, Figure) else cell
        for name, table in firsts.items()
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
    }
    body = [(row, *(cells.get((name, row, column)) for column, name in pairs)) for row in rows]
    title = next(iter(documents.values())).title
    said = "; ".join(f"{name}: {table.caption}" for name, table in firsts.items())
    head = ("", *(f"{column}, {name}" for column, name in pairs))
    return Table(f"{title}, runs side by side", head, tuple(body), f"{said}.")


def _first_table(document: Document) -> Table | None:
    tables = [one for part in document.sections for one in part.blocks if isinstance(one, Table)]
    return next((t for t in tables if any(isinstance(cell, Figure) for row in t.rows for cell in row)), None)


def _joint_curve(documents: Mapping[str, Document]) -> Curve | None:
    """The first and the last own line of each run in one chart; None where fewer than two have a curve."""
    curves = {
        name: next((b for s in one.sections for b in s.blocks if isinstance(b, Curve)), None)
        for name, one in documents.items()
    }
    known = {name: curve for name, curve in curves.items() if curve is not None}
    if len(known) < 2:
        return None
    lines: dict[str, Mapping[float, float]] = {}
    for name, curve in known.items():
        own = [line for line in curve.lines if not line.startswith(PAPER)] or list(curve.lines)
        for line in dict.fromkeys((own[0], own[-1])):
            lines[f"{name}: {line}"] = curve.lines[line]
    first = next(iter(known.values()))
    shown = dict(list(lines.items())[: len(COLOURS)])
    return Curve(f"{first.up}, runs side by side", first.across, first.up, shown)
