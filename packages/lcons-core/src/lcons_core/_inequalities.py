"""Sets of psi that are defined by the sign of a margin, such as systems of linear inequalities.

    coefficients @ psi + bias >= 0,  row by row
    z = sgn(1 - K + sum_k sgn(w_k . psi + b_k))

Paper: Sec. 2.1 and 2.2. Eq. 3 is one linear inequality over psi, Eq. 4 a threshold unit, Eq. 5 a conjunction
of units, and Eq. 6 the threshold network z: z = 1 iff every unit is 1. The gradient of z is zero almost
everywhere, so a `RectifierNetwork` is learned instead; `LinearInequalities.to_threshold_network` returns z.

The margin of an affine set is a function of affine values, `W psi + b`: their minimum for rows, 1 minus the
sum of their positive parts for a network. At a point of a domain, given as one value index v per axis,

    W psi + b = b + sum over axes of axis.table(W)[v]

so a point costs one lookup and one addition per axis. To enumerate all points, the axes are split into a head
and a tail, and each part is added up once,

    a(head, tail) = (b + sum over head axes) + (sum over tail axes)

so a point costs one addition per affine value, for any number of axes. Verdicts equal those of rational
arithmetic: a float decides if it is outside the rounding bound (always, for dyadic weights); otherwise the
value is computed again as a rational.

Not in the paper: exact verdicts, and points by value indices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_core._arithmetic import checked_array, exponent, frozen, rational_dot, rounding_bound
from lcons_core._blocks import MAX_NUMBERS, Axis
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._psi import ManyPsi, OnePsi, Psi, SparsePsi, as_psi
from lcons_core._space import MANY_AXES, FeatureSpace
from lcons_core._types import Bools, Floats, Ints

# From positions in the head, a slice of the tail and the resulting points to their verdicts.
Decider = Callable[[Ints, slice, Ints], Bools]
SumDecider = Callable[[Floats, slice], tuple[Bools, Ints]]


class PsiSet(ABC):
    """A set of psi of length d: float margins, and exact verdicts."""

    @property
    @abstractmethod
    def d(self) -> int:
        """The length of psi."""

    @abstractmethod
    def _margins(self, psi: Psi) -> Floats:
        """The margins of checked psi: of no dimension for one psi, (N,) for many."""

    @abstractmethod
    def _accepted(self, psi: Psi) -> Bools:
        """(N,) exact verdicts on checked psi; (1,) for one psi."""

    @overload
    def margin(self, psi: ManyPsi) -> Floats: ...
    @overload
    def margin(self, psi: OnePsi) -> float: ...
    def margin(self, psi: Any) -> Any:
        """The margin in floats, at least 0 iff psi is in the set (up to rounding): a float, (N,) for many."""
        margin = self._margins(as_psi(psi, self.d))
        return float(margin) if margin.ndim == 0 else margin

    @overload
    def accepts(self, psi: ManyPsi) -> Bools: ...
    @overload
    def accepts(self, psi: OnePsi) -> bool: ...
    def accepts(self, psi: Any) -> Any:
        """Whether psi belongs to the set, decided exactly: a bool for one psi, (N,) for many."""
        checked = as_psi(psi, self.d)
        verdict = self._accepted(checked)
        single = not isinstance(checked, SparsePsi) and checked.ndim == 1
        return bool(verdict[0]) if single else verdict


class AffineSet(PsiSet):
    """The psi whose margin, `_margin_of(W psi + b)`, is at least 0."""

    @property
    @abstractmethod
    def affine(self) -> tuple[Floats, Floats]:
        """W (M, d) and b (M,)."""

    @abstractmethod
    def _margin_of(self, values: Floats) -> Floats:
        """(...) margins of values `W psi + b` (..., M)."""

    @abstractmethod
    def _sum_decider(self, low: Floats, bound: float) -> SumDecider:
        """A function of high (M, H) and a slice of L columns of low (M, tail), whose sums are the values. It
        returns (H * L,) float verdicts, and the positions whose margin is within the bound."""

    @abstractmethod
    def error_bound(self, space: FeatureSpace) -> float:
        """The largest possible error of a float margin on the domain; 0.0 if all margins are exact."""

    @property
    def width(self) -> int:
        """The number of affine values that a verdict needs; at least 1."""
        return max(1, len(self.affine[1]))

    @property
    def cost(self) -> int:
        """The approximate cost of a verdict on one point, in hidden units."""
        return self.width

    def margins(self, space: FeatureSpace, assignments: Ints) -> Floats:
        """(N,) float margins at value indices (N, axes)."""
        return self._margin_of(affine(space, *self.affine, assignments))

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) whether the points with value indices (N, axes) are in the set, exactly."""
        check_width(self, space)
        margin = self.margins(space, assignments)
        accepted: Bools = margin >= 0
        bound = self.error_bound(space) or -1.0
        for i in np.flatnonzero(~(np.abs(margin) > bound)):
            accepted[i] = self.accepts(space.vectors(assignments[i : i + 1]))[0]
        return accepted

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides blocks of points; the first `split` axes are the head."""
        W, b = self.affine
        decide_sums = self._sum_decider(_sums(space.axes[split:], W), self.error_bound(space))

        def decide(head: Ints, tail: slice, flat: Ints) -> Bools:
            high = _sums_at(space.axes[:split], W, head) + b[:, None]
            accepted, near = decide_sums(high, tail)
            if near.size:
                accepted[near] = self.verdicts(space, points_at(space, flat[near]))
            return accepted

        return decide

    def _values(self, psi: Psi) -> Floats:
        W, b = self.affine
        return (psi.dot(W.T) if isinstance(psi, SparsePsi) else psi @ W.T) + b

    def _margins(self, psi: Psi) -> Floats:
        return self._margin_of(self._values(psi))


class HasWidth(Protocol):
    """Any object about psi of length d."""

    @property
    def d(self) -> int: ...


def check_width(points: HasWidth, space: FeatureSpace) -> None:
    """Raises `InvalidInput` if the set and the space do not have the same d."""
    if points.d != space.d:
        raise InvalidInput(
            f"the space has {space.d} columns but the constraint has {points.d}; pass the space"
            " that the constraint was learned on."
        )


def affine(space: FeatureSpace, W: Floats, b: Floats, assignments: Ints) -> Floats:
    """`W psi + b` (N, M) at assignments (N, axes), for W (M, d)."""
    if space.integral and len(space.axes) > MANY_AXES and space.d * len(assignments) <= MAX_NUMBERS:
        psi_values: Floats = space.vectors(assignments) @ W.T + b
        return psi_values
    total = np.broadcast_to(b, (len(assignments), len(b))).copy()
    for axis, values in zip(space.axes, assignments.T, strict=True):
        total += axis.contributions(W, values)
    return total


def row_reach(space: FeatureSpace, W: Floats) -> Floats:
    """(M,) for each row of W, the largest sum of absolute contributions at any point."""
    reach = np.zeros(len(W))
    for axis in space.axes:
        reach += axis.reach(W)
    return reach


def least_values(space: FeatureSpace, W: Floats, b: Floats) -> Floats:
    """(M,) the minimum of `W psi + b` over the product of axes, block by block, in closed form."""
    least = b.copy()
    for axis in space.axes:
        least += axis.least(W)
    return least


def points_at(space: FeatureSpace, flat: Ints) -> Ints:
    """Value indices (N, axes) of the points at these positions in the product of axes."""
    return space.unravelled(flat)


def _sums(axes: Sequence[Axis], W: Floats) -> Floats:
    """(M, points) contributions to `W psi` of all combinations of the axes' values."""
    total = np.zeros((len(W), 1))
    for axis in axes:
        points = total.shape[1] * len(axis)
        total = (total[:, :, None] + axis.table(W).T[:, None, :]).reshape(len(W), points)
    return total


def _sums_at(axes: Sequence[Axis], W: Floats, positions: Ints) -> Floats:
    """(M, N) contributions to `W psi` of the combinations at these positions."""
    total = np.zeros((len(W), len(positions)))
    for axis in reversed(axes):
        total += axis.contributions(W, positions % len(axis)).T
        positions = positions // len(axis)
    return total


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
    space: ClassVar[None] = None
    rounded: ClassVar[bool] = False

    def __init__(self, coefficients: ArrayLike, bias: ArrayLike, subsets: Bools | None = None) -> None:
        object.__setattr__(self, "coefficients", _read_only(coefficients, "coefficients", 2))
        object.__setattr__(self, "bias", _read_only(bias, "bias", 1))
        object.__setattr__(self, "subsets", None if subsets is None else frozen(subsets))
        if self.bias.shape != self.coefficients.shape[:1] or not self.d:
            raise InvalidInput(
                f"coefficients must be (M, d) and bias (M,), found {self.coefficients.shape} and"
                f" {self.bias.shape}; pass one bias per row."
            )
        if subsets is not None and len(subsets) != len(self):
            raise InvalidInput(
                f"subsets needs one row per inequality: got {len(subsets)} rows for {len(self)} inequalities."
            )

    @classmethod
    def _built(cls, coefficients: Floats, bias: Floats, subsets: Bools | None) -> LinearInequalities:
        """Rows that lcons computed itself: made read-only, but not checked again."""
        rows = object.__new__(cls)
        for name, value in (("coefficients", coefficients), ("bias", bias), ("subsets", subsets)):
            object.__setattr__(rows, name, None if value is None else frozen(value))
        return rows

    def __len__(self) -> int:
        return self.coefficients.shape[0]

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.coefficients.shape[1]

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
        # An overflow (NaN) is as uncertain as a value near zero: both are decided by rationals.
        largest = float(np.abs(dense).max(initial=0.0))
        total = float((largest * self._row_mass + np.abs(self.bias)).max(initial=0.0))
        q = self._exponent if bool((dense == np.rint(dense)).all()) else None
        bound = rounding_bound(total, self.d + 1, q) or -1.0
        for i, m in zip(*np.nonzero(~(np.abs(values) > bound)), strict=True):
            point = np.atleast_2d(dense)[i]
            verdict[i, m] = rational_dot(self.coefficients[m], point, float(self.bias[m])) >= 0
        return verdict[0] if dense.ndim == 1 else verdict

    def satisfied_at(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N, M) which rows hold at value indices (N, axes), exactly."""
        values = affine(space, self.coefficients, self.bias, assignments)
        holds = values >= 0
        bound = self.error_bound(space) or -1.0
        for i in np.flatnonzero((~(np.abs(values) > bound)).any(1)):
            holds[i] = self.satisfied(space.vectors(assignments[i : i + 1])[0])
        return holds

    @overload
    def holds(self, psi: ManyPsi) -> Bools: ...
    @overload
    def holds(self, psi: OnePsi) -> bool: ...
    def holds(self, psi: Any) -> Any:
        """Whether every row holds, the same as `accepts`: a bool for one psi, (N,) for many."""
        return self.accepts(psi)

    def inequalities(self, most: int | None = None) -> LinearInequalities:
        """The rows themselves; raises `TooLarge` if there are more than `most`."""
        if most is not None and len(self) > most:
            raise TooLarge(f"expected at most {most:,} rows, found {len(self):,}; allow more rows.")
        return self

    def networks(self) -> tuple[()]:
        """The networks whose intersection is the set: rows have none."""
        return ()

    def cut(self, psi: Any) -> LinearInequalities:
        """The row with the least value at psi (d,)."""
        return self.take(np.array([self.values(psi).argmin()]))

    def error_bound(self, space: FeatureSpace) -> float:
        """The largest possible error of a float value of a row on the domain; 0.0 if all are exact."""
        reach = row_reach(space, self.coefficients) + np.abs(self.bias)
        q = self._exponent if space.integral else None
        return rounding_bound(float(reach.max(initial=0.0)), 2 * len(space.axes) + 1, q)

    def take(self, rows: NDArray[Any]) -> LinearInequalities:
        """The chosen rows (indices or a Boolean mask)."""
        subsets = None if self.subsets is None else self.subsets[rows]
        return LinearInequalities._built(self.coefficients[rows], self.bias[rows], subsets)

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

    def _margin_of(self, values: Floats) -> Floats:
        least: Floats = np.min(values, axis=-1, initial=np.inf)
        return least

    def _accepted(self, psi: Psi) -> Bools:
        accepted: Bools = np.all(np.atleast_2d(self.satisfied(psi)), axis=1)
        return accepted

    def _sum_decider(self, low: Floats, bound: float) -> SumDecider:
        least = low.min(1)

        def decide(high: Floats, tail: slice) -> tuple[Bools, Ints]:
            # A float value above the bound is certainly positive. Rows that are above it at all of these
            # points are skipped, and each row is evaluated only at points that no earlier row rejects.
            worst = high.min(1) + least
            order = np.flatnonzero(~(worst > bound))
            order = order[np.argsort(worst[order])]
            length = tail.stop - tail.start
            open_ = np.arange(high.shape[1] * length)
            unsure = np.zeros(open_.size, dtype=np.bool_)
            accepted = np.zeros(open_.size, dtype=np.bool_)
            for first in range(0, len(order), 8):
                h, t = np.divmod(open_, length)
                some = order[first : first + 8, None]
                value = (high[some, h] + low[some, t + tail.start]).min(0)
                unsure[open_[~(np.abs(value) > bound)]] |= bound > 0
                open_ = open_[~(value < -bound)]
            accepted[open_] = True
            return accepted, open_[unsure[open_]]

        return decide


@dataclass(frozen=True, eq=False)
class ThresholdNetwork(PsiSet):
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

    def _margins(self, psi: Psi) -> Floats:
        """1 - K + sum_k sgn(w_k . psi + b_k): 1 if psi is accepted, otherwise -1, -3, ... down to 1 - 2 K."""
        signs = np.where(self.inequalities.satisfied(psi), 1, -1)
        margins: Floats = 1.0 - self.K + signs.sum(-1)
        return margins

    def _accepted(self, psi: Psi) -> Bools:
        return np.atleast_1d(self._margins(psi)) >= 0


def _read_only(value: ArrayLike, name: str, ndim: int) -> Floats:
    """As `finite_array`, but without a copy if the array is already read-only."""
    array = checked_array(value, name, ndim)
    return frozen(array.copy() if array.flags.writeable else array)
