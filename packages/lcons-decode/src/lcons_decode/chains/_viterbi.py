"""Exact decoding of a chain: without constraints, or under hard and soft ones, local and global.

    right[t, b] = emission[t, b] + max_c (transition[b, c] + right[t + 1, c])

is Viterbi's algorithm, computed from the right. Labels are then read off from the left, so ties go to the
first labelling in label order. Under constraints,

    maximise  score(y) + sum_soft weight * cost(margin)   over the y that break the fewest hard windows

by dynamic programming over states of the last n - 1 labels. First, neighbours need only be a pair of some
allowed n-gram of every window. If the best labelling of such pairs breaks nothing, it is the answer;
otherwise its score is a bound that excludes most n-grams. If no labelling satisfies all constraints,
labellings are compared by (violations, score), as pairs: there is no large penalty constant. Soft constraints
are exact, too: only labels that a bound excludes are left out (`kernels._compiled.constrained`).

Under global constraints, labellings are tried best first (`_lattice`), ordered by score under the local
constraints: the first one that satisfies the global constraints is optimal. Global soft penalties are at most
0, so the search stops when the next labelling, without them, is not better than the best found with them.
`budget` bounds the number of labellings tried.

Paper: the "exact" rows of Sec. 5 and 6, without constraints.

Not in the paper: exact constrained decoding, and soft constraints, which are those of Chang, Ratinov and Roth
(2007, 2012). The paper uses global constraints only to filter the last beam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np

from lcons_core import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._result import Decoding, Status
from lcons_decode._scores import (
    ChainBatch,
    ChainScores,
    Floats,
    Ints,
    Sequences,
    X,
    Xs,
    checked_scores,
    x_of,
)
from lcons_decode.chains._lattice import in_order
from lcons_decode.chains._windows import ChainConstraints, lay_out
from lcons_decode.kernels._arrays import How, share_rows

BUDGET = 10_000

# The values of `stats["how"]`.
WORDS = {
    How.SATISFIED: "satisfied",
    How.RELAXED: "relaxed",
    How.INFEASIBLE: "infeasible",
}


def viterbi(scores: ChainScores) -> Decoding:
    """The best labelling without constraints.

    >>> viterbi(ChainScores([[1.0, 0.0], [0.0, 2.0]], labels=["B", "I"])).y
    ('B', 'I')
    """
    return viterbi_batch(ChainBatch.of([scores]))[0]


def viterbi_batch(batch: Sequences, threads: int | None = None) -> list[Decoding]:
    """The best labelling of each sequence, without constraints."""
    batch = ChainBatch.of(batch)
    y, scores = viterbi_ids(batch, threads)
    return [
        read_decoding(batch, i, y, float(score), Status.OPTIMAL if score > -np.inf else Status.INFEASIBLE)
        for i, score in enumerate(scores)
    ]


def viterbi_ids(batch: ChainBatch, threads: int | None = None) -> tuple[Ints, Floats]:
    """The same without names, for speed: packed label indices (N,) and scores (B,)."""
    from lcons_decode.kernels._compiled import viterbi_many

    y = np.zeros(len(batch.emission), dtype=np.int64)
    scores = np.zeros(len(batch))
    chain = batch.chain()
    share_rows(lambda first, last: viterbi_many(chain, first, last, y, scores), len(batch), threads)
    return y, scores


def read_decoding(batch: ChainBatch, i: int, y: Ints, score: float, status: Status) -> Decoding:
    """Sequence i of packed y as a `Decoding`, without labels if it is infeasible."""
    if status is Status.INFEASIBLE:
        return Decoding((), -np.inf, status)
    ids = y[batch.offsets[i] : batch.offsets[i + 1]].tolist()
    # A tuple of a list, not of a generator, so that Python uses the memory of earlier tuples again.
    return Decoding(tuple([batch.labels[c] for c in ids]), score, status)


def constrained_viterbi(
    scores: ChainScores, constraints: Iterable[Constraint] | ChainConstraints, x: X = None
) -> Decoding:
    """The best labelling of one sequence under local constraints; x: the columns that contexts read.

    >>> from lcons_core._schemes import iob2
    >>> scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=["B-X", "I-X", "O"])
    >>> constrained_viterbi(scores, [iob2(scores.labels)]).y
    ('B-X', 'I-X')
    """
    return constrained_viterbi_batch(ChainBatch.of([scores]), constraints, None if x is None else [x])[0]


def constrained_viterbi_batch(
    batch: Sequences,
    constraints: Iterable[Constraint] | ChainConstraints,
    xs: Xs = None,
    threads: int | None = None,
) -> list[Decoding]:
    """The best labelling of each sequence under local constraints; `xs` as in `constrained_ids`."""
    batch = ChainBatch.of(batch)
    compiled = ChainConstraints.of(constraints, batch.labels)
    y, scores, how = constrained_ids(batch, compiled, xs, threads)
    answers = []
    for i, (score, way) in enumerate(zip(scores.tolist(), map(How, how.tolist()), strict=True)):
        answer = read_decoding(batch, i, y, score, way.status)
        violations = compiled.violations(answer.y, x_of(xs, batch, i)) if way is How.RELAXED else ()
        answers.append(Decoding(answer.y, answer.score, way.status, {"how": WORDS[way]}, violations))
    return answers


def constrained_ids(
    batch: ChainBatch, compiled: ChainConstraints, xs: Xs = None, threads: int | None = None
) -> tuple[Ints, Floats, Ints]:
    """The same without names, for speed: packed label indices (N,), scores (B,) and `How` codes (B,).

    `xs` has the columns of each sequence or, by name, the packed columns of all: strings, a `CodedColumn`, or
    what `CodedColumn.of` reads. The labels of an infeasible sequence are all 0.

    >>> from lcons_core import CodedColumn, iob2
    >>> batch = ChainBatch.packed([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], [0, 2], labels=["B-X", "I-X", "O"])
    >>> rules = ChainConstraints.of([iob2(batch.labels)], batch.labels)
    >>> ids, _, _ = constrained_ids(batch, rules, {"pos": CodedColumn(("NN", "VB"), [1, 0])})
    >>> [batch.labels[i] for i in ids]
    ['B-X', 'I-X']
    """
    from lcons_decode.kernels._compiled import constrained_many

    if compiled.named.global_hard or compiled.named.global_soft:
        raise InvalidInput(
            "constrained_viterbi accepts only local constraints; use decode_global or the ILP for global"
            " ones."
        )
    layout = lay_out(batch, compiled, xs)
    if not compiled.hard and not compiled.soft:
        y, scores = viterbi_ids(batch, threads)
        return y, scores, np.where(scores > -np.inf, How.SATISFIED, How.INFEASIBLE)
    y = np.zeros(len(batch.emission), dtype=np.int64)
    scores = np.zeros(len(batch))
    how = np.zeros(len(batch), dtype=np.int64)

    lists = layout.lists if compiled.hard else None
    units = layout.units if compiled.soft else None

    def run(first: int, last: int) -> None:
        constrained_many(layout.chain, lists, units, layout.m, first, last, y, scores, how)

    share_rows(run, len(batch), threads)
    return y, scores, how


def nbest(
    scores: ChainScores, count: int, constraints: Iterable[Constraint] | ChainConstraints = (), x: X = None
) -> list[Decoding]:
    """The `count` best labellings that break no hard local constraint, best first; fewer if fewer exist.

    Global constraints do not change the order; `violations` lists those that a labelling breaks.

    >>> scores = ChainScores([[1.0, 0.0], [0.0, 2.0]], labels=["B", "I"])
    >>> [(answer.y, answer.score) for answer in nbest(scores, 2)]
    [(('B', 'I'), 3.0), (('I', 'I'), 2.0)]
    """
    if not isinstance(count, int) or count < 1:
        raise InvalidInput(f"expected a number of labellings, 1 or more, found {count!r}; pass an int.")
    compiled = ChainConstraints.of(constraints, checked_scores(scores).labels)
    ranked = islice(in_order(scores, compiled, x, count), count)
    return [
        Decoding(y, score, Status.OPTIMAL, {"rank": rank}, compiled.global_violations(y, x))
        for rank, (y, score) in enumerate(ranked, start=1)
    ]


def decode_global(
    scores: ChainScores,
    constraints: Iterable[Constraint] | ChainConstraints,
    x: X = None,
    *,
    budget: int = BUDGET,
    progress: Callable[[int], None] | None = None,
) -> Decoding:
    """The best labelling under local and global constraints.

    The status is OPTIMAL if this is proved. It is OUT_OF_BUDGET if `budget` labellings were tried and another
    might be the best: then the tried labelling with the fewest violations is returned. It is RELAXED if the
    local constraints alone cannot be satisfied, or if no labelling satisfies the global ones. `progress` is
    called with the number of labellings tried so far.
    """
    if budget < 1:
        raise InvalidInput(f"the budget must be at least 1 labelling, found {budget}.")
    compiled = ChainConstraints.of(constraints, checked_scores(scores).labels)
    best: tuple[int, float, tuple[str, ...]] | None = None
    tried, proved = 0, True
    for y, score in in_order(scores, compiled, x, budget + 1):
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
    """The relaxed answer if the local constraints cannot be satisfied, with every violation listed."""
    local = constrained_viterbi(scores, [*compiled.named.hard, *compiled.named.soft], x)
    if local.status is Status.INFEASIBLE:
        return Decoding((), local.score, local.status, stats)
    total = local.score + compiled.global_penalty(local.y, x)
    return Decoding(local.y, total, Status.RELAXED, stats, compiled.violations(local.y, x))
