"""Exact decoding under local constraints: hard, soft, or both.

    maximise  score(y) + sum_soft weight * log sigmoid(margin)   over the y that break the fewest hard windows

by dynamic programming over states of the last n - 1 labels. Verify first: if the unconstrained best breaks
nothing it is the answer. Else only the n-grams that the constraints list are tried; where no labelling
satisfies them all, the fewest violations come first and then the score, compared as pairs: there is no big
penalty. Soft constraints are exact too: labels that a bound excludes are left out, and nothing else
(`kernels.compiled.soft`).

Not in the paper: exact constrained decoding, soft constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lcons_core._errors import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._result import Decoding, Status
from lcons_decode._scores import ChainBatch, ChainScores, Floats, Ints, Sequences
from lcons_decode.chains._viterbi import read_decoding, share_rows
from lcons_decode.chains._windows import ChainConstraints, X, lay_out
from lcons_decode.kernels import backend

VERIFIED, SATISFIED, RELAXED, INFEASIBLE = range(4)
HOW = ("viterbi satisfied the constraints", "constrained", "relaxed", "infeasible")


def constrained_viterbi(
    scores: ChainScores, constraints: Iterable[Constraint] | ChainConstraints, x: X = None
) -> Decoding:
    """The best labelling of one sequence under local constraints; x holds the columns that contexts read.

    >>> from lcons_core._schemes import iob2
    >>> scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=["B-X", "I-X", "O"])
    >>> constrained_viterbi(scores, [iob2(scores.labels)]).y
    ('B-X', 'I-X')
    """
    return constrained_viterbi_batch(ChainBatch.of([scores]), constraints, None if x is None else [x])[0]


def constrained_viterbi_batch(
    batch: Sequences,
    constraints: Iterable[Constraint] | ChainConstraints,
    xs: Sequence[X] | None = None,
    threads: int | None = None,
) -> list[Decoding]:
    """The best labelling of each sequence under local constraints; `xs` are their columns, one a sequence."""
    batch = ChainBatch.of(batch)
    compiled = ChainConstraints.of(constraints, batch.labels)
    if compiled.named.global_hard or compiled.named.global_soft:
        raise InvalidInput(
            "constrained_viterbi takes local constraints; use decode_global or the ILP for global ones."
        )
    y, scores, how = constrained_ids(batch, compiled, xs, threads)
    answers = []
    for i, (score, way) in enumerate(zip(scores, how, strict=True)):
        status = {RELAXED: Status.RELAXED, INFEASIBLE: Status.INFEASIBLE}.get(int(way), Status.OPTIMAL)
        answer = read_decoding(batch, i, y, float(score), status)
        violations = compiled.violations(answer.y, None if xs is None else xs[i]) if way == RELAXED else ()
        answers.append(Decoding(answer.y, answer.score, status, {"how": HOW[way]}, violations))
    return answers


def constrained_ids(
    batch: ChainBatch, compiled: ChainConstraints, xs: Sequence[X] | None, threads: int | None = None
) -> tuple[Ints, Floats, Ints]:
    """Packed label indices (N,), scores (B,) and how each was found (B,): the same without names, for
    speed."""
    layout = lay_out(batch, compiled, xs)
    y = np.zeros(len(batch.emission), dtype=np.int64)
    scores = np.zeros(len(batch))
    how = np.zeros(len(batch), dtype=np.int64)
    kernels = backend()

    def run(first: int, last: int) -> None:
        kernels.constrained_many(layout.chain, layout.lists, first, last, y, scores, how)
        if compiled.soft:
            kernels.soft_many(layout.chain, layout.lists, layout.units, layout.m, first, last, y, scores, how)

    share_rows(run, len(batch), threads)
    return y, scores, how
