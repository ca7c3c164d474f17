"""One set, many forms: what networks, conjunctions, rows, simplified rows, rules and constraints answer.

Each form answers for the same set of psi: its margin, its exact verdict on psi and on points given by value
indices, and its other forms. Who reasons about a set asks these and never which form it has.
"""

from __future__ import annotations

from typing import Any, Protocol, overload, runtime_checkable

import numpy as np

from lcons_core._inequalities import Decider, LinearInequalities
from lcons_core._network import RectifierNetwork
from lcons_core._psi import ManyPsi, OnePsi
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints


@runtime_checkable
class PointSet(Protocol):
    """A set of psi of length d; on the domain of a space, a set of its points."""

    @property
    def d(self) -> int:
        """The length of psi."""
        ...

    @property
    def space(self) -> FeatureSpace | None:
        """The names of psi's columns, where the set knows them."""
        ...

    @property
    def width(self) -> int:
        """How many numbers a verdict on one point takes; at least 1."""
        ...

    @property
    def cost(self) -> int:
        """About what a verdict on one point costs, in hidden units."""
        ...

    @overload
    def margin(self, psi: ManyPsi) -> Floats: ...
    @overload
    def margin(self, psi: OnePsi) -> float: ...
    def margin(self, psi: Any) -> Any:
        """In floats, at least 0 where psi belongs to the set: a float for one psi, (N,) for many."""
        ...

    @overload
    def accepts(self, psi: ManyPsi) -> Bools: ...
    @overload
    def accepts(self, psi: OnePsi) -> bool: ...
    def accepts(self, psi: Any) -> Any:
        """Whether psi belongs to the set, decided exactly: a bool for one psi, (N,) for many."""
        ...

    def margins(self, space: FeatureSpace, assignments: Ints) -> Floats:
        """(N,) float margins at value indices (N, axes)."""
        ...

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) which value indices (N, axes) belong to the set, exactly."""
        ...

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides on blocks of points, the first `split` axes being the head."""
        ...

    @property
    def rounded(self) -> bool:
        """Whether `inequalities` are rounded to float64, and so may differ from the set."""
        ...

    def inequalities(self, most: int | None = None) -> LinearInequalities:
        """The same set as rows; refused where they are more than `most`."""
        ...

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks that the set is the intersection of; none where it is known by its rows alone."""
        ...

    def cut(self, psi: Any) -> LinearInequalities:
        """The row with the least value at psi (d,)."""
        ...

    def directions(self, most: int) -> tuple[Floats, ...]:
        """Linear forms (M, d) whose extremes are worth looking at."""
        ...

    def landmarks(self, rng: np.random.Generator) -> list[Ints]:
        """Assignments (N, axes) near the boundary that no margin leads to."""
        ...


class Wrapped:
    """A set that answers as the set `points` does."""

    @property
    def points(self) -> PointSet:
        """The set that answers."""
        raise NotImplementedError

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.points.d

    @property
    def width(self) -> int:
        """How many numbers a verdict on one point takes."""
        return self.points.width

    @property
    def cost(self) -> int:
        """About what a verdict on one point costs, in hidden units."""
        return self.points.cost

    @overload
    def margin(self, psi: ManyPsi) -> Floats: ...
    @overload
    def margin(self, psi: OnePsi) -> float: ...
    def margin(self, psi: Any) -> Any:
        """In floats, at least 0 where psi belongs to the set: a float for one psi, (N,) for many."""
        return self.points.margin(psi)

    @overload
    def accepts(self, psi: ManyPsi) -> Bools: ...
    @overload
    def accepts(self, psi: OnePsi) -> bool: ...
    def accepts(self, psi: Any) -> Any:
        """Whether psi belongs to the set, decided exactly: a bool for one psi, (N,) for many."""
        return self.points.accepts(psi)

    def margins(self, space: FeatureSpace, assignments: Ints) -> Floats:
        """(N,) float margins at value indices (N, axes)."""
        return self.points.margins(space, assignments)

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) which value indices (N, axes) belong to the set, exactly."""
        return self.points.verdicts(space, assignments)

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides on blocks of points, the first `split` axes being the head."""
        return self.points.decider(space, split)

    def inequalities(self, most: int | None = None) -> LinearInequalities:
        """The same set as rows, those of Theorem 1 for a network; refused where they are more than `most`."""
        return self.points.inequalities(most)

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks that the set is the intersection of."""
        return self.points.networks()

    def cut(self, psi: Any) -> LinearInequalities:
        """The row with the least value at psi (d,)."""
        return self.points.cut(psi)

    def directions(self, most: int) -> tuple[Floats, ...]:
        """Linear forms (M, d) whose extremes are worth looking at."""
        return self.points.directions(most)

    def landmarks(self, rng: np.random.Generator) -> list[Ints]:
        """Assignments (N, axes) near the boundary that no margin leads to."""
        return self.points.landmarks(rng)
