"""References: classifiers of gold and corrupted parts that read the same psi as a constraint, but are freer.

| reference | accepts psi iff |
|---|---|
| `seen in training` | local: the same part was seen; global: every column is in the range that was seen |
| `network, K = 1` | one linear inequality accepts it |
| `network, K = 64` | a network accepts it that is larger than any constraint of the paper (K = 10) |

They are measured on the original data, and on shuffled data, where there is nothing to find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from lcons_core import ConstraintLearner, SparsePsi
from lcons_core._psi import PsiRows
from lcons_core._types import Bools, Floats, OnProgress
from lcons_core.features import Scope
from lcons_tasks.diagnosis._material import Material, Sample
from lcons_tasks.stats import Resampler

Accepts = Callable[[SparsePsi], Bools]

HIDDEN = (1, 64)
EPOCHS = 100
# Vectors that are dense at a time.
CHUNK = 1000
# Limit of examples times epochs: with more than about 10,000 examples fewer epochs suffice; time is bounded.
VISITS = 1_500_000
# If there is no constraint, the original data are better than all of five shufflings in one case of six, and
# better by the margin `EXISTS` of `_diagnosis` far more rarely.
SHUFFLES = 5


@dataclass(frozen=True, eq=False)
class Reference:
    """A name, and a function that decides which psi are accepted."""

    name: str
    accepts: Accepts


@dataclass(frozen=True, eq=False)
class Measured:
    """A reference with its balanced accuracy, its share of gold accepted and that of corrupted rejected, each
    a vector of draws."""

    reference: Reference
    balanced: Floats
    accepted: Floats
    rejected: Floats


def seen_in_training(gold: SparsePsi, scope: Scope) -> Accepts:
    """Accepts psi that occurred (local), or psi with every column in the range that occurred (global)."""
    if scope is Scope.LOCAL:
        seen = set(gold.row_keys())
        return lambda psi: np.array([key in seen for key in psi.row_keys()], dtype=np.bool_)
    rows = list(_dense(gold))
    least, most = np.min([some.min(0) for some in rows], 0), np.max([some.max(0) for some in rows], 0)
    return lambda psi: np.concatenate([((some >= least) & (some <= most)).all(1) for some in _dense(psi)])


def _dense(psi: SparsePsi) -> Iterator[Floats]:
    for first in range(0, max(len(psi), 1), CHUNK):
        yield psi.take(np.arange(first, min(first + CHUNK, len(psi)))).dense()


def measure(reference: Reference, sample: Sample, draws: Resampler) -> Measured:
    """How well a reference separates held-out gold from held-out corrupted parts."""
    accepted = share_of(reference.accepts(sample.gold.psi), sample.gold, draws)
    rejected = share_of(~reference.accepts(sample.corrupted.psi), sample.corrupted, draws)
    return Measured(reference, (accepted + rejected) / 2, accepted, rejected)


def share_of(
    values: Bools | Floats, parts: PsiRows, draws: Resampler, of: Bools | Floats | None = None
) -> Floats:
    """The draws of the sum of values over the sum of `of` (all parts by default)."""
    whole = np.ones(len(values)) if of is None else of
    return draws.ratio(*(np.bincount(parts.owner, numbers, draws.size) for numbers in (values, whole)))


def measured_references(scope: Scope, sample: Sample, draws: Resampler, seed: int) -> list[Measured]:
    """The references of the module's table, made from the examples of a sample and measured on it."""
    psi, y, weights = sample.examples.matrix()
    epochs = int(np.clip(VISITS // len(y), 10, EPOCHS))
    references = [Reference("seen in training", seen_in_training(sample.examples.positives.psi, scope))]
    for K in HIDDEN:
        learner = ConstraintLearner(K, seed=seed, restarts=1, epochs=epochs, penalty=0.0)
        network = learner.fit(psi, y, weights).network_
        references.append(Reference(f"network, K = {K}", network.accepts))
    return [measure(reference, sample, draws) for reference in references]


def best_of(measured: list[Measured]) -> Measured:
    """The reference with the highest balanced accuracy."""
    return max(measured, key=lambda reference: float(reference.balanced[0]))


def chance(material: Material, draws: Resampler, seed: int, progress: OnProgress | None) -> Measured:
    """The best that references reach on shuffled data; 50% if every possible negative is gold."""
    measured = []
    for i in range(SHUFFLES):
        if progress is not None:
            progress(1 + i, 1 + SHUFFLES)
        mixed = material.shuffled(np.random.default_rng((seed, i)))
        sample = mixed.sample(seed + 1 + i)
        if sample is not None and len(sample.gold):
            measured += measured_references(material.feature.scope, sample, draws, seed + 1 + i)
    if not measured:
        half, whole, none = (np.full(draws.length, share) for share in (0.5, 1.0, 0.0))
        everything = Reference("all is gold", lambda psi: np.ones(len(psi), bool))
        measured = [Measured(everything, half, whole, none)]
    best = best_of(measured)
    return replace(best, reference=replace(best.reference, name=f"shuffled: {best.reference.name}"))
