"""Sets of psi by the sign of a margin, with exact verdicts; on a finite domain also by value indices.

    psi belongs to the set  iff  margin(psi) >= 0

The margin of an affine set is made of affine values, `W psi + b`: the least of them for rows, 1 minus the sum
of their positive parts for a network. At a point of a domain, given by the index of its value on every axis,

    W psi + b = b + sum over axes of axis.table(W)[v]

so a point costs one gather and one addition an axis. Where all points are enumerated, the axes are split into
a head and a tail, and each part is added up once,

    a(head, tail) = (b + sum over head axes) + (sum over tail axes)

so that a point costs one addition a value however many axes there are. Verdicts are those of rational
arithmetic: floats decide where they clear the rounding bound (always, for dyadic weights), rationals the
rest.

Not in the paper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol, overload

import numpy as np

from lcons_core._blocks import Axis
from lcons_core._errors import InvalidInput
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
