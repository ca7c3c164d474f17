"""The schedule of training: when members are checked, slowed down, stopped and chosen.

Members compete in groups (the restarts of one configuration on one fold). At each check, in this order:

- a group ends if a member is **clear**: every example has a margin of at least 1/4 on its right side, and
  the network rounded to multiples of 2^-20 makes no error either;
- if a member stops improving, its rate is multiplied by 3/10; after three such reductions it ends;
- after 200, 400, 800, ... steps the half of a group with the larger loss ends.

The result of a group is its member of best accuracy, rounded; of equal ones, that with the smaller loss, then
the first. There is no loss level that stops training: a margin is at most 1, so the loss of a valid example
is never near zero. Members with a penalty, or that assume wrong labels (`noise`), are never clear, and the
smallest loss, penalty included, is best.

All random numbers come from one seed, and sums have a fixed order, so the same seed always leads to the same
bits on one machine.

Scaling. Columns of psi are centred and scaled for training, and the learned weights are folded back exactly:

    psi'_j = psi_j / s_j - m_j,    s_j a power of two, m_j a whole number

    W' psi' + b' = W psi + b   for   W_kj = W'_kj / s_j,   b_k = b'_k - sum_j W'_kj m_j

W' and b' are rounded to multiples of 2^-q of magnitude at most 2^10, with q = 20. So W is exact in float64,
and so is b if sum_j |W'_kj m_j| + |b'_k| <= 2^(53-q); otherwise q is smaller, until it is. The folded network
is thus the network of psi' to the last bit, and it is the one that is scored, saved and converted.

- **Plain** columns hold whole numbers of magnitude at most 2^8 whose smallest magnitude is at most four times
  their range: 0/1 columns and counts. They are divided by the power of two that makes them at most 1 (by 1 if
  they are 0/1), and the weights of psi itself are rounded to multiples of 2^-20.
- All other columns are centred at a whole multiple of s near their median, with s near the distance of their
  quartiles divided by 1.35, which is the standard deviation of normal data; one outlier changes neither.
  Columns of which at least half are zeros stay sparse: m = 0, and the quartiles are of the other values.

Not in the paper: everything except Adam (`_population.py`). The paper trains single networks for 1000 epochs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch

from lcons_core._arithmetic import DYADIC_BITS, round_dyadic
from lcons_core._network import RectifierNetwork
from lcons_core._psi import PsiRows, SparsePsi
from lcons_core._types import Bools, Floats
from lcons_core.learn._population import Evaluation, Member, Population, make_batches

CLEARANCE = 0.25
SLOW_DOWN = 0.3
SLOW_DOWNS = 3
FIRST_HALVING = 200
STEPS_A_CHECK = 10
FULL_BATCH = 2048
LARGE_BATCH = 1024
# The largest size of an array of activations in an evaluation.
EVALUATION_ENTRIES = 2**21
# Below this number of multiplications per step, threads cost more than they save.
THREADED_WORK = 2**20


# Called at each check with the epoch, the number of epochs, the loss and the accuracy of the best member so
# far, and the number of members that are still in training.
Report = Callable[[int, int, float, float, int], None]


@dataclass(frozen=True, eq=False)
class Trained:
    """The best network of a group, rounded, its verdict on each example, and its accuracy on the weights of
    the group."""

    network: RectifierNetwork
    accepted: Bools
    accuracy: float


def train(
    examples: PsiRows,
    members: Sequence[Member],
    epochs: int,
    patience: int,
    seed: int,
    report: Report | None = None,
) -> dict[int, Trained]:
    """The best network of each group; examples have weights (N, 2, folds) that sum to 1 in each fold, and
    `patience` counts checks, one every 10 steps or one per epoch."""
    draw = np.random.default_rng(seed)
    course = _Course(examples, members, patience, draw)
    number = len(course.data)
    check_every = math.ceil(STEPS_A_CHECK / number)
    with _threads(course.work):
        for epoch in range(1, epochs + 1):
            for i in draw.permutation(number).tolist() if number > 1 else (0,):
                course.population.step(course.data[i], float(number))
            if epoch % check_every and epoch < epochs:
                continue
            course.check()
            if report is not None:
                best = max(range(len(members)), key=course.merit)
                figures = float(course.loss[best]), float(course.accuracy[best])
                report(epoch, epochs, *figures, len(course.alive))
            if not len(course.alive):
                break
    return course.results()


def accuracy(weight: Floats, accepted: Bools) -> float:
    """The share, by weights (N, 2), of the examples for which a verdict (N,) on their psi is right."""
    invalid, valid = np.ascontiguousarray(weight.T)
    # Computed from the errors, so that no errors means exactly 1.0 for all weights.
    wrong = valid[~accepted].sum() + invalid[accepted].sum()
    return float(1.0 - wrong / (valid.sum() + invalid.sum()))


class _Course:
    """The members in training, their records, and the networks of the members that have ended."""

    def __init__(
        self, examples: PsiRows, members: Sequence[Member], patience: int, draw: np.random.Generator
    ) -> None:
        self.examples, self.members, self.patience = examples, members, patience
        self.scaling = Scaling.of(examples.psi)
        psi = self.scaling.apply(examples.psi)
        size = FULL_BATCH if len(psi) <= FULL_BATCH else LARGE_BATCH
        self.data = make_batches(psi, examples.weight, size, draw)
        norm = math.sqrt(max(float((psi.values**2).sum()) / len(psi), 1.0))
        # A penalty in these units has the same effect if all psi are multiplied by a number.
        scaled = [replace(member, penalty=norm**2 * member.penalty) for member in members]
        generator = torch.Generator().manual_seed(int(draw.integers(2**63)))
        self.population = Population(scaled, psi.d, 0.5 / norm, generator)
        units = self.population.theta.shape[1]
        self.work = (psi.indices.size + len(psi)) // len(self.data) * units
        # Fewer and larger pieces than the batches of training, because there is no step between them.
        pieces = make_batches(psi, examples.weight, max(size, EVALUATION_ENTRIES // units))
        self.pieces = pieces if len(pieces) < len(self.data) else self.data
        self.halving = FIRST_HALVING
        self.group = np.array([member.group for member in members])
        self.by_loss = np.array([member.penalty > 0 or member.noise > 0 for member in members])
        self.alive = np.arange(len(members))
        self.accuracy = np.full(len(members), -1.0)
        self.loss, self.watched = (np.full(len(members), np.inf) for _ in range(2))
        self.stale, self.slowed = (np.zeros(len(members), dtype=np.int64) for _ in range(2))
        self.weights: dict[int, tuple[Floats, Floats]] = {}
        self.ended: dict[int, Trained] = {}

    def check(self) -> None:
        """Evaluates every member; stops, slows down or restarts some."""
        now = self.population.evaluate(self.pieces)
        clear = (now.clearance >= CLEARANCE) & ~self.by_loss[self.alive]
        self._record(now, clear)
        stays = np.ones(len(self.alive), dtype=np.bool_)
        for position in np.flatnonzero(clear).tolist():
            stays &= ~self._ends_group(position)
        stays &= ~self._plateaued()
        if self.population.steps >= self.halving:
            self.halving *= 2
            stays &= ~self._slower_half(now)
        self.population.revive(now, (self.slowed[self.alive] == 0) & stays)
        self._drop(stays)

    def results(self) -> dict[int, Trained]:
        """The best network of each group after rounding."""
        self._drop(np.zeros(len(self.alive), dtype=np.bool_))
        return {
            group: self.ended.get(group) or self._best_rounded(np.flatnonzero(self.group == group).tolist())
            for group in np.unique(self.group).tolist()
        }

    def merit(self, i: int) -> tuple[float, float, int]:
        """The key by which the best member is chosen."""
        accuracy = 0.0 if self.by_loss[i] else float(self.accuracy[i])
        return accuracy, -float(self.loss[i]), -i

    def _record(self, now: Evaluation, clear: Bools) -> None:
        ids = self.alive
        better = now.accuracy > self.accuracy[ids]
        lower = now.loss < self.loss[ids]
        improved = better | ((now.accuracy == self.accuracy[ids]) & lower)
        improved = np.where(self.by_loss[ids], lower, improved) | clear
        self.accuracy[ids[improved]] = now.accuracy[improved]
        self.loss[ids[improved]] = now.loss[improved]
        self.population.remember(improved)
        moving = (better & ~self.by_loss[ids]) | (now.loss < 0.999 * self.watched[ids])
        self.watched[ids] = np.minimum(self.watched[ids], now.loss)
        self.stale[ids] = np.where(moving, 0, self.stale[ids] + 1)

    def _ends_group(self, position: int) -> Bools:
        """The members that end because this one is clear also after rounding; none if it is not."""
        member = self.members[self.alive[position]]
        trained = self._rounded(*self.population.snapshot(position), member.fold)
        if trained.accuracy < 1.0 or member.group in self.ended:
            return np.zeros(len(self.alive), dtype=np.bool_)
        self.ended[member.group] = trained
        return self.group[self.alive] == member.group

    def _plateaued(self) -> Bools:
        waiting = self.stale[self.alive] >= self.patience
        ended = waiting & (self.slowed[self.alive] >= SLOW_DOWNS)
        slower = waiting & ~ended
        if slower.any():
            self.population.slow_down(slower, SLOW_DOWN)
            self.slowed[self.alive[slower]] += 1
            self.stale[self.alive[slower]] = 0
        return ended

    def _slower_half(self, now: Evaluation) -> Bools:
        ends = np.zeros(len(self.alive), dtype=np.bool_)
        groups = self.group[self.alive]
        for group in np.unique(groups):
            rivals = np.flatnonzero(groups == group)
            ranked = rivals[np.argsort(now.loss[rivals], kind="stable")]
            ends[ranked[(len(ranked) + 1) // 2 :]] = True
        return ends

    def _drop(self, stays: Bools) -> None:
        if stays.all():
            return
        for position in np.flatnonzero(~stays).tolist():
            self.weights[int(self.alive[position])] = self.population.snapshot(position)
        self.alive = self.alive[stays]
        self.population.keep(stays)

    def _best_rounded(self, ids: Sequence[int]) -> Trained:
        """The best network after rounding, which can move a point across the boundary and change ranks."""
        first, *others = sorted(ids, key=self.merit, reverse=True)
        best = self._rounded(*self.weights[first], self.members[first].fold)
        for i in others:
            if self.by_loss[i] or best.accuracy >= self.accuracy[i] - 1e-6:
                break
            rival = self._rounded(*self.weights[i], self.members[i].fold)
            best = rival if rival.accuracy > best.accuracy else best
        return best

    def _rounded(self, W: Floats, b: Floats, fold: int) -> Trained:
        network = self.scaling.fold_back(W, b)
        accepted = network.accepts(self.examples.psi)
        return Trained(network, accepted, accuracy(self.examples.weight[:, :, fold], accepted))


@contextmanager
def _threads(work: int) -> Iterator[None]:
    """Uses one torch thread for small steps, and restores the number of threads at the end."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if work < THREADED_WORK else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


LARGEST_COUNT = 2.0**8
# A column of whole numbers is near zero if its smallest magnitude is at most this many times its range.
NEAR = 4.0
QUARTILES_OF_NORMAL = 1.35
# The largest |m|, and limits on log2(s), so that W and b are exact and below the limit of 2^200.
FARTHEST = 2.0**30
EXPONENTS = (-160.0, 190.0)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Scales s (d,), whole centres m (d,), and which columns are plain (d,)."""

    scale: Floats
    centre: Floats
    plain: Bools

    @classmethod
    def of(cls, psi: SparsePsi) -> Scaling:
        """The scaling of these rows, which does not depend on their order.

        >>> psi = SparsePsi.from_dense(np.array([[1.0, 1e5], [0.0, 1e5 + 16], [1.0, 1e5 + 32]]))
        >>> scaling = Scaling.of(psi)
        >>> scaling.plain, scaling.scale, scaling.centre
        (array([ True, False]), array([ 1., 16.]), array([   0., 6251.]))
        """
        low, high, largest, whole = _ranges(psi)
        least = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
        plain = whole & (largest <= LARGEST_COUNT) & ((least <= NEAR * (high - low)) | (low == high))
        scale = np.exp2(np.ceil(np.log2(np.maximum(largest, 1.0))))
        centre = np.zeros(psi.d)
        by_column = np.argsort(psi.indices, kind="stable")
        start = np.searchsorted(psi.indices[by_column], np.arange(psi.d + 1))
        for j in np.flatnonzero(~plain):
            values = psi.values[by_column[start[j] : start[j + 1]]]
            scale[j], centre[j] = _standard(values, len(psi) - len(values))
        return cls(scale, centre, plain)

    def apply(self, psi: SparsePsi) -> SparsePsi:
        """psi'; the same object if nothing changes."""
        if (self.scale == 1.0).all() and not self.centre.any():
            return psi
        scaled = SparsePsi(psi.indptr, psi.indices, psi.values / self.scale[psi.indices], psi.d)
        return SparsePsi.from_dense(scaled.dense() - self.centre) if self.centre.any() else scaled

    def fold_back(self, W: Floats, b: Floats) -> RectifierNetwork:
        """The network of psi that equals the network of psi' with W (K, d) and b (K,) after rounding."""
        plain = round_dyadic(W / np.where(self.plain, self.scale, 1.0))
        if self.plain.all():
            return RectifierNetwork(plain, round_dyadic(b))
        for bits in range(DYADIC_BITS, -1, -1):
            rounded, bias = (np.rint(np.ldexp(part, bits)) for part in (W, b))
            shifts = rounded * self.centre
            if (np.abs(shifts).sum(1) + np.abs(bias)).max() <= 2.0**53:
                break
        # Checks the magnitudes of W' and b', too.
        rounded, bias = (round_dyadic(np.ldexp(part, -bits)) for part in (rounded, bias))
        folded = bias - np.ldexp(shifts.sum(1), -bits)
        return RectifierNetwork(np.where(self.plain, plain, rounded / self.scale) + 0.0, folded + 0.0)


def _ranges(psi: SparsePsi) -> tuple[Floats, Floats, Floats, Bools]:
    """Per column: smallest and largest value (zeros included), largest magnitude, whether all are whole."""
    filled = np.bincount(psi.indices, minlength=psi.d) == len(psi)
    low, high = np.where(filled, np.inf, 0.0), np.where(filled, -np.inf, 0.0)
    np.minimum.at(low, psi.indices, psi.values)
    np.maximum.at(high, psi.indices, psi.values)
    whole = np.ones(psi.d, dtype=np.bool_)
    whole[psi.indices[psi.values != np.rint(psi.values)]] = False
    return low, high, np.maximum(np.abs(low), np.abs(high)), whole


def _standard(values: Floats, zeros: int) -> tuple[float, float]:
    """(s, m) of a column with these nonzero values and so many zeros."""
    sparse = zeros >= len(values)
    if not sparse and zeros:
        values = np.concatenate((values, np.zeros(zeros)))
    first, middle, third = np.quantile(values, (0.25, 0.5, 0.75))
    if sparse:
        first, middle = min(first, 0.0), 0.0
    spread = (third - first) / QUARTILES_OF_NORMAL or values.std() or 1.0
    spread = max(spread, abs(middle) / FARTHEST)
    scale = float(np.exp2(np.clip(np.rint(np.log2(spread)), *EXPONENTS)))
    return scale, float(np.rint(middle / scale))
