"""Graphs of candidates and relations against enumeration.

The family `relations` draws up to 3 candidates and constraints on tuples of some of source, relation, target
and reverse. It compares the answer, which breaks the fewest tuples, then has the best score, then is the
first in declared order; few of the graphs are also decoded by integer programs.
"""

from __future__ import annotations

from random import Random
from typing import Any

from lcons_core import LearnedConstraint
from lcons_core.features import Tuples
from lcons_decode import RelationScores, Status, decode_relations
from lcons_decode.ilp._decoders import decode_relations_ilp
from soaking import draws, oracle
from soaking.chains import network_of
from soaking.tally import Tally

Case = dict[str, Any]


def draw_relations(rng: Random) -> Case:
    """A graph; few of them also by integer programs."""
    case = draws.draw_graph(rng)
    return {
        **case,
        "solvers": ["cbc", "highs"] if draws.chance(rng, 0.1) else [],
    }


def check_relations(case: Case, tally: Tally) -> None:
    """Family `relations`."""
    E, R = tuple(case["entity_labels"]), tuple(case["relation_labels"])
    values = {"source": E, "target": E, "relation": R, "reverse": R}
    constraints = []
    for given in case["constraints"]:
        feature = Tuples(tuple(given["members"]), tuple(values[member] for member in given["members"]))
        constraints.append(LearnedConstraint(network_of(given["parts"]), feature.space, feature))
    scores = RelationScores(case["entities"], case["relations"], entity_labels=E, relation_labels=R)
    best = satisfying = None
    for graph in oracle.graphs(case):
        if best is None or (-graph.broken, graph.score) > (-best.broken, best.score):
            best = graph
        if not graph.broken and (satisfying is None or graph.score > satisfying.score):
            satisfying = graph
    assert best is not None
    found = decode_relations(scores, constraints)
    named = {pair: relation for pair, relation in best.relations.items() if relation != R[0]}
    tally.same("entities and relations", (found.entities, found.relations), (best.entities, named))
    tally.same("score", found.score, float(best.score))
    tally.same("broken tuples", found.broken, best.broken)
    tally.same("status", found.status, Status.RELAXED if best.broken else Status.OPTIMAL)
    for solver in case["solvers"]:
        answer = decode_relations_ilp(scores, constraints, solver=solver)
        tally.same(f"{solver} status", answer.status, Status.OPTIMAL if satisfying else Status.INFEASIBLE)
        if satisfying is not None:
            tally.near(f"{solver} score", answer.score, float(satisfying.score), 1e-6)
