"""The programs of a cell, and the networks that are learned from them, as separate stages.

Paper: Appendix B.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcons_core import FeatureSpace, LearnedConstraint, RectifierNetwork, binary, load, save
from lcons_tasks.experiments.synthetic._corpus import (
    ProgramFamily,
    ProgramSet,
    generate,
    load_programs,
    save_programs,
)
from lcons_tasks.experiments.synthetic._model import FIXED, SEARCHED, Learned, flip_examples, learn
from lcons_tasks.experiments.synthetic._rounds import RoundSettings, run_rounds

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._jobs import Tell
    from lcons_tasks.experiments.engine._kept import Stages

# With more units than in the paper, the rate is not searched: this would take long and change little.
MOST_SEARCHED = 10


@dataclass(frozen=True)
class Cell:
    """An instance by seed, K, and the largest number of counterexample-guided rounds (0: none)."""

    seed: int
    hidden: int
    rounds: int = 0
    recipe: ProgramFamily = ProgramFamily()  # noqa: RUF009 (frozen)

    def __str__(self) -> str:
        return f"K = {self.hidden}{', rounds' if self.rounds else ''} (instance {self.seed})"

    @property
    def place(self) -> str:
        """The path of its constraint file, without suffix."""
        return f"instance-{self.seed}/K{self.hidden}{'-rounds' if self.rounds else ''}"


def instance(cell: Cell, kept: Stages, tell: Tell | None = None) -> ProgramSet:
    """The programs of a cell, drawn and solved now or read from their stage."""

    def make(folder: Path) -> None:
        save_programs(generate(cell.seed, cell.recipe, tell), folder / "programs.npz")

    inputs = {"seed": cell.seed, "recipe": cell.recipe.to_dict()}
    return kept.keep(
        "synthetic-programs",
        inputs,
        make,
        lambda folder: load_programs(folder / "programs.npz", cell.recipe),
    )


def first_network(cell: Cell, kept: Stages) -> Learned:
    """The network without rounds, learned now or read from its stage."""
    examples = flip_examples(instance(cell, kept).train)
    settings = SEARCHED if cell.hidden <= MOST_SEARCHED else FIXED
    if len(examples.positives) < settings.folds:
        # There are too few distinct optima for cross-validation.
        settings = FIXED

    def make(folder: Path) -> None:
        found = learn(examples, cell.hidden, settings, cell.seed)
        save(as_constraint(found.network), folder / "constraint.json")
        (folder / "configuration.json").write_text(json.dumps(found.configuration), encoding="utf-8")

    def read(folder: Path) -> Learned:
        chosen = json.loads((folder / "configuration.json").read_text(encoding="utf-8"))
        return Learned(network_of(load(folder / "constraint.json")), chosen)

    return kept.keep("synthetic-network", _inputs(cell, settings.to_dict()), make, read)


def _inputs(cell: Cell, settings: dict[str, Any]) -> dict[str, Any]:
    """What a stage of the first network of a cell depends on."""
    return {
        "seed": cell.seed,
        "recipe": cell.recipe.to_dict(),
        "hidden": cell.hidden,
        "settings": settings,
    }


def constraint(
    cell: Cell, kept: Stages, tell: Tell | None = None
) -> tuple[LearnedConstraint, dict[str, Any]]:
    """The constraint of a cell after its rounds, learned now or read from its stage, and facts about the
    rounds."""
    first = first_network(cell, kept)
    if not cell.rounds:
        return as_constraint(first.network), {}
    settings = RoundSettings(cell.rounds)

    def make(folder: Path) -> None:
        train = instance(cell, kept).train
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

    return kept.keep("synthetic-rounds", {"cell": asdict(cell), "settings": settings.to_dict()}, make, read)


def as_constraint(network: RectifierNetwork) -> LearnedConstraint:
    """A network on assignments as a constraint, with variables z1, z2, ..."""
    space = FeatureSpace([binary("z", [f"z{j + 1}" for j in range(network.d)])])
    return LearnedConstraint(network, space)


def network_of(learned: LearnedConstraint) -> RectifierNetwork:
    """The network of a constraint on assignments."""
    [network] = learned.network.parts
    return network
