"""What a synthetic run leaves behind: a report, results.json, a curve, and the constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lcons_core import save
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.synthetic import _paper as paper
from lcons_tasks.experiments.synthetic._cell import Filled, constraint
from lcons_tasks.experiments.synthetic._render import curve, render
from lcons_tasks.experiments.synthetic._summary import claims, groups
from lcons_tasks.experiments.synthetic._task import Options
from lcons_tasks.report._outputs import run_folder, write_results

CURVE = "curve.svg"


def write_run(folder: Path, options: Options, filled: Sequence[Filled], stages: Stages) -> str:
    """Writes everything into `folder`, results.json last, and returns the report."""
    found = groups(filled)
    report = render(options, found)
    with run_folder(folder, [CURVE]):
        with replacing_folder(folder / "constraints") as made:
            for one in filled:
                target = made / f"instance-{one.cell.seed}"
                target.mkdir(exist_ok=True)
                name = f"K{one.cell.hidden}{'-rounds' if one.cell.rounds else ''}.json"
                save(constraint(one.cell, stages), target / name)
        results: dict[str, Any] = {
            "corpus": {"name": "synthetic", "what": "integer programs, drawn by seed"},
            "options": asdict(options),
            "cells": [
                {
                    "seed": one.cell.seed,
                    "hidden": one.cell.hidden,
                    "rounds at most": one.cell.rounds,
                    **one.figures,
                }
                for one in filled
            ],
            "claims": [asdict(one) for one in claims(found)],
            "paper": {"hidden": paper.HIDDEN, "figures": paper.FIGURES, "baseline": paper.BASELINE},
        }
        write_results(folder, report, "synthetic", results, {CURVE: curve(found)})
    return report
