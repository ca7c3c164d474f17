"""Label marginals of a chain, also under local constraints: the forward-backward algorithm over states.

    p(y) proportional to exp(score(y) + soft penalties) over the labellings that break no hard local
    constraint

`window_probabilities` sums over the labellings with given labels in a window, such as those of a span.
`marginals_batch` computes the same without constraints for many sequences at a time: sums are scaled at every
step, f_t = e_t * (f_{t-1} A) / z_t, so that nothing overflows.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._scores import ChainBatch, ChainScores, Floats, Ints, Sequences, X, checked_scores
from lcons_decode.chains._lattice import Lattice, Level
from lcons_decode.chains._windows import ChainConstraints

# Sequences that are computed together; they are sorted by length, so that few steps are padding.
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
    sums = _Sums.of(scores, constraints, x)
    probability = np.zeros((len(scores), scores.L))
    for t in range(len(scores) if sums.total > -np.inf else 0):
        grams, joint = sums.joint(t, sums.prefixes[t])
        by_label = Level.of(np.logaddexp, grams % sums.V, joint + sums.onward(t, grams) - sums.total)
        probability[t, by_label.states] = np.exp(by_label.values)
    return Marginals(probability, sums.total)


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
    sums = _Sums.of(scores, constraints, x)
    probability = np.zeros(len(windows))
    if sums.total == -np.inf:
        return probability
    for i, (first, labels) in enumerate(windows):
        if not 0 <= first <= first + len(labels) <= len(scores):
            raise InvalidInput(
                f"expected windows inside the {len(scores)} positions, got {len(labels)} labels from position"
                f" {first} on."
            )
        level = sums.prefixes[first]
        for t, label in enumerate(scores.ids(labels).tolist(), start=first):
            level = sums.moved(t, level, label)
        rest = sums.rests[first + len(labels)].at(level.states) if len(scores) else 0.0
        probability[i] = np.exp(np.logaddexp.reduce(level.values + rest - sums.total))
    return np.minimum(probability, 1.0)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Log-sums over all that may follow the states of each step, and over all prefixes that lead to them; if
    no labelling satisfies the constraints, there are none."""

    lattice: Lattice
    rests: list[Level]
    prefixes: list[Level]
    total: float

    @classmethod
    def of(cls, scores: ChainScores, constraints: Iterable[Constraint] | ChainConstraints, x: X) -> _Sums:
        compiled = ChainConstraints.of(constraints, checked_scores(scores).labels)
        if compiled.named.global_hard or compiled.named.global_soft:
            raise InvalidInput(
                "marginals accept local constraints only, because global ones do not factor over a chain."
            )
        V, start = scores.L + 1, np.zeros(1)
        if not len(scores):
            lattice = Lattice([], V, V**compiled.m)
            return cls(lattice, [], [Level(np.array([lattice.first]), start)], 0.0)
        lattice = Lattice.of(scores, compiled, x)
        rests = lattice.rests(np.logaddexp)
        total = float(rests[0].values[0]) if len(rests[0].values) else -np.inf
        sums = cls(lattice, rests, [Level(np.array([lattice.first]), start)], total)
        for t in range(len(scores)):
            sums.prefixes.append(sums.moved(t, sums.prefixes[-1]))
        return sums

    @property
    def V(self) -> int:
        """The base of codes."""
        return self.lattice.V

    def joint(self, t: int, prefixes: Level) -> tuple[Ints, Floats]:
        """The n-grams at a step, and the log-sums of the prefixes that end in them."""
        step = self.lattice.steps[t]
        return step.grams, prefixes.at(step.grams // self.V) + step.gains

    def onward(self, t: int, grams: Ints) -> Floats:
        """The log-sums of all that may follow n-grams at a step."""
        return self.rests[t + 1].at(grams % self.lattice.S)

    def moved(self, t: int, prefixes: Level, label: int | None = None) -> Level:
        """The states after one more label, or after this one."""
        grams, joint = self.joint(t, prefixes)
        if label is not None:
            joint = np.where(grams % self.V == label, joint, -np.inf)
        return Level.of(np.logaddexp, grams % self.lattice.S, joint)


def marginals_batch(batch: Sequences) -> Floats:
    """(N, L) the probability of each label at each position of all sequences, packed, without constraints; 0
    in a sequence without any labelling.

    >>> marginals_batch([ChainScores([[0.0, 0.0]]), ChainScores([[np.log(3), 0.0]])])
    array([[0.5 , 0.5 ],
           [0.75, 0.25]])
    """
    batch = ChainBatch.of(batch)
    probability = np.zeros_like(batch.emission)
    lengths = np.diff(batch.offsets)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    for first in range(0, len(order), _TOGETHER):
        _sum_products(batch, order[first : first + _TOGETHER], probability)
    return probability


def _sum_products(batch: ChainBatch, chosen: Ints, target: Floats) -> None:
    """Writes the marginals of the chosen sequences to `target`; those that underflow are computed one by one,
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
    target[tokens[sure]] = probability[sure]
    for i in chosen[~whole].tolist():
        rows = slice(batch.offsets[i], batch.offsets[i + 1])
        scores = ChainScores(
            batch.emission[rows], batch.transition, batch.start, batch.stop, labels=batch.labels
        )
        target[rows] = marginals(scores).probability
