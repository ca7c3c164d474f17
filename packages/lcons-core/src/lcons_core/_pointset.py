"""`PointSet`: the interface of networks, conjunctions, rows, simplified rows, rules and constraints.

Each of these forms describes a set of psi. The interface has the margin of the set, exact verdicts on psi and
on points given by value indices, and the other forms. Code that reasons about a set uses this interface and
never tests which form it has.
"""

from __future__ import annotations

from typing import Any, Protocol, overload, runtime_checkable

from lcons_core._coercion import Fitted, learned
from lcons_core._errors import InvalidInput
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
        """The names of psi's columns; None if the set has no names."""
        ...

    @property
    def width(self) -> int:
        """The number of values that a verdict on one point needs; at least 1."""
        ...

    @property
    def cost(self) -> int:
        """The approximate cost of a verdict on one point, in hidden units."""
        ...

    @overload
    def margin(self, psi: ManyPsi) -> Floats: ...
    @overload
    def margin(self, psi: OnePsi) -> float: ...
    def margin(self, psi: Any) -> Any:
        """The margin in floats, at least 0 iff psi is in the set (up to rounding): a float, (N,) for many."""
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
        """(N,) whether the points with value indices (N, axes) are in the set, exactly."""
        ...

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides blocks of points; the first `split` axes are the head."""
        ...

    @property
    def rounded(self) -> bool:
        """Whether `inequalities` are rounded to float64, so that their set may differ."""
        ...

    def inequalities(self, most: int | None = None) -> LinearInequalities:
        """The same set as rows; raises `TooLarge` if there are more than `most`."""
        ...

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose intersection is the set; none if the set is given only by rows."""
        ...

    def cut(self, psi: Any) -> LinearInequalities:
        """The row with the smallest value at psi (d,)."""
        ...


def as_points(given: PointSet | Fitted, form: str) -> PointSet:
    """The set that a constraint, network, rows, simplified rows, rules or a fitted learner describes."""
    found: Any = learned(given, form)
    if not isinstance(found, PointSet):
        raise InvalidInput(
            f"{form} needs a learned constraint, a network, rows, simplified rows, Rules or a fitted"
            f" ConstraintLearner, found {type(given).__name__}; pass designed constraints as Rules(space,"
            " forbidden=[...])."
        )
    return found


class Wrapped:
    """A set that is the same as the set `points`."""

    @property
    def points(self) -> PointSet:
        """The set that computes all answers."""
        raise NotImplementedError

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.points.d

    @property
    def width(self) -> int:
        """The number of values that a verdict on one point needs."""
        return self.points.width

    @property
    def cost(self) -> int:
        """The approximate cost of a verdict on one point, in hidden units."""
        return self.points.cost

    @overload
    def margin(self, psi: ManyPsi) -> Floats: ...
    @overload
    def margin(self, psi: OnePsi) -> float: ...
    def margin(self, psi: Any) -> Any:
        """The margin in floats, at least 0 iff psi is in the set (up to rounding): a float, (N,) for many."""
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
        """(N,) whether the points with value indices (N, axes) are in the set, exactly."""
        return self.points.verdicts(space, assignments)

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides blocks of points; the first `split` axes are the head."""
        return self.points.decider(space, split)

    def inequalities(self, most: int | None = None) -> LinearInequalities:
        """The same set as rows, for a network those of Theorem 1; `TooLarge` if more than `most`."""
        return self.points.inequalities(most)

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose intersection is the set."""
        return self.points.networks()

    def cut(self, psi: Any) -> LinearInequalities:
        """The row with the smallest value at psi (d,)."""
        return self.points.cut(psi)
