"""GLiNER2 (`gliner2.joint_ie`): learned schemas for it, and its candidate lattices decoded exactly.

    engine = JointIEEngine(model, optimizer=ExactOptimizer())
    engine.extract(text, joint_schema(schema))

GLiNER2 decodes by greedy or beam search. `ExactOptimizer` takes the same `JointProblem` and returns the best
`JointSolution` that GLiNER2's own checks accept, with a certificate that no other one is better
(`lcons_decode._lattice`).

Its checks, as of 2.1.0: all constraints that `compile_schema` makes, and in addition no two edges in one
slot, and one count alternative per relation. Edges that it derives for symmetric and inverse relations have
no slot, so its constraint UniqueRelationSlot accepts one derived edge per relation at most. Constraints of
the user's own classes are refused by name.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import Any

from lcons_core import MissingExtra, Unsupported
from lcons_core.relations import LearnedSchema, RelationSchema, schema_to_gliner2
from lcons_decode._lattice import (
    Lattice,
    LatticeDecoding,
    LatticeEdge,
    LatticeNode,
    LatticeRules,
    decode_lattice,
)
from lcons_decode._packing_problem import MAX_LEAVES
from lcons_decode._result import Status

__all__ = ["ExactOptimizer", "joint_schema", "read_problem"]


def joint_schema(schema: RelationSchema | LearnedSchema) -> Any:
    """The schema as `gliner2.joint_ie.JointSchema`."""
    found = schema.schema if isinstance(schema, LearnedSchema) else schema
    return _gliner2().JointSchema.from_dict(schema_to_gliner2(found))


@dataclass(frozen=True)
class ExactOptimizer:
    """An optimizer for `JointIEEngine(model, optimizer=...)` with proofs; `max_leaves` limits each proof.

    The solution has the attributes of GLiNER2's `JointSolution`, and `status`, `bound` and `certificate`.
    """

    max_leaves: int = MAX_LEAVES

    def optimize(self, problem: Any) -> Any:
        """The best solution of a `JointProblem`."""
        found = decode_lattice(read_problem(problem), self.max_leaves)
        nodes = {problem.nodes[i].candidate_id for i in found.nodes}
        edges = [problem.edges[i] for i in found.edges]
        made = _optimizers().BaseOptimizer.solution(problem, nodes, edges, found.score)
        values = {own.name: getattr(made, own.name) for own in fields(made)}
        return _solution_type()(
            **values, status=found.status, bound=found.bound, certificate=found.certificate
        )

    def decode(self, problem: Any) -> LatticeDecoding:
        """The same as indices of the problem's nodes and edges."""
        return decode_lattice(read_problem(problem), self.max_leaves)


def read_problem(problem: Any) -> Lattice:
    """The lattice of a `JointProblem`."""
    place = {node.candidate_id: i for i, node in enumerate(problem.nodes)}
    nodes = tuple(
        LatticeNode(node.entity_type, node.start, node.end, float(node.score)) for node in problem.nodes
    )
    rules, slots = _rules(problem)
    edges = tuple(
        LatticeEdge(
            edge.relation_type,
            place[edge.head],
            place[edge.tail],
            float(edge.score),
            tuple(dict.fromkeys((*edge.exclusion_keys, *_slot_keys(edge, slots)))),
            edge.count_choice,
        )
        for edge in problem.edges
    )
    return Lattice(nodes, edges, rules)


def _slot_keys(edge: Any, slots: frozenset[str]) -> tuple[Hashable, ...]:
    if edge.relation_type not in slots or edge.slot is None:
        return ()
    return (("slot of", edge.relation_type, edge.slot),)


def _rules(problem: Any) -> tuple[LatticeRules, frozenset[str]]:
    """The rules of a problem's constraints, and the relations with at most one edge per slot."""
    names = sorted({edge.relation_type for edge in problem.edges})
    of = _by_kind(problem.constraints)
    companions: dict[str, str] = {own.relation: own.relation for own in of["SymmetricRelation"]}
    for own in of["InverseRelation"]:
        for name, other in ((own.relation, own.inverse), (own.inverse, own.relation)):
            if companions.setdefault(name, other) != other:
                raise Unsupported(f"{name!r} is symmetric, or has two inverses; keep one of these rules.")
    names = sorted({*names, *companions})
    per_head = [(own.relation, own.limit) for own in of["MaxRelationsPerHead"]]
    per_tail = [(own.relation, own.limit) for own in of["MaxRelationsPerTail"]]
    slots: set[str] = set()
    for own in of["UniqueRelationSlot"]:
        matching = [name for name in names if own.relation in (None, name)]
        if own.slot == "slot":
            slots.update(matching)
        else:
            limits = per_head if own.slot == "head" else per_tail
            limits += [(name, 1) for name in matching]
    single: dict[str, bool] = {}
    for own in of["UniqueRelationPair"]:
        for name in names:
            if own.relation in (None, name):
                single[name] = single.get(name, False) or not own.directed
    policies = {own.policy for own in of["EntityOverlapPolicy"]}
    overlap = next((policy for policy in ("disallow", "nested") if policy in policies), "allow")
    rules = LatticeRules(
        overlap=overlap,
        types=tuple((own.relation, own.head_types, own.tail_types) for own in of["TypedEndpoints"]),
        no_self_loops=frozenset(own.relation for own in of["NoSelfLoops"]),
        per_head=tuple(dict.fromkeys(per_head)),
        per_tail=tuple(dict.fromkeys(per_tail)),
        companions=companions,
        acyclic=frozenset(own.relation for own in of["AcyclicRelation"]),
        single=single,
        derived_once=frozenset(slots),
    )
    return rules, frozenset(slots)


KINDS = (
    "TypedEndpoints",
    "NoSelfLoops",
    "UniqueRelationPair",
    "UniqueRelationSlot",
    "EntityOverlapPolicy",
    "MaxRelationsPerHead",
    "MaxRelationsPerTail",
    "SymmetricRelation",
    "InverseRelation",
    "AcyclicRelation",
)


def _by_kind(constraints: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for own in constraints:
        if type(own).__name__ not in found or not type(own).__module__.startswith("gliner2."):
            raise Unsupported(
                f"{type(own).__name__} is not a constraint of GLiNER2 that can be decoded exactly; these are"
                f" {', '.join(KINDS)}."
            )
        found[type(own).__name__].append(own)
    return found


def _solution_type() -> Any:
    """GLiNER2's `JointSolution` with status, bound and certificate."""
    if not _TYPES:

        @dataclass(frozen=True)
        class CertifiedSolution(_optimizers().JointSolution):  # type: ignore[misc]
            """A solution that is proved to be the best one if `status` is OPTIMAL."""

            status: Status = Status.OPTIMAL
            bound: float = 0.0
            certificate: Any = None

        _TYPES.append(CertifiedSolution)
    return _TYPES[0]


_TYPES: list[Any] = []


def _gliner2() -> Any:
    try:
        from gliner2 import joint_ie
    except ImportError:
        raise MissingExtra(
            "this needs gliner2 (2.1 or later), which is not installed; run pip install gliner2."
        ) from None
    return joint_ie


def _optimizers() -> Any:
    _gliner2()
    from gliner2.joint_ie import optimizers

    return optimizers
