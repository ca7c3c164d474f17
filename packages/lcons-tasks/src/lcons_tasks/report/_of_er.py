"""An entity-relation run's results as figures: F1 by which constraints the model had."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean
from typing import Any

from lcons_tasks.experiments.entity_relation import _paper as paper
from lcons_tasks.report._figures import Curve, Figure, Gain, Headline, ResultTable, View
from lcons_tasks.report._results_json import claims, interval

MEASURES = ("entity f1", "relation f1", "entity macro f1", "relation macro f1", "strict relation f1")
NONE, LEARNED = "none|none", "learned|learned"
LINES = {
    "learned constraints": LEARNED,
    "learned, prediction only": "none|learned",
    "no constraints": NONE,
}

Cells = list[dict[str, Any]]


def view(results: Mapping[str, Any]) -> View:
    """A table a group of splits, a column a measure; the headline is relation F1 on all training data."""
    groups: dict[tuple[str, float], Cells] = {}
    for cell in results["cells"]:
        name = "seeded splits" if _seeded(cell) else str(cell["split"])
        groups.setdefault((name, cell["share"]), []).append(cell)
    first = next(iter(groups.values()))
    gains = [
        Gain(
            f"{_said('|'.join(g['sets']))} over {_said('|'.join(g['over']))}, {_named(g['figure'])}",
            f"{g['group']}, {g['trained_on']:,} sentences",
            interval(g),
        )
        for g in results["gains"]
    ]
    headline = next((interval(g) for g in results["gains"] if g["figure"] == "relation f1"), None)
    papers = results["corpus"]["name"] == "conll04"
    return View(
        "Entities and relations",
        Headline(
            f"relation F1, {_trained_on(first):,} training sentences",
            _figure(first, NONE, "relation f1"),
            _figure(first, LEARNED, "relation f1"),
            headline,
        ),
        tuple(_table(name, cells) for name, cells in groups.items()),
        tuple(gains),
        _curve(groups, results["corpus"]["name"]),
        claims(results["claims"]),
        tuple(
            f"split-{cell['split']}-{100 * cell['share']:g}percent"
            for cell in sorted(results["cells"], key=lambda cell: -cell["share"])
        ),
        None if papers else "Roth and Yih's corpus",
    )


def _seeded(cell: Mapping[str, Any]) -> bool:
    return str(cell["split"]).isdecimal()


def _trained_on(cells: Cells) -> int:
    return round(mean(cell["sentences"]["train"] for cell in cells))


def _said(sets: str) -> str:
    """Trained with and tested with."""
    trained, _, tested = sets.partition("|")
    return f"{trained} / {tested}"


def _named(figure: str) -> str:
    return figure.replace("f1", "F1")


def _figure(cells: Cells, sets: str, figure: str) -> Figure:
    trained, _, tested = sets.partition("|")
    stated = paper.F1.get(trained, {}).get(figure) if trained == tested else None
    return Figure(tuple(cell["grid"][sets][figure] for cell in cells), stated)


def _table(name: tuple[str, float], cells: Cells) -> ResultTable:
    group, share = name
    rows = tuple(cells[0]["grid"])
    part = "" if share == 1 else f", {100 * share:g}% of the training data"
    return ResultTable(
        f"{group[:1].upper()}{group[1:]}{part}",
        f"{_trained_on(cells):,} training sentences, %",
        tuple(map(_said, rows)),
        tuple(map(_named, MEASURES)),
        {
            (_said(row), _named(figure)): _figure(cells, row, figure)
            for row in rows
            for figure in MEASURES
            if figure in cells[0]["grid"][row]
        },
        "trained / tested with",
    )


def _curve(groups: Mapping[tuple[str, float], Cells], corpus: str) -> Curve | None:
    seeded = [cells for (name, _), cells in groups.items() if name == "seeded splits"]
    if len({_trained_on(cells) for cells in seeded}) < 2:
        return None
    lines = {
        name: {float(_trained_on(cells)): _figure(cells, sets, "relation f1").mean for cells in seeded}
        for name, sets in LINES.items()
        if all(sets in cells[0]["grid"] for cells in seeded)
    }
    title = f"Relation F1 by training sentences ({corpus})"
    return Curve(title, "training sentences", "relation F1 (%)", lines)
