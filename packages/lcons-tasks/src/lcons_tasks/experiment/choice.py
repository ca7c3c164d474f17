"""Choosing on dev: the default unless dev speaks clearly against it.

With few dev sentences the best of many settings is mostly luck. So a default stands unless the best setting
beats it by more than one standard error of the paired difference over dev sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def choose(right: Sequence[ArrayLike], default: int) -> int:
    """The index of the chosen setting; right labels a dev sentence, one array a setting.

    >>> choose([[3, 4], [3, 3]], default=1), choose([[5, 5, 4], [3, 3, 3]], default=1)
    (1, 0)
    """
    counts = [np.asarray(one, dtype=np.float64) for one in right]
    totals = [one.sum() for one in counts]
    best = int(np.argmax(totals))
    gain = counts[best] - counts[default]
    error = np.sqrt(len(gain)) * gain.std(ddof=1) if len(gain) > 1 else np.inf
    return best if gain.sum() > error else default
