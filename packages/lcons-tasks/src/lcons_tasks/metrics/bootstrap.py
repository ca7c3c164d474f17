"""Paired bootstrap: how sure is it that one decoder is better than another on these sentences.

Sentences are drawn with replacement, the same ones for both sides and for every run (seed, split); the
interval is that of the difference of token accuracies, averaged over runs, between the 2.5th and 97.5th
percentiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

DRAWS = 2000


@dataclass(frozen=True)
class Interval:
    """A mean difference and the bounds of its interval, in percentage points."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def paired_bootstrap(
    better: Sequence[ArrayLike],
    worse: Sequence[ArrayLike],
    totals: ArrayLike,
    draws: int = DRAWS,
    seed: int = 0,
) -> Interval:
    """The difference in accuracy of `better` over `worse`: right labels a sentence, one array a run.

    >>> print(paired_bootstrap([[2, 2]], [[1, 2]], [2, 2]))
    +25.00 [+0.00, +50.00]
    """
    gain = np.mean([np.asarray(a) - np.asarray(b) for a, b in zip(better, worse, strict=True)], axis=0)
    sizes = np.asarray(totals)
    rng = np.random.default_rng(seed)
    n = len(sizes)
    found = []
    for first in range(0, draws, 100):
        drawn = rng.integers(0, n, (min(100, draws - first), n))
        found.append(gain[drawn].sum(1) / sizes[drawn].sum(1))
    low, high = np.percentile(np.concatenate(found), [2.5, 97.5])
    return Interval(float(100 * gain.sum() / sizes.sum()), float(100 * low), float(100 * high))
