"""Typed relation schemas: which graphs of entities and relations are allowed.

A graph has entities 0 .. n-1, each with a type, and a set of triples (head, relation, tail). A schema has
some of these rules for each relation r:

    endpoint types    type(h) in head(r) and type(t) in tail(r)
    at most k         |{t : (h, r, t)}| <= k for every h;  |{h : (h, r, t)}| <= k for every t
    symmetric         (h, r, t) implies (t, r, h)
    inverse q         (h, r, t) if and only if (t, q, h)
    acyclic           no path of r leads back to its start
    no self loops     never (h, r, h)

The empty set of triples satisfies every schema. A relation that a schema does not have is free.

Not in the paper, whose designed constraints are endpoint types and "the reverse pair has no relation".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from lcons_core._errors import InvalidInput

Triple = tuple[int, str, int]


@dataclass(frozen=True)
class EntityGraph:
    """The types of entities, and triples (head, relation, tail) with heads and tails as indices.

    >>> EntityGraph(["Person", "Place"], [(0, "LiveIn", 1)]).types(0, 1)
    ('Person', 'Place')
    """

    entities: tuple[str, ...]
    relations: frozenset[Triple]

    def __init__(self, entities: Iterable[str], relations: Iterable[Triple] = ()) -> None:
        types, triples = tuple(entities), frozenset(map(tuple, relations))
        if not all(isinstance(name, str) and name for name in types):
            raise InvalidInput(f"each entity needs a type: got {types!r:.80}; pass a list of names.")
        for triple in triples:
            if len(triple) != 3 or not isinstance(triple[1], str) or not triple[1]:
                raise InvalidInput(f"each relation must be (head, relation, tail): got {triple!r:.80}.")
            if not all(type(i) is int and 0 <= i < len(types) for i in (triple[0], triple[2])):
                raise InvalidInput(
                    f"heads and tails must be indices of the {len(types)} entities: got {triple!r:.80}; count"
                    " from 0."
                )
        object.__setattr__(self, "entities", types)
        object.__setattr__(self, "relations", triples)

    def types(self, head: int, tail: int) -> tuple[str, str]:
        """The types of two entities."""
        return self.entities[head], self.entities[tail]


@dataclass(frozen=True)
class RelationType:
    """A relation and its rules; None as a maximum: any number."""

    name: str
    head: tuple[str, ...]
    tail: tuple[str, ...]
    max_per_head: int | None = None
    max_per_tail: int | None = None
    symmetric: bool = False
    inverse: str | None = None
    acyclic: bool = False
    allow_self: bool = False

    def __init__(
        self,
        name: str,
        head: str | Iterable[str],
        tail: str | Iterable[str],
        max_per_head: int | None = None,
        max_per_tail: int | None = None,
        symmetric: bool = False,
        inverse: str | None = None,
        acyclic: bool = False,
        allow_self: bool = False,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"a relation needs a name: got {name!r:.40}; pass a text.")
        given = (name, head, tail, max_per_head, max_per_tail, symmetric, inverse, acyclic, allow_self)
        for field, value in zip(fields(self), given, strict=True):
            object.__setattr__(self, field.name, value)
        for side, some in (("head", head), ("tail", tail)):
            types = (some,) if isinstance(some, str) else tuple(some)
            if not types or len(set(types)) < len(types) or not all(isinstance(t, str) and t for t in types):
                raise InvalidInput(
                    f"`{side}` of {self.name!r} must be one or more different types: got {types!r:.80}."
                )
            object.__setattr__(self, side, types)
        for side in ("max_per_head", "max_per_tail"):
            most = getattr(self, side)
            if most is not None and (type(most) is not int or most < 1):
                raise InvalidInput(
                    f"`{side}` of {self.name!r} must be a positive integer: got {most!r:.40}; None is no"
                    " maximum."
                )
        if self.symmetric and (self.acyclic or self.inverse or set(self.head) != set(self.tail)):
            raise InvalidInput(
                f"{self.name!r} is symmetric, so it needs the same types at both ends, and cannot be acyclic"
                " or have an inverse; correct one of them."
            )
        if self.acyclic and self.allow_self:
            raise InvalidInput(f"{self.name!r} is acyclic, so it cannot allow self loops; choose one.")

    @property
    def can_return(self) -> bool:
        """Whether an entity can be a head and a tail, so that cycles and self loops are possible."""
        return not set(self.head).isdisjoint(self.tail)

    @property
    def rules(self) -> Iterator[tuple[str, str]]:
        """(rule, sentence) for each rule, in words."""
        yield "head", f"the head of {self.name} is {_any(self.head)}"
        yield "tail", f"the tail of {self.name} is {_any(self.tail)}"
        if self.max_per_head is not None:
            yield "max_per_head", f"a head has at most {self.max_per_head} {self.name}"
        if self.max_per_tail is not None:
            yield "max_per_tail", f"a tail has at most {self.max_per_tail} {self.name}"
        if self.symmetric:
            yield "symmetric", f"{self.name} holds in both directions or not at all"
        if self.inverse is not None:
            yield "inverse", f"{self.name} is the inverse of {self.inverse}"
        if self.acyclic:
            yield "acyclic", f"{self.name} never leads back to its start"
        elif not self.allow_self and self.can_return:
            yield "no_self_loops", f"no entity has {self.name} to itself"


@dataclass(frozen=True)
class RelationSchema:
    """Entity types, and relations between them.

    >>> schema = RelationSchema(["Person", "Place"], [RelationType("LiveIn", ["Person"], ["Place"], 1)])
    >>> schema.words()
    ['the head of LiveIn is Person', 'the tail of LiveIn is Place', 'a head has at most 1 LiveIn']
    >>> schema.breaches(EntityGraph(["Person", "Place", "Place"], [(0, "LiveIn", 1), (0, "LiveIn", 2)]))
    ('a head has at most 1 LiveIn',)
    """

    entities: tuple[str, ...]
    relations: tuple[RelationType, ...]

    def __init__(self, entities: Iterable[str], relations: Iterable[RelationType]) -> None:
        object.__setattr__(self, "entities", tuple(entities))
        object.__setattr__(self, "relations", tuple(relations))
        if len(set(self.entities)) < len(self.entities):
            raise InvalidInput(f"entity types must be different: got {self.entities!r:.80}.")
        if len(self.by_name) < len(self.relations):
            raise InvalidInput("relations must have different names; rename one.")
        for own in self.relations:
            unknown = [name for name in (*own.head, *own.tail) if name not in self.entities]
            if unknown:
                raise InvalidInput(
                    f"{own.name!r} has the unknown entity type {unknown[0]!r}; the types are"
                    f" {', '.join(self.entities)}."
                )
            if own.inverse is not None:
                other = self.by_name.get(own.inverse)
                if other is None or other is own or other.inverse != own.name:
                    raise InvalidInput(
                        f"{own.name!r} has the inverse {own.inverse!r}, which must be another relation with"
                        f" the inverse {own.name!r}; correct one of them."
                    )
                if (set(own.head), set(own.tail)) != (set(other.tail), set(other.head)):
                    raise InvalidInput(
                        f"{own.name!r} and its inverse {other.name!r} must have exchanged endpoint types."
                    )

    @cached_property
    def by_name(self) -> Mapping[str, RelationType]:
        """The relations by name."""
        return {own.name: own for own in self.relations}

    def words(self) -> list[str]:
        """Every rule as a sentence."""
        return [sentence for own in self.relations for _, sentence in own.rules]

    def allows(self, graph: EntityGraph) -> bool:
        """Whether the graph satisfies every rule."""
        return not self.breaches(graph)

    def allows_types(self, relation: str, head: str, tail: str) -> bool:
        """Whether entities of two types can have a relation; one that the schema does not have is free."""
        own = self.by_name.get(relation)
        return own is None or (head in own.head and tail in own.tail)

    def breaches(self, graph: EntityGraph) -> tuple[str, ...]:
        """The rules that the graph breaks, in words."""
        found = []
        for own in self.relations:
            broken = _broken(own, graph)
            found += [sentence for rule, sentence in own.rules if rule in broken]
        return tuple(found)

    def without(self, *rules: str) -> RelationSchema:
        """The schema without some optional rules, such as `max_per_head`."""
        free: dict[str, Any] = {"max_per_head": None, "max_per_tail": None, "inverse": None}
        free |= {"symmetric": False, "acyclic": False}
        if set(rules) - set(free):
            raise InvalidInput(f"optional rules are {', '.join(free)}: got {', '.join(rules)}.")
        changes = {rule: free[rule] for rule in rules}
        return RelationSchema(self.entities, [replace(own, **changes) for own in self.relations])


def cycle(edges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The edges of one directed cycle, in order; empty if there is none.

    >>> cycle([(0, 1), (1, 2), (2, 1)]), cycle([(0, 1), (1, 2)])
    (((1, 2), (2, 1)), ())
    """
    after: dict[int, list[int]] = {}
    for head, tail in sorted(edges):
        after.setdefault(head, []).append(tail)
    finished: set[int] = set()
    for start in after:
        path: list[int] = []
        waiting = [(start, iter(after.get(start, ())))] if start not in finished else []
        path = [start] if waiting else []
        while waiting:
            node, others = waiting[-1]
            other = next((some for some in others if some not in finished), None)
            if other is None:
                finished.add(node)
                waiting.pop()
                path.pop()
            elif other in path:
                closed = [*path[path.index(other) :], other]
                return tuple(pairwise(closed))
            else:
                path.append(other)
                waiting.append((other, iter(after.get(other, ()))))
    return ()


def _broken(own: RelationType, graph: EntityGraph) -> set[str]:
    edges = [(head, tail) for head, name, tail in graph.relations if name == own.name]
    returns = {(tail, head) for head, tail in edges}
    other = {(head, tail) for head, name, tail in graph.relations if name == own.inverse}
    verdicts = {
        "head": any(graph.entities[head] not in own.head for head, _ in edges),
        "tail": any(graph.entities[tail] not in own.tail for _, tail in edges),
        "max_per_head": _most(head for head, _ in edges) > (own.max_per_head or len(edges)),
        "max_per_tail": _most(tail for _, tail in edges) > (own.max_per_tail or len(edges)),
        "symmetric": own.symmetric and returns != set(edges),
        "inverse": own.inverse is not None and returns != other,
        "acyclic": own.acyclic and bool(cycle(edges)),
        "no_self_loops": not own.allow_self and any(head == tail for head, tail in edges),
    }
    return {rule for rule, broken in verdicts.items() if broken}


def _most(ends: Iterable[int]) -> int:
    return max(Counter(ends).values(), default=0)


def _any(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
