"""Columns of psi centred and scaled for training, and the learned weights folded back exactly.

    psi'_j = psi_j / s_j - m_j,    s_j a power of two, m_j a whole number

    W' psi' + b' = W psi + b   for   W_kj = W'_kj / s_j,   b_k = b'_k - sum_j W'_kj m_j

W' and b' are rounded to multiples of 2^-q of magnitude at most 2^10, with q = 20. So W is exact in float64,
and so is b if sum_j |W'_kj m_j| + |b'_k| <= 2^(53-q); otherwise q is smaller, until it is. The folded network
is thus the network of psi' to the last bit, however large the scales and offsets are, and it is the one that
is scored, saved and converted.

Which columns are scaled:

- **Plain** columns hold whole numbers of magnitude at most 2^8 whose smallest magnitude is at most four times
  their range: 0/1 columns and counts. They are divided by the power of two that makes them at most 1 (by 1 if
  they are 0/1), and the weights of psi itself are rounded to multiples of 2^-20.
- All other columns are centred at a whole multiple of s near their median, with s near the distance of their
  quartiles divided by 1.35, which is the standard deviation of normal data; one outlier changes neither.
  Columns of which at least half are zeros stay sparse: m = 0, and the quartiles are of the other values.

Not in the paper: its psi has only 0/1 columns and counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcons_core._arithmetic import DYADIC_BITS, round_dyadic
from lcons_core._network import RectifierNetwork
from lcons_core._psi import SparsePsi
from lcons_core._types import Floats

LARGEST_COUNT = 2.0**8
# A column of whole numbers is near zero if its smallest magnitude is at most this many times its range.
NEAR = 4.0
QUARTILES_OF_NORMAL = 1.35
# The largest |m|, and limits on log2(s), so that W and b are exact and below the limit of 2^200.
FARTHEST = 2.0**30
EXPONENTS = (-160.0, 190.0)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Scales s (d,), whole centres m (d,), and which columns are plain (d,)."""

    scale: Floats
    centre: Floats
    plain: NDArray[np.bool_]

    @classmethod
    def of(cls, psi: SparsePsi) -> Scaling:
        """The scaling of these rows, which does not depend on their order.

        >>> psi = SparsePsi.from_dense(np.array([[1.0, 1e5], [0.0, 1e5 + 16], [1.0, 1e5 + 32]]))
        >>> found = Scaling.of(psi)
        >>> found.plain, found.scale, found.centre
        (array([ True, False]), array([ 1., 16.]), array([   0., 6251.]))
        """
        low, high, largest, whole = _ranges(psi)
        least = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
        plain = whole & (largest <= LARGEST_COUNT) & ((least <= NEAR * (high - low)) | (low == high))
        scale = np.exp2(np.ceil(np.log2(np.maximum(largest, 1.0))))
        centre = np.zeros(psi.d)
        by_column = np.argsort(psi.indices, kind="stable")
        start = np.searchsorted(psi.indices[by_column], np.arange(psi.d + 1))
        for j in np.flatnonzero(~plain):
            values = psi.values[by_column[start[j] : start[j + 1]]]
            scale[j], centre[j] = _standard(values, len(psi) - len(values))
        return cls(scale, centre, plain)

    @cached_property
    def _centred(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.centre)

    def apply(self, psi: SparsePsi) -> SparsePsi:
        """psi'; the same object if nothing changes."""
        if (self.scale == 1.0).all() and not len(self._centred):
            return psi
        scaled = SparsePsi(psi.indptr, psi.indices, psi.values / self.scale[psi.indices], psi.d)
        if not len(self._centred):
            return scaled
        dense = scaled.dense()
        dense[:, self._centred] -= self.centre[self._centred]
        return SparsePsi.from_dense(dense)

    def fold_back(self, W: Floats, b: Floats) -> RectifierNetwork:
        """The network of psi that equals the network of psi' with W (K, d) and b (K,) after rounding."""
        plain = round_dyadic(W / np.where(self.plain, self.scale, 1.0))
        if self.plain.all():
            return RectifierNetwork(plain, round_dyadic(b))
        for bits in range(DYADIC_BITS, -1, -1):
            rounded, bias = (np.rint(np.ldexp(part, bits)) for part in (W, b))
            shifts = rounded * self.centre
            if (np.abs(shifts).sum(1) + np.abs(bias)).max() <= 2.0**53:
                break
        # Checks the magnitudes of W' and b', too.
        rounded, bias = (round_dyadic(np.ldexp(part, -bits)) for part in (rounded, bias))
        folded = bias - np.ldexp(shifts.sum(1), -bits)
        return RectifierNetwork(np.where(self.plain, plain, rounded / self.scale) + 0.0, folded + 0.0)


def _ranges(psi: SparsePsi) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Per column: smallest and largest value (zeros included), largest magnitude, whether all are whole."""
    filled = np.bincount(psi.indices, minlength=psi.d) == len(psi)
    low, high = np.where(filled, np.inf, 0.0), np.where(filled, -np.inf, 0.0)
    np.minimum.at(low, psi.indices, psi.values)
    np.maximum.at(high, psi.indices, psi.values)
    whole = np.ones(psi.d, dtype=np.bool_)
    whole[psi.indices[psi.values != np.rint(psi.values)]] = False
    return low, high, np.maximum(np.abs(low), np.abs(high)), whole


def _standard(values: Floats, zeros: int) -> tuple[float, float]:
    """(s, m) of a column with these nonzero values and so many zeros."""
    sparse = zeros >= len(values)
    if not sparse and zeros:
        values = np.concatenate((values, np.zeros(zeros)))
    first, middle, third = np.quantile(values, (0.25, 0.5, 0.75))
    if sparse:
        first, middle = min(first, 0.0), 0.0
    spread = (third - first) / QUARTILES_OF_NORMAL or values.std() or 1.0
    spread = max(spread, abs(middle) / FARTHEST)
    scale = float(np.exp2(np.clip(np.rint(np.log2(spread)), *EXPONENTS)))
    return scale, float(np.rint(middle / scale))
