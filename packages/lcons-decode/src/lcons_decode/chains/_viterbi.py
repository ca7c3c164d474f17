"""The best labelling of a chain without constraints, exactly, by Viterbi's algorithm.

    right[t, b] = emission[t, b] + max_c (transition[b, c] + right[t + 1, c])

computed from the right. Labels are then read off from the left, so ties go to the first labelling in label
order.

Paper: the "exact" rows of Sec. 5 and 6.
"""

from __future__ import annotations

import numpy as np

from lcons_decode._result import Decoding, Status
from lcons_decode._scores import ChainBatch, ChainScores, Floats, Ints, Sequences
from lcons_decode.kernels import share_rows


def viterbi(scores: ChainScores) -> Decoding:
    """The best labelling.

    >>> viterbi(ChainScores([[1.0, 0.0], [0.0, 2.0]], labels=["B", "I"])).y
    ('B', 'I')
    """
    return viterbi_batch(ChainBatch.of([scores]))[0]


def viterbi_batch(batch: Sequences, threads: int | None = None) -> list[Decoding]:
    """The best labelling of each sequence."""
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
