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
    "er": re.compile(r"grid / [^/]+ / (entity|relation) f1"),
    "synthetic": re.compile(r"bitwise|satisfied"),
}
GAIN = ("measure", "where", "what", "trained_on", "figure", "over", "sets")


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
    results = in_format_1(json.loads((folder / "results.json").read_text(encoding="utf-8")))
    names = CELL[results["task"]]
    cells = {cell_name(cell, names): dict(leaves(cell)) for cell in results["cells"]}
    assert len(cells) == len(results["cells"])
    gains = {
        ", ".join(f"{key} {gain[key]}" for key in GAIN if key in gain): gain["interval"]
        for gain in results.get("gains", ())
    }
    rest = {key: results[key] for key in ("claims", "examples") if key in results}
    return {"cells": cells, "gains": gains, **{key: dict(leaves(value)) for key, value in rest.items()}}


def in_format_1(results: dict[str, Any]) -> dict[str, Any]:
    """Results with the names of 0.1.0, in which the figures are expected."""
    task, cells = results["task"], results["cells"]
    shown = next((cell for cell in cells if "examples" in cell), {})
    found = {
        "task": task,
        "cells": [CELLS[task](cell) for cell in cells],
        "gains": [dict(gain) for one in results["gains"] for gain in GAINS_OF[task](one)],
        "claims": results["claims"],
    }
    if "examples" in shown:
        found["examples"] = [EXAMPLES.get(task, dict)(one) for one in shown["examples"]]
    return found


def _labelling_cell(cell: dict[str, Any]) -> dict[str, Any]:
    facts = {name: value for name, value in cell.items() if name not in ("name", "at", "model", "examples")}
    return {**facts, **cell["at"], "base": cell["model"]}


def _er_cell(cell: dict[str, Any]) -> dict[str, Any]:
    facts = dict(cell)
    at, rows = facts.pop("at"), facts.pop("rows")
    for key in ("name", "examples", "learned"):
        facts.pop(key, None)
    grid = {row.replace(" / ", "|"): found for row, found in rows.items()}
    return {**facts, "split": at["split"], "size": at["size"], "grid": grid}


def _synthetic_cell(cell: dict[str, Any]) -> dict[str, Any]:
    facts = dict(cell)
    at, rows = facts.pop("at"), facts.pop("rows")
    for key in ("name", "programs"):
        facts.pop(key)
    learned = rows.pop("learned constraints")
    return {**facts, "seed": at["seed"], "hidden": at["hidden"], **learned, "baselines": rows}


def _labelling_gains(gain: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield gain


def _er_gains(gain: dict[str, Any]) -> Iterator[dict[str, Any]]:
    sets, over = (side.split(" / ") for side in gain["what"].split(" over "))
    figure = "relation f1" if "relation F1" in gain["measure"] else "entity f1"
    yield {
        "trained_on": int(gain["where"].removesuffix(" sentences").replace(",", "")),
        "figure": figure,
        "sets": sets,
        "over": over,
        "interval": gain["interval"],
    }


def _no_gains(gain: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from ()


def _er_example(one: dict[str, Any]) -> dict[str, Any]:
    def text(side: str) -> str:
        words, names = list(one["words"]), {}
        labels = [*one[side], "O"]
        for i, label in enumerate(labels[:-1]):
            if label.startswith("B-"):
                last = next(j for j in range(i + 1, len(labels)) if not labels[j].startswith("I-"))
                names[i] = " ".join(one["words"][i:last])
                words[i] = f"[{label[2:].replace('NoEnt', '-')} {words[i]}"
                words[last - 1] += "]"
        links = [f"{names[i]} {label} {names[j]}" for i, j, label in one[f"links_{side}"]]
        return f"{' '.join(words)} | {'; '.join(links) or 'no relation'}"

    sides = {side: text(side) for side in ("gold", "before", "after")}
    return {**sides, **{key: one[key] for key in ("rule", "why", "gain")}}


CELLS = {
    "chunking": _labelling_cell,
    "citation": _labelling_cell,
    "er": _er_cell,
    "synthetic": _synthetic_cell,
}
GAINS_OF = {
    "chunking": _labelling_gains,
    "citation": _labelling_gains,
    "er": _er_gains,
    "synthetic": _no_gains,
}
EXAMPLES = {"er": _er_example}


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
