"""A learned constraint: a network with the meaning of its psi and its provenance.

A structure satisfies it iff the network accepts every psi row that the feature computes from the structure.

Composition keeps every form exact. `a & b` is the intersection. `forbid` adds the one-unit network of a box
(`reason/_rules.py`). `allow` also accepts the points of a box: then a point is rejected iff it was rejected
and is outside the box, which is the union over the box's axes j of "rejected and axis j has another value".
Each set of this union is that of the old network, with all units shifted below zero where axis j has one of
the box's values,

    a_k - M_k * i_j(psi),   M_k >= max a_k over the domain

so the result is a conjunction of one network per axis. Every edit is recorded in the provenance and checked
on the whole domain, or on random points if the domain is large.

Not in the paper: composition and editing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lcons_core._coercion import as_network
from lcons_core._document import read_file, read_text
from lcons_core._document import save as save_file
from lcons_core._errors import InvalidInput, LconsError
from lcons_core._inequalities import check_width, least_values
from lcons_core._network import Conjunction, Network, RectifierNetwork
from lcons_core._pointset import Wrapped
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Ints
from lcons_core.features._protocol import ConstraintFeature, Scope, complete_kind
from lcons_core.reason._domain import Box, indicator
from lcons_core.reason._rules import forbid_boxes

if TYPE_CHECKING:
    from lcons_core.reason._explanation.result import Explanation

EDIT_CHECK_POINTS = 10**5


@dataclass(frozen=True, repr=False)
class LearnedConstraint(Wrapped):
    """`network` on `space`; `feature` computes psi from structures; `provenance` is plain data."""

    network: Network
    space: FeatureSpace
    feature: ConstraintFeature | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        network: Network = as_network(self.network, "LearnedConstraint")
        network = network.parts[0] if len(network.parts) == 1 else network
        object.__setattr__(self, "network", network)
        check_width(self.network, self.space)
        if self.feature is None:
            return
        if self.feature.space != self.space:
            raise InvalidInput("the feature has another space than the constraint; pass feature.space.")
        complete_kind(self.feature)

    def __repr__(self) -> str:
        kind = "psi" if self.feature is None else self.feature.kind
        blocks = ", ".join(block.name for block in self.space.blocks[:8])
        more = ", ..." if len(self.space.blocks) > 8 else ""
        return f"LearnedConstraint({kind}, K = {self.network.K}, d = {self.space.d}: {blocks}{more})"

    @property
    def scope(self) -> Scope:
        """LOCAL if each part of a structure is checked separately, GLOBAL if the whole structure is."""
        return self._feature().scope

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its feature; none if the feature is not about labels, or there is no feature."""
        return () if self.feature is None else self.feature.labels

    @property
    def points(self) -> Network:
        """The set of psi that the constraint accepts: its network."""
        return self.network

    @property
    def rounded(self) -> bool:
        """Whether the rows of Theorem 1 are rounded to float64."""
        return self.network.rounded

    def violations(self, structure: Any) -> Ints:
        """The indices of the parts of the structure that the network rejects."""
        return np.flatnonzero(~self.network.accepts(self._feature().psi(structure)))

    def satisfied(self, structure: Any) -> bool:
        """Whether every part of the structure is accepted."""
        return not len(self.violations(structure))

    def explain(self, **options: Any) -> Explanation:
        """The constraint in words."""
        from lcons_core.reason._explanation.explain import explain

        return explain(self, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the constraint to a file, atomically."""
        save_file(self, path)

    def __and__(self, other: LearnedConstraint) -> LearnedConstraint:
        """The intersection of both; they must have the same space and feature."""
        if not isinstance(other, LearnedConstraint):
            return NotImplemented
        if self.space != other.space or self.feature != other.feature:
            raise InvalidInput(
                "`a & b` needs constraints on one space and one feature; pass constraints on different"
                " features to a decoder as a list."
            )
        both = {"all_of": [dict(self.provenance), dict(other.provenance)]}
        return LearnedConstraint(self.network & other.network, self.space, self.feature, both)

    def forbid(self, assignment: Mapping[str, Any] | None = None, /, **named: Any) -> LearnedConstraint:
        """The constraint that also rejects every point of a partial assignment, by name.

        >>> from lcons_core import one_hot
        >>> space = FeatureSpace([one_hot("label 1", "ABC"), one_hot("label 2", "ABC")])
        >>> everything = LearnedConstraint(RectifierNetwork(np.zeros((1, 6)), [0.0]), space)
        >>> strict = everything.forbid({"label 1": "A", "label 2": ["B", "C"]})
        >>> strict.accepts(space.vector({"label 1": "A", "label 2": "C"}))
        False
        """
        box = Box.of(self.space, {**(assignment or {}), **named})
        network = self.network & forbid_boxes(self.space, [box])
        return self._edited(network, box, "forbid")

    def allow(self, assignment: Mapping[str, Any] | None = None, /, **named: Any) -> LearnedConstraint:
        """The constraint that also accepts every point of a partial assignment, by name."""
        box = Box.of(self.space, {**(assignment or {}), **named})
        return self._edited(_allowed(self.network, self.space, box), box, "allow")

    def _edited(self, network: Network, box: Box, verb: str) -> LearnedConstraint:
        points, complete = _check_points(self.space)
        before, inside = self.network.verdicts(self.space, points), box.contains(self.space, points)
        expected: Bools = before & ~inside if verb == "forbid" else before | inside
        if not np.array_equal(network.verdicts(self.space, points), expected):
            raise LconsError(f"the edit {verb} {box.to_dict()} also changed other points.")
        edit = {verb: box.to_dict(), "checked": len(points), "complete": complete}
        recorded = {**self.provenance, "edits": [*self.provenance.get("edits", ()), edit]}
        if verb == "forbid":
            # It now rejects more than what was counted; what `allow` adds, it rejects no longer.
            recorded.pop("calibration", None)
        return LearnedConstraint(network, self.space, self.feature, recorded)

    def _feature(self) -> ConstraintFeature:
        if self.feature is None:
            raise InvalidInput(
                "this constraint has no feature, so it can check psi but not structures;"
                " pass LearnedConstraint(..., feature=...)."
            )
        return self.feature


def _allowed(network: Network, space: FeatureSpace, box: Box) -> Conjunction:
    """The network that also accepts every point of the box."""
    parts = [
        _switched_off(part, space, axis, values) for part in network.parts for axis, values in box.conditions
    ]
    return Conjunction(tuple(parts))


def _switched_off(
    part: RectifierNetwork, space: FeatureSpace, axis: str, values: tuple[str, ...]
) -> RectifierNetwork:
    """The network in which no unit is active if the axis has one of `values`; elsewhere it is unchanged."""
    w, c = indicator(space, axis, values)
    most = np.ceil(np.maximum(-least_values(space, -part.W, -part.b), 0.0))
    return RectifierNetwork(part.W - most[:, None] * w, part.b - most * c)


def _check_points(space: FeatureSpace) -> tuple[Ints, bool]:
    """All points of a small domain, or random points of a large one."""
    if space.size <= EDIT_CHECK_POINTS:
        return np.concatenate(list(space.points())), True
    rng = np.random.default_rng(0)
    drawn = [rng.integers(0, len(axis), EDIT_CHECK_POINTS) for axis in space.axes]
    points = np.stack(drawn, axis=1)
    return points[space.possible(points)], False


def load(path: str | os.PathLike[str]) -> LearnedConstraint:
    """The constraint in the file at `path`; raises `DamagedFile` if there is none."""
    return read_file(path, LearnedConstraint)


def loads(text: str, name: str = "the text") -> LearnedConstraint:
    """The constraint in a text that `dumps` wrote; errors call the text `name`."""
    return read_text(text, name, LearnedConstraint)
