"""A learned constraint: a network with the meaning of its psi and its provenance.

A structure satisfies it iff the network accepts every psi row that the feature computes from the structure.

Composition keeps every form exact. `a & b` is the intersection. `forbid` is the intersection with the
one-unit network of a box (`reason/_rules.py`), and is recorded in the provenance.

Not in the paper: composition and editing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lcons_core._errors import InvalidInput
from lcons_core._instance import Instance
from lcons_core._network import LinearInequalities, Network, as_network
from lcons_core._pointset import Wrapped, check_width
from lcons_core._psi import SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core._theorem import to_inequalities
from lcons_core._types import Ints
from lcons_core.features._feature import ConstraintFeature, Scope
from lcons_core.features._kinds import Tuples
from lcons_core.reason._rules import Box, forbid_boxes

if TYPE_CHECKING:
    from lcons_core.reason._words import Explanation


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
        if self.feature is not None and self.feature.space != self.space:
            raise InvalidInput("the feature has another space than the constraint; pass feature.space.")

    def __repr__(self) -> str:
        kind = "psi" if self.feature is None else self.feature.kind
        blocks = ", ".join(block.name for block in self.space.blocks)
        return f"LearnedConstraint({kind}, K = {self.network.K}, d = {self.space.d}: {blocks:.99})"

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
    def rounded(self) -> bool:  # type: ignore[override]
        """Whether the rows of Theorem 1 are rounded to float64."""
        return self.network.rounded

    def inequalities(self) -> LinearInequalities:
        """The rows of Theorem 1."""
        return to_inequalities(self.network)

    def violations(self, structure: Any) -> Ints:
        """The indices of the parts of the structure that the network rejects."""
        return np.flatnonzero(~self.network.accepts(self.psi(structure)))

    def psi(self, structure: Any) -> SparsePsi:
        """One psi row per part of a structure: labels, (words, labels), tuples, or values by block."""
        if isinstance(structure, Mapping):
            return SparsePsi.from_dense(self.space.vector(structure)[None])
        feature = self._feature()
        flat = isinstance(structure, list) and all(isinstance(value, str) for value in structure)
        return feature.psi(tuple(structure) if flat and isinstance(feature, Tuples) else structure)

    def accepts(self, psi: Any) -> Any:
        """Whether psi belongs to the set, or the structure satisfies the constraint: a bool for one of them,
        (N,) for many psi."""
        return self.satisfied(psi) if _is_structure(psi) else super().accepts(psi)

    def satisfied(self, structure: Any) -> bool:
        """Whether every part of the structure is accepted."""
        return not len(self.violations(structure))

    def explain(self, **options: Any) -> Explanation:
        """The constraint in words."""
        from lcons_core.reason._explain import explain

        return explain(self, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the constraint to a file, atomically."""
        from lcons_core._document import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LearnedConstraint:
        """The constraint in a file that `save` wrote."""
        from lcons_core._document import load

        return load(path)

    def __and__(self, other: LearnedConstraint) -> LearnedConstraint:
        """The intersection of both; they must have the same space and feature."""
        if not isinstance(other, LearnedConstraint):
            return NotImplemented
        if self.space != other.space or self.feature != other.feature:
            raise InvalidInput("`a & b` needs constraints on one space and one feature.")
        both = {"all_of": [dict(self.provenance), dict(other.provenance)]}
        return LearnedConstraint(self.network & other.network, self.space, self.feature, both)

    def forbid(self, assignment: Mapping[str, Any] | None = None, /, **named: Any) -> LearnedConstraint:
        """The constraint that also rejects every point of a partial assignment, by name.

        >>> from lcons_core import RectifierNetwork, one_hot
        >>> space = FeatureSpace([one_hot("label 1", "ABC"), one_hot("label 2", "ABC")])
        >>> everything = LearnedConstraint(RectifierNetwork(np.zeros((1, 6)), [0.0]), space)
        >>> strict = everything.forbid({"label 1": "A", "label 2": ["B", "C"]})
        >>> strict.accepts(space.vector({"label 1": "A", "label 2": "C"}))
        False
        """
        self.space.check_finite("an edit")
        box = Box.of(self.space, {**(assignment or {}), **named})
        network = self.network & forbid_boxes(self.space, [box])
        edits = [*self.provenance.get("edits", ()), {"forbid": box.to_dict()}]
        recorded = {**self.provenance, "edits": edits}
        recorded.pop("calibration", None)  # it now rejects more than what was counted
        return LearnedConstraint(network, self.space, self.feature, recorded)

    def _feature(self) -> ConstraintFeature:
        if self.feature is None:
            raise InvalidInput("this constraint has no feature, so it can check psi but not structures.")
        return self.feature


def _is_structure(value: Any) -> bool:
    """Whether a value is made of names, not of numbers."""
    if isinstance(value, list | tuple) and len(value):
        return isinstance(value[0], str) or _is_structure(value[0])
    return isinstance(value, Mapping | Instance)


def as_constraint(value: Any, form: str, needs: str = "the names of the columns of psi") -> LearnedConstraint:
    """The value itself if it is a constraint; otherwise an error that says what `form` needs it for."""
    if isinstance(value, LearnedConstraint):
        return value
    raise InvalidInput(f"{form} needs a LearnedConstraint, because of {needs}, got {type(value).__name__}.")
