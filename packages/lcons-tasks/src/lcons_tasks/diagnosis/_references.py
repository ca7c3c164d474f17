"""References: classifiers of gold and corrupted parts that read the same psi as a constraint, but are freer.

| reference | accepts psi iff |
|---|---|
| `seen in training` | local: the same part was seen; global: every column is in the range that was seen |
| `network, K = 1` | one linear inequality accepts it |
| `network, K = 64` | a network accepts it that is larger than any constraint of the paper (K = 10) |

They are measured on the original data, and on shuffled data, where there is nothing to find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from lcons_core import ConstraintLearner, LabelledExamples, SparsePsi
from lcons_core._psi import PsiRows
from lcons_core._types import Floats
from lcons_core.features import Scope
from lcons_core.learn._estimator import Progress
from lcons_tasks.diagnosis._samples import Bools, Material, Sample
from lcons_tasks.stats import Resampler

Accepts = Callable[[SparsePsi], Bools]
# Called with the share of the work that is done, from 0 to 1.
Tell = Callable[[float], None]

HIDDEN = (1, 64)
# The share of the work that is done before each network, and at the end; the larger takes twice as long.
DONE = (0, 1 / 3, 1)
EPOCHS = 100
# Limit of examples times epochs: with more than about 10,000 examples fewer epochs suffice; time is bounded.
VISITS = 1_500_000


@dataclass(frozen=True, eq=False)
class Reference:
    """A name, and a function that decides which psi are accepted."""

    name: str
    accepts: Accepts


@dataclass(frozen=True, eq=False)
class Measured:
    """Balanced accuracy, share of gold accepted and share of corrupted rejected, each a vector of draws."""

    name: str
    balanced: Floats
    accepted: Floats
    rejected: Floats


def references(
    examples: LabelledExamples, scope: Scope, seed: int, tell: Tell = lambda share: None
) -> list[Reference]:
    """The references of the module's table, made from training examples."""
    psi, y, weights = examples.matrix()
    found = [Reference("seen in training", seen_in_training(examples.positives.psi, scope))]
    epochs = int(np.clip(VISITS // len(examples), 10, EPOCHS))
    for K, (first, last) in zip(HIDDEN, pairwise(DONE), strict=True):

        def progress(step: Progress, first: float = first, last: float = last) -> None:
            tell(first + (last - first) * step.epoch / step.epochs)

        learner = ConstraintLearner(K, seed=seed, restarts=1, epochs=epochs, progress=progress, penalty=0.0)
        found.append(Reference(f"network, K = {K}", learner.fit(psi, y, weights).network_.accepts))
    return found


def seen_in_training(gold: SparsePsi, scope: Scope) -> Accepts:
    """Accepts psi that occurred (local), or psi with every column in the range that occurred (global)."""
    if scope is Scope.LOCAL:
        seen = set(gold.row_keys())
        return lambda psi: np.array([key in seen for key in psi.row_keys()], dtype=np.bool_)
    least, most = column_ranges(gold)

    def within(psi: SparsePsi) -> Bools:
        outside = np.zeros(len(psi), dtype=np.bool_)
        outside[psi.row_of[(psi.values < least[psi.indices]) | (psi.values > most[psi.indices])]] = True
        # Columns that were never 0 in training must be nonzero.
        needed = (least > 0) | (most < 0)
        present = np.bincount(psi.row_of[needed[psi.indices]], minlength=len(psi))
        return ~outside & (present == needed.sum())

    return within


def column_ranges(psi: SparsePsi) -> tuple[Floats, Floats]:
    """The least and the greatest value of each column, both (d,)."""
    least, most = np.full(psi.d, np.inf), np.full(psi.d, -np.inf)
    np.minimum.at(least, psi.indices, psi.values)
    np.maximum.at(most, psi.indices, psi.values)
    absent = np.bincount(psi.indices, minlength=psi.d) < len(psi)
    least[absent], most[absent] = np.minimum(least, 0)[absent], np.maximum(most, 0)[absent]
    return least, most


def measure(reference: Reference, sample: Sample, draws: Resampler) -> Measured:
    """How well a reference separates held-out gold from held-out corrupted parts."""
    accepted = _share(reference.accepts(sample.gold.psi), sample.gold, draws)
    rejected = _share(~reference.accepts(sample.corrupted.psi), sample.corrupted, draws)
    return Measured(reference.name, (accepted + rejected) / 2, accepted, rejected)


def best_of(found: list[Measured]) -> Measured:
    """The one with the highest balanced accuracy; the first of equal ones."""
    return max(found, key=lambda measured: float(measured.balanced[0]))


def by_unit(values: Bools | Floats, parts: PsiRows, size: int) -> Floats:
    """(size,) the sums of the values of the parts of each unit."""
    return np.bincount(parts.owner, weights=values, minlength=size).astype(np.float64)


def _share(right: Bools, parts: PsiRows, draws: Resampler) -> Floats:
    every = np.ones(len(right))
    return draws.ratio(by_unit(right, parts, draws.size), by_unit(every, parts, draws.size))


# If there is no constraint, the original data are better than all of five shufflings in one case of six, and
# better by the margin `EXISTS` of `_verdicts` far more rarely.
SHUFFLES = 5
BEYOND = "beyond what was seen"


@dataclass(frozen=True, eq=False)
class World:
    """References measured on one form of the data, original or shuffled.

    `beyond` is the best network on the corrupted psi in the range of training; None if psi is local or there
    are no such psi.
    """

    measured: list[Measured]
    best: Measured
    reference: Reference
    beyond: Measured | None

    @classmethod
    def of(cls, scope: Scope, sample: Sample, draws: Resampler, seed: int, tell: Tell) -> World:
        """References made and measured on a sample; `tell` is called with the share that is done."""
        made = references(sample.examples, scope, seed, tell)
        measured = [measure(reference, sample, draws) for reference in made]
        best = best_of(measured)
        seen, *networks = made
        within = seen.accepts(sample.corrupted.psi)
        beyond = None
        if scope is Scope.GLOBAL and within.any():
            rest = replace(sample, corrupted=sample.corrupted.take(within))
            beyond = replace(best_of([measure(network, rest, draws) for network in networks]), name=BEYOND)
        return cls(measured, best, made[measured.index(best)], beyond)


def chance(material: Material, draws: Resampler, seed: int, tell: Tell) -> World:
    """The best that references reach on shuffled data; 50% if every possible negative is gold."""
    worlds = []
    for i in range(SHUFFLES):
        mixed = material.shuffled(np.random.default_rng((seed, i)))
        sample = mixed.sample(seed + 1 + i)
        if sample is not None and len(sample.gold) and len(sample.corrupted):
            inner = _part_of(tell, i)
            worlds.append(World.of(material.scope, sample, draws, seed + 1 + i, inner))
    if not worlds:
        half, all_of_it, none_of_it = (np.full(draws.length, share) for share in (0.5, 1.0, 0.0))
        toss = Measured("shuffled: all is gold", half, all_of_it, none_of_it)
        return World([toss], toss, Reference(toss.name, lambda psi: np.ones(len(psi), dtype=np.bool_)), None)
    top = max(worlds, key=lambda world: float(world.best.balanced[0]))
    beyond = [world.beyond for world in worlds if world.beyond is not None]
    return replace(
        top,
        best=replace(top.best, name=f"shuffled: {top.best.name}"),
        beyond=replace(best_of(beyond), name=f"shuffled: {BEYOND}") if beyond else None,
    )


def _part_of(tell: Tell, i: int) -> Tell:
    """The progress of shuffling i as a part of the progress of all shufflings."""
    return lambda share: tell((i + share) / SHUFFLES)
