"""How often is the schema of a few passages the designed one, beside frequency gates, with wrong labels?

Roth and Yih's corpus (conll04 in LCONS_DATA_DIR), the sentences with relations. Samples of 10, 20, 50 and
100 sentences are drawn. With probability e, the label of a candidate becomes another one, and a relation
becomes another relation or is turned around, all equally probable. From each sample:

    lcons        `learn_schema` with its defaults
    gate m       a type may be head or tail of a relation if it was shown there m times or more, and a
                 relation may hold in both directions if this was shown m times or more
    gate x%      the same, with the share of the heads, tails or pairs of the relation

A schema is equal to the designed one if both allow the same (type, type, relation, reverse relation), of all
576 combinations. Also: the share of the single relations whose rules are equal, and the share of all other
sentences (labels as published) that break a rule of the learned schema, with and without its maxima.

`--drawn` draws schemas with all kinds of rules and passages that satisfy them instead, and counts for each
kind of rule how many of the learned ones are right (precision) and how many are found (recall). The defaults
of `learn_schema` were chosen there.

Run: LCONS_DATA_DIR=... .venv/bin/python tools/bench/relation_schema.py [--draws 200] [--drawn]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from lcons_core.relations import EntityGraph, RelationSchema, RelationType, learn_schema
from lcons_tasks.data._passage import ENTITIES, NO_ENTITY, RELATIONS, Labelled
from lcons_tasks.experiments.entity_relation._constraints import DESIGNED
from lcons_tasks.experiments.entity_relation._corpus import load_corpus

SIZES = (10, 20, 50, 100)
WRONG = (0.0, 0.02, 0.05, 0.1)
Learn = Callable[[Sequence[EntityGraph]], RelationSchema]
TYPES, NAMES = ENTITIES[1:], RELATIONS[1:]
# The designed rules say that the reverse pair has no relation: of the five, two can hold in both directions.
DESIGNED_SCHEMA = RelationSchema(
    TYPES, [RelationType(r, (h,), (t,), acyclic=h == t) for r, (h, t) in DESIGNED.items()]
)


def graph_of(passage: Labelled) -> EntityGraph:
    """The graph of a passage, without candidates that are no entities and have no relation."""
    return EntityGraph(passage.entities, [(i, label, j) for (i, j), label in passage.relations.items()])


def with_wrong_labels(
    graph: EntityGraph, share: float, rng: np.random.Generator, types: Sequence[str], names: Sequence[str]
) -> EntityGraph:
    """The graph with wrong labels."""
    entities = [
        rng.choice([other for other in types if other != own]) if rng.random() < share else own
        for own in graph.entities
    ]
    triples = set()
    for head, name, tail in sorted(graph.relations):
        if rng.random() < share:
            others = [(head, other, tail) for other in names if other != name] + [(tail, name, head)]
            triples.add(others[rng.integers(len(others))])
        else:
            triples.add((head, name, tail))
    return EntityGraph(map(str, entities), triples)


def gate(least: Callable[[int], float]) -> Learn:
    """A frequency gate: a type, or a pair in both directions, needs `least` of the number of all."""

    def learn(graphs: Sequence[EntityGraph]) -> RelationSchema:
        found = []
        for name in sorted({name for graph in graphs for _, name, _ in graph.relations}):
            edges = [(g, h, t) for g in graphs for h, own, t in g.relations if own == name]
            ends: list[tuple[str, ...]] = []
            for side in (0, 1):
                counts = Counter(g.entities[(h, t)[side]] for g, h, t in edges)
                kept = [own for own in counts if counts[own] >= least(len(edges)) and own != NO_ENTITY]
                ends.append(tuple(sorted(kept)))
            both = sum((t, name, h) in g.relations for g, h, t in edges) / 2
            if all(ends):
                turns = bool(set(ends[0]) & set(ends[1]))
                acyclic = turns and (both == 0 or both < least(len(edges)))
                found.append(RelationType(name, ends[0], ends[1], acyclic=acyclic))
        types = sorted({own for graph in graphs for own in graph.entities} - {NO_ENTITY})
        return RelationSchema(types, found)

    return learn


def learned(graphs: Sequence[EntityGraph]) -> RelationSchema:
    return learn_schema(graphs, no_entity=[NO_ENTITY]).schema


METHODS: dict[str, Learn] = {
    "lcons": learned,
    "gate 1": gate(lambda n: 1),
    "gate 2": gate(lambda n: 2),
    "gate 5%": gate(lambda n: max(1, 0.05 * n)),
    "gate 10%": gate(lambda n: max(1, 0.1 * n)),
    "gate 20%": gate(lambda n: max(1, 0.2 * n)),
}


@cache
def pair_set(schema: RelationSchema) -> frozenset[tuple[str, str, str, str]]:
    """The combinations of two candidates and their two relations that a schema allows, of all."""
    known = {own.name for own in schema.relations}
    allowed = []
    for a, b, r, s in product(ENTITIES, ENTITIES, RELATIONS, RELATIONS):
        triples = [(i, own, 1 - i) for i, own in enumerate((r, s)) if own != RELATIONS[0]]
        if {own for _, own, _ in triples} <= known and schema.allows(EntityGraph((a, b), triples)):
            allowed.append((a, b, r, s))
    return frozenset(allowed)


def on_pairs(schema: RelationSchema) -> RelationSchema:
    """The schema without maxima: these are about more than two candidates."""
    return schema.without("max_per_head", "max_per_tail")


def right_relations(schema: RelationSchema) -> int:
    """How many relations have the designed rules, on pairs."""
    wanted = DESIGNED_SCHEMA.by_name
    plain = {own.name: own for own in on_pairs(schema).relations}
    return sum(
        plain[name].head == own.head and plain[name].tail == own.tail and plain[name].acyclic == own.acyclic
        for name, own in wanted.items()
        if name in plain
    )


def roth_yih(draws: int) -> int:
    graphs = [graph_of(passage) for passage in load_corpus("conll04").passages]
    broken = sum(not DESIGNED_SCHEMA.allows(graph) for graph in graphs)
    print(f"{len(graphs)} sentences; {broken} break the designed schema; {draws} draws per line")
    print(f"{'sentences':>9} {'wrong':>6} {'method':9} {'equal':>6} {'relations':>9} {'others broken':>13}")
    worse = 0
    for size, share in product(SIZES, WRONG):
        tally: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        for draw in range(draws):
            rng = np.random.default_rng([size, round(1000 * share), draw])
            order = rng.permutation(len(graphs))
            sample = [with_wrong_labels(graphs[i], share, rng, ENTITIES, NAMES) for i in order[:size]]
            others = [graphs[i] for i in order[size : size + 50]]
            for name, method in METHODS.items():
                schema = method(sample)
                equal = pair_set(on_pairs(schema)) == pair_set(DESIGNED_SCHEMA)
                both = (schema, on_pairs(schema))
                parts = [float(np.mean([not own.allows(g) for g in others])) for own in both]
                tally[name].append((equal, right_relations(schema) / len(NAMES), *parts))
        means = {name: np.mean(rows, axis=0) for name, rows in tally.items()}
        for name, (equal, right, all_rules, pairs) in means.items():
            print(
                f"{size:9} {share:6.0%} {name:9} {equal:6.1%} {right:9.1%} {all_rules:7.2%} {pairs:6.2%}",
                flush=True,
            )
        best = max(mean[0] for name, mean in means.items() if name != "lcons")
        worse += bool(means["lcons"][0] < best - 2 * np.sqrt(0.25 / draws))
    print(f"lcons is equal less often than the best gate of the line, beyond 2 deviations: {worse} lines")
    return int(worse > 0)


# Drawn schemas.


def drawn_schema(rng: np.random.Generator) -> RelationSchema:
    """Five types and six relations with any rules, the last two of them perhaps inverse to each other."""
    types = [f"T{i}" for i in range(5)]

    def ends() -> tuple[str, ...]:
        return tuple(sorted(rng.choice(types, size=rng.choice([1, 1, 1, 2, 2, 3]), replace=False).tolist()))

    found = []
    for i in range(6):
        head, tail = ends(), ends()
        kind = rng.integers(5)
        if kind in (0, 1):
            tail = head
        most = [int(rng.choice([1, 2])) if rng.random() < 0.3 else None for _ in range(2)]
        own = RelationType(f"r{i}", head, tail, most[0], most[1], symmetric=bool(kind == 0))
        if kind != 0 and own.can_return and rng.random() < 0.5:
            own = RelationType(f"r{i}", head, tail, most[0], most[1], acyclic=True)
        found.append(own)
    if rng.random() < 0.5:
        head, tail = ends(), ends()
        found[4] = RelationType("r4", head, tail, inverse="r5")
        found[5] = RelationType("r5", tail, head, inverse="r4")
    return RelationSchema(types, found)


def drawn_graph(schema: RelationSchema, rng: np.random.Generator) -> EntityGraph:
    """Entities of drawn types, and relations added in a drawn order as long as the schema allows them."""
    types = rng.choice(schema.entities, size=rng.integers(3, 8)).tolist()
    triples: frozenset[tuple[int, str, int]] = frozenset()
    options = [
        (i, own, j)
        for own in schema.relations
        for i, j in product(range(len(types)), repeat=2)
        if i != j and types[i] in own.head and types[j] in own.tail
    ]
    for at in rng.permutation(len(options)):
        i, own, j = options[at]
        if rng.random() < 0.25:
            more = {(i, own.name, j)}
            if own.symmetric:
                more.add((j, own.name, i))
            if own.inverse:
                more.add((j, own.inverse, i))
            if schema.allows(EntityGraph(types, triples | more)):
                triples |= more
    return EntityGraph(types, triples)


def rules_of(schema: RelationSchema) -> dict[str, set[Any]]:
    found: dict[str, set[Any]] = defaultdict(set)
    for own in schema.relations:
        found["types"] |= {(own.name, "head", t) for t in own.head} | {
            (own.name, "tail", t) for t in own.tail
        }
        # A symmetric relation has each maximum at both ends.
        most = {own.max_per_head or own.max_per_tail if own.symmetric else own.max_per_head} - {None}
        found["per head"] |= {(own.name, k) for k in most}
        most = {own.max_per_tail or own.max_per_head if own.symmetric else own.max_per_tail} - {None}
        found["per tail"] |= {(own.name, k) for k in most}
        found["symmetric"] |= {own.name} if own.symmetric else set()
        found["inverse"] |= {own.name} if own.inverse else set()
        found["acyclic"] |= {own.name} if own.acyclic else set()
    return found


def drawn(draws: int, odds: Sequence[float]) -> int:
    def with_odds(least: float) -> Learn:
        return lambda graphs: learn_schema(graphs, odds=least).schema

    methods = {f"odds {least:g}": with_odds(least) for least in odds}
    methods |= {name: METHODS[name] for name in ("gate 1", "gate 2", "gate 5%")}
    for size, share in product((20, 50), (0.0, 0.05, 0.1)):
        tally: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros(3))
        for draw in range(draws):
            rng = np.random.default_rng([7, size, round(1000 * share), draw])
            schema = drawn_schema(rng)
            names = [own.name for own in schema.relations]
            graphs = [
                with_wrong_labels(drawn_graph(schema, rng), share, rng, schema.entities, names)
                for _ in range(size)
            ]
            wanted = rules_of(schema)
            for method, learn in methods.items():
                found = rules_of(learn(graphs))
                for kind in wanted.keys() | found.keys():
                    right = len(found[kind] & wanted[kind])
                    tally[method, kind] += (right, len(found[kind]), len(wanted[kind]))
        print(f"{size} passages, {share:.0%} wrong labels: precision / recall")
        kinds = ("types", "per head", "per tail", "symmetric", "inverse", "acyclic")
        for method in methods:
            cells = [tally[method, kind] for kind in kinds]
            shown = [
                f"{kind} {c[0] / max(c[1], 1):.2f}/{c[0] / max(c[2], 1):.2f}"
                for kind, c in zip(kinds, cells, strict=True)
            ]
            print(f"  {method:9} {'  '.join(shown)}", flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--drawn", action="store_true")
    parser.add_argument("--odds", default="1.5,2,3,10")
    options = parser.parse_args()
    if options.drawn:
        return drawn(options.draws, [float(own) for own in options.odds.split(",")])
    return roth_yih(options.draws)


if __name__ == "__main__":
    sys.exit(main())
