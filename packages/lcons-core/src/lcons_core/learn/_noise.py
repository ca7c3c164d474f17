"""Examples with wrong labels, found with a likelihood that expects them, and set aside (`robust=True`).

If a share e of the labels is wrong, whichever they are, a psi that is valid with probability p is labelled
valid with probability

    q = e + (1 - 2 e) p

Networks that maximise the likelihood of the labels under q are not moved by an example that contradicts all
others, because it costs at most -log e (`_population.py`). But a network with more units than needed still
bends around wrong labels. So cross-validation with e = 1/10 chooses the number of units that predicts
held-out labels best, and e is then the share of them that this network does not predict. One more network
is learned from all examples with this K and e, and

    kept = the examples on the right side of this network

Class weights are not used here: with them, the share of wrong labels would differ between the labels. The
final training has its class weights and any K, and only uses the kept examples, which are nearly always
separable.

If plain learning leaves no example on the wrong side by more than 1/4, the clearance of `_schedule.py`,
nothing is set aside, because wrong labels are not only found near the boundary: then robust learning is
learning, bit for bit.

Not in the paper: its negatives are made, so their labels are never wrong; rare positives are dropped
(`min_support`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lcons_core._network import RectifierNetwork
from lcons_core._psi import PsiRows
from lcons_core.learn._inputs import INVALID, VALID
from lcons_core.learn._schedule import CLEARANCE, Settings, train
from lcons_core.learn._search import Configuration, choose, cross_validate, weigh
from lcons_core.learn._settings import Progress

# The share of wrong labels at first, and the limits of its estimate: beyond them, the likelihood is plain, or
# the labels mean nothing.
FIRST_NOISE, LEAST_NOISE, MOST_NOISE = 0.1, 0.01, 0.4
# Restarts of each network, in cross-validation and for the last one.
FEW_RESTARTS, RESTARTS = 4, 8
# Of invalid and valid examples.
UNWEIGHTED = (1.0, 1.0)


def contradicts(network: RectifierNetwork, examples: PsiRows) -> bool:
    """Whether some example is on the wrong side of the network by more than the clearance."""
    margin = network.margin(examples.psi)
    valid, invalid = (examples.weight[:, label] > 0 for label in (VALID, INVALID))
    return bool((valid & (margin < -CLEARANCE)).any() or (invalid & (margin > CLEARANCE)).any())


def set_aside(
    examples: PsiRows,
    configurations: Sequence[Configuration],
    folds: int,
    settings: Settings,
    seed: int,
    progress: Callable[[Progress], None] | None = None,
) -> PsiRows:
    """The examples without those that contradict the others; all of them if no label would be left."""
    noisy = [replace(one, noise=FIRST_NOISE) for one in configurations]
    scores = cross_validate(examples, noisy, FEW_RESTARTS, folds, UNWEIGHTED, settings, seed, progress)
    best = choose(noisy, scores, smallest=False)
    noise = float(np.clip(1.0 - scores[best].mean(), LEAST_NOISE, MOST_NOISE))
    members = replace(noisy[best], noise=noise).members(0, RESTARTS)
    network = train(weigh(examples, UNWEIGHTED), members, settings, seed, progress)[0].network
    accepted = network.accepts(examples.psi)
    agrees = np.empty(examples.weight.shape, dtype=np.bool_)
    agrees[:, VALID], agrees[:, INVALID] = accepted, ~accepted
    kept = agrees & (examples.weight > 0)
    if not kept.any(0).all():
        return examples
    rows = np.flatnonzero(kept.any(1))
    return PsiRows.of(examples.psi.take(rows), weight=(examples.weight * kept)[rows])
