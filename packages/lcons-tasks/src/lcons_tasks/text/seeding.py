"""A block whose random numbers follow from a seed, and after which the caller's go on as if it had not been.

spaCy draws on the CPU from the global generators of `random` and numpy alone.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within the block the global generators are seeded with `seed`."""
    python, arrays = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(arrays)
