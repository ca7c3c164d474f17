"""Bootstrap over units (sentences, structures or rows): every figure as its value and what it would be had
others been held out.

A figure is a vector of 1 + `DRAWS` numbers: first on the units as they are, then on units drawn with
replacement. All figures of one `Resampler` use the same draws, so arithmetic on such vectors (differences,
shares of differences) is paired by construction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_core.exact import Floats

DRAWS = 1000
CHUNK = 100


@dataclass(frozen=True)
class Estimate:
    """A figure and the bounds of its 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, figure: Floats, scale: float = 100) -> Estimate | None:
        """The estimate of a vector of draws, in percent unless scaled otherwise; None if undefined."""
        if np.isnan(figure[0]) or np.isnan(figure[1:]).all():
            return None
        low, high = np.nanpercentile(figure[1:], [2.5, 97.5])
        return cls(float(scale * figure[0]), float(scale * low), float(scale * high))

    def __str__(self) -> str:
        digits = 1 if max(abs(self.value), abs(self.low), abs(self.high)) >= 1 else 2
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def certain(figure: Floats) -> Estimate:
    """The estimate of a figure that is defined, in percent."""
    found = Estimate.of(figure)
    assert found is not None
    return found


class Resampler:
    """The draws of `size` units.

    >>> shares = Resampler(4, seed=0).ratio([1, 1, 0, 0], [1, 1, 1, 1])
    >>> shares.shape, float(shares[0])
    ((1001,), 0.5)
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.length = 1 + DRAWS
        rng = np.random.default_rng(seed)
        # No unit is drawn more than 255 times, in practice; a byte each keeps large data in memory.
        self._counts: NDArray[np.uint8] = np.ones((self.length, size), dtype=np.uint8)
        for i in range(1, self.length, CHUNK):
            some = self._counts[i : i + CHUNK]
            some[:] = np.minimum(rng.multinomial(size, np.full(size, 1 / size), len(some)), 255)

    def sums(self, values: ArrayLike) -> Floats:
        """(1 + DRAWS,) sums of a value a unit."""
        given = np.asarray(values, dtype=np.float64)
        chunks = range(0, len(self._counts), CHUNK)
        return np.concatenate([self._counts[i : i + CHUNK].astype(np.float64) @ given for i in chunks])

    def ratio(self, numerators: ArrayLike, denominators: ArrayLike) -> Floats:
        """(1 + DRAWS,) sums of numerators over sums of denominators; nan where the latter are 0."""
        above, below = self.sums(numerators), self.sums(denominators)
        return np.divide(above, below, out=np.full(len(below), np.nan), where=below != 0)
