"""Boxes and rules by name, the network that forbids boxes, and the domain as linear equations.

A box restricts some axes to sets of values and leaves the others free. "Axis j has one of these values" is
linear in psi for one-hot and binary blocks; `indicator` returns the coefficients. With the indicators i_1,
..., i_m of the m axes of a box, the single unit

    a = 2 (i_1 + ... + i_m) - 2 (m - 1)        (2 inside the box, at most 0 outside)

forbids the box, and a network with one unit per box forbids their union: sum_k ReLU(a_k) > 1 iff some
a_k = 2. So every set of one-hot and binary points is a rectifier network with small integer weights.

An integral psi is a point of the domain iff

    one-hot block:            sum of its columns  = 1      (<= 1 if the block has an OTHER)
    every column:             low <= psi_j <= high         (not integral in a real block)
    "value v needs block B":  indicator(v) <= indicator(B has one of the values)

Simplified rows (`_compare.py`) are valid only together with these equations.

Not in the paper: designed constraints as rectifier networks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lcons_core._arithmetic import frozen
from lcons_core._blocks import Kind, check_numbers
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._network import LinearInequalities, RectifierNetwork
from lcons_core._pointset import PointSet
from lcons_core._psi import Psi, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints

MAX_ALLOWED_POINTS = 10**5

Masks = list[tuple[int, Bools]]


@dataclass(frozen=True)
class Box:
    """Conditions (axis, values), in the order of the axes; a point is inside iff all conditions hold."""

    conditions: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, space: FeatureSpace, assignment: Mapping[str, Any]) -> Box:
        """A box from names.

        One-hot block: one value or a collection of values. Binary block: a collection of names that hold, or
        a mapping from names to truth values. Count block: a mapping from names to one or several numbers.
        """
        chosen: dict[str, set[str]] = {}
        for name, wanted in assignment.items():
            for axis_name, values in _conditions(space, name, wanted):
                chosen[axis_name] = {str(value) for value in values}
        if not chosen:
            raise InvalidInput("a rule needs at least one condition, found none; name a block and a value.")
        conditions = []
        for axis_name, wanted in chosen.items():
            axis = space.axes[space.axis_index(axis_name)]
            known = axis.values
            if wanted - set(known) or not wanted:
                unknown = min(wanted - set(known), default="none")
                raise InvalidInput(f"{axis_name!r} needs one of {', '.join(known[:12])}, got {unknown!r}.")
            conditions.append((axis_name, tuple(v for v in axis.values if v in wanted)))
        return cls(tuple(sorted(conditions, key=lambda c: space.axis_index(c[0]))))

    def contains(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) which assignments (N, axes) are inside."""
        inside = np.ones(len(assignments), dtype=np.bool_)
        for i, member in self.masks(space):
            inside &= member[assignments[:, i]]
        return inside

    def masks(self, space: FeatureSpace) -> list[tuple[int, Bools]]:
        """For each condition the position of its axis, and which values of the axis are inside."""
        places = ((space.axis_index(name), values) for name, values in self.conditions)
        return [(i, members(space.axes[i].values, values)) for i, values in places]

    def to_dict(self) -> dict[str, list[str]]:
        """Plain data: axis -> values."""
        return {name: list(values) for name, values in self.conditions}


def members(known: Sequence[str], wanted: Collection[str]) -> Bools:
    """Which of the known values are wanted."""
    some = frozenset(wanted)
    return np.fromiter((value in some for value in known), np.bool_, len(known))


def indicator(space: FeatureSpace, axis_name: str, values: Collection[str]) -> tuple[Floats, float]:
    """(w, c) with `w . psi + c` = 1 if the axis has one of `values`, else 0."""
    axis = space.axes[space.axis_index(axis_name)]
    block = space.block(axis.block)
    w, c = np.zeros(space.d), 0.0
    if block.whole:
        raise Unsupported(f"{axis_name!r} is a count, whose sets are not linear in psi; write an inequality.")
    wanted = frozenset(values)
    for v, value in enumerate(axis.values):
        if value not in wanted:
            continue
        if axis.coefficients[v]:
            w[axis.columns[v]] += 1.0
        else:
            w[axis.columns[axis.coefficients > 0]] -= 1.0
            c += 1.0
    return w, c


@dataclass(frozen=True)
class Equation:
    """sum of `coefficients[i] * psi[columns[i]]`, compared with `rhs` by `sense`: "==", "<=" or ">="."""

    columns: tuple[int, ...]
    coefficients: tuple[float, ...]
    sense: str
    rhs: float
    meaning: str


@dataclass(frozen=True, eq=False)
class DomainEquations:
    """`rows`, the bounds `lower <= psi <= upper`, and integers in the columns `integral`: the domain."""

    rows: tuple[Equation, ...]
    lower: Floats
    upper: Floats
    integral: Bools


def domain_equations(space: FeatureSpace) -> DomainEquations:
    """The equations that hold exactly at the points of the space.

    >>> from lcons_core._space import one_hot
    >>> for row in domain_equations(FeatureSpace([one_hot("tag", "AB"), one_hot("word", "x", True)])).rows:
    ...     print(row.meaning, row.columns, row.sense, row.rhs)
    tag has one value (0, 1) == 1.0
    word has at most one value (2,) <= 1.0
    """
    rows = []
    lower, upper = np.zeros(space.d), np.ones(space.d)
    for block in space.blocks:
        columns = tuple(space.column(block.name, value) for value in block.values)
        if block.kind is Kind.ONE_HOT:
            sense, words = ("<=", "at most one value") if block.other else ("==", "one value")
            ones = (1.0,) * len(columns)
            rows.append(Equation(columns, ones, sense, 1.0, f"{block.name} has {words}"))
        if block.numeric:
            lower[list(columns)], upper[list(columns)] = block.low, block.high
    for rule in space.requires:
        w_if, c_if = indicator(space, rule.block, (rule.value,))
        w_then, c_then = indicator(space, rule.needs_block, rule.needs_values)
        w = w_then - w_if
        columns = tuple(np.flatnonzero(w).tolist())
        meaning = f"{rule.block} {rule.value} needs {rule.needs_block} {' or '.join(rule.needs_values)}"
        rows.append(Equation(columns, tuple(w[list(columns)].tolist()), ">=", c_if - c_then, meaning))
    return DomainEquations(tuple(rows), frozen(lower), frozen(upper), frozen(~space.real_columns))


def _conditions(space: FeatureSpace, name: str, choice: Any) -> Iterable[tuple[str, Collection[Any]]]:
    block = space.block(name)
    if block.kind is Kind.ONE_HOT:
        yield name, [choice] if isinstance(choice, str) else list(choice)
        return
    if isinstance(choice, str):
        choice = [choice]
    elif isinstance(choice, int) and block.whole and len(block.values) == 1:
        choice = {block.values[0]: choice}
    named = choice if isinstance(choice, Mapping) else dict.fromkeys(choice, True)
    axis_of = dict(zip(block.values, block.axis_names(), strict=True))
    for value, wanted in named.items():
        space.column(name, value)
        numbers = wanted if isinstance(wanted, Collection) else [wanted]
        yield axis_of[value], [int(number) for number in numbers]


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
            others = dict(where_box.conditions).get(name, axis.values)
            permitted = frozenset(values)
            others = tuple(value for value in others if value not in permitted)
            if others:
                exceptions.append(_sorted_box(self.space, {**dict(where_box.conditions), name: others}))
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

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) which assignments (N, axes) the rules accept."""
        return self.contains(assignments)

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The network that forbids the boxes; none for rules on counts, or with `allowed` boxes."""
        try:
            return () if self.allowed is not None else (self.network(),)
        except Unsupported:
            return ()

    def rows(self) -> LinearInequalities:
        """One inequality per box, `sum of its m indicators <= m - 1`: the same points of the space."""
        network = self.network()
        return LinearInequalities(0.0 - network.W, 1.0 - network.b)

    stated_rows = rows

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


def _boxes(space: FeatureSpace, boxes: Iterable[Mapping[str, Any] | Box]) -> tuple[Box, ...]:
    return tuple(box if isinstance(box, Box) else Box.of(space, box) for box in boxes)


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
        raise TooLarge(f"{space.size:,} points are too many to list; name forbidden combinations.")
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
