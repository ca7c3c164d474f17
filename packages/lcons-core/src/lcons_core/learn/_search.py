"""The search for K, learning rate and decay by stratified cross-validation, with all folds trained together.

The distinct psi of each label are assigned to folds at random, so no vector is in both training and test. The
score of a configuration on a fold is the weighted accuracy, on the psi of the fold, of the network learned
from the other folds. The configuration with the best mean over folds wins; of equal ones, that with the
smaller K, then the first.

Paper: in Appendices B, C.3, D.2 and E.2, learning rates and decays are chosen by cross-validation.
Not in the paper: hidden="auto", the smallest K whose best mean is within one standard error of the best.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcons_core._errors import InvalidInput
from lcons_core._psi import PsiRows
from lcons_core._types import Floats, Ints
from lcons_core.learn._inputs import INVALID, VALID, accuracy
from lcons_core.learn._population import Member
from lcons_core.learn._schedule import Settings, Trained, train
from lcons_core.learn._settings import Progress

# Limit on units times (rows of a batch + columns of psi), so that memory stays below about half a gigabyte.
MOST_SIDE_BY_SIDE = 2**25


@dataclass(frozen=True)
class Configuration:
    """One point of the grid; the penalty is in units of the mean squared length of scaled psi; `noise` is the
    share of labels that is assumed to be wrong (`_population.py`)."""

    hidden: int
    learning_rate: float
    decay: float
    penalty: float = 0.0
    noise: float = 0.0

    def members(self, group: int, restarts: int, fold: int = 0) -> list[Member]:
        """The restarts of this configuration as one group."""
        one = Member(group, self.hidden, self.learning_rate, self.decay, fold, self.penalty, self.noise)
        return [one] * restarts


def grid(
    hidden: Sequence[int],
    learning_rate: Sequence[float],
    decay: Sequence[float],
    penalty: Sequence[float] = (0.0,),
) -> list[Configuration]:
    """All configurations; K varies slowest."""
    return [Configuration(*point) for point in itertools.product(hidden, learning_rate, decay, penalty)]


def weigh(examples: PsiRows, class_weights: tuple[float, float] | None) -> PsiRows:
    """Examples of total weight 1, with the given (invalid, valid) weights, or None for equal totals."""
    return table([np.ones(len(examples), dtype=np.bool_)], examples, class_weights)


def cross_validate(
    examples: PsiRows,
    configurations: Sequence[Configuration],
    restarts: int | Callable[[int], int],
    folds: int,
    class_weights: tuple[float, float] | None,
    settings: Settings,
    seed: int,
    progress: Callable[[Progress], None] | None = None,
    tested: int | None = None,
) -> Floats:
    """(configurations, tested) held-out accuracies of the rounded networks; `tested`: only so many folds."""
    tested = folds if tested is None else tested
    dealing, training = np.random.SeedSequence(seed).spawn(2)
    fold_of = deal(examples, folds, np.random.default_rng(dealing))
    trained_on, tested_on = (
        table([(fold_of == fold) == held_out for fold in range(tested)], examples, class_weights)
        for held_out in (False, True)
    )
    scores = np.empty((len(configurations), tested))
    groups = list(itertools.product(range(len(configurations)), range(tested)))
    rows = min(len(examples), settings.batch_size or 2048) + examples.psi.d
    for chunk in _chunks(groups, configurations, restarts, rows):
        members = [
            member
            for group in chunk
            for member in configurations[groups[group][0]].members(
                group, _restarts(restarts, configurations[groups[group][0]]), groups[group][1]
            )
        ]
        chunk_seed = int(np.random.default_rng(training.spawn(1)[0]).integers(2**63))
        found: dict[int, Trained] = train(trained_on, members, settings, chunk_seed, progress)
        for group, result in found.items():
            configuration, fold = groups[group]
            verdict = result.network.accepts(tested_on.psi)
            scores[configuration, fold] = accuracy(tested_on.weight[:, :, fold], verdict)
    return scores


def choose(configurations: Sequence[Configuration], scores: Floats, smallest: bool) -> int:
    """The index of the best mean, or the best one of the smallest K within one standard error of it."""
    means = scores.mean(1)
    ranked = sorted(range(len(configurations)), key=lambda i: (-means[i], configurations[i].hidden, i))
    best = ranked[0]
    if not smallest:
        return best
    error = scores[best].std(ddof=1) / math.sqrt(scores.shape[1])
    near = [i for i in ranked if means[i] >= means[best] - error]
    least = min(configurations[i].hidden for i in near)
    return next(i for i in near if configurations[i].hidden == least)


def rarer(examples: PsiRows) -> int:
    """The number of distinct psi of the rarer label."""
    valid = int(_mostly_valid(examples).sum())
    return min(valid, len(examples) - valid)


def _mostly_valid(examples: PsiRows) -> NDArray[np.bool_]:
    return examples.weight[:, VALID] > examples.weight[:, INVALID]


def deal(examples: PsiRows, folds: int, draw: np.random.Generator) -> Ints:
    """The fold of each distinct psi, even for each label (a psi with both labels counts as the heavier)."""
    mostly_valid = _mostly_valid(examples)
    fewest = rarer(examples)
    if fewest < folds:
        raise InvalidInput(
            f"cv={folds} needs at least {folds} distinct vectors of each label, found {fewest} of one;"
            " use fewer folds, add examples, or pass single values of hidden, learning_rate and decay."
        )
    fold_of = np.empty(len(examples), dtype=np.int64)
    for label in (False, True):
        rows = np.flatnonzero(mostly_valid == label)
        fold_of[draw.permutation(rows)] = np.arange(len(rows)) % folds
    return fold_of


def table(
    folds: Sequence[NDArray[np.bool_]], examples: PsiRows, class_weights: tuple[float, float] | None
) -> PsiRows:
    """The examples with weights (N, 2, folds), which are 0 for rows that are not in the fold."""
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


def _restarts(restarts: int | Callable[[int], int], configuration: Configuration) -> int:
    return restarts if isinstance(restarts, int) else restarts(configuration.hidden)


def _chunks(
    groups: Sequence[tuple[int, int]],
    configurations: Sequence[Configuration],
    restarts: int | Callable[[int], int],
    rows: int,
) -> list[list[int]]:
    """Groups in chunks that are trained together within the memory limit."""
    widest = max(configuration.hidden for configuration in configurations)
    chunks: list[list[int]] = [[]]
    members = 0
    for group, (i, _) in enumerate(groups):
        added = _restarts(restarts, configurations[i])
        if chunks[-1] and (members + added) * widest * rows > MOST_SIDE_BY_SIDE:
            chunks.append([])
            members = 0
        chunks[-1].append(group)
        members += added
    return chunks
