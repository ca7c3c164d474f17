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
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from lcons_core._arithmetic import LARGEST, frozen, many
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._network import LinearInequalities, Network, RectifierNetwork, as_network
from lcons_core._pointset import Given, PointSet
from lcons_core._types import Bools, Floats

MAX_BYTES = 2**30


class Form(StrEnum):
    """The form in which a constraint enters a table or a program; all have the same points of its space.

    ROWS are all rows of Theorem 1, SIMPLIFIED those that matter on the space, LIFTED has K more variables,
    CUTS adds violated rows one by one, and AUTO lets a program choose.
    """

    ROWS = "rows"
    LIFTED = "lifted"
    SIMPLIFIED = "simplified"
    CUTS = "cuts"
    AUTO = "auto"


TABLE_FORMS = (Form.ROWS, Form.LIFTED, Form.SIMPLIFIED)


def read_form(form: Form | str, among: Sequence[Form] = TABLE_FORMS) -> Form:
    """A form by name."""
    if form not in among:
        raise InvalidInput(f"the form must be one of {', '.join(among)}, found {form!r}.")
    return Form(form)


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
    whole = as_network(network, "estimate_rows")
    rows = sum(2**part.K - 1 for part in whole.parts)
    return RowsEstimate(rows, rows * (8 * (whole.d + 1) + whole.K))


def estimate_form(network: Given, form: Form | str) -> RowsEstimate:
    """The size of a form; for simplified rows, the size of all rows of which they are a part."""
    whole = as_network(network, "estimate_form")
    if read_form(form) is not Form.LIFTED:
        return estimate_rows(whole)
    rows = whole.K + len(whole.parts)
    return RowsEstimate(rows, 8 * rows * (whole.d + whole.K + 1))


def check_form_size(network: Given, form: Form | str, max_bytes: int) -> None:
    """Raises `TooLarge` if a form would be larger than `max_bytes`."""
    size = estimate_form(network, form)
    if size.bytes > max_bytes:
        advice = "" if form == Form.LIFTED else "; the lifted form is linear in K"
        raise TooLarge(f"the form {str(form)!r} needs {size}, above {max_bytes / 2**20:,.0f} MiB{advice}.")


def to_inequalities(network: Given, max_bytes: int = MAX_BYTES) -> LinearInequalities:
    """The 2^K - 1 rows of Theorem 1 (of each part, for a conjunction); `TooLarge` above `max_bytes`.

    >>> rows = to_inequalities(RectifierNetwork([[2.0, 2.0], [1.0, 0.0]], [-2.0, 0.0]))
    >>> rows.coefficients, rows.bias
    (array([[-2., -2.],
           [-1.,  0.],
           [-3., -2.]]), array([3., 1., 3.]))
    """
    whole = as_network(network, "to_inequalities")
    check_form_size(whole, Form.ROWS, max_bytes)
    rows = sum(2**part.K - 1 for part in whole.parts)
    # Columns are contiguous, so that inner loops run over many rows, not over one psi.
    coefficients, bias = np.empty((whole.d, rows)).T, np.empty(rows)
    subsets = np.zeros((rows, whole.K), dtype=np.bool_)
    row = unit = 0
    for part in whole.parts:
        block, units = slice(row, row + 2**part.K - 1), slice(unit, unit + part.K)
        subsets[block, units] = _counted_subsets(part.K)
        if part.rounded:
            for m in range(block.start, block.stop):
                coefficients[m], bias[m] = _rounded_row(part, subsets[m, units])
        else:
            _fill_rows(part, coefficients[block], bias[block])
        row, unit = block.stop, units.stop
    return LinearInequalities._built(coefficients, bias, subsets)


def rows_of(points: PointSet, most: int | None = None) -> LinearInequalities:
    """The rows of any set: those that state it, or those of Theorem 1; `TooLarge` above `most` rows."""
    rows = points.stated_rows()
    number = estimate_rows(points).rows if rows is None else len(rows)
    if most is not None and number > most:
        raise TooLarge(f"expected at most {most:,} rows, found {many(number)}.")
    return to_inequalities(points) if rows is None else rows


def row_of_subset(network: RectifierNetwork, subset: Bools) -> LinearInequalities:
    """The row of one subset S, given as a Boolean (K,) mask."""
    coefficients, bias = _rounded_row(network, subset)
    return LinearInequalities._built(np.array([coefficients]), np.array([bias]), subset[None].copy())


def most_violated(network: Given, psi: Any) -> LinearInequalities:
    """The row with the smallest value at `psi` (d,), which is that of S* = {k : a_k > 0}.

    It holds iff psi is accepted; if float64 cannot add the weights exactly, up to the rounding of the row
    itself (S* is exact), which `verify` counts. If no unit is active, every row holds, and the row of the
    largest activation is returned.

    >>> cut = most_violated(RectifierNetwork([[2.0, 2.0], [0.0, -1.0]], [-2.0, 0.0]), [1, 1])
    >>> cut.coefficients, cut.bias, cut.subsets
    (array([[-2., -2.]]), array([3.]), array([[ True, False]]))
    """
    whole = as_network(network, "most_violated")
    if np.ndim(psi) != 1:
        raise InvalidInput(f"a cut needs one psi of shape ({whole.d},), found {np.ndim(psi)} dimensions.")
    worst, active = violated_subset(whole, psi)
    row = row_of_subset(whole.parts[worst], active)
    subset = [np.zeros(part.K, dtype=np.bool_) for part in whole.parts]
    subset[worst] = active
    return LinearInequalities._built(row.coefficients, row.bias, np.concatenate(subset)[None])


def cut_of(points: PointSet, psi: Floats) -> LinearInequalities:
    """The row of any set with the smallest value at psi (d,)."""
    rows = points.stated_rows()
    return most_violated(points, psi) if rows is None else rows.take(np.array([rows.values(psi).argmin()]))


def violated_subset(network: Network, psi: Any) -> tuple[int, Bools]:
    """The number of the part with the most violated row at psi (d,), and S* (K,) of that part, exactly."""
    point = np.asarray(psi, dtype=np.float64)
    activations: list[Any] = [part.activations(point) for part in network.parts]
    if any(part.uncertainty(point) > 0 for part in network.parts):
        activations = [part.rational_activations(point) for part in network.parts]
    worst = int(np.argmax([np.maximum(a, 0).sum() for a in activations]))
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

    >>> lifted = lift(RectifierNetwork([[2.0, 3.0]], [-4.0]))
    >>> lifted.A_psi, lifted.A_s, lifted.rhs
    (array([[-2., -3.],
           [ 0.,  0.]]), array([[ 1.],
           [-1.]]), array([-4., -1.]))
    """
    whole = as_network(network, "lift")
    parts = whole.parts
    owner = np.repeat(np.arange(len(parts)), [part.K for part in parts])
    budgets = np.where(owner == np.arange(len(parts))[:, None], -1.0, 0.0)
    W = np.concatenate([*(part.W for part in parts), np.zeros((len(parts), whole.d))])
    b = np.concatenate([*(part.b for part in parts), np.full(len(parts), -1.0)])
    A_s = np.concatenate([np.eye(whole.K), budgets])
    return LiftedInequalities(frozen(0.0 - W), frozen(A_s), frozen(b))


def _counted_subsets(K: int) -> Bools:
    """(2^K - 1, K) the non-empty subsets in the order of binary counting."""
    octets = np.arange(1, 2**K, dtype="<u8")[:, None].view(np.uint8)
    return np.unpackbits(octets, axis=1, count=K, bitorder="little").view(np.bool_)


def _fill_rows(part: RectifierNetwork, coefficients: Floats, bias: Floats) -> None:
    """Writes the rows by doubling: the row of S with unit k is the row of S without it, minus (w_k, b_k)."""
    for k in range(part.K):
        alone = 2**k - 1
        coefficients[alone], bias[alone] = 0.0 - part.W[k], 1.0 - part.b[k]
        within = slice(alone + 1, 2 * alone + 1)
        np.subtract(coefficients[:alone], part.W[k], out=coefficients[within])
        np.subtract(bias[:alone], part.b[k], out=bias[within])


def _rounded_row(part: RectifierNetwork, subset: Bools) -> tuple[list[float], float]:
    """The coefficients and the bias of one subset, each sum correctly rounded."""
    coefficients = [0.0 - math.fsum(w) for w in part.W[subset].T.tolist()]
    return coefficients, math.fsum([1.0, *(-part.b[subset]).tolist()])
