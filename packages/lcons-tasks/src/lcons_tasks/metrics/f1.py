"""F1 from counts, and how sure a difference in F1 is.

Counts are (right, predicted, gold) in the last axis. F1 is no mean over sentences, so an interval draws
sentences and computes both sides' F1 anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_tasks.metrics.bootstrap import DRAWS, Interval


def f1(counts: ArrayLike) -> NDArray[np.float64]:
    """F1 in percent, 0 where nothing is counted.

    >>> float(f1([1, 2, 2]))
    50.0
    """
    right, predicted, gold = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    return 200 * right / np.maximum(predicted + gold, 1)


def bootstrap_f1(
    better: Sequence[ArrayLike], worse: Sequence[ArrayLike], draws: int = DRAWS, seed: int = 0
) -> Interval:
    """The difference in F1 of `better` over `worse`, averaged over runs: counts (sentences, 3), one array a
    run. The same sentences are drawn for every run, so row i is the same sentence in each; where a run did
    not see it, it counts nothing.

    >>> print(bootstrap_f1([[[1, 1, 1], [0, 1, 1]]], [[[0, 1, 1], [0, 1, 1]]]))
    +50.00 [+0.00, +100.00]
    """
    ours, theirs = (np.asarray(side, dtype=np.float64) for side in (better, worse))
    n = ours.shape[1]
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(n, np.full(n, 1 / n), draws).astype(np.float64)

    def differences(w: NDArray[np.float64]) -> NDArray[np.float64]:
        """(drawn,): weights of sentences (drawn, sentences) -> the mean difference over runs."""
        sides = [f1(np.einsum("ds,rsc->drc", w, side, optimize=True)) for side in (ours, theirs)]
        return np.asarray((sides[0] - sides[1]).mean(1))

    low, high = np.percentile(differences(weights), [2.5, 97.5])
    return Interval(float(differences(np.ones((1, n)))[0]), float(low), float(high))
