"""Rules by name: a box of the domain, and the rectifier network that forbids boxes.

A box fixes some axes to sets of values and leaves the others free. With m fixed axes and the linear
indicators i_1, ..., i_m of "axis j has one of its values", the single unit

    a = 2 (i_1 + ... + i_m) - 2 (m - 1)        (2 inside the box, at most 0 outside)

forbids the box, and a network with one unit a box forbids their union: sum_k ReLU(a_k) > 1 iff some a_k =
2. So every set of one-hot and binary points is a rectifier network with small integer weights.

Not in the paper: designed constraints as rectifier networks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core._arithmetic import Floats
from lcons_core._blocks import Kind
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._inequalities import LinearInequalities
from lcons_core._network import RectifierNetwork
from lcons_core._psi import Ints, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core.reason._points import Bools

MAX_ALLOWED_POINTS = 10**5


@dataclass(frozen=True)
class Box:
    """(axis, values) conditions, in the order of the space's axes; a point is inside iff all hold."""

    conditions: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, space: FeatureSpace, assignment: Mapping[str, Any]) -> Box:
        """A box from names.

        One-hot block: a value or a collection of values. Binary block: a collection of names that hold, or a
        mapping from names to truth values. Count block: a mapping from names to a number or several.
        """
        chosen: dict[str, set[str]] = {}
        for name, given in assignment.items():
            for axis_name, values in _conditions(space, name, given):
                chosen[axis_name] = {str(value) for value in values}
        if not chosen:
            raise InvalidInput("a rule needs at least one condition, found none; name a block and a value.")
        conditions = []
        for axis_name, wanted in chosen.items():
            axis = space.axes[space.axis_index(axis_name)]
            unknown = sorted(wanted - set(axis.values))
            if unknown or not wanted:
                raise InvalidInput(
                    f"unknown value {unknown[0]!r} for {axis_name!r}; it is one of"
                    f" {', '.join(axis.values[:12])}{' ...' if len(axis) > 12 else ''}."
                    if unknown
                    else f"no values given for {axis_name!r}; name at least one."
                )
            conditions.append((axis_name, tuple(v for v in axis.values if v in wanted)))
        return cls(tuple(sorted(conditions, key=lambda c: space.axis_index(c[0]))))

    def contains(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """Which assignments (N, axes) are inside."""
        inside = np.ones(len(assignments), dtype=np.bool_)
        for name, values in self.conditions:
            i = space.axis_index(name)
            member = np.isin(space.axes[i].values, values)
            inside &= member[assignments[:, i]]
        return inside

    def to_dict(self) -> dict[str, list[str]]:
        """Plain data: axis -> values."""
        return {name: list(values) for name, values in self.conditions}


def indicator(space: FeatureSpace, axis_name: str, values: Collection[str]) -> tuple[Floats, float]:
    """(w, c) with `w . psi + c` = 1 where the axis has one of `values`, else 0."""
    axis = space.axes[space.axis_index(axis_name)]
    block = space.block(axis.block)
    w, c = np.zeros(space.d), 0.0
    if block.kind is Kind.COUNT:
        raise Unsupported(
            f"{axis_name!r} is a count: a set of counts is not linear in psi; write the inequality itself."
        )
    for v, value in enumerate(axis.values):
        if value not in values:
            continue
        if axis.coefficients[v]:
            w[axis.columns[v]] += 1.0
        else:
            w[axis.columns[axis.coefficients > 0]] -= 1.0
            c += 1.0
    return w, c


def forbid_boxes(space: FeatureSpace, boxes: Iterable[Box]) -> RectifierNetwork:
    """The network that rejects exactly the points inside some box: one unit a box.

    >>> from lcons_core._space import one_hot
    >>> source, relation = one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])
    >>> space = FeatureSpace([source, relation])
    >>> net = forbid_boxes(space, [Box.of(space, {"source": "Location", "relation": "Kill"})])
    >>> net.accepts(space.vector(source="Location", relation="Kill"))
    False
    >>> net.accepts(space.vector(source="Person", relation="Kill"))
    True
    """
    units = []
    for box in boxes:
        parts = [indicator(space, axis, values) for axis, values in box.conditions]
        w = 2.0 * np.sum([w for w, _ in parts], axis=0)
        units.append((w, 2.0 * sum(c for _, c in parts) - 2.0 * (len(parts) - 1)))
    if not units:
        return RectifierNetwork(np.zeros((1, space.d)), [0.0])
    return RectifierNetwork([w for w, _ in units], [b for _, b in units])


def allow_only(space: FeatureSpace, allowed: Iterable[Mapping[str, Any]]) -> RectifierNetwork:
    """The network that accepts exactly the points inside some of the `allowed` partial assignments.

    At most one unit per point of the domain that is outside.
    """
    return Rules(space, allowed=allowed).network()


@dataclass(frozen=True)
class Rules:
    """Designed constraints by name: no point of a `forbidden` box, and only those of `allowed` ones.

    >>> from lcons_core._space import one_hot
    >>> pair = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> rules = Rules(FeatureSpace(pair)).needs({"relation": "Kill"}, {"source": "Person"})
    >>> rules.accepts([[1, 0, 0, 1], [0, 1, 0, 1]])
    array([ True, False])
    """

    space: FeatureSpace
    forbidden: tuple[Box, ...]
    allowed: tuple[Box, ...] | None

    def __init__(
        self,
        space: FeatureSpace,
        forbidden: Iterable[Mapping[str, Any] | Box] = (),
        allowed: Iterable[Mapping[str, Any] | Box] | None = None,
    ) -> None:
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "forbidden", _boxes(space, forbidden))
        object.__setattr__(self, "allowed", None if allowed is None else _boxes(space, allowed))

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.space.d

    def needs(self, where: Mapping[str, Any], then: Mapping[str, Any]) -> Rules:
        """These rules and: a point inside `where` is inside `then`."""
        where_box, then_box = Box.of(self.space, where), Box.of(self.space, then)
        exceptions = []
        for name, values in then_box.conditions:
            axis = self.space.axes[self.space.axis_index(name)]
            given = dict(where_box.conditions).get(name, axis.values)
            given_otherwise = tuple(v for v in given if v not in values)
            if given_otherwise:
                conditions = {**dict(where_box.conditions), name: given_otherwise}
                exceptions.append(_sorted_box(self.space, conditions))
        return Rules(self.space, [*self.forbidden, *exceptions], self.allowed)

    def contains(self, assignments: Ints) -> Bools:
        """Which assignments (N, axes) the rules accept."""
        accepted = np.ones(len(assignments), dtype=np.bool_)
        for box in self.forbidden:
            accepted &= ~box.contains(self.space, assignments)
        if self.allowed is not None:
            accepted &= _inside_some(self.space, self.allowed, assignments)
        return accepted

    def accepts(self, psi: Any) -> Any:
        """Whether the rules accept psi: a bool for one psi, (N,) for many."""
        single = not isinstance(psi, SparsePsi) and np.ndim(psi) == 1
        accepted = self.contains(self.space.assignments(np.atleast_2d(psi) if single else psi))
        return bool(accepted[0]) if single else accepted

    def rows(self) -> LinearInequalities:
        """One inequality a box, `sum of its m indicators <= m - 1`: the same points of the space."""
        network = self.network()
        return LinearInequalities(0.0 - network.W, 1.0 - network.b)

    def network(self) -> RectifierNetwork:
        """The rectifier network that accepts the same points of the space: one unit a box."""
        if self.allowed is None:
            return forbid_boxes(self.space, self.forbidden)
        outside = _outside(self.space, self.allowed)
        return forbid_boxes(self.space, [*self.forbidden, *outside])


def _boxes(space: FeatureSpace, given: Iterable[Mapping[str, Any] | Box]) -> tuple[Box, ...]:
    return tuple(box if isinstance(box, Box) else Box.of(space, box) for box in given)


def _sorted_box(space: FeatureSpace, conditions: Mapping[str, tuple[str, ...]]) -> Box:
    return Box(tuple(sorted(conditions.items(), key=lambda c: space.axis_index(c[0]))))


def _inside_some(space: FeatureSpace, boxes: Iterable[Box], assignments: Ints) -> Bools:
    inside = np.zeros(len(assignments), dtype=np.bool_)
    for box in boxes:
        inside |= box.contains(space, assignments)
    return inside


def _outside(space: FeatureSpace, boxes: tuple[Box, ...]) -> list[Box]:
    """Boxes that hold every point outside `boxes`: points that differ on the last axis share one."""
    if space.size > MAX_ALLOWED_POINTS:
        raise TooLarge(
            f"a network of allowed combinations needs the complement of {space.size:,} points, above"
            f" the limit of {MAX_ALLOWED_POINTS:,}; name the forbidden combinations instead."
        )
    last: dict[tuple[int, ...], list[str]] = {}
    for assignments in space.points():
        for point in assignments[~_inside_some(space, boxes, assignments)].tolist():
            last.setdefault(tuple(point[:-1]), []).append(space.axes[-1].values[point[-1]])
    outside = []
    for head, values in last.items():
        pairs = zip(space.axes[:-1], head, strict=True)
        conditions = [(axis.name, (axis.values[v],)) for axis, v in pairs]
        outside.append(Box((*conditions, (space.axes[-1].name, tuple(values)))))
    return outside


def _conditions(space: FeatureSpace, name: str, given: Any) -> Iterable[tuple[str, Collection[Any]]]:
    block = space.block(name)
    if block.kind is Kind.ONE_HOT:
        yield name, [given] if isinstance(given, str) else list(given)
        return
    if isinstance(given, str):
        given = [given]
    named = given if isinstance(given, Mapping) else dict.fromkeys(given, True)
    for value, wanted in named.items():
        space.column(name, value)
        numbers = wanted if isinstance(wanted, Collection) else [wanted]
        yield f"{name} {value}", [int(number) for number in numbers]
