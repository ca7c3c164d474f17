"""Small runs of the four tasks, and the figures in their results.json."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from golden_files import lcons

# About half a minute in all on one core.
RUNS: dict[str, dict[str, Any]] = {
    "chunking": {
        "ratios": (0.05, 0.1),
        "seeds": (1,),
        "bases": ("linear",),
        "constraints": ("existence:1", "pos:2"),
        "hidden": 4,
    },
    "citation": {
        "seeds": (1,),
        "bases": ("words-brief",),
        "decoders": ("exact", "constrained-search"),
        "beam": 5,
    },
    "er": {"splits": (1,), "sizes": (43,), "C": 0.03125, "passes": 1},
    "synthetic": {"seeds": (1,), "hidden": (2, 3)},
}

# What tells the cells of a run from each other.
CELL = {
    "chunking": ("base", "ratio", "seed"),
    "citation": ("base", "seed"),
    "er": ("split", "size"),
    "synthetic": ("seed", "hidden"),
}
# The figures of a cell that are in the main table of the report.
MAIN_FIGURES = {
    "chunking": re.compile(r"rows / [^/]+ / test"),
    "citation": re.compile(r"rows / [^/]+ / test"),
    "er": re.compile(r"rows / .+ / (entity|relation) f1"),
    "synthetic": re.compile(r"rows / learned constraints / (bitwise|satisfied)"),
}


def make_run(task: str, out: Path, patch: pytest.MonkeyPatch) -> Result:
    """`lcons run` of a task with little work; the synthetic programs are tiny."""
    from lcons_tasks.experiments import EXPERIMENTS

    if task == "synthetic":
        use_tiny_programs(patch)
    options = EXPERIMENTS[task].load().options
    patch.setattr(options, "start", classmethod(lambda cls, full, corpus="auto": cls(**RUNS[task])))
    return lcons("-q", "run", task, "--jobs", "1", "--out", str(out))


def use_tiny_programs(patch: pytest.MonkeyPatch) -> None:
    from lcons_tasks.experiments.synthetic._answers import Cell
    from lcons_tasks.experiments.synthetic._corpus import ProgramFamily

    tiny = ProgramFamily(
        variables=9, programs=14, training=10, constraints=5, strictness=0.5, scale=4, largest_cost=20
    )
    patch.setattr(
        "lcons_tasks.experiments.synthetic._experiment.Cell", lambda *given: Cell(*given, recipe=tiny)
    )


def figures(folder: Path) -> dict[str, Any]:
    """Every figure of a run by its cell and name, gains with intervals, claims and examples."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    cells, examples = {}, []
    for cell in results["cells"]:
        examples += cell.pop("examples", [])
        name = ", ".join(f"{key} {cell['at'][key]}" for key in CELL[results["task"]])
        cells[name] = dict(leaves(cell))
    gains = {
        f"{gain['measure']}: {gain['what']}, {gain['where']}": gain["interval"] for gain in results["gains"]
    }
    shown = {"claims": dict(leaves(results["claims"])), "examples": dict(leaves(examples))}
    return {"cells": cells, "gains": gains, **shown}


def leaves(data: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every number and text in JSON."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, f"{above} / {key}" if above else str(key))
    else:
        yield above, data
