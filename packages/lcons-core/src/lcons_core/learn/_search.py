"""The choice of K, learning rate, decay and penalty, wrong labels set aside, and the final training.

Cross-validation is stratified, with all folds trained together. The distinct psi of each label are assigned
to folds at random, so no vector is in both training and test. The score of a configuration on a fold is the
weighted accuracy, on the psi of the fold, of the network learned from the other folds. The configuration with
the best mean over folds wins; of equal ones, that with the smaller K, then the first.

Wrong labels (`robust=True`) are recognised with a likelihood that expects them. If a share e of the labels is
wrong, whichever they are, a psi that is valid with probability p is labelled valid with probability

    q = e + (1 - 2 e) p

Networks that maximise the likelihood of the labels under q are not moved by an example that contradicts all
others, because it costs at most -log e (`_population.py`). But a network with more units than needed still
bends around wrong labels. So cross-validation with e = 1/10 chooses the number of units that predicts
held-out labels best, and e is then the share of them that this network does not predict. One more network is
learned from all examples with this K and e, and the examples on its wrong side are set aside. Class weights
are not used here: with them, the share of wrong labels would differ between the labels.

If plain learning leaves no example on the wrong side by more than 1/4, the clearance of `_schedule.py`,
nothing is set aside, because wrong labels do not occur only near the boundary: then robust learning has the
same result as plain learning, bit for bit.

Paper: in Appendices B, C.3, D.2 and E.2, learning rates and decays are chosen by cross-validation.
Not in the paper: hidden="auto", the smallest K whose best mean is within one standard error of the best;
penalties; robust learning (the paper's negatives are made, so their labels are never wrong).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core._errors import InvalidInput
from lcons_core._network import RectifierNetwork
from lcons_core._psi import PsiRows
from lcons_core._types import Bools, Floats, Ints
from lcons_core.learn._examples import INVALID, VALID
from lcons_core.learn._population import Member
from lcons_core.learn._schedule import CLEARANCE, FULL_BATCH, Report, Scaling, Trained, accuracy, train

# Limit on units times (rows of a batch + columns of psi), so that memory stays below about half a gigabyte.
MOST_SIDE_BY_SIDE = 2**25
# In units of the mean squared length of psi as it is trained on.
PENALTIES = (0.0, 1e-4, 3e-4, 1e-3, 3e-3)
# A penalty is chosen if there are fewer distinct psi than this per weight of the network. With fewer distinct
# psi than the least number, the accuracy on a held-out part means nothing.
FEW_PER_WEIGHT = 10
LEAST_HELD_OUT = 100
HELD_OUT_FOLDS = 5
# Above this mean squared length of psi, a tenth of the learning rate is tried, too: one step of Adam moves an
# activation by the rate times the sum of |psi|.
LONG = 100.0
# Fits with a lower training accuracy are poor; with a larger difference to the held-out one, too good.
POOR, TOO_GOOD = 0.9, 0.1
# The share of wrong labels at first, and the limits of its estimate: beyond them, the likelihood is plain, or
# the labels mean nothing.
FIRST_NOISE, LEAST_NOISE, MOST_NOISE = 0.1, 0.01, 0.4
# Restarts of each network that assumes wrong labels, in cross-validation and for the last one.
FEW_RESTARTS, NOISE_RESTARTS = 4, 8


@dataclass(frozen=True)
class Grid:
    """The values to choose from, ascending in K; without penalties, one may be chosen on a held-out part.
    `smallest`: the smallest K within one standard error of the best."""

    hidden: Sequence[int]
    learning_rate: Sequence[float]
    decay: Sequence[float]
    penalty: Sequence[float] | None
    smallest: bool = False

    def members(self) -> list[Member]:
        """All configurations; K varies slowest."""
        axes = (self.hidden, self.learning_rate, self.decay, self.penalty or (0.0,))
        return [Member(*point) for point in itertools.product(*axes)]


@dataclass(frozen=True, eq=False)
class Search:
    """Examples with weights (N, 2), and how networks are trained on them.

    class_weights: of invalid and valid examples; None: both labels have the same total weight.
    restarts: the number of restarts for K units, in the final training and in cross-validation.
    folds: of cross-validation."""

    examples: PsiRows
    class_weights: tuple[float, float] | None
    restarts: Callable[[int], int]
    fewer_restarts: Callable[[int], int]
    folds: int
    epochs: int
    patience: int
    seed: int
    report: Report | None = None

    def train(self, member: Member) -> Trained:
        """The best of all restarts of one configuration."""
        rows = weigh(self.examples, self.class_weights, [np.ones(len(self.examples), dtype=np.bool_)])
        members = [member] * self.restarts(member.hidden)
        return train(rows, members, self.epochs, self.patience, self.seed, self.report)[0]

    def cross_validate(self, members: Sequence[Member], tested: int | None = None) -> Floats:
        """(members, tested) held-out accuracies of the rounded networks; `tested`: only this many folds."""
        tested = self.folds if tested is None else tested
        dealing, training = np.random.SeedSequence(self.seed).spawn(2)
        fold_of = deal(self.examples, self.folds, np.random.default_rng(dealing))
        trained_on, tested_on = (
            weigh(self.examples, self.class_weights, [(fold_of == k) == held_out for k in range(tested)])
            for held_out in (False, True)
        )
        groups = [
            [replace(member, group=i * tested + fold, fold=fold)] * self.fewer_restarts(member.hidden)
            for i, member in enumerate(members)
            for fold in range(tested)
        ]
        scores = np.empty(len(groups))
        for chunk in self._chunks(groups):
            seed = int(np.random.default_rng(training.spawn(1)[0]).integers(2**63))
            results = train(trained_on, chunk, self.epochs, self.patience, seed, self.report)
            for group, trained in results.items():
                verdict = trained.network.accepts(tested_on.psi)
                scores[group] = accuracy(tested_on.weight[:, :, group % tested], verdict)
        return scores.reshape(len(members), tested)

    def _chunks(self, groups: Sequence[list[Member]]) -> list[list[Member]]:
        """The members of groups in chunks that are trained together within the memory limit."""
        rows = min(len(self.examples), FULL_BATCH) + self.examples.psi.d
        most = MOST_SIDE_BY_SIDE // (rows * max(group[0].hidden for group in groups))
        chunks: list[list[Member]] = [[]]
        for group in groups:
            if chunks[-1] and len(chunks[-1]) + len(group) > most:
                chunks.append([])
            chunks[-1] += group
        return chunks

    def held_out(self, members: Sequence[Member]) -> Floats:
        """The accuracy of each configuration, with one restart, on a held-out fifth."""
        once = replace(self, folds=HELD_OUT_FOLDS, fewer_restarts=lambda K: 1)
        return once.cross_validate(members, tested=1)[:, 0]

    def without_wrong_labels(self, plain: Sequence[Member]) -> PsiRows:
        """The examples without those that contradict the others; all of them if no label would be left.
        `plain` are configurations, ascending in K."""
        if not contradicts(self.train(plain[-1]).network, self.examples):
            return self.examples
        noisy = [replace(member, noise=FIRST_NOISE) for member in plain]
        search = replace(
            self,
            class_weights=(1.0, 1.0),
            restarts=lambda K: NOISE_RESTARTS,
            fewer_restarts=lambda K: FEW_RESTARTS,
        )
        scores = search.cross_validate(noisy)
        best = choose(noisy, scores)
        noise = float(np.clip(1.0 - scores[best].mean(), LEAST_NOISE, MOST_NOISE))
        accepted = search.train(replace(noisy[best], noise=noise)).accepted
        agrees = np.stack([~accepted, accepted], axis=1) & (self.examples.weight > 0)
        if not agrees.any(0).all():
            return self.examples
        rows = np.flatnonzero(agrees.any(1))
        return PsiRows.of(self.examples.psi.take(rows), weight=(self.examples.weight * agrees)[rows])


@dataclass(frozen=True, eq=False)
class Outcome:
    """The chosen configuration, its network, the scores of cross-validation, the accuracy on held-out
    examples, a warning about the fit, and the examples that were learned from."""

    configuration: dict[str, Any]
    trained: Trained
    results: dict[str, Any] | None
    held_out: float | None
    warning: str | None
    examples: PsiRows


def learn(search: Search, grid: Grid, robust: Sequence[int]) -> Outcome:
    """Sets examples aside, chooses the penalty, then all else, and trains. `robust`: the K of networks that
    recognise wrong labels; none: no example is set aside. Without invalid examples nothing is rejected."""
    if not search.examples.weight[:, INVALID].any():
        everything = RectifierNetwork(np.zeros((1, search.examples.psi.d)), [0.0])
        trained = Trained(everything, np.ones(len(search.examples), dtype=np.bool_), 1.0)
        return Outcome(_described(Member(1, 0.0, 0.0)), trained, None, None, None, search.examples)
    if robust:
        plain = Grid(robust, grid.learning_rate[:1], grid.decay[:1], None).members()
        search = replace(search, examples=search.without_wrong_labels(plain))
    examples, held_out, results = search.examples, None, None
    automatic = grid.penalty is None
    divisible = len(examples) >= LEAST_HELD_OUT and rarer(examples) >= HELD_OUT_FOLDS
    weights = grid.hidden[-1] * (examples.psi.d + 1)
    if automatic and divisible and len(examples) < FEW_PER_WEIGHT * weights:
        rates = list(grid.learning_rate[:1])
        if len(grid.learning_rate) == 1 and _mean_square(examples) > LONG:
            rates.append(rates[0] / 10)
        trials = Grid(grid.hidden[-1:], rates, grid.decay[:1], PENALTIES).members()
        scores = search.held_out(trials)
        best = trials[int(np.argmax(scores))]
        held_out = float(scores.max())
        rates = [best.learning_rate] if len(grid.learning_rate) == 1 else list(grid.learning_rate)
        grid = replace(grid, learning_rate=rates, penalty=[best.penalty])
    members = grid.members()
    winner = 0
    if len(members) > 1:
        scores = search.cross_validate(members)
        winner = choose(members, scores, grid.smallest)
        held_out = float(scores[winner].mean())
        params = [_described(member) for member in members]
        results = {"params": params, "split_test_score": scores, "mean_test_score": scores.mean(1)}
    trained = search.train(members[winner])
    if automatic and held_out is None and trained.accuracy < POOR and divisible:
        held_out = float(search.held_out([members[winner]])[0])
    warning = _warning(trained.accuracy, held_out) if automatic else None
    return Outcome(_described(members[winner]), trained, results, held_out, warning, examples)


def _warning(training: float, held_out: float | None) -> str | None:
    """One sentence with both accuracies if a fit is poor or too good."""
    beside = "" if held_out is None else f" and {held_out:.1%} of held-out ones"
    if training < POOR:
        return (
            f"the network is right on only {training:.1%} of the training examples{beside}; increase the"
            " argument `hidden`, use other columns, or pass `robust=True` if some labels are wrong."
        )
    if held_out is not None and training - held_out > TOO_GOOD:
        return (
            f"the network is right on {training:.1%} of the training examples, but on only {held_out:.1%} of"
            " held-out ones; use more examples or fewer columns, or reduce the argument `hidden`."
        )
    return None


def choose(members: Sequence[Member], scores: Floats, smallest: bool = False) -> int:
    """The index of the best mean, or the best one of the smallest K within one standard error of it."""
    means = scores.mean(1)
    ranked = sorted(range(len(members)), key=lambda i: (-means[i], members[i].hidden, i))
    best = ranked[0]
    if not smallest:
        return best
    error = scores[best].std(ddof=1) / math.sqrt(scores.shape[1])
    near = [i for i in ranked if means[i] >= means[best] - error]
    return min(near, key=lambda i: members[i].hidden)


def contradicts(network: RectifierNetwork, examples: PsiRows) -> bool:
    """Whether some example is on the wrong side of the network by more than the clearance."""
    margin = network.margin(examples.psi)
    valid, invalid = (examples.weight[:, label] > 0 for label in (VALID, INVALID))
    return bool((valid & (margin < -CLEARANCE)).any() or (invalid & (margin > CLEARANCE)).any())


def rarer(examples: PsiRows) -> int:
    """The number of distinct psi of the rarer label."""
    valid = int(_mostly_valid(examples).sum())
    return min(valid, len(examples) - valid)


def deal(examples: PsiRows, folds: int, draw: np.random.Generator) -> Ints:
    """The fold of each distinct psi, even for each label (a psi with both labels counts as the heavier)."""
    fewest = rarer(examples)
    if fewest < folds:
        raise InvalidInput(f"cv={folds} needs {folds} distinct vectors of each label, found {fewest} of one.")
    fold_of = np.empty(len(examples), dtype=np.int64)
    for label in (False, True):
        rows = np.flatnonzero(_mostly_valid(examples) == label)
        fold_of[draw.permutation(rows)] = np.arange(len(rows)) % folds
    return fold_of


def weigh(examples: PsiRows, class_weights: tuple[float, float] | None, folds: Sequence[Bools]) -> PsiRows:
    """The examples with weights (N, 2, folds) that sum to 1 in each fold, and are 0 for rows outside."""
    valid, invalid = (
        np.stack([np.ascontiguousarray(examples.weight[:, label]) * rows for rows in folds], axis=1)
        for label in (VALID, INVALID)
    )
    if class_weights is None:
        valid = valid / np.where(valid.sum(0) > 0, valid.sum(0), 1.0)
        invalid = invalid / np.where(invalid.sum(0) > 0, invalid.sum(0), 1.0)
    else:
        invalid, valid = class_weights[0] * invalid, class_weights[1] * valid
    total = valid.sum(0) + invalid.sum(0)
    return PsiRows.of(examples.psi, weight=np.stack([invalid / total, valid / total], axis=1))


def _mostly_valid(examples: PsiRows) -> Bools:
    mostly: Bools = examples.weight[:, VALID] > examples.weight[:, INVALID]
    return mostly


def _mean_square(examples: PsiRows) -> float:
    """The mean squared length of psi as it is trained on."""
    return float((Scaling.of(examples.psi).apply(examples.psi).values ** 2).sum() / len(examples))


def _described(member: Member) -> dict[str, Any]:
    """The configuration as plain data; the penalty only if there is one."""
    plain = {"hidden": member.hidden, "learning_rate": member.learning_rate, "decay": member.decay}
    return {**plain, "penalty": member.penalty} if member.penalty else plain
