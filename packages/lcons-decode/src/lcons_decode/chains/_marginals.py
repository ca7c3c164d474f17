"""Label marginals of a chain, also under local constraints: the forward-backward algorithm over states.

    p(y) proportional to exp(score(y) + soft penalties) over the labellings that break no hard local
    constraint

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lcons_core import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._scores import ChainBatch, ChainScores, Floats, X, checked_scores
from lcons_decode.chains._windows import ChainConstraints, lay_out
from lcons_decode.kernels import _plain as plain


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


def _log_sum(values: Floats, axis: int) -> Floats:
    top = values.max(axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        summed: Floats = np.log(np.exp(values - safe).sum(axis)) + safe.squeeze(axis)
    return summed
