"""Examples with wrong labels, found by cross-validation and set aside before learning (`robust=True`).

The examples are dealt into folds, once. Then, in rounds,

    kept = the examples whose label agrees with the network learned from the kept examples of the other folds

until nothing changes, at most six times. An example that was set aside can come back. The networks are wide
(at least 10 units), because a narrow one may be wrong in the same place in every fold. The final training
only uses the kept examples, which are nearly always separable, so it ends with a margin on both sides.

If one network separates all examples, nothing is set aside: then robust learning is learning, bit for bit.

Not in the paper: its negatives are made, so their labels are never wrong; rare positives are dropped
(`min_support`). Measured with 10 % wrong labels: `tools/bench/learning_traps.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lcons_core._psi import PsiRows
from lcons_core.learn._inputs import INVALID, VALID
from lcons_core.learn._schedule import Settings, train
from lcons_core.learn._search import Configuration, deal, table
from lcons_core.learn._settings import Progress

ROUNDS = 6
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
    dealing, training = np.random.SeedSequence(seed).spawn(2)
    fold_of = deal(examples, folds, np.random.default_rng(dealing))
    members = [one for fold in range(folds) for one in configuration.members(fold, RESTARTS, fold)]
    given = examples.weight > 0
    kept = given
    for child in training.spawn(ROUNDS):
        left = PsiRows.of(examples.psi, weight=examples.weight * kept)
        others = table([fold_of != fold for fold in range(folds)], left, class_weights)
        found = train(others, members, settings, int(np.random.default_rng(child).integers(2**63)), progress)
        agrees = np.empty_like(given)
        for fold in range(folds):
            rows = np.flatnonzero(fold_of == fold)
            accepted = found[fold].network.accepts(examples.psi.take(rows))
            agrees[rows, VALID], agrees[rows, INVALID] = accepted, ~accepted
        before, kept = kept, agrees & given
        if not kept.any(0).all():
            return examples
        if (kept == before).all():
            break
    rows = np.flatnonzero(kept.any(1))
    return PsiRows.of(examples.psi.take(rows), weight=(examples.weight * kept)[rows])
