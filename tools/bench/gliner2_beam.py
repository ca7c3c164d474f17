"""How often is the beam search of GLiNER2 not optimal, and what does a proof cost?

Three kinds of candidate lattices, all decoded under compiled schemas of GLiNER2:

    builder     GLiNER2's own CandidateBuilder on random logits: overlapping spans, count alternatives, slots
    model       scores of the entity-relation model, trained on 150 sentences of Roth and Yih's corpus, for
                others: a node per candidate and entity type, an edge per fitting pair and relation
    few maxima  the same, with at most one relation of each kind per head and tail

Each lattice is decoded by greedy search, by beams of width 16 and 32 (the default of `JointIEConfig`) and
exactly. A search is not optimal if its score, added up from its nodes and edges, is below the proved optimum
by more than 1e-6. Every certificate is checked. Times are medians, in one run.

The script fails if a certificate does not hold, or if a search is better than a proved optimum.

Run: LCONS_DATA_DIR=... .venv-integrations/bin/python tools/bench/gliner2_beam.py [--lattices 300]
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from gliner2.joint_ie import compile_schema
from gliner2.joint_ie.candidates import (
    CandidateBuilder,
    EdgeCandidate,
    JointProblem,
    NodeCandidate,
    RelationHypothesis,
)
from gliner2.joint_ie.optimizers import BaseOptimizer, BeamOptimizer, GreedyOptimizer

from lcons_core.relations import RelationSchema, RelationType
from lcons_decode import RelationRules, Status
from lcons_decode.gliner2 import ExactOptimizer, joint_schema, read_problem
from lcons_tasks.data import find
from lcons_tasks.data._passage import ENTITIES, RELATIONS
from lcons_tasks.experiments.entity_relation._constraints import DESIGNED
from lcons_tasks.experiments.entity_relation._corpus import load_corpus
from lcons_tasks.models._relation_svm import train_relations
from lcons_tasks.models._structured_svm import SvmSettings

SEARCHES = {"greedy": GreedyOptimizer(), "beam 16": BeamOptimizer(16), "beam 32": BeamOptimizer(32)}
TOLERANCE = 1e-6


def of_builder(number: int) -> Iterator[JointProblem]:
    """Problems of GLiNER2's own builder."""
    schema = RelationSchema(
        ["P", "L"],
        [
            RelationType("born", "P", "L", 1),
            RelationType("near", "L", "L", acyclic=True),
            RelationType("knows", "P", "P", max_per_tail=2),
        ],
    )
    compiled = compile_schema(joint_schema(schema))
    for seed in range(number):
        rng = np.random.default_rng(seed)
        hypotheses = [
            RelationHypothesis(
                name,
                rng.normal(-1, 2, (slots, 2, 8, 2)),
                spec.head,
                spec.tail,
                count_alternative=alternative,
                hypothesis_id=name,
            )
            for name, spec in compiled.relation_specs.items()
            for alternative, slots in enumerate((1, 2))
        ]
        builder = CandidateBuilder(top_k_entities=8, top_k_roles=3)
        logits = rng.normal(-1.5, 2, (2, 8, 2))
        yield builder.build(logits, ["P", "L"], hypotheses, constraints=compiled.constraints)


def of_model(number: int, maxima: bool) -> Iterator[JointProblem]:
    """Problems with the scores of the entity-relation model."""
    passages = load_corpus("conll04").passages
    order = np.random.default_rng(0).permutation(len(passages))
    train = [passages[i] for i in order[:150]]
    model, _ = train_relations(train, RelationRules.none(ENTITIES, RELATIONS), SvmSettings(C=1.0, passes=5))
    most = 1 if maxima else None
    schema = RelationSchema(
        ENTITIES[1:],
        [RelationType(r, (h,), (t,), most, most, acyclic=h == t) for r, (h, t) in DESIGNED.items()],
    )
    constraints = compile_schema(joint_schema(schema)).constraints
    for i in order[150 : 150 + number]:
        scores = model.scores(passages[i].passage)
        nodes: dict[tuple[int, str], NodeCandidate] = {}
        for c, (start, end) in enumerate(passages[i].passage.spans):
            for e, name in enumerate(ENTITIES[1:], start=1):
                score = float(scores.entities[c, e] - scores.entities[c, 0])
                nodes[c, name] = NodeCandidate(name, start, end, score)
        edges: list[EdgeCandidate] = []
        for (a, b), (name, (h, t)) in product(passages[i].passage.pairs, DESIGNED.items()):
            r = RELATIONS.index(name)
            score = float(scores.relations[a, b, r] - scores.relations[a, b, 0])
            ends = nodes[a, h].candidate_id, nodes[b, t].candidate_id
            edges.append(EdgeCandidate(name, *ends, score, slot=len(edges), hypothesis=name))
        yield JointProblem(tuple(nodes.values()), tuple(edges), constraints)


def score_of(solution: Any) -> float:
    return sum(own.score for own in (*solution.nodes, *solution.edges))


def measure(name: str, problems: Iterator[JointProblem]) -> bool:
    """Prints one line per search; returns whether something is wrong."""
    wrong = unproved = number = 0
    edges: list[int] = []
    below: dict[str, list[float]] = {search: [] for search in SEARCHES}
    seconds: dict[str, list[float]] = {search: [] for search in (*SEARCHES, "exact")}
    for problem in problems:
        number += 1
        edges.append(len(problem.edges))
        start = time.perf_counter()
        best = ExactOptimizer().optimize(problem)
        seconds["exact"].append(time.perf_counter() - start)
        proved = best.status is Status.OPTIMAL
        unproved += not proved
        wrong += proved and not best.certificate.check(read_problem(problem))
        wrong += not BaseOptimizer().validate_solution(problem, best)
        for search, optimizer in SEARCHES.items():
            start = time.perf_counter()
            found = optimizer.optimize(problem)
            seconds[search].append(time.perf_counter() - start)
            if proved:
                below[search].append(best.score - score_of(found))
                wrong += below[search][-1] < -TOLERANCE
    medians = {search: statistics.median(own) for search, own in seconds.items()}
    print(f"{name}: {number} lattices, median {statistics.median(edges):.0f} edges, {unproved} not proved")
    for search, gaps in below.items():
        missed = [gap for gap in gaps if gap > TOLERANCE]
        mean = statistics.mean(missed) if missed else 0.0
        print(
            f"  {search:8} not optimal {len(missed):4} of {len(gaps)} ({len(missed) / len(gaps):6.1%}), mean"
            f" loss {mean:.3f}; {1000 * medians[search]:.1f} ms, exact {1000 * medians['exact']:.1f} ms",
            flush=True,
        )
    return wrong > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lattices", type=int, default=300)
    number = parser.parse_args().lattices
    logging.disable(logging.CRITICAL)
    wrong = measure("builder", of_builder(number))
    if find("conll04"):
        wrong |= measure("model", of_model(number, maxima=False))
        wrong |= measure("few maxima", of_model(number, maxima=True))
    print("failed" if wrong else "every proof holds, and no search is better")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
