"""One cell of the experiment: an instance and a number of hidden units; learn, solve, measure.

Each stage is kept by content (`experiment.stages`): the instance, the network, the rounds after it, and the
figures.

Paper: Appendix B.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lcons_core import LearnedConstraint, load, save
from lcons_core._blocks import binary
from lcons_core._network import RectifierNetwork
from lcons_core._space import FeatureSpace
from lcons_tasks.experiments.engine._jobs import Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.synthetic._corpus import (
    ProgramSet,
    Recipe,
    generate,
    load_programs,
    save_programs,
)
from lcons_tasks.experiments.synthetic._measures import baselines, network_figures, recovery
from lcons_tasks.experiments.synthetic._model import FIXED, SEARCHED, Learned, flip_examples, learn
from lcons_tasks.experiments.synthetic._rounds import RoundSettings, run_rounds

# With more units than the paper's the rate is not searched: it takes long, and changes little.
MOST_SEARCHED = 10

_INSTANCE_CODE = (
    "lcons_decode.ilp",
    "lcons_tasks.experiments.synthetic._corpus",
    "lcons_tasks.experiments.synthetic._paper",
)
_LEARN_CODE = (*_INSTANCE_CODE, "lcons_core", "lcons_tasks.experiments.synthetic._model")
_ROUNDS_CODE = (
    *_LEARN_CODE,
    "lcons_tasks.experiments.synthetic._model",
    "lcons_tasks.experiments.synthetic._rounds",
)
_CELL_CODE = (
    *_ROUNDS_CODE,
    "lcons_tasks.experiments.synthetic._measures",
    "lcons_tasks.experiments.synthetic._cell",
)


@dataclass(frozen=True)
class Cell:
    """An instance by seed, K, and at most how many counterexample-guided rounds (0: none)."""

    seed: int
    hidden: int
    rounds: int = 0
    recipe: Recipe = Recipe()  # noqa: RUF009 (frozen)


@dataclass(frozen=True, eq=False)
class Filled:
    """A cell's figures (plain data)."""

    cell: Cell
    figures: Mapping[str, Any]


def instance(cell: Cell, stages: Stages, tell: Tell | None = None) -> ProgramSet:
    """The programs of a cell, drawn and solved or read."""

    def make(folder: Path) -> None:
        save_programs(generate(cell.seed, cell.recipe, tell), folder / "programs.npz")

    inputs = {"seed": cell.seed, "recipe": cell.recipe.to_dict()}
    return stages.keep(
        "synthetic-programs",
        inputs,
        _INSTANCE_CODE,
        make,
        lambda folder: load_programs(folder / "programs.npz", cell.recipe),
    )


def first_network(cell: Cell, stages: Stages) -> Learned:
    """The network without rounds, learned or read."""
    examples = flip_examples(instance(cell, stages).train)
    settings = SEARCHED if cell.hidden <= MOST_SEARCHED else FIXED
    if len(examples.positives) < settings.folds:
        # Too few distinct optima to choose by cross-validation.
        settings = FIXED

    def make(folder: Path) -> None:
        found = learn(examples, cell.hidden, settings, cell.seed)
        save(as_constraint(found.network), folder / "constraint.json")
        (folder / "configuration.json").write_text(json.dumps(found.configuration), encoding="utf-8")

    def read(folder: Path) -> Learned:
        chosen = json.loads((folder / "configuration.json").read_text(encoding="utf-8"))
        return Learned(_network(load(folder / "constraint.json")), chosen)

    inputs = {
        "seed": cell.seed,
        "recipe": cell.recipe.to_dict(),
        "hidden": cell.hidden,
        "settings": settings.to_dict(),
    }
    return stages.keep("synthetic-network", inputs, _LEARN_CODE, make, read)


def constraint(cell: Cell, stages: Stages, tell: Tell | None = None) -> LearnedConstraint:
    """The constraint of a cell, after its rounds."""
    return _constraint(cell, stages, tell)[0]


def fill(cell: Cell, stages: Stages, tell: Tell) -> Filled:
    """The cell's figures, from the stages that are kept or computed now."""

    def make(folder: Path) -> None:
        programs = instance(cell, stages)
        learned, told = _constraint(cell, stages, lambda share, what: tell(0.8 * share, what))
        tell(0.8, "solving the test programs")
        network = _network(learned)
        measured, _ = network_figures(
            network, programs, tell=lambda share, what: tell(0.8 + 0.2 * share, what)
        )
        figures = {
            **measured,
            "configuration": first_network(cell, stages).configuration,
            "recovery": recovery(network, programs),
            "baselines": baselines(programs),
            "constraints": len(programs.A),
            "distinct optima": len(flip_examples(programs.train).positives),
            **told,
        }
        (folder / "figures.json").write_text(json.dumps(figures), encoding="utf-8")

    def read(folder: Path) -> Filled:
        return Filled(cell, json.loads((folder / "figures.json").read_text(encoding="utf-8")))

    return stages.keep("synthetic", {"cell": asdict(cell)}, _CELL_CODE, make, read)


def as_constraint(network: RectifierNetwork) -> LearnedConstraint:
    """A network on assignments as a constraint: the variables are z1, z2, ..."""
    space = FeatureSpace([binary("z", [f"z{j + 1}" for j in range(network.d)])])
    return LearnedConstraint(network, space)


def _constraint(cell: Cell, stages: Stages, tell: Tell | None) -> tuple[LearnedConstraint, dict[str, Any]]:
    first = first_network(cell, stages)
    if not cell.rounds:
        return as_constraint(first.network), {}
    settings = RoundSettings(cell.rounds)

    def make(folder: Path) -> None:
        train = instance(cell, stages).train
        found = run_rounds(train, cell.hidden, settings, cell.seed, tell, first)
        save(as_constraint(found.network), folder / "constraint.json")
        told = {
            "rounds": [asdict(one) for one in found.history],
            "chosen": found.chosen,
            "fixpoint": found.fixpoint,
        }
        (folder / "rounds.json").write_text(json.dumps(told), encoding="utf-8")

    def read(folder: Path) -> tuple[LearnedConstraint, dict[str, Any]]:
        told = json.loads((folder / "rounds.json").read_text(encoding="utf-8"))
        return load(folder / "constraint.json"), told

    inputs = {"cell": asdict(cell), "settings": settings.to_dict()}
    return stages.keep("synthetic-rounds", inputs, _ROUNDS_CODE, make, read)


def _network(learned: LearnedConstraint) -> RectifierNetwork:
    (network,) = learned.network.parts
    return network
