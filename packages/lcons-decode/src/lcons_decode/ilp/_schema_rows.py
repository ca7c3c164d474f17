"""A relation schema as rows of the program of candidates and relations.

With x[i, a] for "candidate i has label a" and z[i, j, r] for "i has relation r to j":

    endpoint types    z[i, j, r] <= sum of x[i, a] over the head types a;  the same for the tail
    at most k         sum_j z[i, j, r] <= k;  sum_i z[i, j, r] <= k
    symmetric         z[i, j, r] = z[j, i, r]
    inverse q         z[i, j, r] = z[j, i, q]
    acyclic           z[i, j, r] + z[j, i, r] <= 1,  u[j] >= u[i] + 1 - n (1 - z[i, j, r]),  0 <= u <= n - 1

u is the place of a candidate in an order that r follows: with integral z, such an order exists iff r has no
cycle (Miller, Tucker and Zemlin 1960). The answer is checked outside the solver, as u is continuous.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from lcons_core import LconsError
from lcons_core.relations import EntityGraph, RelationSchema, RelationType
from lcons_decode._result import RelationDecoding
from lcons_decode._scores import RelationScores
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Variable

GROUP = "schema"


def with_schema(program: Program, scores: RelationScores, schema: RelationSchema) -> Program:
    """The program of `relation_program(scores)` under a schema; what the scores do not have is free."""
    n, names = len(scores), scores.relation_labels[1:]
    order: list[Variable] = []
    rows: list[Row] = []
    for own in schema.relations:
        if own.name in names:
            rows += _types(own, scores)
            rows += _maxima(own, n)
            rows += _turned(own, n, names)
            if own.acyclic and n > 2:
                order += [
                    Variable(("place", own.name, i), high=float(n - 1), type=Type.CONTINUOUS)
                    for i in range(n)
                ]
            rows += _order(own, n) if own.acyclic else ()
    return program.extended(order, rows)


def check_schema(found: RelationDecoding, schema: RelationSchema) -> None:
    """Raises an error if an answer breaks the schema, which no answer of the solver should."""
    graph = EntityGraph(found.entities, [(i, name, j) for (i, j), name in found.relations.items()])
    broken = schema.breaches(graph)
    if broken:
        raise LconsError(f"the answer of the solver breaks a rule ({broken[0]}); try the other solver.")


def _types(own: RelationType, scores: RelationScores) -> Iterator[Row]:
    for i, j in _pairs(len(scores)):
        for side, node, types in (("head", i, own.head), ("tail", j, own.tail)):
            fitting = [(("entity", node, label), -1.0) for label in scores.entity_labels if label in types]
            yield _row((side, own.name, i, j), [(_z(own.name, i, j), 1.0), *fitting], 0.0)


def _maxima(own: RelationType, n: int) -> Iterator[Row]:
    for side, most in (("per head", own.max_per_head), ("per tail", own.max_per_tail)):
        if most is not None:
            for node in range(n):
                pairs = [(node, j) if side == "per head" else (j, node) for j in range(n) if j != node]
                yield _row(
                    (side, own.name, node), [(_z(own.name, *pair), 1.0) for pair in pairs], float(most)
                )


def _turned(own: RelationType, n: int, names: Sequence[str]) -> Iterator[Row]:
    other = own.name if own.symmetric else own.inverse
    if other is None or other not in names:
        return
    for i, j in _pairs(n):
        if i < j or not own.symmetric:
            terms = [(_z(own.name, i, j), 1.0), (_z(other, j, i), -1.0)]
            yield _row(("turned", own.name, i, j), terms, 0.0, Sense.EQUAL)


def _order(own: RelationType, n: int) -> Iterator[Row]:
    for i, j in combinations(range(n), 2):
        yield _row(("one way", own.name, i, j), [(_z(own.name, i, j), 1.0), (_z(own.name, j, i), 1.0)], 1.0)
    for i, j in _pairs(n) if n > 2 else ():
        places = [(("place", own.name, i), 1.0), (("place", own.name, j), -1.0)]
        yield _row(("order", own.name, i, j), [*places, (_z(own.name, i, j), float(n))], float(n - 1))


def _z(relation: str, i: int, j: int) -> Name:
    return ("relation", i, j, relation)


def _row(
    name: tuple[object, ...], terms: list[tuple[Name, float]], rhs: float, sense: Sense = Sense.AT_MOST
) -> Row:
    return Row((GROUP, *name), tuple(terms), sense, rhs, GROUP)


def _pairs(n: int) -> list[tuple[int, int]]:
    return [(i, j) for i, j in product(range(n), repeat=2) if i != j]
