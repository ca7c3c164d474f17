"""Constraints over psi, as inequalities, as a threshold network and as a rectifier network.

    coefficients @ psi + bias >= 0                                          (Eq. 3, row by row)
    sgn(w_k . psi + b_k)                                                    (Eq. 4, a threshold unit)
    z = sgn(1 - K + sum_k sgn(w_k . psi + b_k))                             (Eq. 5 and 6)
    z = sgn(1 - sum_k ReLU(a_k)),     a_k = w_k . psi + b_k                 (Eq. 7)

Paper: Sec. 2.1, Eq. 3 is one linear inequality over psi. Sec. 2.2, Eq. 4 is the same as a threshold unit,
Eq. 5 a conjunction of units, and Eq. 6 the threshold network z: z = 1 iff every unit is 1. Its gradient is
zero almost everywhere, so the rectifier network of Sec. 2.3, Eq. 7 (repeated as Eq. 10 in Appendix A) is
learned instead. It accepts psi iff margin(psi) = 1 - sum_k ReLU(a_k) >= 0. sgn(0) = +1, so the boundary is
accepted. `_theorem.py` turns a rectifier network into inequalities.

`accepts` is exact for all weights: it is the sign of the margin as a rational number.

Not in the paper: `Conjunction`, the intersection of several such sets of the same psi, with the same forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_core._arithmetic import checked_array, exact_values, finite_array, frozen, rounding_bound
from lcons_core._errors import InvalidInput
from lcons_core._pointset import AffineSet, Decider, Given, PointSet, learned
from lcons_core._psi import Psi, SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints

SHOWN_ROWS = 10


@dataclass(frozen=True, eq=False)
class LinearInequalities(AffineSet):
    """`coefficients @ psi + bias >= 0`, M rows; `subsets[m]` marks the hidden units of row m.

    >>> rows = LinearInequalities([[-2.0, -2.0]], [3.0])
    >>> rows.holds([[1, 0], [1, 1]])
    array([ True, False])
    """

    coefficients: Floats
    bias: Floats
    subsets: Bools | None
    space = None
    rounded = False

    def __init__(self, coefficients: ArrayLike, bias: ArrayLike, subsets: Bools | None = None) -> None:
        object.__setattr__(self, "coefficients", _read_only(coefficients, "coefficients", 2))
        object.__setattr__(self, "bias", _read_only(bias, "bias", 1))
        object.__setattr__(self, "subsets", None if subsets is None else frozen(subsets))
        shape = self.coefficients.shape
        if self.bias.shape != shape[:1] or not self.d or (subsets is not None and len(subsets) != shape[0]):
            raise InvalidInput(f"coefficients {shape} need one bias and one subset per row, and a column.")

    @classmethod
    def _built(cls, coefficients: Floats, bias: Floats, subsets: Bools | None) -> LinearInequalities:
        """Rows that lcons computed itself: made read-only, but not checked again (sums may be larger)."""
        rows = object.__new__(cls)
        for name, value in (("coefficients", coefficients), ("bias", bias), ("subsets", subsets)):
            object.__setattr__(rows, name, None if value is None else frozen(value))
        return rows

    def __len__(self) -> int:
        return self.coefficients.shape[0]

    def __str__(self) -> str:
        return self.text([f"psi {j}" for j in range(self.d)])

    def text(self, names: Sequence[str]) -> str:
        """The first ten rows, one per line, with names of the columns of psi, and how many more there are."""
        pairs = zip(self.coefficients[:SHOWN_ROWS].tolist(), self.bias[:SHOWN_ROWS].tolist(), strict=True)
        lines = []
        for row, bias in pairs:
            terms = [f"{weight:+g} [{name}]" for name, weight in zip(names, row, strict=True) if weight]
            lines.append(f"  {' '.join([*terms, f'{bias:+g}'])} >= 0")
        more = [f"  and {len(self) - SHOWN_ROWS:,} more rows"] if len(self) > SHOWN_ROWS else []
        return "\n".join([*lines, *more])

    @property
    def affine(self) -> tuple[Floats, Floats]:
        """The coefficients (M, d) and the bias (M,)."""
        return self.coefficients, self.bias

    def values(self, psi: Any) -> Floats:
        """`coefficients @ psi + bias`: (M,) for one psi, (N, M) for many."""
        return self._values(as_psi(psi, self.d))

    def satisfied(self, psi: Any) -> Bools:
        """Which rows hold, decided exactly for the stored coefficients: (M,) for one psi, (N, M) for many."""
        checked = as_psi(psi, self.d)
        dense = checked.dense() if isinstance(checked, SparsePsi) else checked
        values = np.atleast_2d(self._values(checked))
        verdict = values >= 0
        near = ~(np.abs(values) > self.uncertainty(checked))
        for i in np.flatnonzero(near.any(1)):
            rows = near[i]
            exact, _ = exact_values(self.coefficients[rows], self.bias[rows], np.atleast_2d(dense)[i : i + 1])
            verdict[i, rows] = exact[0] >= 0
        return verdict[0] if dense.ndim == 1 else verdict

    holds = AffineSet.accepts

    def rational_margin(self, psi: Floats) -> Fraction:
        """The smallest value of a row at one psi, without rounding."""
        values, q = exact_values(self.coefficients, self.bias, psi[None])
        return Fraction(values.min()) / 2**q

    def stated_rows(self) -> LinearInequalities:
        """The rows themselves."""
        return self

    def take(self, rows: NDArray[Any]) -> LinearInequalities:
        """The chosen rows (indices or a Boolean mask)."""
        subsets = None if self.subsets is None else self.subsets[rows]
        return LinearInequalities._built(self.coefficients[rows], self.bias[rows], subsets)

    def to_threshold_network(self) -> ThresholdNetwork:
        """The two-layer threshold network (Eq. 6) that accepts the same psi."""
        network = object.__new__(ThresholdNetwork)  # sums of weights may be larger than a weight may be
        object.__setattr__(network, "units", self)
        return network

    def _margin_of(self, values: Any) -> Any:
        return np.min(values, axis=-1, initial=np.inf)

    def _magnitude(self, masses: Floats) -> float:
        return float(masses.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class ThresholdNetwork(PointSet):
    """z = sgn(1 - K + sum_k sgn(W psi + b)_k) with W (K, d) and b (K,), both read-only.

    >>> ThresholdNetwork([[1.0, 0.0], [0.0, -1.0]], [-1.0, 0.0]).accepts([[1, 0], [1, 1]])
    array([ True, False])
    """

    units: LinearInequalities
    space = None
    rounded = False

    def __init__(self, W: ArrayLike, b: ArrayLike) -> None:
        object.__setattr__(self, "units", LinearInequalities(W, b))

    @property
    def W(self) -> Floats:
        """(K, d) weights of the hidden threshold units."""
        return self.units.coefficients

    @property
    def b(self) -> Floats:
        """(K,) biases of the hidden threshold units."""
        return self.units.bias

    @property
    def K(self) -> int:
        """The number of hidden units."""
        return len(self.units)

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.units.d

    def stated_rows(self) -> LinearInequalities:
        """One row per unit."""
        return self.units

    def _margins(self, psi: Psi) -> Floats:
        """1 - K + sum_k sgn(w_k . psi + b_k): 1 if psi is accepted, otherwise -1, -3, ... down to 1 - 2 K."""
        signs = np.where(self.units.satisfied(psi), 1, -1)
        margins: Floats = 1.0 - self.K + signs.sum(-1)
        return margins

    def _accepted(self, psi: Psi) -> Bools:
        return np.atleast_1d(self._margins(psi)) >= 0


@dataclass(frozen=True, eq=False)
class RectifierNetwork(AffineSet):
    """z = sgn(1 - sum_k ReLU(W psi + b)_k) with W (K, d) and b (K,), both read-only.

    >>> net = RectifierNetwork([[2.0, 2.0]], [-2.0])      # rejects exactly (1, 1)
    >>> net.margin([[1, 0], [1, 1]]), net.accepts([1, 1])
    (array([ 1., -1.]), False)
    """

    W: Floats
    b: Floats
    space = None

    def __init__(self, W: ArrayLike, b: ArrayLike) -> None:
        object.__setattr__(self, "W", finite_array(W, "W", 2))
        object.__setattr__(self, "b", finite_array(b, "b", 1))
        if not self.W.size or self.b.shape != self.W.shape[:1]:
            raise InvalidInput(f"W must be (K, d) and b (K,), found {self.W.shape} and {self.b.shape}.")

    @property
    def K(self) -> int:
        """The number of hidden units."""
        return self.W.shape[0]

    @property
    def parts(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose accepted sets have this one as intersection: only itself."""
        return (self,)

    @property
    def affine(self) -> tuple[Floats, Floats]:
        """W (K, d) and b (K,)."""
        return self.W, self.b

    @property
    def rounded(self) -> bool:  # type: ignore[override]
        """Whether some subset sums of Theorem 1 are not exact in float64, so that the rows are rounded."""
        return rounding_bound(self.magnitude(1.0), 0, self.exponent) > 0

    def activations(self, psi: Any) -> Floats:
        """a = W psi + b: (K,) for one psi, (N, K) for many."""
        return self._values(as_psi(psi, self.d))

    def rational_activations(self, psi: Floats) -> NDArray[Any]:
        """(K,) the activations at one psi without rounding, as fractions."""
        values, q = exact_values(self.W, self.b, psi[None])
        return np.array([Fraction(value) / 2**q for value in values[0].tolist()], dtype=object)

    def rational_margin(self, psi: Floats) -> Fraction:
        """The margin of one psi without rounding."""
        return Fraction(self._margin_of(self.rational_activations(psi)))

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose intersection is the set: only itself."""
        return (self,)

    def _margin_of(self, values: Any) -> Any:
        return 1 - np.maximum(values, 0).sum(-1)

    def _magnitude(self, masses: Floats) -> float:
        return float(1.0 + masses.sum())

    def __and__(self, other: Network) -> Conjunction:
        if not isinstance(other, RectifierNetwork | Conjunction):
            return NotImplemented
        return Conjunction(self.parts + other.parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RectifierNetwork):
            return NotImplemented
        return np.array_equal(self.W, other.W) and np.array_equal(self.b, other.b)

    def __hash__(self) -> int:
        return hash(((self.W + 0.0).tobytes(), (self.b + 0.0).tobytes()))


@dataclass(frozen=True)
class Conjunction(PointSet):
    """The intersection of the sets that `parts` accept; all parts have the same d.

    Its margin is the smallest margin of its parts, and its rows are all rows of its parts.
    """

    parts: tuple[RectifierNetwork, ...]
    space = None

    def __post_init__(self) -> None:
        widths = sorted({part.d for part in self.parts})
        if len(widths) != 1:
            raise InvalidInput(f"the parts of a conjunction need the same number of columns, found {widths}.")

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.parts[0].d

    @property
    def K(self) -> int:
        """The total number of hidden units of all parts."""
        return sum(part.K for part in self.parts)

    @property
    def width(self) -> int:
        """The number of affine values that a verdict needs."""
        return self.K

    @property
    def rounded(self) -> bool:  # type: ignore[override]
        """Whether some subset sums of Theorem 1 are not exact in float64, so that the rows are rounded."""
        return any(part.rounded for part in self.parts)

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose intersection is the set: its parts."""
        return self.parts

    def activations(self, psi: Any) -> Floats:
        """The activations of all parts side by side."""
        return np.concatenate([part.activations(psi) for part in self.parts], axis=-1)

    def rational_margin(self, psi: Floats) -> Fraction:
        """The smallest margin of the parts, without rounding."""
        return min(part.rational_margin(psi) for part in self.parts)

    def margins(self, space: FeatureSpace, assignments: Ints) -> Floats:
        """(N,) the smallest float margin of the parts at value indices (N, axes)."""
        return np.min([part.margins(space, assignments) for part in self.parts], axis=0)

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) whether every part accepts the points with value indices (N, axes), exactly."""
        return np.all([part.verdicts(space, assignments) for part in self.parts], axis=0)

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides blocks of points; the first `split` axes are the head."""
        deciders = [part.decider(space, split) for part in self.parts]
        return lambda head, tail: np.all([decide(head, tail) for decide in deciders], axis=0)

    def __and__(self, other: Network) -> Conjunction:
        if not isinstance(other, RectifierNetwork | Conjunction):
            return NotImplemented
        return Conjunction(self.parts + other.parts)

    def _margins(self, psi: Psi) -> Floats:
        return np.min([part._margins(psi) for part in self.parts], axis=0)

    def _accepted(self, psi: Psi) -> Bools:
        return np.all([part._accepted(psi) for part in self.parts], axis=0)


Network = RectifierNetwork | Conjunction


def as_network(source: Given, form: str = "this form") -> Network:
    """The network or conjunction of a network, conjunction, constraint or fitted learner.

    >>> as_network(RectifierNetwork([[2.0, 2.0]], [-2.0])).K
    1
    """
    network = learned(source, form)
    network = getattr(network, "network", network)
    if isinstance(network, RectifierNetwork | Conjunction):
        return network
    raise InvalidInput(f"{form} needs a network or a constraint, got {type(source).__name__}.")


def _read_only(value: ArrayLike, name: str, ndim: int) -> Floats:
    """As `finite_array`, but without a copy if the array is already read-only."""
    array = checked_array(value, name, ndim)
    return frozen(array.copy() if array.flags.writeable else array)
