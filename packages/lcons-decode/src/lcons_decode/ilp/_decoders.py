"""Sequences, and graphs of candidates with relations, decoded exactly by an integer program.

For sequences, any mix of local and global constraints. For graphs, the program of the paper: indicators for
entities and relations, and the constraints on (source, relation), (relation, target) and (relation, reverse)
grounded in them. The solver breaks the ties; `lcons_decode.decode_relations` breaks them by label order.

Paper: Eq. 2, Sec. 4 and Appendix C. Not in the paper: global constraints on sequences decoded exactly.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import product

from lcons_core import Instance, InvalidInput, LconsError, LearnedConstraint
from lcons_core.features import Tuples
from lcons_decode._constraints import MEMBERS, Hard, Soft
from lcons_decode._result import Decoding, RelationDecoding
from lcons_decode._scores import ChainScores, RelationScores, X, checked_scores, columns_of
from lcons_decode.ilp._backend import Solver
from lcons_decode.ilp._forms import MAX_TERMS, Form
from lcons_decode.ilp._ground import Hinge, ground_chain, ground_tuples, read_use
from lcons_decode.ilp._grounded import Grounded
from lcons_decode.ilp._program import Program, graph_program
from lcons_decode.ilp._solve import solve


def decode_ilp(
    scores: ChainScores,
    constraints: Iterable[LearnedConstraint | Hard | Soft | Hinge] = (),
    x: X = None,
    *,
    form: Form | str = Form.AUTO,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
    max_terms: int = MAX_TERMS,
) -> Decoding:
    """The best labelling that satisfies every constraint; x: columns or words, for context features.

    If there is none, the status is INFEASIBLE and stats["clash"] names constraints that cannot hold together.

    >>> from lcons_decode._constraints import forbidden_ngrams
    >>> scores = ChainScores([[2.0, 0.0], [0.0, 1.0]], labels=["O", "I"])
    >>> decode_ilp(scores, [forbidden_ngrams(["O", "I"], [("O", "I")])]).y
    ('O', 'O')
    """
    program = chain_program(checked_scores(scores))
    uses = list(constraints)
    named = [read_use(use, "")[2] for use in uses]
    names = [f"constraint {i + 1}" if name == "constraint" else name for i, name in enumerate(named)]
    grounded = [
        ground_chain(program, use, x, name=name, max_terms=max_terms)
        for use, name in zip(uses, names, strict=True)
    ]
    result = solve(program, grounded, form=form, solver=solver, time_limit=time_limit, max_terms=max_terms)
    if "penalty" not in result.stats:  # no solution
        return Decoding((), result.score, result.status, result.stats)
    y = tuple(result.labels[t] for t in range(len(scores)))
    for use, name in zip(uses, names, strict=True):
        learned, weight, _ = read_use(use, name)
        if weight is None and not learned.satisfied(Instance(columns_of(x), y)):
            raise LconsError(f"the answer breaks {name!r}; this is a bug in lcons, please report it.")
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
    moves = {
        (names[i], names[j]): float(scores.transition[i, j])
        for i in range(len(names))
        for j in range(len(names))
    }
    return graph_program(decisions, {(t - 1, t): moves for t in range(1, len(scores))})


def relation_program(scores: RelationScores) -> Program:
    """Decisions ("entity", i) and ("relation", i, j), with one indicator per label."""
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
    program: Program, n: int, constraint: LearnedConstraint | Hard | Soft | Hinge, *, name: str = ""
) -> Grounded:
    """A constraint on tuples of source, relation, target and reverse, for every ordered pair."""
    learned, _, _ = read_use(constraint, name)
    feature = learned.feature
    if not isinstance(feature, Tuples) or not set(feature.names) <= set(MEMBERS):
        raise InvalidInput(f"expected a constraint on tuples of some of {', '.join(MEMBERS)}.")
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
    constraints: Iterable[LearnedConstraint | Hard | Soft | Hinge] = (),
    *,
    form: Form | str = Form.AUTO,
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
