"""Sets of psi by the sign of a margin, exactly; first of all, systems of linear inequalities.

    coefficients @ psi + bias >= 0,  row by row
    z = sgn(1 - K + sum_k sgn(w_k . psi + b_k))

Paper: Sec. 2.2, Eq. 3 to 6. z = 1 iff every unit is 1. The gradient of z is zero almost everywhere, which is
why a `RectifierNetwork` is learned instead; `LinearInequalities.to_threshold_network` gives one back.

The margin of an affine set is made of affine values, `W psi + b`: the least of them for rows, 1 minus the sum
of their positive parts for a network. At a point of a domain, given by the index of its value on every axis,

    W psi + b = b + sum over axes of axis.table(W)[v]

so a point costs one gather and one addition an axis. Where all points are enumerated, the axes are split into
a head and a tail, and each part is added up once,

    a(head, tail) = (b + sum over head axes) + (sum over tail axes)

so that a point costs one addition a value however many axes there are. Verdicts are those of rational
arithmetic: floats decide where they clear the rounding bound (always, for dyadic weights), rationals the
rest.

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
from lcons_core._blocks import Axis
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._psi import ManyPsi, OnePsi, Psi, SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints

# A function of head positions, a slice of the tail and the points they make: the verdicts.
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
        """In floats, at least 0 where psi belongs to the set: a float for one psi, (N,) for many."""
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
    """The psi at which the margin that `_margin_of` makes of `W psi + b` is at least 0."""

    @property
    @abstractmethod
    def affine(self) -> tuple[Floats, Floats]:
        """W (M, d) and b (M,)."""

    @abstractmethod
    def _margin_of(self, values: Floats) -> Floats:
        """(...) margins of values `W psi + b` (..., M)."""

    @abstractmethod
    def _sum_decider(self, low: Floats, bound: float) -> SumDecider:
        """A function of high (M, H) and a slice of L columns of low (M, tail) that decides where the values
        are the sums of the two: (H * L,) verdicts in floats, and the positions of those within the bound."""

    @abstractmethod
    def error_bound(self, space: FeatureSpace) -> float:
        """How far a float margin can be off anywhere on the domain; 0.0 where all are exact."""

    @property
    def width(self) -> int:
        """How many affine values a verdict takes; at least 1."""
        return max(1, len(self.affine[1]))

    @property
    def cost(self) -> int:
        """About what a verdict on one point costs, in hidden units."""
        return self.width

    def margins(self, space: FeatureSpace, assignments: Ints) -> Floats:
        """(N,) float margins at value indices (N, axes)."""
        return self._margin_of(affine(space, *self.affine, assignments))

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) which value indices (N, axes) belong to the set, exactly."""
        check_width(self, space)
        margin = self.margins(space, assignments)
        accepted: Bools = margin >= 0
        bound = self.error_bound(space) or -1.0
        for i in np.flatnonzero(~(np.abs(margin) > bound)):
            accepted[i] = self.accepts(space.vectors(assignments[i : i + 1]))[0]
        return accepted

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides on blocks of points, the first `split` axes being the head."""
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
    """Anything on psi of length d."""

    @property
    def d(self) -> int: ...


def check_width(points: HasWidth, space: FeatureSpace) -> None:
    """Raises where the set and the space do not have the same d."""
    if points.d != space.d:
        raise InvalidInput(
            f"the space has {space.d} columns but the constraint has {points.d}; pass the space"
            " it was learned on."
        )


def affine(space: FeatureSpace, W: Floats, b: Floats, assignments: Ints) -> Floats:
    """`W psi + b` (N, M) at assignments (N, axes), for W (M, d)."""
    total = np.broadcast_to(b, (len(assignments), len(b))).copy()
    for axis, values in zip(space.axes, assignments.T, strict=True):
        total += axis.table(W)[values]
    return total


def row_reach(space: FeatureSpace, W: Floats) -> Floats:
    """(M,) the largest sum of absolute contributions that any point can give a row of W."""
    reach = np.zeros(len(W))
    for axis in space.axes:
        reach += np.abs(axis.table(W)).max(0)
    return reach


def least_values(space: FeatureSpace, W: Floats, b: Floats) -> Floats:
    """(M,) the minimum of `W psi + b` over the product of axes, block by block, in closed form."""
    least = b.copy()
    for axis in space.axes:
        least += axis.table(W).min(0)
    return least


def points_at(space: FeatureSpace, flat: Ints) -> Ints:
    """Value indices (N, axes) of the points at these positions of the product of axes."""
    shape = tuple(len(axis) for axis in space.axes)
    return np.stack(np.unravel_index(flat, shape), axis=1).astype(np.int64)


def _sums(axes: Sequence[Axis], W: Floats) -> Floats:
    """(M, points) what all combinations of the axes' values add to `W psi`."""
    total = np.zeros((len(W), 1))
    for axis in axes:
        points = total.shape[1] * len(axis)
        total = (total[:, :, None] + axis.table(W).T[:, None, :]).reshape(len(W), points)
    return total


def _sums_at(axes: Sequence[Axis], W: Floats, positions: Ints) -> Floats:
    """(M, N) what the combinations at these positions add to `W psi`."""
    total = np.zeros((len(W), len(positions)))
    for axis in reversed(axes):
        total += axis.table(W)[positions % len(axis)].T
        positions = positions // len(axis)
    return total


@dataclass(frozen=True, eq=False)
class LinearInequalities(AffineSet):
    """`coefficients @ psi + bias >= 0`, M rows; `subsets[m]` marks the hidden units that made row m.

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
                f" {self.bias.shape}; pass one bias a row."
            )
        if subsets is not None and len(subsets) != len(self):
            raise InvalidInput(
                f"subsets must have one row an inequality, found {len(subsets)} for {len(self)}."
            )

    @classmethod
    def _built(cls, coefficients: Floats, bias: Floats, subsets: Bools) -> LinearInequalities:
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

    @property
    def affine(self) -> tuple[Floats, Floats]:
        """The coefficients (M, d) and the bias (M,)."""
        return self.coefficients, self.bias

    def values(self, psi: Any) -> Floats:
        """`coefficients @ psi + bias`: (M,) for one psi, (N, M) for many."""
        return self._values(as_psi(psi, self.d))

    def satisfied(self, psi: Any) -> Bools:
        """Which rows hold, decided exactly for the stored coefficients: (M,) or (N, M)."""
        checked = as_psi(psi, self.d)
        dense = checked.dense() if isinstance(checked, SparsePsi) else checked
        values = np.atleast_2d(self._values(checked))
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

    def satisfied_at(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """Which rows hold at which value indices: (N, M), exactly."""
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
        """Whether every row holds, as `accepts`: a bool for one psi, (N,) for many."""
        return self.accepts(psi)

    def inequalities(self, most: int | None = None) -> LinearInequalities:
        """The rows of the set: these; refused where they are more than `most`."""
        if most is not None and len(self) > most:
            raise TooLarge(f"at most {most:,} rows were asked for, found {len(self):,}; allow for more.")
        return self

    def networks(self) -> tuple[()]:
        """The networks that the set is the intersection of: none are known."""
        return ()

    def cut(self, psi: Any) -> LinearInequalities:
        """The row with the least value at psi (d,)."""
        return self.take(np.array([self.values(psi).argmin()]))

    def directions(self, most: int) -> tuple[Floats, ...]:
        """At most `most` linear forms whose extremes are worth looking at: the first rows."""
        return (self.coefficients[:most],)

    def landmarks(self, rng: np.random.Generator) -> list[Ints]:
        """Points that no margin leads to: none."""
        return []

    def error_bound(self, space: FeatureSpace) -> float:
        """How far a float value of a row can be off anywhere on the domain; 0.0 where all are exact."""
        reach = row_reach(space, self.coefficients) + np.abs(self.bias)
        return rounding_bound(float(reach.max(initial=0.0)), len(space.axes) + 1, self._exponent)

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

    def _margin_of(self, values: Floats) -> Floats:
        least: Floats = np.min(values, axis=-1, initial=np.inf)
        return least

    def _accepted(self, psi: Psi) -> Bools:
        accepted: Bools = np.all(np.atleast_2d(self.satisfied(psi)), axis=1)
        return accepted

    def _sum_decider(self, low: Floats, bound: float) -> SumDecider:
        least = low.min(1)

        def decide(high: Floats, tail: slice) -> tuple[Bools, Ints]:
            # A value above the bound is safe in floats; rows that no point here can bring below it are
            # left out, and each row is asked only about the points that all rows before it left open.
            worst = high.min(1) + least
            order = np.flatnonzero(worst <= bound)
            order = order[np.argsort(worst[order])]
            length = tail.stop - tail.start
            open_ = np.arange(high.shape[1] * length)
            unsure = np.zeros(open_.size, dtype=np.bool_)
            accepted = np.zeros(open_.size, dtype=np.bool_)
            for first in range(0, len(order), 8):
                h, t = np.divmod(open_, length)
                some = order[first : first + 8, None]
                value = (high[some, h] + low[some, t + tail.start]).min(0)
                unsure[open_[np.abs(value) <= bound]] |= bound > 0
                open_ = open_[value >= -bound]
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
        """1 - K + sum_k sgn(w_k . psi + b_k): 1 where accepted, else negative and odd or even with K."""
        signs = np.where(self.inequalities.satisfied(psi), 1, -1)
        margins: Floats = 1.0 - self.K + signs.sum(-1)
        return margins

    def _accepted(self, psi: Psi) -> Bools:
        return np.atleast_1d(self._margins(psi)) >= 0


def _read_only(value: ArrayLike, name: str, ndim: int) -> Floats:
    """As `finite_array`, but an array that is read-only already is not copied."""
    array = checked_array(value, name, ndim)
    return frozen(array.copy() if array.flags.writeable else array)
