"""Label marginals of a chain, also under local constraints: the forward-backward algorithm over states.

    p(y) proportional to exp(score(y) + soft penalties) over the labellings that break no hard local
    constraint

`marginals_batch` computes the same without constraints for many sequences at a time: sums are scaled at every
step, f_t = e_t * (f_{t-1} A) / z_t, so that nothing overflows.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lcons_core import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._scores import ChainBatch, ChainScores, Floats, Ints, Sequences, X, checked_scores
from lcons_decode.chains._windows import ChainConstraints, lay_out
from lcons_decode.kernels import _plain as plain

# Sequences that are computed together; they are sorted by length, so that little is computed in vain.
_TOGETHER = 256


@dataclass(frozen=True, eq=False)
class Marginals:
    """probability (T, L) of each label at each position. If no labelling satisfies the constraints,
    log_partition is -inf and all probabilities are 0."""

    probability: Floats
    log_partition: float


def marginals(
    scores: ChainScores, constraints: Iterable[Constraint] | ChainConstraints = (), x: X = None
) -> Marginals:
    """The probability of each label at each position.

    >>> marginals(ChainScores([[0.0, 0.0]])).probability
    array([[0.5, 0.5]])
    """
    compiled = ChainConstraints.of(constraints, checked_scores(scores).labels)
    if compiled.named.global_hard or compiled.named.global_soft:
        raise InvalidInput(
            "marginals accept local constraints only, because global ones do not factor over a chain; leave"
            " the global ones out."
        )
    T, L = len(scores), scores.L
    if not T:
        return Marginals(np.zeros((0, L)), 0.0)
    layout = lay_out(ChainBatch.of([scores]), compiled, None if x is None else [x])
    V = L + 1
    S = V**layout.m
    states = np.arange(S)
    arcs = np.vstack([scores.transition, np.full((1, L), -np.inf)])[states % V]
    grams = states[:, None] * V + np.arange(L)
    stops = states * V + L

    steps = np.empty((T, S, L))
    for t in range(T):
        own = np.tile(scores.start, (S, 1)) if t == 0 else arcs
        gains = own + scores.emission[t] + plain.penalties(grams, t, layout.units, V)
        steps[t] = np.where(plain.broken(grams, t, layout.lists) > 0, -np.inf, gains)
    ending = np.append(scores.stop, -np.inf)[states % V] + plain.penalties(stops, T, layout.units, V)
    backward = np.empty((T + 1, S))
    backward[T] = np.where(plain.broken(stops, T, layout.lists) > 0, -np.inf, ending)
    for t in range(T - 1, -1, -1):
        backward[t] = _log_sum(steps[t] + backward[t + 1][grams % S], axis=1)
    total = float(backward[0, S - 1])
    if total == -np.inf:
        return Marginals(np.zeros((T, L)), total)

    forward = np.full(S, -np.inf)
    forward[S - 1] = 0.0
    probability = np.empty((T, L))
    for t in range(T):
        joint = forward[:, None] + steps[t]
        probability[t] = np.exp(_log_sum(joint + backward[t + 1][grams % S], axis=0) - total)
        # The n-gram (oldest, rest, label) leads to state (rest, label): sum over the oldest label.
        forward = np.full(S, -np.inf)
        by_oldest = joint.reshape(V, S // V, L)
        forward.reshape(S // V, V)[:, :L] = _log_sum(by_oldest, axis=0)
    return Marginals(probability, total)


def marginals_batch(batch: Sequences) -> Floats:
    """(N, L) the probability of each label at each position of all sequences, packed, without constraints; 0
    in a sequence without any labelling.

    >>> marginals_batch([ChainScores([[0.0, 0.0]]), ChainScores([[np.log(3), 0.0]])])
    array([[0.5 , 0.5 ],
           [0.75, 0.25]])
    """
    batch = ChainBatch.of(batch)
    found = np.zeros_like(batch.emission)
    lengths = np.diff(batch.offsets)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    for first in range(0, len(order), _TOGETHER):
        _sum_products(batch, order[first : first + _TOGETHER], found)
    return found


def _sum_products(batch: ChainBatch, chosen: Ints, found: Floats) -> None:
    """Writes the marginals of the chosen sequences to `found`; those that underflow are computed one by one,
    in logarithms."""
    lengths, T = np.diff(batch.offsets)[chosen], int(np.diff(batch.offsets)[chosen].max())
    tokens = batch.offsets[chosen][:, None] + np.minimum(np.arange(T), lengths[:, None] - 1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        emission = batch.emission[tokens]
        gains = np.exp(emission - emission.max(2, keepdims=True)).transpose(1, 0, 2)
        A, start, stop = (
            np.exp(scores - scores.max()) for scores in (batch.transition, batch.start, batch.stop)
        )
        forward, scale = np.empty_like(gains), np.empty(gains.shape[:2])
        current = gains[0] * start
        for t in range(T):
            if t:
                current = (forward[t - 1] @ A) * gains[t]
            scale[t] = current.sum(1)
            forward[t] = current / scale[t][:, None]
        backward = np.zeros_like(gains[0])
        for t in range(T - 1, -1, -1):
            backward[lengths - 1 == t] = stop
            product = forward[t] * backward
            joint = product.sum(1, keepdims=True)
            forward[t] = product / joint
            backward = (gains[t] * backward / joint) @ A.T
    inside = np.arange(T) < lengths[:, None]
    probability = forward.transpose(1, 0, 2)
    whole = np.asarray(np.isfinite(np.where(inside[..., None], probability, 0)).all(axis=(1, 2)))
    sure = inside & whole[:, None]
    found[tokens[sure]] = probability[sure]
    for i in chosen[~whole].tolist():
        rows = slice(batch.offsets[i], batch.offsets[i + 1])
        scores = ChainScores(
            batch.emission[rows], batch.transition, batch.start, batch.stop, labels=batch.labels
        )
        found[rows] = marginals(scores).probability


def _log_sum(values: Floats, axis: int) -> Floats:
    top = values.max(axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        summed: Floats = np.log(np.exp(values - safe).sum(axis)) + safe.squeeze(axis)
    return summed
