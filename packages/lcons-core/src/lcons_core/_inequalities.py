"""The threshold network: a conjunction of linear threshold units, the same set as a system of inequalities.

    z = sgn(1 - K + sum_k sgn(w_k . psi + b_k))

Paper: Sec. 2.2, Eq. 6. z = 1 iff every unit is 1. Its gradient is zero almost everywhere, which is why a
`RectifierNetwork` is learned instead; `LinearInequalities.to_threshold_network` gives one back.

Theorem 1: a rectifier network is a system of 2^K - 1 linear inequalities.

    1 - sum_k ReLU(a_k) >= 0   iff   1 - sum_{k in S} a_k >= 0  for every non-empty S of [K]

Paper: Sec. 2.3, Theorem 1, Eq. 8; proof in Appendix A. The row of S has coefficients -sum_{k in S} w_k and
bias 1 - sum_{k in S} b_k, and S is kept beside it. The empty S gives 1 >= 0 and is left out.

Rows come in the order of binary counting over S. For dyadic weights (`exact.py`) every row is exact; for
other weights each coefficient is the correctly rounded sum, and `verify` says where that moves a verdict.

Differs from the paper: the rows are not linearly independent in general. With their biases they lie in the
span of K + 1 vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_core._arithmetic import (
    LARGEST,
    Floats,
    checked_array,
    exponent,
    frozen,
    many,
    rational_dot,
    rounding_bound,
)
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._network import Network, RectifierNetwork
from lcons_core._psi import SparsePsi, as_psi


@dataclass(frozen=True, eq=False)
class ThresholdNetwork:
    """z = sgn(1 - K + sum_k sgn(W psi + b)_k) with W (K, d) and b (K,), both read-only.

    >>> ThresholdNetwork([[1.0, 0.0], [0.0, -1.0]], [-1.0, 0.0]).accepts([[1, 0], [1, 1]])
    array([ True, False])
    """

    inequalities: LinearInequalities

    def __init__(self, W: ArrayLike, b: ArrayLike) -> None:

        object.__setattr__(self, "inequalities", LinearInequalities(W, b))

    @property
    def W(self) -> Floats:
        """(K, d) weights of the hidden threshold units."""
        return self.inequalities.coefficients

    @property
    def b(self) -> Floats:
        """(K,) biases of the hidden threshold units."""
        return self.inequalities.bias

    @property
    def K(self) -> int:
        """The number of hidden units."""
        return self.W.shape[0]

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.W.shape[1]

    def margin(self, psi: Any) -> Any:
        """1 - K + sum_k sgn(w_k . psi + b_k): 1 where accepted, else negative and odd or even with K."""
        signs = np.where(self.inequalities.satisfied(psi), 1, -1)
        return 1 - self.K + signs.sum(-1)

    def accepts(self, psi: Any) -> Any:
        """Whether z = 1: a bool for one psi, (N,) for many."""
        verdict = self.margin(psi) >= 0
        return bool(verdict) if np.ndim(verdict) == 0 else verdict


MAX_BYTES = 2**30
CHUNK_BITS = 12

Subsets = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LinearInequalities:
    """`coefficients @ psi + bias >= 0`, M rows; `subsets[m]` marks the hidden units that made row m.

    >>> rows = LinearInequalities([[-2.0, -2.0]], [3.0])
    >>> rows.holds([[1, 0], [1, 1]])
    array([ True, False])
    """

    coefficients: Floats
    bias: Floats
    subsets: Subsets | None

    def __init__(self, coefficients: ArrayLike, bias: ArrayLike, subsets: Subsets | None = None) -> None:
        object.__setattr__(self, "coefficients", _read_only(coefficients, "coefficients", 2))
        object.__setattr__(self, "bias", _read_only(bias, "bias", 1))
        object.__setattr__(self, "subsets", None if subsets is None else frozen(subsets))
        if self.bias.shape != self.coefficients.shape[:1] or not self.d:
            raise InvalidInput(
                f"coefficients must be (M, d) and bias (M,), found {self.coefficients.shape} and"
                f" {self.bias.shape}; pass one bias a row."
            )
        if subsets is not None and len(subsets) != len(self):
            raise InvalidInput(
                f"subsets must have one row an inequality, found {len(subsets)} for {len(self)}."
            )

    @classmethod
    def _built(cls, coefficients: Floats, bias: Floats, subsets: Subsets) -> LinearInequalities:
        """Rows that this module made itself: frozen, not read again to be checked."""
        rows = object.__new__(cls)
        for name, value in (("coefficients", coefficients), ("bias", bias), ("subsets", subsets)):
            object.__setattr__(rows, name, frozen(value))
        return rows

    def __len__(self) -> int:
        return self.coefficients.shape[0]

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.coefficients.shape[1]

    def values(self, psi: Any) -> Floats:
        """`coefficients @ psi + bias`: (M,) for one psi, (N, M) for many."""
        checked = as_psi(psi, self.d)
        C = self.coefficients.T
        return (checked.dot(C) if isinstance(checked, SparsePsi) else checked @ C) + self.bias

    def satisfied(self, psi: Any) -> NDArray[np.bool_]:
        """Which rows hold, decided exactly for the stored coefficients: (M,) or (N, M)."""
        checked = as_psi(psi, self.d)
        dense = checked.dense() if isinstance(checked, SparsePsi) else checked
        values = np.atleast_2d(self.values(checked))
        verdict = values >= 0
        # An overflow (NaN) is as uncertain as a value near zero: rationals decide both.
        largest = float(np.abs(dense).max(initial=0.0))
        total = float((largest * self._row_mass + np.abs(self.bias)).max(initial=0.0))
        q = self._exponent if bool((dense == np.rint(dense)).all()) else None
        bound = rounding_bound(total, self.d + 1, q) or -1.0
        for i, m in zip(*np.nonzero(~(np.abs(values) > bound)), strict=True):
            point = np.atleast_2d(dense)[i]
            verdict[i, m] = rational_dot(self.coefficients[m], point, float(self.bias[m])) >= 0
        return verdict[0] if dense.ndim == 1 else verdict

    def holds(self, psi: Any) -> Any:
        """Whether every row holds: a bool for one psi, (N,) for many."""
        verdict = self.satisfied(psi).all(-1)
        return bool(verdict) if verdict.ndim == 0 else verdict

    def take(self, rows: NDArray[Any]) -> LinearInequalities:
        """The chosen rows (indices or a Boolean mask)."""
        subsets = None if self.subsets is None else self.subsets[rows]
        return LinearInequalities(self.coefficients[rows], self.bias[rows], subsets)

    def to_threshold_network(self) -> ThresholdNetwork:
        """The two-layer threshold network (Eq. 6) that accepts the same psi."""
        return ThresholdNetwork(self.coefficients, self.bias)

    @cached_property
    def _row_mass(self) -> Floats:
        mass: Floats = np.abs(self.coefficients).sum(1)
        return mass

    @cached_property
    def _exponent(self) -> int:
        return exponent(self.coefficients, self.bias)


@dataclass(frozen=True)
class RowsEstimate:
    """How large the rows of a network would be."""

    rows: int
    bytes: int

    def __str__(self) -> str:
        size = f"{self.bytes / 2**20:,.1f}" if self.bytes < LARGEST else many(self.bytes >> 20)
        return f"{many(self.rows)} rows, {size} MiB"


def estimate_rows(network: Network) -> RowsEstimate:
    """The size of `to_inequalities(network)`, without building it."""
    rows = sum(2**part.K - 1 for part in network.parts)
    return RowsEstimate(rows, rows * (8 * (network.d + 1) + network.K))


def to_inequalities(network: Network, max_bytes: int = MAX_BYTES) -> LinearInequalities:
    """The 2^K - 1 rows of Theorem 1 (of each part, for a conjunction); refused above `max_bytes`.

    >>> rows = to_inequalities(RectifierNetwork([[2.0, 2.0], [1.0, 0.0]], [-2.0, 0.0]))
    >>> rows.coefficients, rows.bias
    (array([[-2., -2.],
           [-1.,  0.],
           [-3., -2.]]), array([3., 1., 3.]))
    """
    size = estimate_rows(network)
    if size.bytes > max_bytes:
        raise TooLarge(
            f"the rows of Theorem 1 for K = {network.K} would be {size}, above the limit of"
            f" {max_bytes / 2**20:,.0f} MiB; use lift(network), which is linear in K, or raise max_bytes."
        )
    coefficients = _empty_rows(size.rows, network.d)
    bias = np.empty(size.rows)
    subsets = np.zeros((size.rows, network.K), dtype=np.bool_)
    row = unit = 0
    for part in network.parts:
        write = _row_writer(part)
        for first, stop in _chunks(part.K):
            chunk = slice(row, row + stop - first)
            write(first, stop, coefficients[chunk], bias[chunk])
            subsets[chunk, unit : unit + part.K] = _binary_counting(first, stop, part.K)
            row = chunk.stop
        unit += part.K
    return LinearInequalities._built(coefficients, bias, subsets)


def iterate_inequalities(network: RectifierNetwork) -> Iterator[LinearInequalities]:
    """The same rows in the same order, at most 2^12 at a time."""
    write = _row_writer(network)
    for first, stop in _chunks(network.K):
        coefficients, bias = _empty_rows(stop - first, network.d), np.empty(stop - first)
        write(first, stop, coefficients, bias)
        yield LinearInequalities._built(coefficients, bias, _binary_counting(first, stop, network.K))


def row_of_subset(network: RectifierNetwork, subset: Subsets) -> LinearInequalities:
    """The one row of S, given as a Boolean (K,) mask."""
    members = np.flatnonzero(subset)
    coefficients = [0.0 - math.fsum(w) for w in network.W[members].T.tolist()]
    bias = math.fsum([1.0, *(-network.b[members]).tolist()])
    return LinearInequalities([coefficients], [bias], subset[None].copy())


def _empty_rows(rows: int, d: int) -> Floats:
    """(rows, d) with columns contiguous: the inner loops then run over many rows, not over one psi."""
    return np.empty((d, rows)).T


def _chunks(K: int) -> Iterator[tuple[int, int]]:
    """Ranges of the subsets 1 .. 2^K - 1, read as bitmasks, that share all but their low bits."""
    size = 2 ** min(CHUNK_BITS, K)
    for first in range(0, 2**K, size):
        yield max(first, 1), first + size


def _row_writer(network: RectifierNetwork) -> Callable[[int, int, Floats, Floats], None]:
    """A function that fills in the rows of the subsets first .. stop - 1, one of `_chunks`.

    Rows double: those that contain unit k are those that do not, minus (w_k, b_k). The rows of all subsets
    of the first units are made once and stay in the cache; each chunk shifts them by the units it shares.
    Where float sums would round more than once, each sum is correctly rounded instead.
    """
    if rounding_bound(network.magnitude(1.0), 0, network.exponent) > 0:
        return partial(_write_rounded_rows, network)
    bits = min(CHUNK_BITS, network.K)
    low_rows, low_bias = _empty_rows(2**bits, network.d), np.ones(2**bits)
    low_rows[0] = 0.0
    for k in range(bits):
        without, within = slice(0, 2**k), slice(2**k, 2 ** (k + 1))
        np.subtract(low_rows[without], network.W[k], out=low_rows[within])
        np.subtract(low_bias[without], network.b[k], out=low_bias[within])

    def write(first: int, stop: int, coefficients: Floats, bias: Floats) -> None:
        shared = [k for k in range(bits, network.K) if first >> k & 1]
        rows = slice(2**bits - (stop - first), None)
        np.subtract(low_rows[rows], network.W[shared].sum(0), out=coefficients)
        np.subtract(low_bias[rows], network.b[shared].sum(), out=bias)

    return write


def _write_rounded_rows(
    network: RectifierNetwork, first: int, stop: int, coefficients: Floats, bias: Floats
) -> None:
    columns, biases = network.W.T.tolist(), network.b.tolist()
    for row, bitmask in enumerate(range(first, stop)):
        subset = [k for k in range(network.K) if bitmask >> k & 1]
        coefficients[row] = [0.0 - math.fsum([w[k] for k in subset]) for w in columns]
        bias[row] = math.fsum([1.0, *(-biases[k] for k in subset)])


def _binary_counting(first: int, stop: int, K: int) -> Subsets:
    octets = np.arange(first, stop, dtype="<u8")[:, None].view(np.uint8)[:, : (K + 7) // 8]
    return np.unpackbits(octets, axis=1, count=K, bitorder="little").view(np.bool_)


def _read_only(value: ArrayLike, name: str, ndim: int) -> Floats:
    """As `finite_array`, but an array that is read-only already is not copied."""
    array = checked_array(value, name, ndim)
    return frozen(array.copy() if array.flags.writeable else array)
