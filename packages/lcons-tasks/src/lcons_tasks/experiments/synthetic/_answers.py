"""One cell of the experiment, an instance and a number of hidden units: learn, solve, measure.

The instance, the network, the rounds after it, and the figures are stages, kept by content (`engine._kept`).
Units are test programs, each with its number of correct bits.

Paper: Appendix B.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from lcons_core._types import Floats
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.synthetic._corpus import ProgramSet
from lcons_tasks.experiments.synthetic._measures import BITS, baselines, network_figures, recovery
from lcons_tasks.experiments.synthetic._model import flip_examples
from lcons_tasks.experiments.synthetic._networks import (
    Cell,
    constraint,
    first_network,
    instance,
    network_of,
)

LEARNED = "learned constraints"
# Test programs of different instances are different units.
_UNITS = 1_000_000


def answers(cell: Cell, kept: Stages) -> Record:
    """The cell's record, computed now or read from its stage."""
    return kept.keep("synthetic", {"cell": asdict(cell)}, partial(_answers, cell, kept))


def _answers(cell: Cell, kept: Stages) -> Record:
    programs = instance(cell, kept)
    learned, rounds = constraint(cell, kept)
    network = network_of(learned)
    measured, found = network_figures(network, programs)
    without = baselines(programs)
    facts = {
        "configuration": first_network(cell, kept).configuration,
        "recovery": recovery(network, programs),
        "constraints": len(programs.A),
        "distinct optima": len(flip_examples(programs.train).positives),
        "programs": {
            "variables": cell.recipe.variables,
            "training": len(programs.train),
            "test": len(programs.test),
        },
        **rounds,
    }
    rows = {LEARNED: measured, **{name: figures for name, (figures, _) in without.items()}}
    points = {LEARNED: found.points, **{name: points for name, (_, points) in without.items()}}
    counts = {name: {BITS: _right_bits(one, programs)} for name, one in points.items()}
    return _record(cell, programs, rows, facts, counts)


def _record(
    cell: Cell,
    programs: ProgramSet,
    rows: Mapping[str, Mapping[str, float]],
    facts: Mapping[str, Any],
    counts: Mapping[str, Mapping[str, Ints]],
) -> Record:
    at: dict[str, Coordinate] = {
        "hidden": cell.hidden,
        "rounds": cell.rounds,
        "seed": cell.seed,
    }
    units = tuple(_UNITS * cell.seed + i for i in range(len(programs.test)))
    return Record((RecordCell(cell.place, at, rows, facts, rows_with_counts(counts, list(rows)), units),))


def _right_bits(points: Floats, programs: ProgramSet) -> Ints:
    """(test programs, 2): the numbers of correct bits and of all bits."""
    right = (points == programs.test.optima).sum(1)
    return np.stack([right, np.full(len(points), points.shape[1])], axis=1).astype(np.int64)
