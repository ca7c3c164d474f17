"""One cell of the experiment, an instance and a number of hidden units: learn, solve, measure.

The instance, the network and the figures are stages, kept by content (`engine._kept`). Units are test
programs, each with its number of correct bits.

Paper: Appendix B.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from lcons_core import FeatureSpace, LearnedConstraint, RectifierNetwork, binary
from lcons_core._types import Floats
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.synthetic._corpus import ProgramFamily, ProgramSet, generate
from lcons_tasks.experiments.synthetic._measures import BITS, baselines, network_figures
from lcons_tasks.experiments.synthetic._model import FIXED, SEARCHED, Learned, flip_examples, learn

LEARNED = "learned constraints"
# With more units than in the paper, the rate is not searched: this would take long and change little.
MOST_SEARCHED = 10
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
        settings = SEARCHED if self.hidden <= MOST_SEARCHED else FIXED
        if len(examples.positives) < settings.folds:
            # There are too few distinct optima for cross-validation.
            settings = FIXED
        inputs = {"cell": asdict(self), "settings": settings.to_dict()}
        return kept.keep(
            "synthetic-network", inputs, partial(learn, examples, self.hidden, settings, self.seed)
        )

    def answers(self, kept: Stages) -> Record:
        """The cell's record, computed now or read from its stage."""
        return kept.keep("synthetic", {"cell": asdict(self)}, partial(_answers, self, kept))


def _answers(cell: Cell, kept: Stages) -> Record:
    programs, learned = cell.instance(kept), cell.learned(kept)
    measured, found = network_figures(learned.network, programs)
    without = baselines(programs)
    facts = {
        "configuration": learned.configuration,
        "constraints": len(programs.A),
        "distinct optima": len(flip_examples(programs.train).positives),
        "programs": {
            "variables": cell.recipe.variables,
            "training": len(programs.train),
            "test": len(programs.test),
        },
    }
    rows = {LEARNED: measured, **{name: figures for name, (figures, _) in without.items()}}
    points = {LEARNED: found.points, **{name: points for name, (_, points) in without.items()}}
    counts = {name: {BITS: _right_bits(one, programs)} for name, one in points.items()}
    at = {"hidden": cell.hidden, "seed": cell.seed}
    units = tuple(_UNITS * cell.seed + i for i in range(len(programs.test)))
    return Record((RecordCell(cell.place, at, rows, facts, rows_with_counts(counts, list(rows)), units),))


def _right_bits(points: Floats, programs: ProgramSet) -> Ints:
    """(test programs, 2): the numbers of correct bits and of all bits."""
    right = (points == programs.test.optima).sum(1)
    return np.stack([right, np.full(len(points), points.shape[1])], axis=1).astype(np.int64)


def as_constraint(network: RectifierNetwork) -> LearnedConstraint:
    """A network on assignments as a constraint, with variables z1, z2, ..."""
    space = FeatureSpace([binary("z", [f"z{j + 1}" for j in range(network.d)])])
    return LearnedConstraint(network, space)
