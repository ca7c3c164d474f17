"""Small runs of the four tasks, and their figures apart from how results.json lays them out.

Where that layout changes, `figures` changes with it and what is expected stays.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from golden_files import lcons

# About half a minute in all on one core.
RUNS = {
    "chunking": "--corpus bundled --ratio 0.05 --ratio 0.1 --seed 1 --base linear --n 2 -K 4"
    " --constraint existence:1 --diagnose",
    "citation": "--corpus bundled --seed 1 --base words-brief --decoder exact --decoder constrained-search"
    " --beam 5 --size 10",
    "er": "--corpus bundled --split 1 --share 0.2 -C 0.03125 --passes 1",
    "synthetic": "--seed 1 -K 2 -K 3 --guided 3 --rounds 2",
}

# What tells the cells of a run from each other.
CELL = {
    "chunking": ("base", "subset", "ratio", "seed"),
    "citation": ("base", "seed", "size"),
    "er": ("split", "share"),
    "synthetic": ("seed", "hidden", "rounds at most"),
}
# The figures of a cell that are in the main table of the report.
MAIN_FIGURES = {
    "chunking": re.compile(r"rows / [^/]+ / test"),
    "citation": re.compile(r"rows / [^/]+ / test"),
    "er": re.compile(r"grid / [^/]+ / (entity|relation) f1"),
    "synthetic": re.compile(r"bitwise|satisfied"),
}
GAIN = ("base", "subset", "ratio", "size", "trained_on", "group", "figure", "row", "over", "sets")


def make_run(task: str, out: Path, patch: pytest.MonkeyPatch) -> Result:
    """`lcons run` of a task with little work; the synthetic programs are tiny."""
    if task == "synthetic":
        use_tiny_programs(patch)
    return lcons("run", task, *RUNS[task].split(), "--jobs", "1", "-q", "--out", str(out))


def use_tiny_programs(patch: pytest.MonkeyPatch) -> None:
    from lcons_tasks.experiments.synthetic._cell import Cell
    from lcons_tasks.experiments.synthetic._corpus import Recipe

    tiny = Recipe(
        variables=9, programs=14, training=10, constraints=5, strictness=0.5, scale=4, largest_cost=20
    )
    patch.setattr("lcons_tasks.experiments.synthetic._task.Cell", lambda *given: Cell(*given, recipe=tiny))


def figures(folder: Path) -> dict[str, Any]:
    """Every figure of a run by its cell and name, gains with intervals, claims, examples and diagnoses."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    names = CELL[results["task"]]
    cells = {cell_name(cell, names): dict(leaves(cell)) for cell in results["cells"]}
    assert len(cells) == len(results["cells"])
    gains = {
        ", ".join(f"{key} {gain[key]}" for key in GAIN if key in gain): gain["interval"]
        for gain in results.get("gains", ())
    }
    rest = {key: results[key] for key in ("claims", "examples", "diagnoses") if key in results}
    return {"cells": cells, "gains": gains, **{key: dict(leaves(value)) for key, value in rest.items()}}


def cell_name(cell: dict[str, Any], names: tuple[str, ...]) -> str:
    """What tells a cell from others; of a base model its name."""
    return ", ".join(f"{key} {cell[key]['name'] if key == 'base' else cell[key]}" for key in names)


def leaves(data: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every number and text in JSON."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, f"{above} / {key}" if above else str(key))
    else:
        yield above, data
