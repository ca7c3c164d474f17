"""`PointSet`: the base of networks, conjunctions, rows, simplified rows, rules and constraints.

Each of these describes a set of psi. It has a margin in floats, which is at least 0 iff psi is in the set up
to rounding, and exact verdicts, on psi and on points of a space. Code that reasons about a set uses this
interface and never tests which form it has.

The margin of an affine set is a function of affine values `W psi + b`: their minimum for rows, 1 minus the
sum of their positive parts for a network. At a point of a domain, given as one value index v per axis,

    W psi + b = b + sum over axes of axis.table(W)[v]

so a point costs one lookup and one addition per axis. To enumerate all points, the axes are split into a head
and a tail, and each part is added up once, so a point costs one addition per affine value:

    a(head, tail) = (b + sum over head axes) + (sum over tail axes)

Verdicts equal those of rational arithmetic: a float decides if it is outside the rounding bound (always, for
dyadic weights); otherwise the margin is computed again from integers.

Not in the paper: exact verdicts, and points by value indices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from lcons_core._arithmetic import exponent, rounding_bound
from lcons_core._blocks import MAX_NUMBERS, Axis
from lcons_core._errors import InvalidInput, NotFitted
from lcons_core._psi import ManyPsi, OnePsi, Psi, SparsePsi, as_psi
from lcons_core._space import MANY_AXES, FeatureSpace
from lcons_core._types import Bools, Floats, Ints

if TYPE_CHECKING:
    from lcons_core._network import LinearInequalities, Network, RectifierNetwork

# From value indices (H, split) of the head and a slice of L points of the tail to (H * L,) verdicts.
Decider = Callable[[Ints, slice], Bools]


class PointSet(ABC):
    """A set of psi of length d; on the domain of a space, a set of its points.

    `space` has the names of psi's columns, or is None. `rounded`: its rows are not exact in float64.
    """

    space: FeatureSpace | None
    rounded: bool

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

    @property
    def width(self) -> int:
        """The number of values that a verdict on one point needs; at least 1."""
        return 1

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) whether the points with value indices (N, axes) are in the set, exactly."""
        return self._accepted(space.vectors(assignments))

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides blocks of points; the first `split` axes are the head."""
        return lambda head, tail: self.verdicts(space, _block(space, head, tail))

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose intersection is the set; none if the set is given only by rows."""
        return ()

    def stated_rows(self) -> LinearInequalities | None:
        """The rows that state the set; None if it has only those of Theorem 1."""
        return None


class AffineSet(PointSet):
    """The psi whose margin, a function of `W psi + b`, is at least 0."""

    @property
    @abstractmethod
    def affine(self) -> tuple[Floats, Floats]:
        """W (M, d) and b (M,)."""

    @abstractmethod
    def _margin_of(self, values: Any) -> Any:
        """(...) margins of values `W psi + b` (..., M)."""

    @abstractmethod
    def _magnitude(self, masses: Floats) -> float:
        """A bound on the absolute terms of a margin, from bounds (M,) on those of each value."""

    @abstractmethod
    def rational_margin(self, psi: Floats) -> Fraction:
        """The margin of one psi without rounding."""

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.affine[0].shape[1]

    @property
    def width(self) -> int:
        """The number of affine values that a verdict needs; at least 1."""
        return max(1, len(self.affine[1]))

    @cached_property
    def exponent(self) -> int:
        """The smallest q such that all weights are multiples of 2^-q."""
        return exponent(*self.affine)

    @cached_property
    def _masses(self) -> Floats:
        mass: Floats = np.abs(self.affine[0]).sum(1)
        return mass

    def magnitude(self, largest: float) -> float:
        """A bound on the sum of all absolute terms of the margin, for |psi_j| <= largest."""
        return self._magnitude(largest * self._masses + np.abs(self.affine[1]))

    def uncertainty(self, psi: Psi) -> float:
        """Float margins of at most this magnitude may have the wrong sign; -1 if all are exact."""
        entries = psi.values if isinstance(psi, SparsePsi) else psi
        largest = float(np.abs(entries).max(initial=0.0))
        q = self.exponent if bool((entries == np.rint(entries)).all()) else None
        return rounding_bound(self.magnitude(largest), self.d + self.width + 1, q) or -1.0

    def error_bound(self, space: FeatureSpace) -> float:
        """The largest possible error of a float margin on the domain; 0.0 if all margins are exact."""
        W, b = self.affine
        q = self.exponent if space.integral else None
        total = self._magnitude(row_reach(space, W) + np.abs(b))
        return rounding_bound(total, 2 * len(space.axes) + self.width + 1, q)

    def margins(self, space: FeatureSpace, assignments: Ints) -> Floats:
        """(N,) float margins at value indices (N, axes)."""
        margins: Floats = self._margin_of(affine(space, *self.affine, assignments))
        return margins

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) whether the points with value indices (N, axes) are in the set, exactly."""
        check_width(self, space)
        margin = self.margins(space, assignments)
        accepted: Bools = margin >= 0
        near = np.flatnonzero(~(np.abs(margin) > (self.error_bound(space) or -1.0)))
        if near.size:
            accepted[near] = self._accepted(space.vectors(assignments[near]))
        return accepted

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides blocks of points; the first `split` axes are the head."""
        W, b = self.affine
        low, bound = _sums(space.axes[split:], W), self.error_bound(space) or -1.0

        def decide(head: Ints, tail: slice) -> Bools:
            high = affine_of(space.axes[:split], W, b, head)
            margin = self._margin_of(high[:, None] + low[tail]).ravel()
            accepted: Bools = margin >= 0
            near = np.flatnonzero(~(np.abs(margin) > bound))
            if near.size:
                accepted[near] = self.verdicts(space, _block(space, head, tail)[near])
            return accepted

        return decide

    def _values(self, psi: Psi) -> Floats:
        W, b = self.affine
        return (psi.dot(W.T) if isinstance(psi, SparsePsi) else psi @ W.T) + b

    def _margins(self, psi: Psi) -> Floats:
        margins: Floats = self._margin_of(self._values(psi))
        return margins

    def _accepted(self, psi: Psi) -> Bools:
        margin = np.atleast_1d(self._margins(psi))
        verdict: Bools = margin >= 0
        for i in np.flatnonzero(~(np.abs(margin) > self.uncertainty(psi))):
            verdict[i] = self.rational_margin(row_of(psi, int(i))) >= 0
        return verdict


class Wrapped(PointSet):
    """A set that is the same as the set `points`, which computes all answers."""

    @property
    @abstractmethod
    def points(self) -> PointSet:
        """The set that computes all answers."""

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.points.d

    @property
    def width(self) -> int:
        """The number of values that a verdict on one point needs."""
        return self.points.width

    def _margins(self, psi: Psi) -> Floats:
        return self.points._margins(psi)

    def _accepted(self, psi: Psi) -> Bools:
        return self.points._accepted(psi)

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) whether the points with value indices (N, axes) are in the set, exactly."""
        return self.points.verdicts(space, assignments)

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides blocks of points; the first `split` axes are the head."""
        return self.points.decider(space, split)

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose intersection is the set."""
        return self.points.networks()

    def stated_rows(self) -> LinearInequalities | None:
        """The rows that state the set; None if it has only those of Theorem 1."""
        return self.points.stated_rows()


class Fitted(Protocol):
    """A learner after `fit`: `ConstraintLearner`, or any other with a network."""

    @property
    def network_(self) -> Network: ...


Given = PointSet | Fitted


def learned(source: Any, form: str) -> Any:
    """What a learner has learned; anything else is returned as it is. `form` is the caller, for errors."""
    if hasattr(source, "network_"):
        return source.network_
    if hasattr(source, "fit"):
        raise NotFitted(f"{form} needs a fitted learner: call fit(X, y) of {type(source).__name__} first.")
    return source


def as_points(source: Given, form: str) -> PointSet:
    """The set that a constraint, network, rows, simplified rows, rules or a fitted learner describes."""
    points = learned(source, form)
    if not isinstance(points, PointSet):
        raise InvalidInput(f"{form} needs a constraint or a set of psi, got {type(points).__name__}.")
    return points


def check_width(points: Any, space: FeatureSpace) -> None:
    """Raises `InvalidInput` if the set and the space do not have the same d."""
    if points.d != space.d:
        raise InvalidInput(f"the space has {space.d} columns but the constraint has {points.d}.")


def row_of(psi: Psi, i: int) -> Floats:
    """Row i of psi, dense; psi itself if it is one vector."""
    if isinstance(psi, SparsePsi):
        return psi.take(np.array([i])).dense()[0]
    return psi if psi.ndim == 1 else psi[i]


def affine(space: FeatureSpace, W: Floats, b: Floats, assignments: Ints) -> Floats:
    """`W psi + b` (N, M) at assignments (N, axes), for W (M, d)."""
    if space.integral and len(space.axes) > MANY_AXES and space.d * len(assignments) <= MAX_NUMBERS:
        products: Floats = space.vectors(assignments) @ W.T + b
        return products
    return affine_of(space.axes, W, b, assignments)


def affine_of(axes: Sequence[Axis], W: Floats, b: Floats, assignments: Ints) -> Floats:
    """(N, M) b plus the contributions of these axes to `W psi` at value indices (N, axes)."""
    total = np.repeat(b[None], len(assignments), axis=0)
    for axis, values in zip(axes, assignments.T, strict=True):
        total += axis.contributions(W, values)
    return total


def row_reach(space: FeatureSpace, W: Floats) -> Floats:
    """(M,) for each row of W, the largest sum of absolute contributions at any point."""
    return sum((axis.reach(W) for axis in space.axes), np.zeros(len(W)))


def least_values(space: FeatureSpace, W: Floats, b: Floats) -> Floats:
    """(M,) the minimum of `W psi + b` over the product of axes, block by block, in closed form."""
    return sum((axis.least(W) for axis in space.axes), b)


def _sums(axes: Sequence[Axis], W: Floats) -> Floats:
    """(points, M) contributions to `W psi` of all combinations of the axes' values."""
    total = np.zeros((1, len(W)))
    for axis in axes:
        total = (total[:, None] + axis.table(W)).reshape(len(total) * len(axis), len(W))
    return total


def _block(space: FeatureSpace, head: Ints, tail: slice) -> Ints:
    """(H * L, axes) value indices of every head (H, split) with each of the L points of the tail."""
    low = space.unravelled(np.arange(tail.start, tail.stop), head.shape[1])
    return np.hstack([np.repeat(head, len(low), axis=0), np.tile(low, (len(head), 1))])
