"""A chunking run's results as figures: token accuracy by ratio of the training data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcons_tasks.experiments.chunking import _paper as paper
from lcons_tasks.report._figures import Curve, Figure, Gain, Headline, ResultTable, View
from lcons_tasks.report._results_json import claims, interval

CHOSEN, EXACT = "chosen on dev", "exact"
IN_CURVE = (EXACT, "search", "pos-3 search", CHOSEN)
PAPER_CURVE = (EXACT, "pos-3 search")

Cells = list[dict[str, Any]]


def view(results: Mapping[str, Any]) -> View:
    """Tables by base model and kind of subset; the headline is at the least data."""
    groups: dict[tuple[str, str], Cells] = {}
    for cell in results["cells"]:
        groups.setdefault((cell["base"]["name"], cell["subset"]), []).append(cell)
    papers = results["corpus"]["name"] == "conll2000"
    first = next(iter(groups.values()))
    least = min(cell["ratio"] for cell in first)
    ordered = sorted(results["cells"], key=lambda cell: (cell["ratio"] != least, cell["ratio"]))
    return View(
        "Chunking",
        _headline(first, least, results),
        tuple(_table(name, cells) for name, cells in groups.items()),
        tuple(
            Gain(f"{g['row']} over {g['over']}", _where(g["base"], g["subset"], g["ratio"]), interval(g))
            for g in results["gains"]
        ),
        _curve(first, results["corpus"]["name"], papers),
        claims(results["claims"]),
        tuple(f"{cell['subset']}-{100 * cell['ratio']:g}%-seed{cell['seed']}" for cell in ordered),
        None if papers else "CoNLL-2000",
    )


def _where(base: str, subset: str, ratio: float) -> str:
    return f"{base}, {subset}, {100 * ratio:g}%"


def _column(ratio: float, cells: Cells) -> str:
    size = next(cell["sentences"] for cell in cells if cell["ratio"] == ratio)
    return f"{100 * ratio:g}% ({size:,} sentences)"


def _figure(cells: Cells, row: str, ratio: float, with_paper: bool = True) -> Figure:
    values = tuple(cell["rows"][row]["test"] for cell in cells if cell["ratio"] == ratio)
    return Figure(values, paper.figure(row, ratio) if with_paper else None)


def _table(name: tuple[str, str], cells: Cells) -> ResultTable:
    base, subset = name
    ratios = list(dict.fromkeys(cell["ratio"] for cell in cells))
    rows = tuple(cells[0]["rows"])
    # The paper's chunker is a BiLSTM-CRF on the first sentences.
    with_paper = base != "linear" and subset == "first"
    return ResultTable(
        f"{base}, {'first sentences' if subset == 'first' else 'nested samples by seed'}",
        "token accuracy on test sentences, %",
        rows,
        tuple(_column(ratio, cells) for ratio in ratios),
        {
            (row, _column(ratio, cells)): _figure(cells, row, ratio, with_paper)
            for row in rows
            for ratio in ratios
        },
    )


def _headline(cells: Cells, least: float, results: Mapping[str, Any]) -> Headline:
    name = cells[0]["base"]["name"]
    gains = [
        interval(g)
        for g in results["gains"]
        if (g["base"], g["ratio"], g["row"], g["over"]) == (name, least, CHOSEN, EXACT)
    ]
    return Headline(
        f"token accuracy, {name}, {_column(least, cells)}",
        _figure(cells, EXACT, least),
        _figure(cells, CHOSEN, least, with_paper=False),
        gains[0] if gains else None,
    )


def _curve(cells: Cells, corpus: str, with_paper: bool) -> Curve | None:
    sizes = {cell["ratio"]: float(cell["sentences"]) for cell in cells}
    if len(set(sizes.values())) < 2:
        return None
    lines = {
        row: {size: _figure(cells, row, ratio).mean for ratio, size in sizes.items()}
        for row in IN_CURVE
        if row in cells[0]["rows"]
    }
    for row in PAPER_CURVE if with_paper else ():
        stated = {size: paper.figure(row, ratio) for ratio, size in sizes.items()}
        points = {size: value for size, value in stated.items() if value is not None}
        if len(points) > 1:
            lines[f"the paper, {row}"] = points
    title = f"Token accuracy by training sentences ({corpus})"
    return Curve(title, "training sentences", "token accuracy (%)", lines)
