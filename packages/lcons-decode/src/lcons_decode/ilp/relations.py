"""Candidates and relations as the paper's integer program: indicators for entities and relations, and the
constraints on (source, relation), (relation, target) and (relation, reverse) grounded in them.

Ties are the solver's: `lcons_decode.decode_relations` breaks them by label order.

Paper: Sec. 4 and Appendix C.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import product

from lcons_core.constraint import LearnedConstraint
from lcons_core.errors import InvalidInput
from lcons_core.features import Tuples
from lcons_decode.constraints import Hard
from lcons_decode.ilp.backend import Solver
from lcons_decode.ilp.forms import Form
from lcons_decode.ilp.ground import Grounded, Hinge, ground_tuples, read_use
from lcons_decode.ilp.program import Program, graph_program
from lcons_decode.ilp.solve import solve
from lcons_decode.relations import MEMBERS, RelationDecoding, RelationScores


def relation_program(scores: RelationScores) -> Program:
    """Decisions ("entity", i) and ("relation", i, j), with an indicator a label."""
    n = len(scores)
    decisions: dict[tuple[str, ...], dict[str, float]] = {}
    for i in range(n):
        decisions["entity", i] = dict(  # type: ignore[index]
            zip(scores.entity_labels, scores.entities[i].tolist(), strict=True)
        )
    for i, j in _pairs(n):
        decisions["relation", i, j] = dict(  # type: ignore[index]
            zip(scores.relation_labels, scores.relations[i, j].tolist(), strict=True)
        )
    return graph_program(decisions)


def ground_relations(
    program: Program, n: int, constraint: LearnedConstraint | Hard | Hinge, *, name: str = ""
) -> Grounded:
    """A constraint on tuples of source, relation, target and reverse, for every ordered pair."""
    learned, _, _ = read_use(constraint, name)
    feature = learned.feature
    if not isinstance(feature, Tuples) or not set(feature.names) <= set(MEMBERS):
        raise InvalidInput(f"a constraint on relations is on tuples of some of {', '.join(MEMBERS)}.")
    parts = []
    for i, j in _pairs(n):
        members: dict[str, tuple[Hashable, ...]] = {
            "source": ("entity", i),
            "relation": ("relation", i, j),
            "target": ("entity", j),
            "reverse": ("relation", j, i),
        }
        parts.append([members[member] for member in feature.names])
    own = name or getattr(constraint, "name", "") or " ".join(feature.names)
    return ground_tuples(program, constraint, parts, name=own)


def decode_relations_ilp(
    scores: RelationScores,
    constraints: Iterable[LearnedConstraint | Hard | Hinge] = (),
    *,
    form: Form | str = Form.LIFTED,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
) -> RelationDecoding:
    """The best labels of all candidates and pairs, by python-mip."""
    program, n = relation_program(scores), len(scores)
    grounded: list[Grounded] = []
    for i, constraint in enumerate(constraints, 1):
        own = ground_relations(program, n, constraint)
        if not getattr(constraint, "name", "") and own.name in {other.name for other in grounded}:
            own = replace(own, name=f"{own.name} {i}")
        grounded.append(own)
    found = solve(program, grounded, form=form, solver=solver, time_limit=time_limit)
    entities = tuple(found.labels["entity", i] for i in range(n)) if found.labels else ()
    none = scores.relation_labels[0]
    relations = {
        (i, j): found.labels["relation", i, j]
        for i, j in _pairs(n)
        if found.labels and found.labels["relation", i, j] != none
    }
    broken = len(found.violations)
    return RelationDecoding(entities, relations, found.score, found.status, broken, dict(found.stats))


def _pairs(n: int) -> list[tuple[int, int]]:
    return [(i, j) for i, j in product(range(n), repeat=2) if i != j]
