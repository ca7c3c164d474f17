"""Rules by name: designed constraints, and the rectifier network that forbids boxes.

With m fixed axes of a box and the linear indicators i_1, ..., i_m of "axis j has one of its values", the
single unit

    a = 2 (i_1 + ... + i_m) - 2 (m - 1)        (2 inside the box, at most 0 outside)

forbids the box, and a network with one unit per box forbids their union: sum_k ReLU(a_k) > 1 iff some
a_k = 2. So every set of one-hot and binary points is a rectifier network with small integer weights.

Not in the paper: designed constraints as rectifier networks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lcons_core._blocks import check_numbers
from lcons_core._errors import TooLarge, Unsupported
from lcons_core._network import LinearInequalities, RectifierNetwork
from lcons_core._pointset import PointSet
from lcons_core._psi import Psi, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._domain import Box, drawn_points, indicator, members

MAX_ALLOWED_POINTS = 10**5
BOXES = 2**7

Masks = list[tuple[int, Bools]]


def forbid_boxes(space: FeatureSpace, boxes: Iterable[Box]) -> RectifierNetwork:
    """The network that rejects exactly the points inside some box: one unit per box.

    >>> from lcons_core._space import one_hot
    >>> source, relation = one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])
    >>> space = FeatureSpace([source, relation])
    >>> net = forbid_boxes(space, [Box.of(space, {"source": "Location", "relation": "Kill"})])
    >>> net.accepts(space.vector(source="Location", relation="Kill"))
    False
    >>> net.accepts(space.vector(source="Person", relation="Kill"))
    True
    """
    listed = list(boxes)
    check_numbers(len(listed) * space.d, f"the network of {len(listed):,} rules", "use fewer rules")
    units = []
    for box in listed:
        parts = [indicator(space, axis, values) for axis, values in box.conditions]
        w = 2.0 * np.sum([w for w, _ in parts], axis=0)
        units.append((w, 2.0 * sum(c for _, c in parts) - 2.0 * (len(parts) - 1)))
    if not units:
        return RectifierNetwork(np.zeros((1, space.d)), [0.0])
    return RectifierNetwork([w for w, _ in units], [b for _, b in units])


def allow_only(space: FeatureSpace, allowed: Iterable[Mapping[str, Any]]) -> RectifierNetwork:
    """The network that accepts exactly the points inside one of the `allowed` partial assignments.

    It has at most one unit per point outside of them.
    """
    return Rules(space, allowed=allowed).network()


@dataclass(frozen=True)
class Rules(PointSet):
    """Designed constraints by name: no point of a `forbidden` box, and only points of `allowed` boxes.

    >>> from lcons_core._space import one_hot
    >>> pair = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> rules = Rules(FeatureSpace(pair)).needs({"relation": "Kill"}, {"source": "Person"})
    >>> rules.accepts([[1, 0, 0, 1], [0, 1, 0, 1]])
    array([ True, False])
    """

    space: FeatureSpace
    forbidden: tuple[Box, ...]
    allowed: tuple[Box, ...] | None
    rounded = False

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
        """These rules, and the rule that every point inside `where` is inside `then`."""
        where_box, then_box = Box.of(self.space, where), Box.of(self.space, then)
        exceptions = []
        for name, values in then_box.conditions:
            axis = self.space.axes[self.space.axis_index(name)]
            given = dict(where_box.conditions).get(name, axis.values)
            then_values = set(values)
            given_otherwise = tuple(v for v in given if v not in then_values)
            if given_otherwise:
                conditions = {**dict(where_box.conditions), name: given_otherwise}
                exceptions.append(_sorted_box(self.space, conditions))
        return Rules(self.space, [*self.forbidden, *exceptions], self.allowed)

    def contains(self, assignments: Ints) -> Bools:
        """(N,) which assignments (N, axes) the rules accept."""
        forbidden, allowed = self._masks
        accepted = ~_inside_some(forbidden, assignments)
        if self.allowed is not None:
            accepted &= _inside_some(allowed, assignments)
        return accepted

    @cached_property
    def _masks(self) -> tuple[list[Masks], list[Masks]]:
        """The masks of the forbidden and of the allowed boxes."""
        boxes = (*self.forbidden, *(self.allowed or ()))
        lengths = {axis.name: len(axis) for axis in self.space.axes}
        size = sum(lengths[name] for box in boxes for name, _ in box.conditions)
        check_numbers(
            size // 8, f"the values of {len(boxes):,} rules as bytes, by eights,", "use fewer rules"
        )
        masks = [box.masks(self.space) for box in boxes]
        return masks[: len(self.forbidden)], masks[len(self.forbidden) :]

    def margins(self, space: FeatureSpace, assignments: Ints) -> Floats:
        """(N,) +1 for assignments (N, axes) that the rules accept, -1 for others."""
        return np.where(self.contains(assignments), 1.0, -1.0)

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) which assignments (N, axes) the rules accept."""
        return self.contains(assignments)

    def stated_rows(self) -> LinearInequalities:
        """The same points of the space as rows, one per box."""
        return self.rows()

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The network that forbids the boxes; none for rules on counts, or with `allowed` boxes."""
        try:
            return () if self.allowed is not None else (self.network(),)
        except Unsupported:
            return ()

    def landmarks(self, rng: np.random.Generator) -> list[Ints]:
        """Points in and next to the first boxes, because margins of +1 and -1 cannot guide a search."""
        return [_around(box, self.space, rng) for box in (*self.forbidden, *(self.allowed or ()))[:BOXES]]

    def rows(self) -> LinearInequalities:
        """One inequality per box, `sum of its m indicators <= m - 1`: the same points of the space."""
        network = self.network()
        return LinearInequalities(0.0 - network.W, 1.0 - network.b)

    def network(self) -> RectifierNetwork:
        """The rectifier network that accepts the same points of the space: one unit per box."""
        if self.allowed is None:
            return forbid_boxes(self.space, self.forbidden)
        outside = _outside(self.space, self.allowed)
        return forbid_boxes(self.space, [*self.forbidden, *outside])

    def _margins(self, psi: Psi) -> Floats:
        margins = np.where(self._accepted(psi), 1.0, -1.0)
        return margins if isinstance(psi, SparsePsi) or psi.ndim == 2 else margins[0]

    def _accepted(self, psi: Psi) -> Bools:
        return self.contains(self.space.assignments(psi))


def _boxes(space: FeatureSpace, given: Iterable[Mapping[str, Any] | Box]) -> tuple[Box, ...]:
    return tuple(box if isinstance(box, Box) else Box.of(space, box) for box in given)


def _sorted_box(space: FeatureSpace, conditions: Mapping[str, tuple[str, ...]]) -> Box:
    return Box(tuple(sorted(conditions.items(), key=lambda c: space.axis_index(c[0]))))


def _inside_some(boxes: Iterable[Masks], assignments: Ints) -> Bools:
    some = np.zeros(len(assignments), dtype=np.bool_)
    for masks in boxes:
        inside = np.ones(len(assignments), dtype=np.bool_)
        for i, member in masks:
            inside &= member[assignments[:, i]]
        some |= inside
    return some


def _outside(space: FeatureSpace, boxes: tuple[Box, ...]) -> list[Box]:
    """Boxes of all points outside `boxes`: points that differ only in the last axis share one box."""
    if space.size > MAX_ALLOWED_POINTS:
        raise TooLarge(
            f"a network of allowed combinations needs a list of all {space.size:,} points, above"
            f" the limit of {MAX_ALLOWED_POINTS:,}; name the forbidden combinations instead."
        )
    masks = [box.masks(space) for box in boxes]
    last: dict[tuple[int, ...], list[str]] = {}
    for assignments in space.points():
        for point in assignments[~_inside_some(masks, assignments)].tolist():
            last.setdefault(tuple(point[:-1]), []).append(space.axes[-1].values[point[-1]])
    outside = []
    for head, values in last.items():
        pairs = zip(space.axes[:-1], head, strict=True)
        conditions = [(axis.name, (axis.values[v],)) for axis, v in pairs]
        outside.append(Box((*conditions, (space.axes[-1].name, tuple(values)))))
    return outside


def _around(box: Box, space: FeatureSpace, rng: np.random.Generator) -> Ints:
    """Points in a box, and the same points with a random value for one of its conditions."""
    points = drawn_points(space, 64, rng)
    for name, values in box.conditions:
        axis = space.axes[space.axis_index(name)]
        allowed = np.flatnonzero(members(axis.values, values))
        points[:, space.axis_index(name)] = rng.choice(allowed, len(points))
    beside = [points]
    for name, _ in box.conditions:
        moved = points.copy()
        i = space.axis_index(name)
        moved[:, i] = rng.integers(0, len(space.axes[i]), len(points))
        beside.append(moved)
    found = np.concatenate(beside)
    return found[space.possible(found)]
