"""Exhaustive enumeration: every labelling, its score and its violations. For tests and tiny problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from lcons_core import TooLarge
from lcons_decode._constraints import Constraint
from lcons_decode._result import Decoding, Status
from lcons_decode._scores import ChainScores, X, checked_scores
from lcons_decode.chains._windows import ChainConstraints

MAX_LABELLINGS = 10**6


def labellings(
    scores: ChainScores, constraints: Iterable[Constraint] | ChainConstraints = (), x: X = None
) -> Iterator[Decoding]:
    """Every labelling in declared label order, with its score (soft penalties included) and violations."""
    checked_scores(scores)
    if scores.L ** len(scores) > MAX_LABELLINGS:
        raise TooLarge(
            f"{scores.L}^{len(scores)} labellings exceed the limit of {MAX_LABELLINGS:,}; use a decoder."
        )
    compiled = ChainConstraints.of(constraints, scores.labels)
    for ids in product(range(scores.L), repeat=len(scores)):
        y = scores.names(ids)
        violations = compiled.violations(y, x)
        status = Status.RELAXED if violations else Status.OPTIMAL
        yield Decoding(y, scores.score(y) + compiled.penalty(y, x), status, {}, violations)


def brute(
    scores: ChainScores, constraints: Iterable[Constraint] | ChainConstraints = (), x: X = None
) -> Decoding:
    """The labelling with the fewest violations and, among those, the best score; ties go to the first."""
    best = Decoding((), float("-inf"), Status.INFEASIBLE)
    for labelling in labellings(scores, constraints, x):
        if labelling.score == float("-inf"):
            continue
        if best.status is Status.INFEASIBLE or (-len(labelling.violations), labelling.score) > (
            -len(best.violations),
            best.score,
        ):
            best = labelling
    return best
