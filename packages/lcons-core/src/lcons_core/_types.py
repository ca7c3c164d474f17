"""The types of arrays that this package accepts and returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Objects = NDArray[Any]
# An array that mypy knows to have one dimension: one psi.
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]

Columns = Mapping[str, Sequence[str]]  # the columns of a structure by name, one value per token
OnProgress = Callable[[int, int], None]  # called with the number done and the total
