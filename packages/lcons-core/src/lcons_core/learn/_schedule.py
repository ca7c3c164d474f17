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

Columns of psi are scaled during training, real-valued ones are also centred, and W and b are folded back at
the end, which is exact (`_scale.py`). All random numbers come from one seed, and sums have a fixed order,
so the same seed always leads to the same bits on one machine.

Not in the paper: everything except Adam (`_population.py`). The paper trains single networks for 1000 epochs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from lcons_core._network import RectifierNetwork
from lcons_core._psi import PsiRows
from lcons_core._types import Floats
from lcons_core.learn._inputs import INVALID, VALID, accuracy
from lcons_core.learn._population import Batch, Evaluation, Member, Population, WeightedBatch, make_batches
from lcons_core.learn._scale import Scaling
from lcons_core.learn._settings import Progress

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


@dataclass(frozen=True)
class Settings:
    """The settings of all members; `patience` counts checks, one every 10 steps or one per epoch."""

    epochs: int
    temperature: float
    patience: int
    batch_size: int | None = None


@dataclass(frozen=True)
class Trained:
    """The best network of a group, rounded, and its accuracy after rounding on the weights of the group."""

    network: RectifierNetwork
    accuracy: float


def train(
    examples: PsiRows,
    members: Sequence[Member],
    settings: Settings,
    seed: int,
    progress: Callable[[Progress], None] | None = None,
) -> dict[int, Trained]:
    """The best network of each group; examples have weights (N, 2, folds) that sum to 1 in each fold."""
    draw = np.random.default_rng(seed)
    course = _Course(examples, members, settings, draw)
    number = len(course.data)
    check_every = math.ceil(STEPS_A_CHECK / number)
    with _threads(course.work):
        for epoch in range(1, settings.epochs + 1):
            for i in draw.permutation(number).tolist() if number > 1 else (0,):
                course.population.step(course.data[i], float(number))
            if epoch % check_every and epoch < settings.epochs:
                continue
            remaining = course.check()
            if progress is not None:
                loss, accuracy = course.leader()
                progress(Progress(epoch, settings.epochs, loss, accuracy, remaining))
            if not remaining:
                break
    return course.results()


class _Course:
    """The members in training, their records, and the networks of the members that have ended."""

    def __init__(
        self,
        examples: PsiRows,
        members: Sequence[Member],
        settings: Settings,
        draw: np.random.Generator,
    ) -> None:
        self.examples, self.members, self.settings = examples, members, settings
        self.scaling = Scaling.of(examples.psi)
        psi = self.scaling.apply(examples.psi)
        size = settings.batch_size or (FULL_BATCH if len(psi) <= FULL_BATCH else LARGE_BATCH)
        self.data = _weighted(make_batches(psi, size, draw), examples)
        norm = math.sqrt(max(float((psi.values**2).sum()) / len(psi), 1.0))
        # A penalty in these units has the same effect if all psi are multiplied by a number.
        members = [replace(one, penalty=norm**2 * one.penalty) if one.penalty else one for one in members]
        generator = torch.Generator().manual_seed(int(draw.integers(2**63)))
        self.population = Population(members, psi.d, 0.5 / norm, settings.temperature, generator)
        units = self.population.theta.shape[1]
        self.work = (psi.indices.size + len(psi)) // len(self.data) * units
        # Fewer and larger pieces than the batches of training, because there is no step between them.
        pieces = make_batches(psi, max(size, EVALUATION_ENTRIES // units))
        self.pieces = _weighted(pieces, examples) if len(pieces) < len(self.data) else self.data
        self.halving = FIRST_HALVING
        self.by_loss = np.array([member.penalty > 0 or member.noise > 0 for member in members])
        self.alive = np.arange(len(members))
        self.accuracy = np.full(len(members), -1.0)
        self.loss = np.full(len(members), np.inf)
        self.watched = np.full(len(members), np.inf)
        self.stale = np.zeros(len(members), dtype=np.int64)
        self.slowed = np.zeros(len(members), dtype=np.int64)
        self.weights: dict[int, tuple[Floats, Floats]] = {}
        self.ended: dict[int, Trained] = {}

    def check(self) -> int:
        """Evaluates and updates every member; returns the number of members that continue."""
        found = self.population.evaluate(self.pieces)
        clear = (found.clearance >= CLEARANCE) & ~self.by_loss[self.alive]
        self._record(found, clear)
        stays = np.ones(len(self.alive), dtype=np.bool_)
        for position in np.flatnonzero(clear):
            stays &= ~self._ends_group(int(position))
        stays &= ~self._plateaued()
        if self.population.steps >= self.halving:
            self.halving *= 2
            stays &= ~self._slower_half(found)
        fresh = self.slowed[self.alive] == 0
        self.population.revive(found, fresh & stays)
        self._drop(stays)
        return len(self.alive)

    def leader(self) -> tuple[float, float]:
        """The loss and accuracy of the best member so far."""
        best = max(range(len(self.members)), key=self._merit)
        return float(self.loss[best]), float(self.accuracy[best])

    def results(self) -> dict[int, Trained]:
        """The best network of each group after rounding."""
        self._drop(np.zeros(len(self.alive), dtype=np.bool_))
        groups: dict[int, list[int]] = {}
        for i, member in enumerate(self.members):
            groups.setdefault(member.group, []).append(i)
        return {group: self.ended.get(group) or self._best_rounded(ids) for group, ids in groups.items()}

    def _record(self, found: Evaluation, clear: NDArray[np.bool_]) -> None:
        ids = self.alive
        better = found.accuracy > self.accuracy[ids]
        lower = found.loss < self.loss[ids]
        improved = better | ((found.accuracy == self.accuracy[ids]) & lower)
        improved = np.where(self.by_loss[ids], lower, improved)
        improved |= clear
        self.accuracy[ids[improved]] = found.accuracy[improved]
        self.loss[ids[improved]] = found.loss[improved]
        self.population.remember(improved)
        better &= ~self.by_loss[ids]
        moving = better | (found.loss < 0.999 * self.watched[ids])
        self.watched[ids] = np.minimum(self.watched[ids], found.loss)
        self.stale[ids] = np.where(moving, 0, self.stale[ids] + 1)

    def _ends_group(self, position: int) -> NDArray[np.bool_]:
        """The members that end because this one is clear also after rounding; none if it is not."""
        member = self.members[int(self.alive[position])]
        network = self.scaling.fold_back(*self.population.snapshot(position))
        accuracy = self._accuracy(network, member.fold)
        if accuracy < 1.0 or member.group in self.ended:
            return np.zeros(len(self.alive), dtype=np.bool_)
        self.ended[member.group] = Trained(network, accuracy)
        return np.array([self.members[i].group == member.group for i in self.alive.tolist()])

    def _plateaued(self) -> NDArray[np.bool_]:
        waiting = self.stale[self.alive] >= self.settings.patience
        ended = waiting & (self.slowed[self.alive] >= SLOW_DOWNS)
        slower = waiting & ~ended
        if slower.any():
            self.population.slow_down(slower, SLOW_DOWN)
            self.slowed[self.alive[slower]] += 1
            self.stale[self.alive[slower]] = 0
        return ended

    def _slower_half(self, found: Evaluation) -> NDArray[np.bool_]:
        ends = np.zeros(len(self.alive), dtype=np.bool_)
        groups = np.array([self.members[i].group for i in self.alive.tolist()])
        for group in np.unique(groups):
            rivals = np.flatnonzero(groups == group)
            ranked = rivals[np.argsort(found.loss[rivals], kind="stable")]
            ends[ranked[(len(ranked) + 1) // 2 :]] = True
        return ends

    def _drop(self, stays: NDArray[np.bool_]) -> None:
        if stays.all():
            return
        for position in np.flatnonzero(~stays):
            self.weights[int(self.alive[position])] = self.population.snapshot(int(position))
        self.alive = self.alive[stays]
        self.population.keep(stays)

    def _best_rounded(self, ids: Sequence[int]) -> Trained:
        """The best network after rounding, which can move a point across the boundary and change ranks."""
        best: Trained | None = None
        for i in sorted(ids, key=self._merit, reverse=True):
            if best is not None and (self.by_loss[i] or best.accuracy >= self.accuracy[i] - 1e-6):
                break
            network = self.scaling.fold_back(*self.weights[i])
            candidate = Trained(network, self._accuracy(network, self.members[i].fold))
            if best is None or candidate.accuracy > best.accuracy:
                best = candidate
        assert best is not None
        return best

    def _merit(self, i: int) -> tuple[float, float, int]:
        accuracy = 0.0 if self.by_loss[i] else float(self.accuracy[i])
        return accuracy, -float(self.loss[i]), -i

    def _accuracy(self, network: RectifierNetwork, fold: int) -> float:
        return accuracy(self.examples.weight[:, :, fold], network.accepts(self.examples.psi))


def _weighted(batches: Sequence[Batch], examples: PsiRows) -> list[WeightedBatch]:
    valid, invalid = (
        torch.from_numpy(np.ascontiguousarray(examples.weight[:, label], dtype=np.float32))
        for label in (VALID, INVALID)
    )
    return [WeightedBatch(batch, valid[batch.rows], invalid[batch.rows]) for batch in batches]


@contextmanager
def _threads(work: int) -> Iterator[None]:
    """Uses one torch thread for small steps, and restores the number of threads at the end."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if work < THREADED_WORK else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
