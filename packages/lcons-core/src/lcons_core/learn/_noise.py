"""Examples with wrong labels, found by their disagreement with the others and set aside (`robust=True`).

An example disagrees with a network by more than s if its margin is beyond s on the wrong side. First, by
cross-validation: three times, the examples are dealt into folds anew, and

    kept = the examples that do not disagree by more than s with the network learned from the kept examples of
           the other folds,   s = 0, 0, 1/4

These networks have less to learn from, so they also reject right examples near the boundary. With s = 1/4,
the clearance of `_schedule.py`, these come back, and the network corrects itself in three rounds without
folds,

    kept = the examples that do not disagree by more than s with the network learned from all kept examples,
           s = 1/6, 1/12, 0

so a label is taken for wrong if it stays on the wrong side. The networks are wide (at least 10 units),
because a narrow one may be wrong in the same place in every fold. The final training has any K and only uses
the kept examples, which are nearly always separable.

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

# s by round, with and without folds.
DIVIDED = (0.0, 0.0, CLEARANCE)
UNDIVIDED = (CLEARANCE * 2 / 3, CLEARANCE / 3, 0.0)
LEAST_HIDDEN = 10
# Restarts of each network; there is one per fold, or only one.
FEW_RESTARTS, RESTARTS = 2, 4


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

    def margins(fold_of: Ints, number: int, restarts: int) -> Floats:
        """(N,) the margin of each example under the network learned from the kept ones of the other folds, or
        from all that are kept if there is only one fold."""
        left = PsiRows.of(examples.psi, weight=examples.weight * kept)
        others = table([(fold_of != fold) | (number == 1) for fold in range(number)], left, class_weights)
        members = [one for fold in range(number) for one in configuration.members(fold, restarts, fold)]
        found = train(others, members, settings, int(draw.integers(2**63)), progress)
        margin = np.empty(len(examples))
        for fold in range(number):
            rows = np.flatnonzero(fold_of == fold)
            margin[rows] = found[fold].network.margin(examples.psi.take(rows))
        return margin

    whole = np.zeros(len(examples), dtype=np.int64)
    for i, slack in enumerate(DIVIDED + UNDIVIDED):
        if i < len(DIVIDED):
            margin = margins(deal(examples, folds, draw), folds, FEW_RESTARTS)
        else:
            margin = margins(whole, 1, RESTARTS)
        agrees = np.empty_like(given)
        agrees[:, VALID], agrees[:, INVALID] = margin >= -slack, margin < slack
        kept = agrees & given
        if not kept.any(0).all():
            return examples
    rows = np.flatnonzero(kept.any(1))
    return PsiRows.of(examples.psi.take(rows), weight=(examples.weight * kept)[rows])
