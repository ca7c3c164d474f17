"""The programs of a cell, and the networks that are learned from them, as separate stages.

Paper: Appendix B.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lcons_core import FeatureSpace, LearnedConstraint, RectifierNetwork, binary
from lcons_tasks.experiments.synthetic._corpus import (
    ProgramFamily,
    ProgramSet,
    generate,
)
from lcons_tasks.experiments.synthetic._model import FIXED, SEARCHED, Learned, flip_examples, learn
from lcons_tasks.experiments.synthetic._rounds import RoundSettings, run_rounds

if TYPE_CHECKING:
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


def instance(cell: Cell, kept: Stages) -> ProgramSet:
    """The programs of a cell, drawn and solved now or read from their stage."""
    inputs = {"seed": cell.seed, "recipe": cell.recipe.to_dict()}
    return kept.keep("synthetic-programs", inputs, partial(generate, cell.seed, cell.recipe))


def first_network(cell: Cell, kept: Stages) -> Learned:
    """The network without rounds, learned now or read from its stage."""
    examples = flip_examples(instance(cell, kept).train)
    settings = SEARCHED if cell.hidden <= MOST_SEARCHED else FIXED
    if len(examples.positives) < settings.folds:
        # There are too few distinct optima for cross-validation.
        settings = FIXED
    inputs = {"cell": asdict(replace(cell, rounds=0)), "settings": settings.to_dict()}
    return kept.keep("synthetic-network", inputs, partial(learn, examples, cell.hidden, settings, cell.seed))


def constraint(cell: Cell, kept: Stages) -> tuple[LearnedConstraint, dict[str, Any]]:
    """The constraint of a cell after its rounds, learned now or read from its stage, and facts about the
    rounds."""
    first = first_network(cell, kept)
    if not cell.rounds:
        return as_constraint(first.network), {}
    settings = RoundSettings(cell.rounds)
    inputs = {"cell": asdict(cell), "settings": settings.to_dict()}
    train = instance(cell, kept).train
    make = partial(run_rounds, train, cell.hidden, settings, cell.seed, first)
    found = kept.keep("synthetic-rounds", inputs, make)
    rounds = [asdict(one) for one in found.history]
    return as_constraint(found.network), {
        "rounds": rounds,
        "chosen": found.chosen,
        "fixpoint": found.fixpoint,
    }


def as_constraint(network: RectifierNetwork) -> LearnedConstraint:
    """A network on assignments as a constraint, with variables z1, z2, ..."""
    space = FeatureSpace([binary("z", [f"z{j + 1}" for j in range(network.d)])])
    return LearnedConstraint(network, space)


def network_of(learned: LearnedConstraint) -> RectifierNetwork:
    """The network of a constraint on assignments."""
    [network] = learned.network.parts
    return network
