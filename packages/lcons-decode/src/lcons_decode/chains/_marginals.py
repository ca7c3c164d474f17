"""Label marginals of a chain, also under local constraints: the forward-backward algorithm over states.

    p(y) proportional to exp(score(y) + soft penalties) over the labellings that break no hard local
    constraint

`window_probabilities` sums over the labellings with given labels in a window, such as those of a span.
`marginals_batch` computes the same without constraints for many sequences at a time: sums are scaled at every
step, f_t = e_t * (f_{t-1} A) / z_t, so that nothing overflows.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._scores import ChainBatch, ChainScores, Floats, Ints, Sequences, X, checked_scores
from lcons_decode.chains._ngrams import broken, penalties
from lcons_decode.chains._windows import ChainConstraints, lay_out

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
    found = _Lattice.of(scores, constraints, x)
    T, L = len(scores), scores.L
    if found.total == -np.inf:
        return Marginals(np.zeros((T, L)), found.total)
    probability = np.empty((T, L))
    for t, forward in enumerate(found.forward()):
        onward = found.backward[t + 1][found.grams % found.S]
        joint = forward[:, None] + found.steps[t] + onward
        probability[t] = np.exp(log_sum(joint, axis=0) - found.total)
    return Marginals(probability, found.total)


def window_probabilities(
    scores: ChainScores,
    windows: Sequence[tuple[int, Sequence[str]]],
    constraints: Iterable[Constraint] | ChainConstraints = (),
    x: X = None,
) -> Floats:
    """The probability of each window: that the labels from position `first` on are these, for pairs (first,
    labels) inside the sequence. It is 0 for all if no labelling satisfies the constraints.

    >>> scores = ChainScores([[0.0, 0.0], [np.log(3), 0.0]], labels=["A", "B"])
    >>> window_probabilities(scores, [(0, ["A", "A"]), (1, ["B"])])
    array([0.375, 0.25 ])
    """
    found = _Lattice.of(scores, constraints, x)
    probability = np.zeros(len(windows))
    if found.total == -np.inf:
        return probability
    wanted: dict[int, list[tuple[int, Ints]]] = {}
    for i, (first, labels) in enumerate(windows):
        if not 0 <= first <= first + len(labels) <= len(scores):
            raise InvalidInput(
                f"expected windows inside the {len(scores)} positions of the sequence, found {len(labels)}"
                f" labels from position {first} on; shorten it."
            )
        wanted.setdefault(first, []).append((i, scores.ids(labels)))
    for t, forward in enumerate(found.forward()):
        for i, ids in wanted.get(t, ()):
            states = forward
            for at, label in enumerate(ids.tolist(), start=t):
                states = found.onward(states, at, label)
            end = states + found.backward[t + len(ids)]
            probability[i] = np.exp(log_sum(end, axis=0) - found.total)
    return np.minimum(probability, 1.0)


@dataclass(frozen=True, eq=False)
class _Lattice:
    """All labellings of a sequence, as paths over states of the last labels: steps (T, S, L) are the gains of
    a label in a state, backward (T + 1, S) the log-sums over all continuations."""

    steps: Floats
    backward: Floats
    grams: Ints
    S: int
    V: int

    @classmethod
    def of(cls, scores: ChainScores, constraints: Iterable[Constraint] | ChainConstraints, x: X) -> _Lattice:
        compiled = ChainConstraints.of(constraints, checked_scores(scores).labels)
        if compiled.named.global_hard or compiled.named.global_soft:
            raise InvalidInput(
                "marginals accept local constraints only, because global ones do not factor over a chain;"
                " leave the global ones out."
            )
        T, L = len(scores), scores.L
        V = L + 1
        if not T:
            return cls(np.zeros((0, V, L)), np.zeros((1, V)), np.zeros((V, L), dtype=np.int64), V, V)
        steps, ending = chain_gains(scores, compiled, x)
        S = steps.shape[1]
        grams = np.arange(S)[:, None] * V + np.arange(L)
        backward = np.empty((T + 1, S))
        backward[T] = ending
        for t in range(T - 1, -1, -1):
            backward[t] = log_sum(steps[t] + backward[t + 1][grams % S], axis=1)
        return cls(steps, backward, grams, S, V)

    @property
    def total(self) -> float:
        """The log-sum over all labellings; the last state is START alone."""
        return float(self.backward[0, self.S - 1]) if len(self.steps) else 0.0

    def forward(self) -> Iterator[Floats]:
        """(S,) for each position, the log-sums over all labellings of the positions before it."""
        states = np.full(self.S, -np.inf)
        states[self.S - 1] = 0.0
        for t in range(len(self.steps)):
            yield states
            states = self._moved(states[:, None] + self.steps[t])

    def onward(self, states: Floats, t: int, label: int) -> Floats:
        """(S,) the states after one more label."""
        joint = np.full((self.S, self.V - 1), -np.inf)
        joint[:, label] = states + self.steps[t][:, label]
        return self._moved(joint)

    def _moved(self, joint: Floats) -> Floats:
        """(S,) from (S, L): the n-gram (oldest, rest, label) leads to state (rest, label), so the oldest
        label is summed out."""
        L, rest = self.V - 1, self.S // self.V
        states = np.full(self.S, -np.inf)
        states.reshape(rest, self.V)[:, :L] = log_sum(joint.reshape(self.V, rest, L), axis=0)
        return states


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


def chain_gains(scores: ChainScores, compiled: ChainConstraints, x: X) -> tuple[Floats, Floats]:
    """(T, S, L) the score of each label after each window of labels, and (S,) that of the end; -inf if a
    local constraint is broken."""
    T, L = len(scores), scores.L
    V = L + 1
    S = V**compiled.m
    if not T:
        return np.zeros((0, S, L)), np.where(np.arange(S) == S - 1, 0.0, -np.inf)
    layout = lay_out(ChainBatch.of([scores]), compiled, None if x is None else [x])
    states = np.arange(S)
    arcs = np.vstack([scores.transition, np.full((1, L), -np.inf)])[states % V]
    grams, stops = states[:, None] * V + np.arange(L), states * V + L
    gains = np.empty((T, S, L))
    for t in range(T):
        own = np.tile(scores.start, (S, 1)) if t == 0 else arcs
        total = own + scores.emission[t] + penalties(grams, t, layout.units, V)
        gains[t] = np.where(broken(grams, t, layout.lists) > 0, -np.inf, total)
    ending = np.append(scores.stop, -np.inf)[states % V] + penalties(stops, T, layout.units, V)
    return gains, np.where(broken(stops, T, layout.lists) > 0, -np.inf, ending)


def log_sum(values: Floats, axis: int) -> Floats:
    """log sum exp along an axis; -inf where all values are."""
    top = values.max(axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        summed: Floats = np.log(np.exp(values - safe).sum(axis)) + safe.squeeze(axis)
    return summed
