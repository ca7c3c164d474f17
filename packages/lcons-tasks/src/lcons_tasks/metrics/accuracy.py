"""Token accuracy, kept as counts a sentence so that differences can be resampled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lcons_core.errors import InvalidInput


def right_and_total(
    gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per sentence: how many labels are right, and how many there are.

    >>> right_and_total([["A", "B"], ["A"]], [["A", "A"], ["A"]])
    (array([1, 1]), array([2, 1]))
    """
    if [len(y) for y in gold] != [len(y) for y in found]:
        raise InvalidInput("gold and predicted labels must have the same lengths; align them first.")
    right = [sum(a == b for a, b in zip(y, z, strict=True)) for y, z in zip(gold, found, strict=True)]
    return np.array(right, dtype=np.int64), np.array([len(y) for y in gold], dtype=np.int64)
