"""Bounds on a share, from counts.

U(x, n) is the largest p with P(X <= x) = sum_{i <= x} C(n, i) p^i (1 - p)^(n - i) >= 0.05 (Clopper-Pearson):
with a confidence of 95 %, at most this share is rejected if x of n were.

Not in the paper.
"""

from __future__ import annotations

import math

import numpy as np

CONFIDENCE = 0.95


def upper_bound(rejected: int, parts: int, confidence: float = CONFIDENCE) -> float:
    """The Clopper-Pearson upper bound on a share, by bisection on the binomial tail; 1 without parts.

    >>> round(upper_bound(0, 300), 4), round(upper_bound(3, 300), 4), upper_bound(2, 2)
    (0.0099, 0.0256, 1.0)
    """
    if rejected >= parts:
        return 1.0
    i = np.arange(1, rejected + 1)
    logs = np.concatenate(([0.0], np.cumsum(np.log((parts - i + 1) / i))))
    i = np.arange(rejected + 1)
    low, high = rejected / parts, 1.0
    for _ in range(60):
        share = (low + high) / 2
        terms = logs + i * math.log(share) + (parts - i) * math.log1p(-share)
        if float(np.exp(terms).sum()) >= 1 - confidence:
            low = share
        else:
            high = share
    return high


def rounded_up(share: float) -> str:
    """A bound in percent, rounded up.

    >>> rounded_up(0.0099), rounded_up(0.01)
    ('1.0%', '1.0%')
    """
    return f"{math.ceil(1000 * share - 1e-9) / 10:.1f}%"
