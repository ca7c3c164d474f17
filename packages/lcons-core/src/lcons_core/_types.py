"""The arrays that everything here takes and returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Objects = NDArray[Any]
# Where mypy can tell that an array has one dimension: one psi.
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]

Columns = Mapping[str, Sequence[str]]  # the columns of a structure by name, a value per token
OnProgress = Callable[[int, int], None]  # told how many of how many are done
