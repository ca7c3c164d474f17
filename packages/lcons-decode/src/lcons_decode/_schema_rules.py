"""A relation schema on labels as indices: what it forbids for two candidates, and what only more can break.

    forbidden[a, b, r, s]   candidates labelled a and b must not have relation r there and relation s back:
                            endpoint types, symmetric, inverse, and acyclic for two
    conflict(y, relations)  relations of which not all can stay: k + 1 of a head or a tail that has at most k,
                            or the relations of a cycle

Relations and types that the schema does not have are free. A pair with itself has no relation here, so there
are no self loops.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from lcons_core.relations import RelationSchema, cycle
from lcons_decode.kernels._arrays import Ints

Place = tuple[int, int, int]
"""(source, target, relation) as indices."""


@dataclass(frozen=True)
class Conflict:
    """Places of which at most `most` can keep their relation."""

    places: tuple[Place, ...]
    most: int


@dataclass(frozen=True, eq=False)
class SchemaRules:
    """A schema over labels; `per_head`, `per_tail` and `acyclic` by the index of the relation."""

    forbidden: NDArray[np.bool_]
    per_head: dict[int, int]
    per_tail: dict[int, int]
    acyclic: tuple[int, ...]

    @classmethod
    def of(
        cls, schema: RelationSchema, entity_labels: Sequence[str], relation_labels: Sequence[str]
    ) -> SchemaRules:
        """The rules of a schema; the first relation label is "none"."""
        index = {name: i for i, name in enumerate(relation_labels) if i}
        known = {index[own.name]: own for own in schema.relations if own.name in index}
        E, R = len(entity_labels), len(relation_labels)
        # [a, b, r]: r from a candidate labelled a to one labelled b.
        typed = np.ones((E, E, R), dtype=np.bool_)
        for r, own in known.items():
            head = np.array([label in own.head for label in entity_labels])
            tail = np.array([label in own.tail for label in entity_labels])
            typed[:, :, r] = head[:, None] & tail[None, :]
        both = np.ones((R, R), dtype=np.bool_)
        for r, s in product(range(R), repeat=2):
            if r in known:
                own = known[r]
                needed = r if own.symmetric else index.get(own.inverse or "", s)
                both[r, s] &= s == needed and not (own.acyclic and s == r)
            if s in known:
                own = known[s]
                needed = s if own.symmetric else index.get(own.inverse or "", r)
                both[r, s] &= r == needed
        allowed = typed[:, :, :, None] & typed.transpose(1, 0, 2)[:, :, None, :] & both
        return cls(
            ~allowed,
            {r: own.max_per_head for r, own in known.items() if own.max_per_head is not None},
            {r: own.max_per_tail for r, own in known.items() if own.max_per_tail is not None},
            tuple(r for r, own in known.items() if own.acyclic),
        )

    @property
    def local(self) -> bool:
        """Whether all rules are about two candidates."""
        return not (self.per_head or self.per_tail or self.acyclic)

    def conflict(self, relations: Ints) -> Conflict | None:
        """The first conflict of relations (n, n), if there is one."""
        for side, limits in ((0, self.per_head), (1, self.per_tail)):
            for r, most in limits.items():
                there = relations == r
                over = np.flatnonzero(there.sum(1 - side) > most)
                if len(over):
                    node = int(over[0])
                    others = np.flatnonzero(there[node] if side == 0 else there[:, node]).tolist()
                    places = [(node, j, r) if side == 0 else (j, node, r) for j in others]
                    return Conflict(tuple(places), most)
        for r in self.acyclic:
            edges = [(int(i), int(j)) for i, j in np.argwhere(relations == r)]
            closed = cycle(edges)
            if closed:
                return Conflict(tuple((i, j, r) for i, j in closed), len(closed) - 1)
        return None
