"""One cell of the experiment, an instance and a number of hidden units: learn, solve, measure.

| figure | percentage of |
|---|---|
| network, held-out | training examples (optima, cheaper flips), and those of test programs: right ones |
| bitwise | bits of the predicted test solutions that equal those of the optima |
| satisfied | (predicted solution, hidden row) pairs that hold |
| optimal | predicted solutions that are feasible and cost no more than the optimum |
| gold accepted | test optima that the network accepts |
| gold rows | (test optimum, row of Theorem 1) pairs that hold |

Beside learned constraints stand answers that need none: the least cost without constraints, the majority of
each bit, and the training optimum that is cheapest for the test program. Units are test programs, each with
its number of correct bits. The instance, the network and the record are stages, kept by content.

Paper: Appendix B. Not in the paper: the two other baselines, counts of infeasible programs; rows past K = 12
are sampled, not listed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from lcons_core import to_inequalities
from lcons_core._network import Network
from lcons_core._types import Floats
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.synthetic._corpus import ProgramFamily, ProgramSet, generate
from lcons_tasks.experiments.synthetic._model import FIXED, SEARCHED, Learned, flip_examples, learn, predict

LEARNED, UNCONSTRAINED = "learned constraints", "no constraints"
MAJORITY, CHEAPEST = "the bits of most training optima", "the cheapest training optimum"
BITS = "bitwise"
# With more units than in the paper, the rate is not searched: this would take long and change little.
MOST_SEARCHED = 10
MOST_LISTED, SAMPLED_ROWS = 12, 4096
# Test programs of different instances are different units.
_UNITS = 1_000_000


@dataclass(frozen=True)
class Cell:
    """An instance by seed, and K."""

    seed: int
    hidden: int
    recipe: ProgramFamily = ProgramFamily()  # noqa: RUF009 (frozen)

    def __str__(self) -> str:
        return f"K = {self.hidden} (instance {self.seed})"

    @property
    def place(self) -> str:
        """The path of its constraint file, without suffix."""
        return f"instance-{self.seed}/K{self.hidden}"

    def instance(self, kept: Stages) -> ProgramSet:
        """The programs, drawn and solved now or read from their stage."""
        inputs = {"seed": self.seed, "recipe": asdict(self.recipe)}
        return kept.keep("synthetic-programs", inputs, partial(generate, self.seed, self.recipe))

    def learned(self, kept: Stages) -> Learned:
        """The network, learned now or read from its stage."""
        examples = flip_examples(self.instance(kept).train)
        # Cross-validation needs enough distinct optima, too.
        searched = self.hidden <= MOST_SEARCHED and len(examples.positives) >= SEARCHED.folds
        settings = SEARCHED if searched else FIXED
        inputs = {"cell": asdict(self), "settings": settings.to_dict()}
        return kept.keep(
            "synthetic-network", inputs, partial(learn, examples, self.hidden, settings, self.seed)
        )

    def answers(self, kept: Stages) -> Record:
        """The cell's record, computed now or read from its stage."""
        return kept.keep("synthetic", {"cell": asdict(self)}, partial(_answers, self, kept))


def baselines(programs: ProgramSet) -> dict[str, Floats]:
    """Points of answers to the test programs that need no learned constraints, by name."""
    train, test = programs.train, programs.test
    majority = np.repeat((2 * train.optima.mean(0)[None] > 1).astype(np.float64), len(test.costs), axis=0)
    return {
        UNCONSTRAINED: (test.costs < 0).astype(np.float64),
        MAJORITY: majority,
        CHEAPEST: train.optima[np.argmin(test.costs @ train.optima.T, axis=1)],
    }


def solution_figures(programs: ProgramSet, points: Floats) -> dict[str, float]:
    """Percentages of correct bits, of satisfied pairs, and of optimal solutions."""
    costs, optima = programs.test.costs, programs.test.optima
    satisfied = programs.satisfied(points)
    optimal = satisfied.all(1) & ((costs * points).sum(1) == (costs * optima).sum(1))
    shares = {BITS: points == optima, "satisfied": satisfied, "optimal": optimal}
    return {name: 100.0 * float(share.mean()) for name, share in shares.items()}


def network_figures(network: Network, programs: ProgramSet) -> dict[str, float]:
    """The figures of a network."""
    gold = programs.test.optima
    return {
        "network": flip_examples(programs.train).accuracy(network),
        "held-out": flip_examples(programs.test).accuracy(network),
        "gold accepted": 100.0 * float(np.mean(network.accepts(gold))),
        "gold rows": 100.0 * rows_that_hold(network, gold),
    }


def rows_that_hold(network: Network, points: Floats, seed: int = 0) -> float:
    """The share of (point, row of Theorem 1) pairs that hold; for K above 12, over rows of seeded random
    subsets."""
    if network.K <= MOST_LISTED:
        return float(to_inequalities(network).satisfied(points).mean())
    subsets = np.random.default_rng(seed).integers(0, 2, (SAMPLED_ROWS, network.K)).astype(np.float64)
    return float((1.0 - network.activations(points) @ subsets.T >= 0).mean())


def _answers(cell: Cell, kept: Stages) -> Record:
    programs, learned = cell.instance(kept), cell.learned(kept)
    predicted, infeasible = predict(learned.network, programs.test.costs)
    points = {LEARNED: predicted, **baselines(programs)}
    rows = {name: solution_figures(programs, answer) for name, answer in points.items()}
    rows[LEARNED] |= {**network_figures(learned.network, programs), "infeasible": float(infeasible)}
    recipe, optima = cell.recipe, programs.test.optima
    facts = {
        "configuration": learned.configuration,
        "constraints": recipe.constraints,
        "distinct optima": len(flip_examples(programs.train).positives),
        "programs": {
            "variables": recipe.variables,
            "training": recipe.training,
            "test": len(optima),
        },
    }
    counts = {
        name: {BITS: np.stack([(answer == optima).sum(1), np.full(len(optima), recipe.variables)], axis=1)}
        for name, answer in points.items()
    }
    at = {"hidden": cell.hidden, "seed": cell.seed}
    units = tuple(_UNITS * cell.seed + i for i in range(len(optima)))
    filled = RecordCell(cell.place, at, rows, facts, rows_with_counts(counts, list(rows)), units)
    return Record((filled,), {"corpus": {"name": "synthetic", "what": "integer programs, drawn by seed"}})
