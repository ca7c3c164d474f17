"""Labellings in order of score, best first, under local constraints: A* with exact bounds.

A prefix is continued in order of (its score so far) + (the best score from its state on). The bound is the
Viterbi value of the lattice that hard constraints leave; soft penalties are at most 0, so it stays a bound.
Hence labellings come out in the order of their scores, ties in declared label order, and no more is
expanded than that takes.

Not in the paper.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from lcons_core.errors import InvalidInput
from lcons_decode.chain import ChainConstraints, Layout, X, lay_out
from lcons_decode.constraints import Constraint
from lcons_decode.decoding import Decoding, Status
from lcons_decode.dense import broken, continuations, penalties
from lcons_decode.scores import ChainBatch, ChainScores

Labels = tuple[int, ...]


def nbest(
    scores: ChainScores, count: int, constraints: Iterable[Constraint] | ChainConstraints = (), x: X = None
) -> list[Decoding]:
    """The `count` best labellings that break no hard local constraint, best first; fewer where there are
    fewer.

    Global constraints do not change the order; what breaks them is named.

    >>> scores = ChainScores([[1.0, 0.0], [0.0, 2.0]], labels=["B", "I"])
    >>> [(found.y, found.score) for found in nbest(scores, 2)]
    [(('B', 'I'), 3.0), (('I', 'I'), 2.0)]
    """
    if count < 1:
        raise InvalidInput(f"at least one labelling must be asked for, found {count}.")
    compiled = ChainConstraints.of(constraints, scores.labels)
    found = islice(in_order(scores, compiled, x), count)
    return [
        Decoding(y, score, Status.OPTIMAL, {"rank": rank}, compiled.global_violations(y, x))
        for rank, (y, score) in enumerate(found, start=1)
    ]


def in_order(
    scores: ChainScores, compiled: ChainConstraints, x: X = None
) -> Iterator[tuple[tuple[str, ...], float]]:
    """All labellings that break no hard local constraint, best first, with their scores."""
    T, L = len(scores), scores.L
    if not T:
        yield (), 0.0
        return
    layout = lay_out(ChainBatch.of([scores]), compiled, None if x is None else [x])
    best_after = continuations(scores, layout)
    step_score = _steps(scores, layout)
    V = L + 1
    S = V**layout.m
    bound = best_after(0, S - 1)
    # Complete labellings have one entry more than labels: the STOP step.
    queue: list[tuple[float, Labels, int, float]] = [(-bound, (), S - 1, 0.0)] if bound > -np.inf else []
    while queue:
        _, prefix, state, so_far = heapq.heappop(queue)
        t = len(prefix)
        if t == T + 1:
            y = scores.names(prefix[:T])
            yield y, scores.score_ids(np.array(prefix[:T])) + compiled.local_penalty(y, x)
            continue
        for label, gain in step_score(t, state):
            after = (state * V + label) % S
            rest = best_after(t + 1, after) if t < T else 0.0
            if gain > -np.inf and rest > -np.inf:
                total = so_far + gain
                heapq.heappush(queue, (-(total + rest), (*prefix, label), after, total))


def _steps(scores: ChainScores, layout: Layout) -> Callable[[int, int], Iterator[tuple[int, float]]]:
    """A function of (t, state): the labels that may follow, and what each adds to the score."""
    T, L = len(scores), scores.L
    V = L + 1

    def steps(t: int, state: int) -> Iterator[tuple[int, float]]:
        labels: Any = np.arange(L) if t < T else np.array([L])
        grams = state * V + labels
        if t == T:
            gains = scores.stop[[state % V]].copy()
        else:
            gains = (scores.start if t == 0 else scores.transition[state % V]) + scores.emission[t]
        gains = gains + penalties(grams, t, layout)
        gains[broken(grams, t, layout) > 0] = -np.inf
        return zip(labels.tolist(), gains.tolist(), strict=True)

    return steps
