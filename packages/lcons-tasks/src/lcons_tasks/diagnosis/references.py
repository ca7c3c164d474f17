"""References: what tells gold from corrupted through the same psi, with more freedom than a constraint has.

| reference | accepts psi iff |
|---|---|
| `seen in training` | local: the very part was seen; global: no column leaves the range that was seen |
| `network, K = 1` | one linear inequality does |
| `network, K = 64` | a network does that is larger than any constraint of the paper (K = 10) |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lcons_core import ConstraintLearner
from lcons_core.exact import Floats
from lcons_core.examples import LabelledExamples
from lcons_core.features import Scope
from lcons_core.learning import Progress
from lcons_core.psi import SparsePsi
from lcons_tasks.diagnosis.resampling import Resampler
from lcons_tasks.diagnosis.samples import Bools, Parts, Sample

Accepts = Callable[[SparsePsi], Bools]
# Told how much is done, from 0 to 1.
Tell = Callable[[float], None]

HIDDEN = (1, 64)
# How much of the work is done before each of them, and at the end; the larger takes twice as long.
DONE = (0, 1 / 3, 1)
EPOCHS = 100
# Examples times epochs at most: beyond some ten thousand examples fewer passes do, and time stays bounded.
VISITS = 1_500_000


@dataclass(frozen=True, eq=False)
class Reference:
    """A name and what it accepts."""

    name: str
    accepts: Accepts


@dataclass(frozen=True, eq=False)
class Measured:
    """Balanced accuracy, the share of gold accepted and of corrupted rejected, each a vector of draws."""

    name: str
    balanced: Floats
    accepted: Floats
    rejected: Floats


def references(
    examples: LabelledExamples, scope: Scope, seed: int, tell: Tell = lambda share: None
) -> list[Reference]:
    """Those of the module's table, made from training examples."""
    psi, y, weights = examples.matrix()
    found = [Reference("seen in training", seen_in_training(examples.positives, scope))]
    epochs = int(np.clip(VISITS // len(examples), 10, EPOCHS))
    for K, (first, last) in zip(HIDDEN, pairwise(DONE), strict=True):

        def progress(step: Progress, first: float = first, last: float = last) -> None:
            tell(first + (last - first) * step.epoch / step.epochs)

        learner = ConstraintLearner(K, seed=seed, restarts=1, epochs=epochs, progress=progress)
        found.append(Reference(f"network, K = {K}", learner.fit(psi, y, weights).network_.accepts))
    return found


def seen_in_training(gold: SparsePsi, scope: Scope) -> Accepts:
    """Accepts the psi that occurred (local), or whose every column lies within what occurred (global)."""
    if scope is Scope.LOCAL:
        seen = set(gold.row_keys())
        return lambda psi: np.array([key in seen for key in psi.row_keys()], dtype=np.bool_)
    least, most = column_ranges(gold)

    def within(psi: SparsePsi) -> Bools:
        outside = np.zeros(len(psi), dtype=np.bool_)
        outside[psi.row_of[(psi.values < least[psi.indices]) | (psi.values > most[psi.indices])]] = True
        # Columns that never were 0 in training must be there.
        needed = (least > 0) | (most < 0)
        present = np.bincount(psi.row_of[needed[psi.indices]], minlength=len(psi))
        return ~outside & (present == needed.sum())

    return within


def column_ranges(psi: SparsePsi) -> tuple[Floats, Floats]:
    """(d,) the least and the greatest value of each column."""
    least, most = np.full(psi.d, np.inf), np.full(psi.d, -np.inf)
    np.minimum.at(least, psi.indices, psi.values)
    np.maximum.at(most, psi.indices, psi.values)
    absent = np.bincount(psi.indices, minlength=psi.d) < len(psi)
    least[absent], most[absent] = np.minimum(least, 0)[absent], np.maximum(most, 0)[absent]
    return least, most


def measure(reference: Reference, sample: Sample, draws: Resampler) -> Measured:
    """How well a reference tells held-out gold from held-out corrupted."""
    accepted = _share(reference.accepts(sample.gold.psi), sample.gold, draws)
    rejected = _share(~reference.accepts(sample.corrupted.psi), sample.corrupted, draws)
    return Measured(reference.name, (accepted + rejected) / 2, accepted, rejected)


def best_of(found: list[Measured]) -> Measured:
    """The one of the highest balanced accuracy; the first among equals."""
    return max(found, key=lambda measured: float(measured.balanced[0]))


def by_unit(values: Bools | Floats, parts: Parts, size: int) -> Floats:
    """(size,) sums of a value a part."""
    return np.bincount(parts.owners, weights=values, minlength=size).astype(np.float64)


def _share(right: Bools, parts: Parts, draws: Resampler) -> Floats:
    every = np.ones(len(right))
    return draws.ratio(by_unit(right, parts, draws.size), by_unit(every, parts, draws.size))
