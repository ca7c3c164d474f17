"""A citation run's results as figures: token accuracy by base model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcons_tasks.experiments.citation import _paper as paper
from lcons_tasks.report._figures import Curve, Figure, Gain, Headline, ResultTable, View
from lcons_tasks.report._results_json import claims, interval

CHOSEN, EXACT = "chosen on dev", "exact"

Cells = list[dict[str, Any]]


def view(results: Mapping[str, Any]) -> View:
    """One table, a column a base model of all training references; the headline is the first of them."""
    whole: dict[str, Cells] = {}
    sizes: dict[tuple[str, int], Cells] = {}
    for cell in results["cells"]:
        sizes.setdefault((cell["base"]["name"], cell["references"]["train"]), []).append(cell)
        if cell["size"] is None:
            whole.setdefault(cell["base"]["name"], []).append(cell)
    base, cells = next(iter(whole.items()))
    gains = {(g["base"], g["trained_on"], g["row"]): interval(g) for g in results["gains"]}
    trained = cells[0]["references"]["train"]
    stated = results["claims"]
    found = (
        [{**claim, "text": f"{name}: {claim['text']}"} for name, own in stated.items() for claim in own]
        if isinstance(stated, dict)
        else stated
    )
    papers = results["corpus"]["name"] == "cora"
    return View(
        "Citation fields",
        Headline(
            f"token accuracy, {base}, {trained:,} references",
            _figure(cells, EXACT, base),
            _figure(cells, CHOSEN, ""),
            gains.get((base, trained, CHOSEN)),
        ),
        (_table(whole),),
        tuple(
            Gain(f"{row} over exact", f"{name}, {size:,} references", one)
            for (name, size, row), one in gains.items()
            if size == trained or row == CHOSEN
        ),
        _curve(sizes, results["corpus"]["name"]),
        claims(found),
        tuple(
            f"{cell['references']['train']}-split{cell['seed']}"
            for cell in sorted(results["cells"], key=lambda cell: cell["size"] is not None)
        ),
        None if papers else "Cora",
    )


def _figure(cells: Cells, row: str, base: str) -> Figure:
    return Figure(tuple(cell["rows"][row]["test"] for cell in cells), paper.figure(base, row))


def _table(whole: Mapping[str, Cells]) -> ResultTable:
    rows = tuple(dict.fromkeys(row for cells in whole.values() for row in cells[0]["rows"]))
    return ResultTable(
        "All training references",
        "token accuracy on test references, %",
        rows,
        tuple(whole),
        {
            (row, base): _figure(cells, row, base)
            for base, cells in whole.items()
            for row in rows
            if row in cells[0]["rows"]
        },
    )


def _curve(sizes: Mapping[tuple[str, int], Cells], corpus: str) -> Curve | None:
    lines: dict[str, dict[float, float]] = {}
    for (base, size), cells in sorted(sizes.items(), key=lambda item: item[0][1]):
        for row in (EXACT, CHOSEN):
            lines.setdefault(f"{base}, {row}", {})[size] = _figure(cells, row, "").mean
    several = {name: points for name, points in lines.items() if len(points) > 1}
    if not several:
        return None
    title = f"Token accuracy by training references ({corpus})"
    return Curve(title, "training references", "token accuracy (%)", several)
