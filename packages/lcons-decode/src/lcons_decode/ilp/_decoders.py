"""Sequences, and graphs of candidates with relations, decoded exactly by an integer program.

For sequences, any mix of local and global constraints. For graphs, the program of the paper: indicators for
entities and relations, and the constraints on (source, relation), (relation, target) and (relation, reverse)
grounded in them. The solver breaks the ties; `lcons_decode.decode_relations` breaks them by label order.

Paper: Eq. 2, Sec. 4 and Appendix C. Not in the paper: global constraints on sequences decoded exactly.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np

from lcons_core import InvalidInput
from lcons_core._theorem import Form
from lcons_core._types import Floats, Ints
from lcons_core.features import Tuples
from lcons_decode._constraints import MEMBERS, Constraint
from lcons_decode._result import Decoding, RelationDecoding
from lcons_decode._scores import ChainScores, RelationScores, X, checked_scores
from lcons_decode.ilp._ground import Grounded, ground_chain, ground_tuples, read_use
from lcons_decode.ilp._program import Factors, Program, graph_program
from lcons_decode.ilp._solve import solve
from lcons_decode.ilp._solver import Solver


def decode_ilp(
    scores: ChainScores,
    constraints: Iterable[Constraint] = (),
    x: X = None,
    *,
    form: Form | str = Form.AUTO,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
) -> Decoding:
    """The best labelling that satisfies every constraint; x: columns or words, for context features.

    If there is none, the status is INFEASIBLE and stats["clash"] names constraints that cannot hold together.

    >>> from lcons_decode._constraints import forbidden_ngrams
    >>> scores = ChainScores([[2.0, 0.0], [0.0, 1.0]], labels=["O", "I"])
    >>> decode_ilp(scores, [forbidden_ngrams(["O", "I"], [("O", "I")])]).y
    ('O', 'O')
    """
    program = chain_program(checked_scores(scores))
    grounded = [
        ground_chain(program, use, x, name=getattr(use, "name", "") or f"constraint {i}")
        for i, use in enumerate(constraints, 1)
    ]
    result = solve(program, grounded, form=form, solver=solver, time_limit=time_limit)
    if "penalty" not in result.stats:  # no solution
        return Decoding((), result.score, result.status, result.stats)
    y = tuple(result.labels[t] for t in range(len(scores)))
    score = scores.score(y) - result.stats["penalty"]
    return Decoding(y, score, result.status, result.stats, result.violations)


def chain_program(scores: ChainScores) -> Program:
    """The labellings of a sequence: decision t is position t, its indicators are (t, label).

    >>> len(chain_program(ChainScores([[1.0, 0.0], [0.0, 2.0]], [[0.0, 1.0], [0.0, 0.0]])).variables)
    8
    """
    emission = scores.emission.copy()
    if len(scores):
        emission[0] += scores.start
        emission[-1] += scores.stop
    names = scores.labels
    decisions = {t: dict(zip(names, row.tolist(), strict=True)) for t, row in enumerate(emission)}
    pairs = [(left, right) for left in names for right in names]
    moves = dict(zip(pairs, scores.transition.ravel().tolist(), strict=True))
    return graph_program(decisions, {(t - 1, t): moves for t in range(1, len(scores))})


def relation_program(scores: RelationScores) -> Program:
    """Decisions ("entity", i) and ("relation", i, j), with one indicator per label."""
    n = len(scores)
    decisions: dict[Hashable, dict[str, float]] = {}
    for i in range(n):
        values = scores.entities[i].tolist()
        decisions["entity", i] = dict(zip(scores.entity_labels, values, strict=True))
    for i, j in permutations(range(n), 2):
        values = scores.relations[i, j].tolist()
        decisions["relation", i, j] = dict(zip(scores.relation_labels, values, strict=True))
    return graph_program(decisions)


def ground_relations(program: Program, n: int, constraint: Constraint) -> Grounded:
    """A constraint on tuples of source, relation, target and reverse, for every ordered pair."""
    feature = read_use(constraint, "")[0].feature
    if not isinstance(feature, Tuples) or not set(feature.names) <= set(MEMBERS):
        raise InvalidInput(f"expected a constraint on tuples of some of {', '.join(MEMBERS)}.")
    parts = []
    for i, j in permutations(range(n), 2):
        members: dict[str, tuple[Hashable, ...]] = {
            "source": ("entity", i),
            "relation": ("relation", i, j),
            "target": ("entity", j),
            "reverse": ("relation", j, i),
        }
        parts.append([members[member] for member in feature.names])
    name = getattr(constraint, "name", "") or " ".join(feature.names)
    return ground_tuples(program, constraint, parts, name=name)


def decode_relations_ilp(
    scores: RelationScores,
    constraints: Iterable[Constraint] = (),
    *,
    form: Form | str = Form.AUTO,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
) -> RelationDecoding:
    """The best labels of all candidates and pairs, by python-mip."""
    program, n = relation_program(scores), len(scores)
    grounded: list[Grounded] = []
    for i, constraint in enumerate(constraints, 1):
        entry = ground_relations(program, n, constraint)
        if not getattr(constraint, "name", "") and entry.name in {other.name for other in grounded}:
            entry = replace(entry, name=f"{entry.name} {i}")
        grounded.append(entry)
    answer = solve(program, grounded, form=form, solver=solver, time_limit=time_limit)
    labels: dict[Any, str] = dict(answer.labels)
    entities = tuple(label for (kind, *_), label in labels.items() if kind == "entity")
    none = scores.relation_labels[0]
    relations = {part[1:]: label for part, label in labels.items() if len(part) == 3 and label != none}
    broken = len(answer.violations)
    return RelationDecoding(entities, relations, answer.score, answer.status, broken, dict(answer.stats))


def label_pairs_by_ilp(unary: Floats, best: Floats) -> Ints:
    """The labels with the largest sum of unary (n, L) and pair values (n, n, L, L), for i < j.

    >>> best = np.zeros((2, 2, 2, 2))
    >>> best[0, 1] = [[0, 1], [2, 0]]
    >>> label_pairs_by_ilp(np.zeros((2, 2)), best).tolist()
    [1, 0]
    """
    n, L = unary.shape
    names = [str(label) for label in range(L)]
    decisions = {i: dict(zip(names, unary[i].tolist(), strict=True)) for i in range(n)}
    pairs = [(left, right) for left in names for right in names]
    factors: Factors = {
        (i, j): dict(zip(pairs, best[i, j].ravel().tolist(), strict=True))
        for i in range(n)
        for j in range(i + 1, n)
    }
    answer = solve(graph_program(decisions, factors))
    return np.array([int(answer.labels[i]) for i in range(n)], dtype=np.int64)
