"""Theorem 1: a rectifier network is a system of 2^K - 1 linear inequalities; two shorter forms of it.

    1 - sum_k ReLU(a_k) >= 0   iff   1 - sum_{k in S} a_k >= 0  for every non-empty S of [K]

Paper: Sec. 2.3, Theorem 1, Eq. 8; proof in Appendix A. The row of S has coefficients -sum_{k in S} w_k and
bias 1 - sum_{k in S} b_k, and S is stored with it. The row of the empty S is 1 >= 0 and is omitted.

Rows are in the order of binary counting over S. For dyadic weights (`_arithmetic.py`) every row is exact.
For other weights each coefficient is the correctly rounded sum, and `verify` counts the points at which this
rounding changes a verdict.

Differs from the paper: the rows are not linearly independent in general. With their biases they lie in the
span of K + 1 vectors.

Not in the paper: two forms that do not list all rows. A cut is the most violated row in closed form,

    argmin_S  1 - sum_{k in S} a_k  =  S* = {k : a_k > 0},   minimum = margin(psi)

so a solver can start without rows, add the row of S* at each rejected solution, and end at the constrained
optimum; it uses only the rows that matter. The lifted form has K extra continuous variables and K + 1 rows:

    s_k >= a_k,   s_k >= 0,   sum_k s_k <= 1,       a_k = w_k . psi + b_k

Some s satisfies these iff sum_k max(0, a_k) <= 1, so their projection on psi is exactly the set of the rows
of Theorem 1: no binaries, no big-M, linear in K. It is the usual epigraph of a sum of maxima.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lcons_core._arithmetic import LARGEST, frozen, many, rational_dot
from lcons_core._coercion import Given, Parts, Units, as_network
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._inequalities import LinearInequalities
from lcons_core._types import Bools, Floats

MAX_BYTES = 2**30
CHUNK_BITS = 12


@dataclass(frozen=True)
class RowsEstimate:
    """The size of the rows of a network."""

    rows: int
    bytes: int

    def __str__(self) -> str:
        size = f"{self.bytes / 2**20:,.1f}" if self.bytes < LARGEST else many(self.bytes >> 20)
        return f"{many(self.rows)} rows, {size} MiB"


def estimate_rows(network: Given) -> RowsEstimate:
    """The size of `to_inequalities(network)`, without computing the rows."""
    own: Parts = as_network(network, "estimate_rows")
    rows = sum(2**part.K - 1 for part in own.parts)
    return RowsEstimate(rows, rows * (8 * (own.d + 1) + own.K))


def to_inequalities(network: Given, max_bytes: int = MAX_BYTES) -> LinearInequalities:
    """The 2^K - 1 rows of Theorem 1 (of each part, for a conjunction); `TooLarge` above `max_bytes`.

    >>> from lcons_core import RectifierNetwork
    >>> rows = to_inequalities(RectifierNetwork([[2.0, 2.0], [1.0, 0.0]], [-2.0, 0.0]))
    >>> rows.coefficients, rows.bias
    (array([[-2., -2.],
           [-1.,  0.],
           [-3., -2.]]), array([3., 1., 3.]))
    """
    own: Parts = as_network(network, "to_inequalities")
    size = estimate_rows(own)
    if size.bytes > max_bytes:
        raise TooLarge(
            f"the rows of Theorem 1 for K = {own.K} need {size}, above the limit of"
            f" {max_bytes / 2**20:,.0f} MiB; use lift(network), which is linear in K, or raise max_bytes."
        )
    coefficients = _empty_rows(size.rows, own.d)
    bias = np.empty(size.rows)
    subsets = np.zeros((size.rows, own.K), dtype=np.bool_)
    row = unit = 0
    for part in own.parts:
        write = _row_writer(part)
        for first, stop in _chunks(part.K):
            chunk = slice(row, row + stop - first)
            write(first, stop, coefficients[chunk], bias[chunk])
            subsets[chunk, unit : unit + part.K] = _binary_counting(first, stop, part.K)
            row = chunk.stop
        unit += part.K
    return LinearInequalities._built(coefficients, bias, subsets)


def iterate_inequalities(network: Given) -> Iterator[LinearInequalities]:
    """The same rows in the same order, at most 2^12 at a time."""
    return _iterate(as_network(network, "iterate_inequalities"))


def _iterate(network: Parts) -> Iterator[LinearInequalities]:
    unit = 0
    for part in network.parts:
        write = _row_writer(part)
        for first, stop in _chunks(part.K):
            coefficients, bias = _empty_rows(stop - first, part.d), np.empty(stop - first)
            write(first, stop, coefficients, bias)
            subsets = np.zeros((stop - first, network.K), dtype=np.bool_)
            subsets[:, unit : unit + part.K] = _binary_counting(first, stop, part.K)
            yield LinearInequalities._built(coefficients, bias, subsets)
        unit += part.K


def row_of_subset(network: Units, subset: Bools) -> LinearInequalities:
    """The row of one subset S, given as a Boolean (K,) mask."""
    members = np.flatnonzero(subset)
    coefficients = [0.0 - math.fsum(w) for w in network.W[members].T.tolist()]
    bias = math.fsum([1.0, *(-network.b[members]).tolist()])
    return LinearInequalities._built(np.array([coefficients]), np.array([bias]), subset[None].copy())


def most_violated(network: Given, psi: Any) -> LinearInequalities:
    """The row with the smallest value at `psi` (d,), which is that of S* = {k : a_k > 0}.

    It holds iff psi is accepted; if float64 cannot add the weights exactly, up to the rounding of the row
    itself (S* is exact), which `verify` counts. If no unit is active, every row holds, and the row of the
    largest activation is returned.

    >>> from lcons_core import RectifierNetwork
    >>> cut = most_violated(RectifierNetwork([[2.0, 2.0], [0.0, -1.0]], [-2.0, 0.0]), [1, 1])
    >>> cut.coefficients, cut.bias, cut.subsets
    (array([[-2., -2.]]), array([3.]), array([[ True, False]]))
    """
    own: Parts = as_network(network, "most_violated")
    if np.ndim(psi) != 1:
        raise InvalidInput(
            f"a cut needs one psi of shape ({own.d},), found {np.ndim(psi)} dimensions;"
            " call most_violated once per point."
        )
    worst, active = violated_subset(own, psi)
    row = row_of_subset(own.parts[worst], active)
    subset = [np.zeros(part.K, dtype=np.bool_) for part in own.parts]
    subset[worst] = active
    return LinearInequalities._built(row.coefficients, row.bias, np.concatenate(subset)[None])


def violated_subset(network: Parts, psi: Any) -> tuple[int, Bools]:
    """The number of the part with the most violated row at psi (d,), and S* (K,) of that part, exactly: signs
    and sums that rounding may change are computed again as rationals."""
    point = np.asarray(psi, dtype=np.float64)
    activations: list[Any] = [part.activations(point) for part in network.parts]
    sums = [np.maximum(a, 0.0).sum() for a in activations]
    worst = int(np.argmax(sums))
    error = max(part._uncertainty(point) for part in network.parts)
    near = [p for p, total in enumerate(sums) if total >= sums[worst] - 2 * error]
    if error > 0 and (len(near) > 1 or np.abs(activations[worst]).min() <= error):
        for p in near:
            units = zip(network.parts[p].W, network.parts[p].b, strict=True)
            activations[p] = np.array([rational_dot(w, point, b) for w, b in units])
        worst = max(near, key=lambda p: np.maximum(activations[p], 0).sum())
    active: Bools = np.asarray(activations[worst] > 0, dtype=np.bool_)
    if not active.any():
        active[int(np.argmax(activations[worst]))] = True
    return worst, active


@dataclass(frozen=True, eq=False)
class LiftedInequalities:
    """`A_psi @ psi + A_s @ s >= rhs` with s >= 0, s continuous."""

    A_psi: Floats
    A_s: Floats
    rhs: Floats

    def __len__(self) -> int:
        return len(self.rhs)

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.A_psi.shape[1]

    @property
    def K(self) -> int:
        """The number of auxiliary variables s."""
        return self.A_s.shape[1]


def lift(network: Given) -> LiftedInequalities:
    """The K rows `s_k - w_k . psi >= b_k`, then one row `-sum s_k >= -1` per part.

    >>> from lcons_core import RectifierNetwork
    >>> lifted = lift(RectifierNetwork([[2.0, 3.0]], [-4.0]))
    >>> lifted.A_psi, lifted.A_s, lifted.rhs
    (array([[-2., -3.],
           [ 0.,  0.]]), array([[ 1.],
           [-1.]]), array([-4., -1.]))
    """
    own: Parts = as_network(network, "lift")
    K, parts = own.K, own.parts
    W = np.concatenate([part.W for part in parts])
    b = np.concatenate([part.b for part in parts])
    budgets = np.zeros((len(parts), K))
    first = 0
    for row, part in zip(budgets, parts, strict=True):
        row[first : first + part.K] = -1.0
        first += part.K
    return LiftedInequalities(
        frozen(np.concatenate([-W, np.zeros((len(parts), own.d))]) + 0.0),
        frozen(np.concatenate([np.eye(K), budgets])),
        frozen(np.concatenate([b, np.full(len(parts), -1.0)])),
    )


def _empty_rows(rows: int, d: int) -> Floats:
    """(rows, d) with contiguous columns, so that inner loops run over many rows, not over one psi."""
    return np.empty((d, rows)).T


def _chunks(K: int) -> Iterator[tuple[int, int]]:
    """Ranges of the subsets 1 .. 2^K - 1 (as bitmasks) that differ only in their low bits."""
    size = 2 ** min(CHUNK_BITS, K)
    for first in range(0, 2**K, size):
        yield max(first, 1), first + size


def _row_writer(network: Units) -> Callable[[int, int, Floats, Floats], None]:
    """A function that writes the rows of the subsets first .. stop - 1, one of `_chunks`.

    Rows are computed by doubling: the row of S with unit k is the row of S without it, minus (w_k, b_k). The
    rows of all subsets of the first units are computed once and stay in the CPU cache; each chunk shifts them
    by the other units of its subsets. If float sums could round more than once, each sum is computed with
    correct rounding instead.
    """
    if network.rounded:
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


def _write_rounded_rows(network: Units, first: int, stop: int, coefficients: Floats, bias: Floats) -> None:
    columns, biases = network.W.T.tolist(), network.b.tolist()
    for row, bitmask in enumerate(range(first, stop)):
        subset = [k for k in range(network.K) if bitmask >> k & 1]
        coefficients[row] = [0.0 - math.fsum([w[k] for k in subset]) for w in columns]
        bias[row] = math.fsum([1.0, *(-biases[k] for k in subset)])


def _binary_counting(first: int, stop: int, K: int) -> Bools:
    octets = np.arange(first, stop, dtype="<u8")[:, None].view(np.uint8)[:, : (K + 7) // 8]
    return np.unpackbits(octets, axis=1, count=K, bitorder="little").view(np.bool_)
