"""Tuples: the labels of several decisions that belong together, such as a source entity and its relation.

psi of a tuple (v_1, ..., v_m) = onehot(v_1) ... onehot(v_m)

Paper: Appendix C.2 (source-relation, relation-target and relation-relation pairs).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from lcons_core._blocks import one_hot
from lcons_core._errors import InvalidInput
from lcons_core._instance import read_instance, read_instances
from lcons_core._psi import SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core.features._protocol import Scope, checked_names, vocabulary


@dataclass(frozen=True)
class Tuples:
    """One one-hot block per member: `names[i]` with `values[i]`.

    >>> pairs = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))
    >>> pairs.psi([("Person", "Kill")]).dense()
    array([[1., 0., 0., 1.]])
    """

    kind: ClassVar[str] = "tuples"
    scope: ClassVar[Scope] = Scope.LOCAL
    column: ClassVar[None] = None
    context_column: ClassVar[None] = None
    labels: ClassVar[tuple[str, ...]] = ()
    n: ClassVar[None] = None
    pad: ClassVar[bool] = False
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", checked_names(self.names, "names"))
        object.__setattr__(self, "values", tuple(tuple(v) for v in self.values))
        if len(self.names) != len(self.values):
            raise InvalidInput(
                f"names and values must have the same length, found {len(self.names)} and {len(self.values)}."
            )
        for name, values in zip(self.names, self.values, strict=True):
            checked_names(values, f"the values of {name!r}")

    @cached_property
    def space(self) -> FeatureSpace:
        """One block per name."""
        return FeatureSpace(one_hot(n, v) for n, v in zip(self.names, self.values, strict=True))

    def psi(self, structure: Any) -> SparsePsi:
        """One row per tuple."""
        parts = read_instance(structure).y
        columns = np.zeros((len(parts), len(self.names)), dtype=np.int64)
        for row, part in zip(columns, parts, strict=True):
            if isinstance(part, str) or len(part) != len(self.names):
                raise InvalidInput(
                    f"expected tuples ({', '.join(self.names)}), found {part!r}; pass one value per name."
                )
            row[:] = [self.space.column(n, v) for n, v in zip(self.names, part, strict=True)]
        return SparsePsi.from_columns(columns, self.space.d)

    def ground(self, structure: Any) -> None:
        """None, because tuples are not about the labels of one sequence."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.kind,
            "names": list(self.names),
            "values": [list(v) for v in self.values],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The feature that `to_dict` described."""
        return cls(tuple(data["names"]), tuple(tuple(v) for v in data["values"]))

    @classmethod
    def from_instances(cls, instances: Iterable[Any], names: Sequence[str] = ()) -> Self:
        """The values of the training tuples, sorted, member by member."""
        parts = [part for instance in read_instances(instances) for part in instance.y]
        size = len(parts[0]) if parts else 0
        chosen = tuple(names) or tuple(f"value {i + 1}" for i in range(size))
        if any(isinstance(part, str) or len(part) != len(chosen) for part in parts):
            raise InvalidInput(f"every tuple must have {len(chosen)} members; pass tuples of this length.")
        members = [vocabulary((p[i] for p in parts), chosen[i]) for i in range(len(chosen))]
        return cls(chosen, tuple(members))
