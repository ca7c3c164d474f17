"""Labelled graphs of candidates and relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from soaking.oracle.sets import Case, Networks


@dataclass(frozen=True)
class Graph:
    """Labels of the candidates and relations of the ordered pairs, with the score and the broken tuples."""

    entities: tuple[str, ...]
    relations: dict[tuple[int, int], str]
    score: Fraction
    broken: int


def graphs(case: Case) -> Iterator[Graph]:
    """Every labelled graph, in declared order: candidates, then the two relations of each pair i < j."""
    n = len(case["entities"])
    pairs = [(i, j) for i in range(n) for j in range(n) if i < j]
    E, R = case["entity_labels"], case["relation_labels"]
    judges = [(constraint["members"], Networks(constraint["parts"])) for constraint in case["constraints"]]
    order = {"source": E, "target": E, "relation": R, "reverse": R}
    known: dict[Any, int] = {}

    def broken(own: Mapping[str, str]) -> int:
        key = tuple(own.values())
        if key not in known:
            known[key] = 0
            for members, networks in judges:
                psi, column = {}, 0
                for member in members:
                    psi[column + order[member].index(own[member])] = 1
                    column += len(order[member])
                known[key] += not networks.accepts(psi)
        return known[key]

    for entities in product(range(len(E)), repeat=n):
        first = sum((Fraction(case["entities"][i][e]) for i, e in enumerate(entities)), Fraction(0))
        for chosen in product(product(range(len(R)), repeat=2), repeat=len(pairs)):
            score, count, relations = first, 0, {}
            for (i, j), (there, back) in zip(pairs, chosen, strict=True):
                for a, b, forward, backward in ((i, j, there, back), (j, i, back, there)):
                    score += Fraction(case["relations"][a][b][forward])
                    relations[a, b] = R[forward]
                    own = {"source": E[entities[a]], "target": E[entities[b]]}
                    count += broken({**own, "relation": R[forward], "reverse": R[backward]})
            yield Graph(tuple(E[e] for e in entities), relations, score, count)
