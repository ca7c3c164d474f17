"""Global constraints exactly: labellings are tried best first until one satisfies them.

The lattice that hard local constraints leave is searched in order of score (`nbest.in_order`), so the first
labelling that satisfies every global constraint is optimal. Global soft penalties are at most 0: the search
stops when the next labelling, without them, is no better than the best found with them. A stated budget
bounds the number of labellings tried.

Not in the paper, which filters the last beam only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lcons_core._errors import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._result import Decoding, Status
from lcons_decode._scores import ChainScores, checked_scores
from lcons_decode.chains._constrained import constrained_viterbi
from lcons_decode.chains._nbest import in_order
from lcons_decode.chains._windows import ChainConstraints, X

BUDGET = 10_000


def decode_global(
    scores: ChainScores,
    constraints: Iterable[Constraint] | ChainConstraints,
    x: X = None,
    *,
    budget: int = BUDGET,
    progress: Callable[[int], None] | None = None,
) -> Decoding:
    """The best labelling under local and global constraints.

    OPTIMAL where proved; OUT_OF_BUDGET where `budget` labellings were tried and the best might be another:
    then the tried labelling with the fewest violations is given. Where the local constraints alone cannot be
    satisfied, or no labelling satisfies the global ones, RELAXED. `progress` is told how many labellings have
    been tried.
    """
    if budget < 1:
        raise InvalidInput(f"the budget must be at least 1 labelling, found {budget}.")
    compiled = ChainConstraints.of(constraints, checked_scores(scores).labels)
    best: tuple[int, float, tuple[str, ...]] | None = None
    tried, proved = 0, True
    for y, score in in_order(scores, compiled, x):
        if best is not None and best[0] == 0 and score <= best[1]:
            break
        if tried == budget:
            proved = False
            break
        tried += 1
        if progress is not None:
            progress(tried)
        total = score + compiled.global_penalty(y, x)
        broken = len(compiled.global_violations(y, x))
        if best is None or (-broken, total) > (-best[0], best[1]):
            best = (broken, total, y)
    stats = {"tried": tried, "budget": budget}
    if best is None:
        return _without_globals(scores, compiled, x, stats)
    broken, total, y = best
    status = Status.OUT_OF_BUDGET if not proved else Status.RELAXED if broken else Status.OPTIMAL
    return Decoding(y, total, status, stats, compiled.violations(y, x))


def _without_globals(
    scores: ChainScores, compiled: ChainConstraints, x: X, stats: dict[str, int]
) -> Decoding:
    """The local constraints cannot be satisfied: the relaxed answer to them, with every violation named."""
    local = constrained_viterbi(scores, [*compiled.named.hard, *compiled.named.soft], x)
    if local.status is Status.INFEASIBLE:
        return Decoding((), local.score, local.status, stats)
    total = local.score + compiled.global_penalty(local.y, x)
    return Decoding(local.y, total, Status.RELAXED, stats, compiled.violations(local.y, x))
