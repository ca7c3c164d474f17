"""Examples with wrong labels, found by their disagreement with the others and set aside (`robust=True`).

An example *disagrees* with a network by more than s if its margin is beyond s on the wrong side. First, by
cross-validation: three times the examples are dealt into folds anew, and

    kept = the examples that agree with the network learned from the kept examples of the other folds

These networks have less to learn from, so they also lose right examples near the boundary. These come back in
three rounds without folds, with s falling from 1/4 (the clearance of `_schedule.py`) to 0,

    kept = the examples that do not disagree by more than s with the network learned from all that are kept

A slightly wrong side is thus corrected by the network, a clearly wrong one is taken for a wrong label. The
networks are wide (at least 10 units), because a narrow one may be wrong in the same place in every fold. The
final training has any K and only uses the kept examples, which are nearly always separable.

If one network separates all examples, nothing is set aside: then robust learning is learning, bit for bit.

Not in the paper: its negatives are made, so their labels are never wrong; rare positives are dropped
(`min_support`). Measured with 10 % wrong labels: `tools/bench/learning_traps.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lcons_core._psi import PsiRows
from lcons_core._types import Floats, Ints
from lcons_core.learn._inputs import INVALID, VALID
from lcons_core.learn._schedule import CLEARANCE, Settings, train
from lcons_core.learn._search import Configuration, deal, table
from lcons_core.learn._settings import Progress

ROUNDS = 3
SLACKS = (CLEARANCE, CLEARANCE / 2, 0.0)
LEAST_HIDDEN = 10
RESTARTS = 2


def set_aside(
    examples: PsiRows,
    configuration: Configuration,
    folds: int,
    class_weights: tuple[float, float] | None,
    settings: Settings,
    seed: int,
    progress: Callable[[Progress], None] | None = None,
) -> PsiRows:
    """The examples without those that disagree with the others; all of them if no label would be left."""
    draw = np.random.default_rng(seed)
    given = examples.weight > 0
    kept = given

    def margins(fold_of: Ints, number: int) -> Floats:
        """(N,) the margin of each example under the network learned from the kept ones of the other folds, or
        from all that are kept if there is only one fold."""
        left = PsiRows.of(examples.psi, weight=examples.weight * kept)
        others = table([(fold_of != fold) | (number == 1) for fold in range(number)], left, class_weights)
        members = [one for fold in range(number) for one in configuration.members(fold, RESTARTS, fold)]
        found = train(others, members, settings, int(draw.integers(2**63)), progress)
        margin = np.empty(len(examples))
        for fold in range(number):
            rows = np.flatnonzero(fold_of == fold)
            margin[rows] = found[fold].network.margin(examples.psi.take(rows))
        return margin

    undivided = np.zeros(len(examples), dtype=np.int64)
    for slack in (None,) * ROUNDS + SLACKS:
        margin = margins(deal(examples, folds, draw), folds) if slack is None else margins(undivided, 1)
        agrees = np.empty_like(given)
        agrees[:, VALID], agrees[:, INVALID] = margin >= -(slack or 0.0), margin < (slack or 0.0)
        kept = agrees & given
        if not kept.any(0).all():
            return examples
    rows = np.flatnonzero(kept.any(1))
    return PsiRows.of(examples.psi.take(rows), weight=(examples.weight * kept)[rows])
